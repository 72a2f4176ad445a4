//! The tools of a registry in an agent of `rig`.
//!
//! ```sh
//! cargo add tool-core
//! cargo add serde_json
//! cargo add rig@0.44 tokio --features tokio/macros,tokio/rt
//! OPENAI_API_KEY=… cargo run
//! ```
//!
//! `OPENAI_BASE_URL` asks another server, such as `http://localhost:11434/v1`. Newer versions of `rig` than 0.44
//! need a newer compiler than 1.95.
//!
//! Lost in between:
//! - The id of a call: `rig` does not pass it to tools. Logs have the name alone.
//! - The text of the arguments: a tool gets a `Value`, so that duplicate keys are gone.
//! - Held calls: the model reads that a call waits, and nobody decides. A hook of `rig` can ask a person.
//! - Pictures: this recipe passes texts on. `ToolOutput::content` takes others.

use std::error::Error;

use rig::agent::AgentBuilder;
use rig::message::ToolName;
use rig::providers::openai::OpenAI;
use rig::tool::{DynamicTool, ToolExecutionError, ToolOutput};
use serde_json::from_str;
use tool_core::{Registry, ToolCall, ToolEntry, tool};

/// The current temperature of a city in degrees Celsius.
#[tool(read_only)]
fn get_temperature(city: &str) -> Result<f64, String> {
    if city == "Lisbon" {
        Ok(21.5)
    } else {
        Err(format!("there is no station in {city}"))
    }
}

/// Returns a tool of a registry as one of `rig`.
fn to_rig(tool: &ToolEntry, tools: &Registry) -> Result<DynamicTool, Box<dyn Error>> {
    let (tools, name) = (tools.clone(), tool.name.to_string());
    let schema = from_str(tool.parameters_json())?;
    Ok(DynamicTool::new(
        ToolName::new(&*tool.name)?,
        tool.prompt(),
        schema,
        move |arguments| {
            let running = tools.call(ToolCall::new("rig", &*name, arguments));
            Box::pin(async move {
                let error = match running.await.into_result() {
                    Ok(text) => return Ok(ToolOutput::text(text)),
                    Err(error) => error,
                };
                let to_rig = ToolExecutionError::other(error.message());
                Err(to_rig.with_retryable(error.is_retryable()))
            })
        },
    ))
}

async fn ask(openai: &OpenAI, tools: &Registry, question: &str) -> Result<String, Box<dyn Error>> {
    let specs = tools.specs();
    let rig_tools = specs.iter().map(|tool| to_rig(tool, tools));
    let rig_tools = rig_tools.collect::<Result<_, _>>()?;
    let agent = AgentBuilder::new(openai.chat("gpt-5.2")).dynamic_tools(rig_tools);
    let response = agent.build().prompt(question).max_turns(8).await?;
    Ok(response.output().to_string())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (openai, tools) = (OpenAI::from_env()?, Registry::linked()?);
    let answer = ask(&openai, &tools, "How warm is it in Lisbon?").await?;
    println!("{answer}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use cookbook::{Scripted, chat_call, chat_text};
    use rig::providers::openai::OpenAIConfig;
    use serde_json::{Value, json};

    use super::*;

    #[tokio::test]
    async fn an_agent_of_rig_calls_our_tools_and_reads_our_errors() {
        let server = Scripted::serve(vec![
            chat_call("get_temperature", &json!({"city": "Lisbon"})),
            chat_call("get_temperature", &json!({"town": "Lisbon"})),
            chat_text("It is 21.5 °C."),
        ])
        .unwrap();
        let openai = OpenAIConfig::new("none")
            .with_base_url(server.url())
            .client();
        let tools = Registry::linked().unwrap();
        let answer = ask(&openai, &tools, "How warm is it in Lisbon?")
            .await
            .unwrap();
        assert_eq!(answer, "It is 21.5 °C.");

        let asked = server.asked();
        let schema: Value = from_str(tools.specs()[0].parameters_json()).unwrap();
        assert_eq!(asked[0].body["tools"][0]["function"]["parameters"], schema);
        let messages = &asked[2].body["messages"].to_string();
        assert!(messages.contains("21.5"), "{messages}");
        assert!(
            messages.contains("- city: missing; expected a string"),
            "{messages}"
        );
    }
}
