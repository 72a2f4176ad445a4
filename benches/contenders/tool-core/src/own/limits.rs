//! The physical limits of the other cases: the copies, hashes and allocations that any program needs.

use std::hint::black_box;

use harness::{Work, cases, streams};
use tool_core::Registry;

use crate::rendered;

/// Returns the limit of the path `case`.
pub fn work(case: &str) -> Work {
    let (what, form) = case.rsplit_once(' ').unwrap_or((case, ""));
    match (what, form) {
        ("list", form) => listing(rendered(&linked(), form)),
        ("stream", form) => events(streams::text(form)),
        ("arguments", form) => events(streams::arguments(form)),
        ("start", _) => start(),
        _ => call(case),
    }
}

fn linked() -> Registry {
    Registry::linked().expect("unique names")
}

/// One hash of the name, and one allocation with a copy of the arguments.
fn call(case: &str) -> Work {
    let mut cases = cases::all().into_iter();
    let found = cases.find(|known| known.name == case);
    let (name, arguments) = found.expect("a case").calls.swap_remove(0);
    Work::new(1, move || {
        black_box(hash(black_box(name)));
        black_box(black_box(&arguments).clone());
    })
}

/// One allocation with a copy of the list.
fn listing(list: String) -> Work {
    Work::new(1, move || {
        black_box(black_box(&list).clone());
    })
}

/// One hash of each name, in one allocation.
fn start() -> Work {
    let registry = linked();
    let tools = registry.specs().into_iter();
    let names: Vec<_> = tools.map(|tool| tool.name.to_string()).collect();
    Work::new(1, move || {
        let hashes = black_box(&names).iter().map(|name| hash(name));
        black_box(hashes.collect::<Vec<_>>());
    })
}

/// A copy of the bytes of each event into a buffer, and one allocation for the piece that a program shows.
fn events(events: Vec<String>) -> Work {
    let mut buffer = Vec::new();
    Work::new(events.len(), move || {
        for event in &events {
            buffer.clear();
            buffer.extend_from_slice(black_box(event.as_bytes()));
            black_box(black_box(" forecast").to_owned());
        }
        black_box(&buffer);
    })
}

/// Mixes eight bytes at a time.
fn hash(name: &str) -> u64 {
    let (words, rest) = name.as_bytes().as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).copied();
    words.map(u64::from_le_bytes).fold(0, |hash, word| {
        (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}
