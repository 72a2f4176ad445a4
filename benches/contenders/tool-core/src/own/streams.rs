//! Streams, read from their bytes.

use std::hint::black_box;

use harness::{Work, streams};
use tool_core::dialect::Dialect;
use tool_dialects::{Anthropic, Gemini, OpenAiChat, OpenAiResponses};

/// Reads a stream whose pieces are text.
pub fn text(form: &str) -> Work {
    work(form, streams::text(form))
}

/// Reads calls whose arguments come in pieces.
pub fn arguments(form: &str) -> Work {
    work(form, streams::arguments(form))
}

fn work(form: &str, events: Vec<String>) -> Work {
    let dialect: Box<dyn Dialect> = match form {
        "openai-chat" => Box::new(OpenAiChat::default()),
        "openai-responses" => Box::new(OpenAiResponses::default()),
        "anthropic" => Box::new(Anthropic::default()),
        "gemini" => Box::new(Gemini::default()),
        _ => panic!("no form {form}"),
    };
    Work::new(events.len(), move || {
        let mut reader = dialect.stream();
        for event in &events {
            let read = reader.bytes(black_box(event.as_bytes()));
            for event in read.expect("an event") {
                black_box(event);
            }
        }
        black_box(reader.finish()).expect("a response");
    })
}
