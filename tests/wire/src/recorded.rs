//! Recorded responses: what `tool-core` reads in them, whole and in pieces, and what the second reading says.

use std::io;
use std::path::Path;

use serde_json::{Value, json};
use strict::{Format, Server};
use tool_core::call::Arguments;
use tool_core::dialect::{Dialect, ResponseError, StreamEvent, Turn};
use tool_core::{ToolCall, ToolResult};

use crate::report::Report;
use crate::second::{self, Reading};

/// One line of `responses.jsonl.gz`.
struct Recorded {
    server: String,
    case: String,
    dialect: &'static dyn Dialect,
    /// The name of the dialect.
    format: String,
    is_stream: bool,
    status: u64,
    body: String,
}

/// Compares the readings of all responses in a file.
///
/// # Errors
///
/// Returns an error if the file can't be read, or has lines of another form.
pub(crate) fn compare(path: &Path, report: &mut Report) -> io::Result<()> {
    let bytes = std::fs::read(path)?;
    let text = String::from_utf8(unzip(&bytes)?).map_err(io::Error::other)?;
    for (at, line) in text.lines().enumerate() {
        let problem = |problem: String| io::Error::other(format!("line {}: {problem}", at + 1));
        let value: Value =
            serde_json::from_str(line).map_err(|error| problem(error.to_string()))?;
        let recorded = read_line(&value).map_err(problem)?;
        report.responses += 1;
        compare_one(&recorded, report);
    }
    Ok(())
}

/// Returns what is in a file that gzip compressed (RFC 1952).
fn unzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let broken = || io::Error::other("the file is not compressed by gzip");
    let head = bytes
        .get(..10)
        .filter(|head| head.starts_with(&[0x1f, 0x8b, 8]))
        .ok_or_else(broken)?;
    let mut at = 10;
    // A field of extra bytes, which begins with its length; then the name and the comment, which end with a zero.
    if head[3] & 4 != 0 {
        let length = bytes.get(at..at + 2).ok_or_else(broken)?;
        at += 2 + usize::from(length[0]) + usize::from(length[1]) * 256;
    }
    for flag in [8, 16] {
        if head[3] & flag != 0 {
            let rest = bytes.get(at..).ok_or_else(broken)?;
            at += rest.iter().position(|byte| *byte == 0).ok_or_else(broken)? + 1;
        }
    }
    if head[3] & 2 != 0 {
        at += 2;
    }
    let rest = bytes.get(at..).ok_or_else(broken)?;
    miniz_oxide::inflate::decompress_to_vec(rest)
        .map_err(|error| io::Error::other(error.to_string()))
}

fn read_line(line: &Value) -> Result<Recorded, String> {
    let text = |key: &str| {
        line[key]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| format!("`{key}` is no string"))
    };
    let format = text("dialect")?;
    let known = tool_dialects::find(&format, false)
        .ok_or_else(|| format!("there is no dialect {format}"))?;
    Ok(Recorded {
        server: text("server")?,
        case: text("case")?,
        dialect: known.dialect,
        format,
        is_stream: match &*text("mode")? {
            "stream" => true,
            "whole" => false,
            other => return Err(format!("there is no mode {other}")),
        },
        status: line["status"].as_u64().ok_or("`status` is no number")?,
        body: with_ids(&text("dialect")?, text("body")?),
    })
}

/// Returns a body of Mistral with ids of nine characters, as Mistral wrote them before they were redacted.
fn with_ids(dialect: &str, body: String) -> String {
    let mut pieces = body.split("call_REDACTED_");
    let start = pieces
        .next()
        .filter(|_| dialect == "mistral")
        .map(str::to_owned);
    let Some(mut text) = start else {
        return body;
    };
    for piece in pieces {
        let digits = piece.len()
            - piece
                .trim_start_matches(|digit: char| digit.is_ascii_digit())
                .len();
        let (number, rest) = piece.split_at(digits);
        text += &format!("id{number:0>7}{rest}");
    }
    text
}

/// Returns what a turn says, in the form of the second reading.
fn reading(turn: &Turn) -> Reading {
    Reading {
        calls: turn
            .calls
            .iter()
            .map(|call| (call.name.clone(), value(call)))
            .collect(),
        text: turn.text.clone(),
        stop: turn.stop.clone(),
        usage: turn
            .usage
            .map(|usage| [usage.input, usage.cached_input, usage.output]),
    }
}

pub(crate) fn value(call: &ToolCall) -> Value {
    match &call.arguments {
        Arguments::Json(Value::Null) => json!({}),
        Arguments::Json(value) => value.clone(),
        Arguments::Freeform(text) => text.as_str().into(),
        Arguments::Text(text) if text.trim().is_empty() => json!({}),
        Arguments::Text(text) => {
            serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into())
        }
    }
}

/// Returns the JSON of the events, as far as it is some.
pub(crate) fn events(body: &str) -> Vec<Value> {
    let lines = body.lines().filter_map(|line| line.strip_prefix("data:"));
    lines
        .filter_map(|data| serde_json::from_str(data.trim()).ok())
        .collect()
}

fn compare_one(recorded: &Recorded, report: &mut Report) {
    let place = format!("{} {}", recorded.format, recorded.case);
    let read = if recorded.is_stream {
        streamed(recorded, &place, report)
    } else {
        whole(recorded)
    };
    let expected = if recorded.is_stream {
        second::stream(&recorded.format, &events(&recorded.body))
    } else {
        serde_json::from_str(&recorded.body)
            .ok()
            .and_then(|response| second::whole(&recorded.format, &response))
    };
    match (read, expected) {
        (Ok(turn), Some(expected)) => {
            report.calls += turn.calls.len();
            differ(&place, &reading(&turn), &expected, report);
            if turn.calls.is_empty()
                && turn.text.is_empty()
                && turn.unanswered.is_empty()
                && !turn.is_paused
            {
                let stop = turn.stop.as_deref().unwrap_or("no reason");
                report.empty(&format!(
                    "{place}: neither text nor calls, and the end is {stop}"
                ));
            }
            follow_up(recorded, &turn, &place, report);
        }
        (Ok(_), None) => report.fault(&place, "tool-core reads a response, and there is none"),
        (Err(error), Some(_)) => report.fault(&place, &format!("tool-core reads none: {error}")),
        // An error of a provider is one in both, and has its words.
        (Err(error), None) => {
            report.errors += 1;
            if recorded.status == 200 {
                println!("{place}: {error}");
            }
        }
    }
}

/// Reports what differs.
fn differ(place: &str, read: &Reading, expected: &Reading, report: &mut Report) {
    let mut differs = |what: &str, read: String, expected: String| {
        report.fault(
            place,
            &format!("{what}: tool-core reads {read}, the second reading {expected}"),
        );
    };
    if read.calls != expected.calls {
        differs(
            "calls",
            format!("{:?}", read.calls),
            format!("{:?}", expected.calls),
        );
    }
    if read.text != expected.text {
        differs(
            "text",
            format!("{:?}", read.text),
            format!("{:?}", expected.text),
        );
    }
    if read.stop != expected.stop {
        differs(
            "stop",
            format!("{:?}", read.stop),
            format!("{:?}", expected.stop),
        );
    }
    if read.usage != expected.usage {
        differs(
            "usage",
            format!("{:?}", read.usage),
            format!("{:?}", expected.usage),
        );
    }
}

fn whole(recorded: &Recorded) -> Result<Turn, String> {
    let response: Value =
        serde_json::from_str(&recorded.body).map_err(|error| error.to_string())?;
    recorded
        .dialect
        .read(&response)
        .map_err(|error| error.to_string())
}

/// What a stream said by its events, and what it says at its end.
type Streamed = Result<(Vec<StreamEvent>, Turn, Value), ResponseError>;

fn by_bytes(dialect: &dyn Dialect, body: &str, size: usize) -> Streamed {
    let mut reader = dialect.stream();
    let mut seen = Vec::new();
    for chunk in body.as_bytes().chunks(size) {
        seen.extend(reader.bytes(chunk)?);
    }
    let (turn, response) = reader.finish()?;
    Ok((seen, turn, response))
}

fn by_events(dialect: &dyn Dialect, body: &str) -> Streamed {
    let mut reader = dialect.stream();
    let mut seen = Vec::new();
    for event in events(body) {
        seen.extend(reader.event(&event)?);
    }
    let (turn, response) = reader.finish()?;
    Ok((seen, turn, response))
}

/// Reads a stream by its events and by its bytes in several splits, which must all be alike, and as the response that
/// the stream stands for.
fn streamed(recorded: &Recorded, place: &str, report: &mut Report) -> Result<Turn, String> {
    let first = by_bytes(recorded.dialect, &recorded.body, usize::MAX);
    let pieces = [4096, 61, 7, 1].map(|size| {
        let read = by_bytes(recorded.dialect, &recorded.body, size);
        (format!("pieces of {size} bytes"), read)
    });
    // Events are read without the mark of the end, at which calls of chat completions are final, and what of their
    // arguments may be no more than a start.
    let without_calls = |mut read: Streamed| {
        if let Ok((seen, ..)) = &mut read {
            seen.retain(|event| {
                !matches!(event, StreamEvent::Call(_) | StreamEvent::Arguments { .. })
            });
        }
        read
    };
    let events = without_calls(by_events(recorded.dialect, &recorded.body));
    let whole = without_calls(first.clone());
    let expected = pieces.iter().map(|_| &first).chain([&whole]);
    let read = pieces.iter().map(|(how, read)| (how.as_str(), read));
    for ((how, again), expected) in read.chain([("events", &events)]).zip(expected) {
        report.streams += 1;
        let is_same = match (expected, again) {
            (Ok(expected), Ok(again)) => expected == again,
            (Err(expected), Err(again)) => expected.to_string() == again.to_string(),
            _ => false,
        };
        if !is_same {
            let what = format!("{how} are read otherwise than the whole body");
            report.fault(place, &format!("{what}: {again:?}, {expected:?}"));
        }
    }
    let (seen, turn, response) = first.map_err(|error| error.to_string())?;
    let said: String = seen
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Text(piece) => Some(piece.as_str()),
            _ => None,
        })
        .collect();
    if said != turn.text && said.replace("\n\n", "") != turn.text.replace("\n\n", "") {
        report.fault(
            place,
            &format!(
                "the events have the text {said:?}, the turn {:?}",
                turn.text
            ),
        );
    }
    let emitted = seen.iter().filter_map(|event| match event {
        StreamEvent::Call(call) => Some(call),
        _ => None,
    });
    let emitted: Vec<_> = emitted
        .map(|call| (&call.id, &call.name, value(call)))
        .collect();
    let kept: Vec<_> = turn
        .calls
        .iter()
        .map(|call| (&call.id, &call.name, value(call)))
        .collect();
    if emitted.iter().any(|call| !kept.contains(call)) {
        report.fault(
            place,
            &format!("the events have the calls {emitted:?}, the turn {kept:?}"),
        );
    }
    match recorded.dialect.read(&response) {
        Ok(whole) => {
            let (whole, streamed) = (reading(&whole), reading(&turn));
            if whole != streamed {
                report.fault(place, &format!("the response of the stream is read as {whole:?}, the stream as {streamed:?}"));
            }
        }
        Err(error) => report.fault(
            place,
            &format!("the response of the stream is none: {error}"),
        ),
    }
    Ok(turn)
}

/// Returns the checks of the server that wrote a response.
fn checks(recorded: &Recorded, turn: &Turn) -> Vec<Format> {
    let formats = Format::of(&recorded.format);
    if recorded.format != "openai-chat" {
        return formats.collect();
    }
    let has_reasoning = turn
        .messages
        .iter()
        .all(|message| message["reasoning_content"].is_string());
    let own = match &*recorded.server {
        "openai" | "copilot" => Server::OpenAi,
        "groq" => Server::Groq,
        "deepseek" if has_reasoning => Server::DeepSeek,
        "llamacpp" => Server::LlamaCpp,
        _ => Server::Vllm,
    };
    vec![Format::Chat(own)]
}

/// Sends a response back with a result for each call, and then another message of the user.
fn follow_up(recorded: &Recorded, turn: &Turn, place: &str, report: &mut Report) {
    if !turn.unanswered.is_empty() || turn.is_paused {
        return;
    }
    let results: Vec<_> = turn
        .calls
        .iter()
        .map(|call| ToolResult::new(call, "12"))
        .collect();
    let mut history = vec![recorded.dialect.user_message("How warm is it?")];
    history.extend(recorded.dialect.follow_up(turn, &results));
    let mut asked_again = history.clone();
    asked_again.push(recorded.dialect.user_message("And now?"));
    let names: Vec<_> = turn.calls.iter().map(|call| call.name.as_str()).collect();
    let offered = if names.is_empty() {
        vec!["get_weather"]
    } else {
        names
    };
    let mut offered: Vec<_> = offered
        .into_iter()
        .filter(|name| !name.is_empty())
        .collect();
    offered.sort_unstable();
    offered.dedup();
    for format in checks(recorded, turn) {
        // The next message of the user may come after the answer to the results only.
        let requests = if results.is_empty() {
            [None, Some(&asked_again)]
        } else {
            [Some(&history), None]
        };
        for history in requests.into_iter().flatten() {
            report.requests += 1;
            let request = format.request(history.clone(), &offered);
            if let Err(error) = strict::check(format, &request) {
                report.fault(
                    place,
                    &format!("the next request is rejected by {format:?}: {error}"),
                );
            }
        }
    }
}
