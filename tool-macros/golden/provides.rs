/// Runs commands.
#[tool(provides = anthropic::Bash20250124)]
fn bash(input: anthropic::BashCommand, call: &CallContext) -> String {
    String::new()
}

/// Uses the desktop.
#[tool(provides = anthropic::Computer20251124<1024, 768, true>, title = "Desktop", name = "computer")]
async fn desktop(#[param(rename = "what")] action: anthropic::ComputerAction) -> Image {
    todo!()
}
