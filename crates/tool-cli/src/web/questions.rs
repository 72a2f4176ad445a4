//! Questions of running tools, answered by the person at the page.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tool_core::call::elicit::{ElicitError, ElicitMode, ElicitRequest, Elicited, Elicitor};
use tool_core::dynamic::DynamicTool;
use tool_core::runtime::BoxFuture;
use tool_core::{Registry, ToolCall, ToolError};

use crate::answers::Answers;

/// The tool name under which a registry checks answers.
const NAME: &str = "answer";

/// The open questions, by id.
#[derive(Clone, Default)]
pub(super) struct Questions(Arc<Mutex<HashMap<String, Question>>>);

struct Question {
    /// Checks the answers. `None` if the question asks to visit a page.
    judge: Option<Registry>,
    answer: oneshot::Sender<Elicited>,
}

/// The reaction of a person to a question.
pub(super) enum Given<'a> {
    /// The JSON text of the answer.
    Accepted(&'a str),
    Declined,
    Dismissed,
}

/// The outcome of sending an answer.
pub(super) enum Taken {
    Answered,
    /// There is no such question.
    Unknown,
    Invalid(Box<ToolError>),
}

/// Wraps an answer in a call, so that a registry can check it.
pub(super) fn answer(json: &str) -> ToolCall {
    ToolCall::new("answer", NAME, json)
}

impl Questions {
    fn open(&self) -> MutexGuard<'_, HashMap<String, Question>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the registry that checks the answers to a question.
    pub(super) fn judge(&self, id: &str) -> Option<Registry> {
        self.open().get(id)?.judge.clone()
    }

    /// Answers a question. If the answer does not match the schema, the question stays open.
    pub(super) fn take(&self, id: &str, given: Given<'_>) -> Taken {
        let mut open = self.open();
        let Some(question) = open.get(id) else {
            return Taken::Unknown;
        };
        let elicited = match (given, &question.judge) {
            (Given::Declined, _) => Elicited::Declined,
            (Given::Dismissed, _) => Elicited::Dismissed,
            (Given::Accepted(_), None) => Elicited::Accepted(json!({})),
            (Given::Accepted(text), Some(judge)) => match judge.validate(&answer(text)) {
                Ok(text) => Elicited::Accepted(serde_json::from_str(&text).unwrap_or_default()),
                Err(error) => return Taken::Invalid(Box::new(error)),
            },
        };
        if let Some(question) = open.remove(id) {
            // If the tool was cancelled meanwhile, nobody needs the answer.
            let _ = question.answer.send(elicited);
        }
        Taken::Answered
    }
}

/// Asks the questions of a call on its page.
pub(super) struct Asker {
    questions: Questions,
    page: mpsc::Sender<String>,
    answers: Answers,
}

impl Asker {
    pub(super) fn new(questions: Questions, page: mpsc::Sender<String>) -> Asker {
        Asker {
            questions,
            page,
            answers: Answers::default(),
        }
    }
}

impl Elicitor for Asker {
    fn elicit(
        &self,
        key: &str,
        request: ElicitRequest,
    ) -> BoxFuture<Result<Elicited, ElicitError>> {
        let (questions, page) = (self.questions.clone(), self.page.clone());
        let (answers, key) = (self.answers.clone(), key.to_owned());
        let asked = async move {
            let (shown, judge) = shown(&request)?;
            let (sender, receiver) = oneshot::channel();
            let question = Opened::new(
                questions,
                Question {
                    judge,
                    answer: sender,
                },
            );
            let mut asked = json!({"id": question.id, "message": request.message});
            let (name, value) = shown;
            asked[name] = value;
            let line = json!({ "question": asked });
            let lost = || ElicitError::failed("the page is closed");
            page.send(super::line(&line)).await.map_err(|_| lost())?;
            receiver.await.map_err(|_| lost())
        };
        Box::pin(async move { answers.of(&key, asked).await })
    }
}

/// Returns a question as the page shows it, with its id and the registry that checks answers.
fn shown(
    request: &ElicitRequest,
) -> Result<((&'static str, Value), Option<Registry>), ElicitError> {
    match &request.mode {
        ElicitMode::Form(schema) => {
            let judge = DynamicTool::builder(NAME)
                .description("Answers a question.")
                .parameters_json(&**schema)
                .build(async |_, _| Ok::<_, String>(""))
                .map_err(ElicitError::failed)?;
            let judge = Registry::builder().tool(judge).build();
            let judge = judge.map_err(ElicitError::failed)?;
            let schema = serde_json::from_str(schema).map_err(ElicitError::failed)?;
            Ok((("schema", schema), Some(judge)))
        }
        ElicitMode::Url(url) => Ok((("url", url.clone().into()), None)),
        _ => Err(ElicitError::unsupported("the page can't ask this")),
    }
}

/// An open question. Dropping it closes the question.
struct Opened {
    id: String,
    questions: Questions,
}

impl Opened {
    fn new(questions: Questions, question: Question) -> Opened {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed).to_string();
        questions.open().insert(id.clone(), question);
        Opened { id, questions }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.questions.open().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use tool_core::call::elicit::Elicit;

    use super::*;

    /// Runs a test that fails if a question waits forever.
    fn within_a_minute(test: impl Future<Output = ()>) {
        let runtime = crate::registry::runtime(1).unwrap();
        let limit = std::time::Duration::from_secs(60);
        let ended = runtime.block_on(async { tokio::time::timeout(limit, test).await });
        ended.unwrap();
    }

    fn asked(line: Option<String>) -> String {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        line["question"]["id"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_key_has_one_answer_in_a_call() {
        within_a_minute(async {
            let questions = Questions::default();
            let (sender, mut page) = mpsc::channel(1);
            let asker = Arc::new(Asker::new(questions.clone(), sender));
            let request = || Elicit::confirm("Sure?").request().clone();
            let first = tokio::spawn(asker.elicit("sure", request()));
            let id = asked(page.recv().await);
            assert!(matches!(
                questions.take(&id, Given::Declined),
                Taken::Answered
            ));
            assert_eq!(first.await.unwrap(), Ok(Elicited::Declined));
            assert_eq!(
                asker.elicit("sure", request()).await,
                Ok(Elicited::Declined)
            );
            assert!(page.try_recv().is_err());
            assert!(questions.open().is_empty());
            // Another key is another question.
            let second = tokio::spawn(asker.elicit("really", request()));
            let id = asked(page.recv().await);
            assert!(matches!(
                questions.take(&id, Given::Accepted("{}")),
                Taken::Answered
            ));
            assert_eq!(second.await.unwrap(), Ok(Elicited::Accepted(json!({}))));
        });
    }

    #[test]
    fn a_page_to_visit_has_no_schema_and_a_closed_page_no_answers() {
        within_a_minute(async {
            let questions = Questions::default();
            let (sender, mut page) = mpsc::channel(1);
            let asker = Asker::new(questions.clone(), sender);
            let visit = || {
                Elicit::visit("Pay.", "https://pay.example")
                    .request()
                    .clone()
            };
            let asking = tokio::spawn(asker.elicit("pay", visit()));
            let line = page.recv().await.unwrap();
            assert!(
                line.contains("https://pay.example") && !line.contains("schema"),
                "{line}"
            );
            let id = asked(Some(line));
            assert!(questions.judge(&id).is_none());
            assert!(matches!(
                questions.take(&id, Given::Accepted("")),
                Taken::Answered
            ));
            assert_eq!(asking.await.unwrap(), Ok(Elicited::Accepted(json!({}))));
            drop(page);
            let lost = asker.elicit("again", visit()).await;
            assert!(matches!(lost, Err(ElicitError::Failed(_))), "{lost:?}");
            assert!(questions.open().is_empty());
        });
    }
}
