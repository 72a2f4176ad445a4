//! Conversations on a real server, whose processes are killed.

mod background;
mod bounds;
mod cast;
mod decisions;
#[path = "../support/engine.rs"]
mod engine;
mod faults;
mod mixed;
mod streams;
mod workers;
mod world;

/// A process of the other tests.
#[test]
fn process() {
    cast::act();
}
