//! `genai`: one client for many providers, with the tools of a registry.
//!
//! ```sh
//! cargo add tool-core
//! cargo add serde_json genai
//! cargo add tokio --features macros,rt
//! OPENAI_API_KEY=… cargo run -- gpt-5.2      # or the name and the key of another provider
//! ```
//!
//! Lost in between:
//! - Arguments that are not JSON: `genai` rejects the whole response, so that no tool can tell the model.
//! - The dialect of the provider. Schemas are sent as they are; `with_strict(true)` lets `genai` rewrite them.
//! - Pictures in results, and whether a result is an error: its results are texts.
//!
//! The example `thermostat` has a `Dialect` for these types, for an agent that is saved and resumed.

use std::error::Error;

use genai::Client;
use genai::chat::{ChatRequest, Tool, ToolResponse};
use serde_json::from_str;
use tool_core::{Registry, ToolCall, tool};

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
    client: &Client,
    model: &str,
    tools: &Registry,
    question: &str,
) -> Result<String, Box<dyn Error>> {
    let mut chat = ChatRequest::from_user(question);
    for tool in tools.specs() {
        let described = Tool::new(&*tool.name).with_description(tool.prompt());
        chat = chat.append_tool(described.with_schema(from_str(tool.parameters_json())?));
    }
    loop {
        let response = client.exec_chat(model, chat.clone(), None).await?;
        let calls = response.tool_calls().into_iter().cloned();
        let calls = calls.map(|call| ToolCall::new(call.call_id, call.fn_name, call.fn_arguments));
        let results = tools.call_all(calls.collect::<Vec<_>>()).await;
        let text = response.texts().concat();
        let Some(turn) = response.into_assistant_message_for_tool_use() else {
            return Ok(text);
        };
        chat = chat
            .append_message(turn)
            .append_messages(results.iter().map(|result| {
                ToolResponse::new(result.call_id(), result.content()).with_fn_name(result.name())
            }));
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = std::env::args().nth(1).unwrap_or_else(|| "gpt-5.2".into());
    let tools = Registry::linked()?;
    let answer = ask(&Client::new()?, &model, &tools, "How warm is it in Lisbon?").await?;
    println!("{answer}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use cookbook::{Scripted, chat_call, chat_text};
    use genai::adapter::AdapterKind;
    use genai::resolver::{AuthData, Endpoint, Error};
    use genai::{ModelIden, ServiceTarget};
    use serde_json::json;

    use super::*;

    fn client(url: &str) -> Client {
        let endpoint = format!("{url}/");
        let target = move |target: ServiceTarget| -> Result<ServiceTarget, Error> {
            Ok(ServiceTarget {
                endpoint: Endpoint::from_owned(endpoint.clone()),
                auth: AuthData::from_single("none"),
                model: ModelIden::new(AdapterKind::OpenAI, target.model.model_name),
            })
        };
        Client::builder()
            .with_service_target_resolver_fn(target)
            .build()
            .unwrap()
    }

    #[tokio::test]
    async fn calls_and_errors_pass_through_its_types() {
        let server = Scripted::serve(vec![
            chat_call("get_temperature", &json!({"city": "Lisbon"})),
            chat_call("get_temperature", &json!({"town": "Lisbon"})),
            chat_text("It is 21.5 °C."),
        ])
        .unwrap();
        let tools = Registry::linked().unwrap();
        let answer = ask(
            &client(&server.url()),
            "scripted",
            &tools,
            "How warm is it?",
        )
        .await;
        assert_eq!(answer.unwrap(), "It is 21.5 °C.");

        let asked = server.asked();
        let function = &asked[0].body["tools"][0]["function"];
        assert_eq!(function["parameters"]["required"], json!(["city"]));
        let messages = &asked[2].body["messages"];
        assert_eq!(messages[2]["content"], "21.5");
        let rejected = messages[4]["content"].as_str().unwrap();
        assert!(
            rejected.contains(r#"- town: unknown; expected "city""#),
            "{rejected}"
        );
    }

    #[tokio::test]
    async fn a_response_with_arguments_that_are_not_json_is_lost() {
        let mut response = chat_call("get_temperature", &json!({}));
        response["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] =
            "{\"ci".into();
        let server = Scripted::serve(vec![response, chat_text("It is 21.5 °C.")]).unwrap();
        let tools = Registry::linked().unwrap();
        assert!(
            ask(
                &client(&server.url()),
                "scripted",
                &tools,
                "How warm is it?"
            )
            .await
            .is_err()
        );
    }
}
