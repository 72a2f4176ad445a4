//! Asks one model in six ways: with the tools of its server, with the tools in the prompt, and with the schema of a call
//! besides; each whole and streamed.

use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::dialects::server::Server;
use tool_agent::dialects::{CallFormat, Prompted};
use tool_agent::model::{HttpModel, Model, ModelFuture, Request};
use tool_cli::Cli;
use tool_core::Registry;

const WAYS: [&str; 3] = ["tools of the server", "prompt", "prompt and schema"];
const SYSTEM: &str = "You control a home. Call the tools for what the user says. The units are degrees Celsius and percent.";

/// Adds the model in each way. Returns the names.
pub(crate) fn add(mut cli: Cli, server: &Server, url: &str, model: &str) -> (Cli, Vec<String>) {
    let mut names = Vec::new();
    for way in WAYS {
        for is_streamed in [false, true] {
            let form = if is_streamed { "streamed" } else { "whole" };
            let name = format!("{way}, {form}");
            names.push(name.clone());
            let (server, url, model) = (*server, url.to_owned(), model.to_owned());
            cli = cli.eval_model(name, move |registry| {
                let model = HttpModel::new(&server, &model)
                    .base_url(&url)
                    .system(SYSTEM)
                    .max_tokens(200)
                    .field("temperature", 0)
                    .streaming(is_streamed);
                agent(way, registry, &server, model)
            });
        }
    }
    (cli, names)
}

fn agent(way: &str, registry: Registry, server: &Server, model: HttpModel) -> Agent {
    // Small models leave out what stands around a call, and so does a schema.
    let format = CallFormat {
        is_bare: true,
        ..CallFormat::QWEN
    };
    let dialect = Prompted::new(*server, format);
    if way == WAYS[0] {
        return Agent::new(registry, *server, model);
    }
    if way == WAYS[1] {
        return Agent::new(registry, dialect, model);
    }
    let schema = registry.call_schema().to_string();
    let schema: Value = serde_json::from_str(&schema).unwrap_or_default();
    let format = json!({"type": "json_object", "schema": schema});
    let first = model.clone().field("response_format", format);
    Agent::new(
        registry,
        dialect,
        FirstCall {
            first,
            later: model,
        },
    )
}

/// Makes the model write a call first. Its later responses are free.
struct FirstCall {
    first: HttpModel,
    later: HttpModel,
}

impl Model for FirstCall {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        let is_first = request.messages.len() == 1;
        let model = if is_first { &self.first } else { &self.later };
        model.ask(request)
    }
}
