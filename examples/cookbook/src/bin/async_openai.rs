//! `async-openai` with its types: the tools go into a typed request, the calls come out of a typed response.
//!
//! ```sh
//! cargo add tool-core
//! cargo add tool-dialects
//! cargo add serde_json
//! cargo add async-openai --no-default-features --features chat-completion,rustls
//! cargo add tokio --features macros,rt
//! OPENAI_API_KEY=… cargo run
//! ```
//!
//! `OPENAI_BASE_URL` asks another server, such as `http://localhost:11434/v1`.
//!
//! Lost in between: members of a response that its types do not have, such as the `reasoning_content` that some
//! servers want back. With `client.chat().create_byot(…)` the JSON passes unchanged.

use std::error::Error;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionRequestMessage, ChatCompletionTools, CreateChatCompletionRequestArgs,
};
use serde_json::{from_str, from_value, json};
use tool_core::dialect::Dialect;
use tool_core::{Registry, tool};
use tool_dialects::OpenAiChat;

/// The current temperature of a city in degrees Celsius.
#[tool(read_only)]
fn get_temperature(city: &str) -> Result<f64, String> {
    if city == "Lisbon" {
        Ok(21.5)
    } else {
        Err(format!("there is no station in {city}"))
    }
}

async fn ask(
    client: &Client<OpenAIConfig>,
    tools: &Registry,
    question: &str,
) -> Result<String, Box<dyn Error>> {
    let dialect = OpenAiChat::default();
    let typed_tools: Vec<ChatCompletionTools> = from_str(tools.render(&dialect).as_str())?;
    let mut messages: Vec<ChatCompletionRequestMessage> =
        vec![from_value(dialect.user_message(question))?];
    loop {
        let request = CreateChatCompletionRequestArgs::default()
            .model("gpt-5.2")
            .messages(messages.clone())
            .tools(typed_tools.clone())
            .build()?;
        let response = json!(client.chat().create(request).await?);
        let turn = dialect.read(&response)?;
        if turn.calls.is_empty() {
            return Ok(turn.text);
        }
        let results = tools.call_all(turn.calls.clone()).await;
        for message in dialect.follow_up(&turn, &results) {
            messages.push(from_value(message)?);
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let answer = ask(
        &Client::new(),
        &Registry::linked()?,
        "How warm is it in Lisbon?",
    )
    .await?;
    println!("{answer}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use cookbook::{Scripted, chat_call, chat_text};

    use super::*;

    #[tokio::test]
    async fn calls_and_errors_pass_through_its_types() {
        let server = Scripted::serve(vec![
            chat_call("get_temperature", &json!({"city": "Lisbon"})),
            chat_call("get_temperature", &json!({"town": "Lisbon"})),
            chat_text("It is 21.5 °C."),
        ])
        .unwrap();
        let client = Client::with_config(OpenAIConfig::new().with_api_base(server.url()));
        let tools = Registry::linked().unwrap();
        let answer = ask(&client, &tools, "How warm is it in Lisbon?")
            .await
            .unwrap();
        assert_eq!(answer, "It is 21.5 °C.");

        let asked = server.asked();
        assert_eq!(
            asked[0].body["tools"],
            json!(tools.render(&OpenAiChat::default()))
        );
        let messages = &asked[2].body["messages"];
        assert_eq!(
            messages[2],
            json!({"role": "tool", "tool_call_id": "call_1", "content": "21.5"})
        );
        let rejected = messages[4]["content"].as_str().unwrap();
        assert!(
            rejected.contains(r#"- town: unknown; expected "city""#),
            "{rejected}"
        );
    }
}
