//! The client that the official conformance suite of the Model Context Protocol asks for, as far as it is about
//! tools: `conformance/run` starts it for each scenario, with the URL of a server. It imports the tools and calls
//! them. Where a user has to sign in, it is the browser of one who agrees.

use std::error::Error;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tool_core::call::elicit::{ElicitMode, Elicited};
use tool_core::{Registry, ToolCall};
use tool_dialects::Mcp;
use tool_mcp::oauth::{Enterprise, JwtAlgorithm, MemoryStore, OAuth};
use tool_mcp::{Import, Protocol};

/// Where the suite expects the document about this client. Nobody reads it.
const CLIENT_METADATA: &str = "https://conformance-test.local/client-metadata.json";

/// The schema that comes back to the server, in one scenario.
const RICH_TOOL: &str = "json_schema_2020_12_tool";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::ERROR)
        .with_writer(std::io::stderr)
        .init();
    let url = std::env::args()
        .nth(1)
        .ok_or("the URL of a server is missing")?;
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    let protocol = match std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION") {
        Ok(version) if version.as_str() < "2026" => Protocol::V2025_11_25,
        Ok(_) => Protocol::V2026_07_28,
        Err(_) => Protocol::Newest,
    };
    // The suite seldom tells the issuer beforehand.
    let issuer = match context["issuer"].as_str() {
        Some(issuer) => issuer.to_owned(),
        None if context["client_secret"].is_string() || context["valid_jwt"].is_string() => {
            issuer(&url).await?
        }
        None => String::new(),
    };
    let mut oauth = oauth(&scenario, &context, &issuer);
    if let Some(jwt) = context["valid_jwt"].as_str() {
        let jwt = jwt.to_owned();
        oauth = oauth.workload(issuer, move || std::future::ready(Ok(jwt.clone())));
    }
    let registry = Registry::new();
    let import = Import::http(url)
        .protocol(protocol)
        .oauth(oauth)
        .connect_timeout(Duration::from_secs(10))
        .on_elicit(async |question| match &question.request.mode {
            ElicitMode::Form(schema) => Elicited::Accepted(filled(schema)),
            _ => Elicited::Declined,
        })
        .connect(&registry)
        .await?;
    println!("{}", import.report());

    for (name, arguments) in calls(&registry, &scenario, &context) {
        let call = ToolCall::new("call", name.clone(), arguments);
        let result = registry.call(call).await;
        println!("{name}: {}", result.content());
    }
    import.close().await;
    Ok(())
}

/// The way to sign in of a scenario, which depends on what this client has.
fn oauth(scenario: &str, context: &Value, issuer: &str) -> OAuth {
    let text = |key: &str| context[key].as_str().map(str::to_owned);
    let oauth = OAuth::new(MemoryStore::default())
        .client_name("tool-mcp conformance")
        .sign_in_timeout(Duration::from_secs(10));
    let (Some(id), secret) = (text("client_id"), text("client_secret")) else {
        return oauth.client_metadata(CLIENT_METADATA).open(browse);
    };
    if let Some(pem) = text("private_key_pem") {
        let algorithm = match text("signing_algorithm").as_deref() {
            Some("RS256") => JwtAlgorithm::Rs256,
            _ => JwtAlgorithm::Es256,
        };
        return oauth.private_key(id, pem, algorithm);
    }
    let oauth = oauth.client_id(id.clone());
    let Some(secret) = secret else {
        return oauth;
    };
    if let Some(id_token) = text("idp_id_token") {
        let value = |key: &str| text(key).unwrap_or_default();
        let provider = Enterprise::new(
            value("idp_issuer"),
            value("idp_token_endpoint"),
            value("idp_client_id"),
            move || {
                let id_token = id_token.clone();
                async move { Ok(id_token) }
            },
        );
        return oauth.client_secret(issuer, secret).enterprise(provider);
    }
    if scenario.contains("client-credentials") {
        return oauth.client_credentials(issuer, id, secret);
    }
    oauth.client_secret(issuer, secret).open(browse)
}

/// Returns the authorization server that a server names.
async fn issuer(server: &str) -> Result<String, Box<dyn Error>> {
    let url = server.replace("/mcp", "/.well-known/oauth-protected-resource/mcp");
    let metadata: Value = serde_json::from_str(&reqwest::get(url).await?.text().await?)?;
    let issuer = metadata["authorization_servers"][0].as_str();
    Ok(issuer.ok_or("there is no authorization server")?.to_owned())
}

/// Opens a URL, and follows it back to this program.
async fn browse(url: String) -> Result<(), Box<dyn Error + Send + Sync>> {
    reqwest::get(url).await?;
    Ok(())
}

/// The calls of a scenario: those that it lists, or one of each tool.
fn calls(registry: &Registry, scenario: &str, context: &Value) -> Vec<(String, Value)> {
    let tools = json!(registry.render(&Mcp::v2026_07_28()));
    let tools = tools.as_array().cloned().unwrap_or_default();
    if scenario == "json-schema-2020-12-preservation" {
        let rich = tools.iter().find(|tool| tool["name"] == RICH_TOOL);
        let schema = rich.map(|tool| tool["inputSchema"].clone());
        return vec![("json_schema_echo".into(), json!({ "schema": schema }))];
    }
    if scenario == "json-schema-ref-no-deref" {
        return Vec::new();
    }
    if let Some(calls) = context["toolCalls"].as_array() {
        return calls.iter().map(listed).collect();
    }
    let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
    tools
        .iter()
        .map(|tool| (name(tool), example(&tool["inputSchema"])))
        .collect()
}

/// A call that a scenario lists. One has `null` for a parameter that may be missing, but not `null`: calls are
/// validated, so it is left out.
fn listed(call: &Value) -> (String, Value) {
    let name = call["name"].as_str().unwrap_or_default();
    let mut arguments = call["arguments"].as_object().cloned().unwrap_or_default();
    arguments.retain(|_, value| !value.is_null());
    (name.to_owned(), Value::Object(arguments))
}

/// Arguments that match a plain schema.
fn example(schema: &Value) -> Value {
    let properties = schema["properties"].as_object();
    let values = properties.into_iter().flatten().map(|(key, schema)| {
        let value = match schema["type"].as_str() {
            Some("number" | "integer") => json!(2),
            Some("boolean") => json!(true),
            _ => json!("text"),
        };
        (key.clone(), value)
    });
    Value::Object(values.collect())
}

/// The answer of a user who changes nothing in a form, and agrees.
fn filled(schema: &str) -> Value {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let properties = schema["properties"].as_object();
    let mut values = Map::new();
    for (key, schema) in properties.into_iter().flatten() {
        let default = schema.get("default").cloned();
        let is_boolean = schema["type"] == "boolean";
        let value = default.or_else(|| is_boolean.then_some(Value::Bool(true)));
        values.extend(value.map(|value| (key.clone(), value)));
    }
    Value::Object(values)
}
