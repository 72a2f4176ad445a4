//! Asks one model in eight ways: with the tools of its server, with and without their descriptions, with the tools in the
//! prompt, and with the schema of a call besides; each whole and streamed.

use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::dialects::server::Server;
use tool_agent::dialects::{CallFormat, Prompted};
use tool_agent::model::{HttpModel, Model, ModelFuture, Request};
use tool_cli::Cli;
use tool_core::Registry;
use tool_core::dialect::ToolRequest;

const SERVER: &str = "tools of the server";
const WITHOUT_DESCRIPTIONS: &str = "tools without descriptions";
const PROMPT: &str = "prompt";
const PROMPT_AND_SCHEMA: &str = "prompt and schema";
pub(crate) const WAYS: [&str; 4] = [SERVER, WITHOUT_DESCRIPTIONS, PROMPT, PROMPT_AND_SCHEMA];
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
                let free = http(&server, &url, &model).streaming(is_streamed);
                let first = asked(way, &registry, &server, free.clone());
                // After its first call, the model may write what it likes.
                let later = if way == PROMPT_AND_SCHEMA {
                    free
                } else {
                    first.clone()
                };
                agent(way, registry, &server, Turns { first, later })
            });
        }
    }
    (cli, names)
}

/// Returns the model at its server.
pub(crate) fn http(server: &Server, url: &str, model: &str) -> HttpModel {
    HttpModel::new(server, model)
        .base_url(url)
        .system(SYSTEM)
        .max_tokens(200)
        .field("temperature", 0)
}

/// Makes the model ask in this way.
pub(crate) fn asked(
    way: &str,
    registry: &Registry,
    server: &Server,
    model: HttpModel,
) -> HttpModel {
    let read = |json: &str| serde_json::from_str(json).unwrap_or_default();
    match way {
        WITHOUT_DESCRIPTIONS => {
            let mut tools: Value = read(registry.render(server).as_str());
            remove_descriptions(&mut tools);
            model.field("tools", tools)
        }
        PROMPT_AND_SCHEMA => {
            let schema: Value = read(&registry.call_schema().to_string());
            model.field(
                "response_format",
                json!({"type": "json_object", "schema": schema}),
            )
        }
        _ => model,
    }
}

fn is_of_server(way: &str) -> bool {
    matches!(way, SERVER | WITHOUT_DESCRIPTIONS)
}

/// Makes the model call a tool, in a way with the tools of the server.
pub(crate) fn required(way: &str, tools: &ToolRequest, mut model: HttpModel) -> HttpModel {
    if is_of_server(way) {
        for (key, value) in tools.fields() {
            if key != "tools" {
                model = model.field(key, json!(value));
            }
        }
    }
    model
}

fn remove_descriptions(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            // A parameter may have this name, too.
            object.retain(|key, value| key != "description" || !value.is_string());
            object.values_mut().for_each(remove_descriptions);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_descriptions),
        _ => {}
    }
}

/// Returns an agent whose requests have the tools as this way wants them.
pub(crate) fn agent(
    way: &str,
    registry: Registry,
    server: &Server,
    model: impl Model + 'static,
) -> Agent {
    if is_of_server(way) {
        return Agent::new(registry, *server, model);
    }
    // Small models leave out the tags around a call, and so does a schema.
    let format = CallFormat {
        is_bare: true,
        ..CallFormat::QWEN
    };
    Agent::new(registry, Prompted::new(*server, format), model)
}

/// Asks one model for the first response and another for the later ones.
pub(crate) struct Turns<M> {
    pub(crate) first: M,
    pub(crate) later: HttpModel,
}

impl<M: Model> Model for Turns<M> {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        if request.messages.len() == 1 {
            self.first.ask(request)
        } else {
            self.later.ask(request)
        }
    }
}
