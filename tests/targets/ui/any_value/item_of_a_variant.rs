//! A value of which the schema says nothing, deep in an enum.

use serde::Deserialize;
use serde_json::Value;
use tool_core::{ToolType, tool, tools};

#[derive(Deserialize, ToolType)]
enum Step {
    Wait { seconds: u8 },
    Send { bodies: Vec<Value> },
}

/// Runs steps.
#[tool]
fn run(steps: Vec<Step>) -> usize {
    let size = |step: Step| match step {
        Step::Wait { seconds } => usize::from(seconds),
        Step::Send { bodies } => bodies.len(),
    };
    steps.into_iter().map(size).sum()
}

fn main() {
    let _ = tools![run];
}
