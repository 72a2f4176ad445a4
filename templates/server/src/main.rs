//! A server of tools for MCP clients, over standard input and output.

use tool_core::{Registry, tool};

/// Counts the words of a text.
#[tool(read_only, example = r#"{"text": "two words"}"#)]
fn count_words(text: &str) -> usize {
    text.split_whitespace().count()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Standard output belongs to the protocol: log to standard error.
    tool_mcp::Server::new(Registry::linked()?)
        .name(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .stdio()
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use tool_core::{Registry, ToolCall};
    use tool_docs::testing;

    #[test]
    fn the_tools_are_what_models_expect() {
        // Add `.lock("tools.lock.json")` to see each change of what models read.
        testing::check(&Registry::linked().unwrap())
            .expect_tools(["count_words"])
            .examples()
            .budget_bytes(1_000)
            .run();
    }

    #[test]
    fn words_are_counted() {
        let call = ToolCall::new("call_1", "count_words", r#"{"text":"one two three"}"#);
        let result = Registry::linked().unwrap().call_blocking(call);
        assert_eq!(result.content(), "3");
    }
}
