//! Questions of running tools, answered by the person at the terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tokio::sync::oneshot;
use tool_core::ToolCall;
use tool_core::call::elicit::{ElicitError, ElicitMode, ElicitRequest, Elicited, Elicitor};
use tool_core::runtime::{BoxFuture, block_on};
use tool_core::schema::object_from_text;

use crate::answers::Answers;
use crate::flags::{self, Flag, Kind};
use crate::progress::ProgressLine;
use crate::terminal::{Terminal, confirm, forget_typed, indented, line};

/// Asks the questions of a call, one after the other.
struct Asker {
    tool: String,
    progress: ProgressLine,
    answers: Answers,
    /// Locked while a question is asked.
    terminal: Arc<Mutex<()>>,
}

/// Lets the tools of a call ask, if a person is at the terminal.
pub(crate) fn of(call: ToolCall, progress: &ProgressLine) -> ToolCall {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return call;
    }
    let asker = Asker {
        tool: call.name.clone(),
        progress: progress.clone(),
        answers: Answers::default(),
        terminal: Arc::default(),
    };
    call.elicit_with(Arc::new(asker))
}

impl Elicitor for Asker {
    fn elicit(
        &self,
        key: &str,
        request: ElicitRequest,
    ) -> BoxFuture<Result<Elicited, ElicitError>> {
        let (tool, progress) = (self.tool.clone(), self.progress.clone());
        let (answers, key) = (self.answers.clone(), key.to_owned());
        let terminal = self.terminal.clone();
        let (sender, receiver) = oneshot::channel();
        // A thread of its own: the runtime would wait for its threads when the program ends, even for the answer to a
        // cancelled call.
        std::thread::spawn(move || {
            let asked = async {
                let _terminal = terminal.lock().unwrap_or_else(PoisonError::into_inner);
                if sender.is_closed() {
                    return Err(ElicitError::failed("the call was cancelled"));
                }
                progress.clear();
                ask(&tool, &request)
            };
            let answer = block_on(answers.of(&key, asked));
            // If the call was cancelled meanwhile, nobody needs the answer.
            let _ = sender.send(answer.unwrap_or_else(|error| Err(ElicitError::failed(error))));
        });
        Box::pin(async {
            let answer = receiver.await;
            answer.unwrap_or_else(|_| Err(ElicitError::failed("the question was not asked")))
        })
    }
}

fn ask(tool: &str, request: &ElicitRequest) -> Result<Elicited, ElicitError> {
    let asked = |message: &str| -> io::Result<()> {
        let mut out = Terminal::stderr();
        writeln!(out, "{tool} asks: {}", indented(message, 4))
    };
    asked(&request.message).map_err(ElicitError::failed)?;
    let answer = match &request.mode {
        ElicitMode::Form(schema) => form(schema),
        ElicitMode::Url(url) => visited(url),
        _ => return Err(ElicitError::unsupported("a terminal can't ask this")),
    };
    answer.map_err(ElicitError::failed)
}

fn visited(url: &str) -> io::Result<Elicited> {
    writeln!(Terminal::stderr(), "  {}", indented(url, 4))?;
    confirmed("Have you visited it?")
}

fn confirmed(question: &str) -> io::Result<Elicited> {
    Ok(match confirm(question)? {
        Some(true) => Elicited::Accepted(json!({})),
        Some(false) => Elicited::Declined,
        None => Elicited::Dismissed,
    })
}

/// Asks for each value of a schema.
fn form(schema: &str) -> io::Result<Elicited> {
    let flags = flags::of_schema(schema);
    if flags.is_empty() {
        return confirmed("Agree?");
    }
    if !forget_typed()? {
        return Ok(Elicited::Dismissed);
    }
    writeln!(
        Terminal::stderr(),
        "  (an empty line leaves a value out, Ctrl-D declines)"
    )?;
    let mut pairs = Vec::new();
    // An object's values are asked for one by one.
    for flag in flags.iter().filter(|flag| !flag.has_members) {
        let about = about(flag);
        if !about.is_empty() {
            writeln!(Terminal::stderr(), "  {}", indented(&about, 4))?;
        }
        loop {
            let Some(answer) = line(&format!("  {}:", flag.path))? else {
                writeln!(Terminal::stderr())?;
                return Ok(Elicited::Declined);
            };
            let has_value = pairs.iter().any(|(path, _)| *path == &*flag.path);
            let problem = match answer.trim() {
                "" if flag.required && !has_value => Some("a value is required".to_owned()),
                "" => break,
                value => problem(flag, value),
            };
            if let Some(problem) = problem {
                writeln!(Terminal::stderr(), "  {problem}")?;
                continue;
            }
            pairs.push((&*flag.path, value(flag, answer.trim())));
            if !flag.is_list {
                break;
            }
        }
    }
    let json = object_from_text(schema, pairs);
    Ok(Elicited::Accepted(
        serde_json::from_str(&json).unwrap_or_default(),
    ))
}

/// Returns the description of a value, and its type or possible values.
fn about(flag: &Flag) -> String {
    let mut about = flags::help(flag);
    let kind = match flag.kind {
        Kind::String => return about,
        Kind::Boolean => "yes or no".to_owned(),
        kind => kind.placeholder().to_ascii_lowercase(),
    };
    if !about.is_empty() {
        about.push(' ');
    }
    about + &format!("[{kind}]")
}

/// Describes a problem with a value. The tool finds others, such as a number out of range.
fn problem(flag: &Flag, given: &str) -> Option<String> {
    let value = value(flag, given);
    let fits = match flag.kind {
        Kind::Boolean => value.parse::<bool>().is_ok(),
        Kind::Integer => value.parse::<i128>().is_ok(),
        Kind::Number => value.parse::<f64>().is_ok_and(f64::is_finite),
        Kind::String if !flag.values.is_empty() => flag.values.contains(&value),
        Kind::String | Kind::Json => true,
    };
    let expected = match flag.kind {
        _ if fits => return None,
        Kind::Boolean => "yes or no".to_owned(),
        Kind::Integer => "an integer".to_owned(),
        Kind::Number => "a number".to_owned(),
        _ => format!("one of {}", flag.values.join(", ")),
    };
    Some(format!("expected {expected}"))
}

/// Converts an answer to the value of a flag.
fn value(flag: &Flag, given: &str) -> String {
    let word = given.to_ascii_lowercase();
    match (flag.kind, &*word) {
        (Kind::Boolean, "y" | "yes") => "true".to_owned(),
        (Kind::Boolean, "n" | "no") => "false".to_owned(),
        (Kind::Boolean, _) => word,
        _ => given.to_owned(),
    }
}
