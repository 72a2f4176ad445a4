//! Answers to the questions of a call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;
use tool_core::call::elicit::{ElicitError, Elicited};

/// Keeps one answer for each key of a call.
#[derive(Clone, Default)]
pub(crate) struct Answers(Arc<Mutex<HashMap<String, Arc<OnceCell<Elicited>>>>>);

impl Answers {
    /// Returns the answer for a key, asking for it if there is none. Another caller with the same key waits for the
    /// same answer.
    pub(crate) async fn of(
        &self,
        key: &str,
        ask: impl Future<Output = Result<Elicited, ElicitError>>,
    ) -> Result<Elicited, ElicitError> {
        let answer = {
            let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(answers.entry(key.to_owned()).or_default())
        };
        answer.get_or_try_init(|| ask).await.cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_the_same_waits_for_one_answer_and_an_error_is_none() {
        crate::registry::runtime(1).unwrap().block_on(async {
            let answers = Answers::default();
            let lost = ElicitError::failed("lost");
            let failed = answers.of("sure", std::future::ready(Err(lost.clone())));
            assert_eq!(failed.await, Err(lost));
            let (sender, receiver) = tokio::sync::oneshot::channel();
            let asks = answers.clone();
            let first = tokio::spawn(async move {
                let ask = async { receiver.await.map_err(ElicitError::failed) };
                asks.of("sure", ask).await
            });
            tokio::task::yield_now().await;
            let asks = answers.clone();
            let second = tokio::spawn(async move {
                let ask = async { panic!("it is asked already") };
                asks.of("sure", ask).await
            });
            tokio::task::yield_now().await;
            sender.send(Elicited::Declined).unwrap();
            assert_eq!(first.await.unwrap(), Ok(Elicited::Declined));
            assert_eq!(second.await.unwrap(), Ok(Elicited::Declined));
        });
    }
}
