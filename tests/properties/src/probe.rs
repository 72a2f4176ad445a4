//! Properties that hold for every call, shared by the property tests and libFuzzer.

use serde_json::Value;
use tool_core::ToolResult;

use crate::mutate;
use crate::random::Random;
use crate::sample::Sampler;
use crate::subject::Subject;

/// Calls a tool with any text, in a strict and in a lenient registry.
///
/// # Panics
///
/// Panics if the tool panics or runs on a rejected call, and if a lenient registry rejects what a
/// strict one accepts. A call that takes exponential time shows as a test that does not end;
/// libFuzzer
/// has a timeout.
pub fn text(subject: &Subject, text: &str) {
    let name = subject.row.name;
    let strict = subject.call(text, false);
    let lenient = subject.call(text, true);
    assert!(
        strict.is_error() || !lenient.is_error(),
        "{name} is stricter when lenient: {text}"
    );
    for (is_lenient, ungated) in [(false, strict), (true, lenient)] {
        let (gated, shown) = subject.call_gated(text, is_lenient);
        assert_eq!(
            without_reference(&gated),
            without_reference(&ungated),
            "{name} answers {text} differently behind a gate"
        );
        assert_eq!(gated.coercions().len(), ungated.coercions().len());
        // What the gate is shown is a strict call, and normalised.
        if let Some(shown) = shown {
            let (result, again) = subject.call_gated(&shown, false);
            assert!(!result.is_error(), "{name}: {shown}: {}", result.content());
            assert_eq!(again.as_ref(), Some(&shown), "{name}: {text}");
        }
    }
}

/// Returns the text of a result without the reference, which differs each time.
fn without_reference(result: &ToolResult) -> String {
    match result.error() {
        Some(error) => error.message().replace(error.id(), ""),
        None => result.content().to_owned(),
    }
}

/// Calls a tool with any bytes, and with the same bytes as the value of its parameter.
pub fn bytes(subject: &Subject, bytes: &[u8]) {
    let raw = String::from_utf8_lossy(bytes);
    text(subject, &raw);
    text(subject, &format!("{{\"value\":{raw}}}"));
}

/// Calls a tool with a JSON value made from random numbers.
pub fn json(subject: &Subject, random: &mut Random) {
    let value = mutate::any(random, 4);
    text(subject, &value.to_string());
    let arguments = serde_json::json!({ "value": value });
    text(subject, &arguments.to_string());
}

/// Calls a tool with a nearly valid call: a few bytes are changed.
pub fn mutated(subject: &Subject, random: &mut Random) {
    let valid = Sampler::new(&subject.schema).sample(random);
    let valid: Value = if random.percent(30) {
        mutate::value(&valid, &subject.schema, random)
    } else {
        valid
    };
    let changed = mutate::bytes(valid.to_string().into_bytes(), random);
    text(subject, &String::from_utf8_lossy(&changed));
}

thread_local! {
    static SUBJECTS: Vec<Subject> = Subject::all();
}

/// Probes one tool. The first two bytes select it, all of them seed the random numbers, and the
/// rest is passed to the probe.
pub fn one(data: &[u8], probe: impl FnOnce(&Subject, &mut Random, &[u8])) {
    let Some((choice, rest)) = data.split_first_chunk() else {
        return;
    };
    let mut random = Random::of_bytes(data);
    SUBJECTS.with(|subjects| {
        let place = usize::from(u16::from_le_bytes(*choice)) % subjects.len();
        probe(&subjects[place], &mut random, rest);
    });
}
