//! Conversations on a real server, with processes that are killed.

mod background;
mod bounds;
mod cast;
mod decisions;
#[allow(dead_code)]
#[path = "../support/engine.rs"]
mod engine;
mod faults;
mod inbox;
mod mixed;
mod streams;
mod workers;
mod world;

/// Runs as a process of the other tests.
#[test]
fn process() {
    cast::act();
}
