//! More unions than one provider takes.

use tool_core::{tool, tools};

type Maybe = [Option<u8>; 1];

/// Paints.
#[tool]
fn paint(name: &str, pixels: (Maybe, (Maybe, Maybe, Maybe, Maybe), (Maybe, Maybe, Maybe, Maybe), (Maybe, Maybe, Maybe, Maybe), (Maybe, Maybe, Maybe, Maybe))) -> usize {
    name.len() + pixels.0.len()
}

fn main() {
    let _ = tools![paint];
}
