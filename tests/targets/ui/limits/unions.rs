//! More unions than one provider takes.

use tool_core::{tool, tools};

type Maybe = [Option<u8>; 1];
type Four = (Maybe, Maybe, Maybe, Maybe);

/// Paints.
#[tool]
fn paint(name: &str, pixels: (Maybe, Four, Four, Four, Four)) -> usize {
    name.len() + pixels.0.len()
}

fn main() {
    let _ = tools![paint];
}
