//! The server that the official conformance suite of the Model Context Protocol asks for: `conformance/run` starts it. It prints its URL.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tool_core::call::Progress;
use tool_core::call::elicit::{Elicit, ElicitError, Elicited};
use tool_core::content::{Audio, Content, File, Image};
use tool_core::dynamic::{DynamicTool, DynamicToolError};
use tool_core::{CallContext, Registry, ToolEntry, ToolType, tool, tools};
use tool_mcp::Server;
use tool_mcp::server::http::HttpConfig;
use tool_mcp::server::{Changes, ProtocolError, TaskPolicy};

/// A picture of one pixel.
const PIXEL: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0x1f, 0x15, 0xc4,
    0x89, 0x00, 0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x00, 0x01, 0x00, 0x00,
    0x05, 0x00, 0x01, 0x0d, 0x0a, 0x2d, 0xb4, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae,
    0x42, 0x60, 0x82,
];

/// A WAV file without samples.
const SILENCE: &[u8] =
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\0\0\0\0";

/// Returns text.
#[tool]
fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Returns an image.
#[tool]
fn test_image_content() -> Image {
    Image::png(PIXEL)
}

/// Returns a sound.
#[tool]
fn test_audio_content() -> Audio {
    Audio::wav(SILENCE)
}

/// Returns a file.
#[tool]
fn test_embedded_resource() -> File {
    File::text("embedded.txt", "This is an embedded resource content.")
}

/// Returns text, an image and a file.
#[tool]
fn test_multiple_content_types() -> Vec<Content> {
    let file = File::new(
        "mixed.json",
        "application/json",
        r#"{"test":"data","value":123}"#,
    );
    vec![
        Content::text("Multiple content types test:"),
        Image::png(PIXEL).into(),
        file.into(),
    ]
}

/// Fails.
#[tool]
fn test_error_handling() -> Result<String, String> {
    Err("This tool intentionally returns an error for testing".into())
}

/// Reports progress.
#[tool]
async fn test_tool_with_progress(call: &CallContext) -> String {
    for done in [0.0, 50.0, 100.0] {
        call.report(&Progress::of(done, 100.0).message(format!("{done} of 100")));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    "done".into()
}

/// Takes some time, in which the connection may end.
#[tool]
async fn test_reconnection() -> &'static str {
    tokio::time::sleep(Duration::from_millis(100)).await;
    "still there"
}

/// Does not log to the client.
#[tool]
fn test_logging_tool() -> &'static str {
    "logged nothing"
}

/// Needs a model of the client, which this server never asks for.
#[tool]
fn test_missing_capability() -> Result<String, ProtocolError> {
    Err(
        ProtocolError::new(-32021, "the client declares no sampling")
            .data(json!({"requiredCapabilities": {"sampling": {}}})),
    )
}

/// Adds a tool, or removes it.
#[tool]
fn test_trigger_tool_change(#[param(context)] registry: &Arc<OnceLock<Registry>>) -> String {
    let Some(registry) = registry.get() else {
        return "there is no registry yet".into();
    };
    if matches!(registry.remove("sometimes"), Ok(None)) {
        let _ = registry.add(tools![sometimes]);
        return "added".into();
    }
    "removed".into()
}

/// Says that the list of prompts has changed.
#[tool]
fn test_trigger_prompt_change(#[param(context)] changes: &Changes) {
    changes.prompts_changed();
}

/// Is there some of the time.
#[tool]
fn sometimes() -> &'static str {
    "now"
}

#[derive(Debug, ToolType)]
#[expect(dead_code, reason = "printed")]
struct Contact {
    /// User's response
    username: String,
    /// User's email address
    email: String,
}

/// Asks the user.
#[tool]
async fn test_elicitation(
    /// The text for the user.
    message: String,
    call: &CallContext,
) -> Result<String, ElicitError> {
    let answer = call
        .elicit("contact", Elicit::<Contact>::form(message))
        .await?;
    Ok(format!("User response: {answer:?}"))
}

/// Asks with a form of all types, with defaults.
#[tool]
async fn test_elicitation_sep1034_defaults(call: &CallContext) -> Result<String, ElicitError> {
    let form = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {
                "type": "string",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": {"type": "boolean", "default": true},
        },
    });
    let answer = call
        .elicit("form", Elicit::with_schema("Who are you?", form))
        .await?;
    Ok(completed(&answer))
}

/// Asks with a form of all kinds of enums.
#[tool]
async fn test_elicitation_sep1330_enums(call: &CallContext) -> Result<String, ElicitError> {
    let titled = |noun: &str| -> Vec<Value> {
        let numbers = ["First", "Second", "Third"];
        let titled = numbers.iter().zip(1..);
        titled
            .map(|(number, at)| json!({"const": format!("value{at}"), "title": format!("{number} {noun}")}))
            .collect()
    };
    let plain = json!(["option1", "option2", "option3"]);
    let form = json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": plain},
            "titledSingle": {"type": "string", "oneOf": titled("Option")},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
        },
    });
    let answer = call
        .elicit("form", Elicit::with_schema("Choose.", form))
        .await?;
    Ok(completed(&answer))
}

fn completed(answer: &Elicited) -> String {
    match answer {
        Elicited::Accepted(content) => {
            format!("Elicitation completed: action=accept, content={content}")
        }
        Elicited::Declined => "Elicitation completed: action=decline".into(),
        Elicited::Dismissed => "Elicitation completed: action=cancel".into(),
    }
}

#[derive(ToolType)]
struct Name {
    name: String,
}

#[derive(ToolType)]
struct Color {
    color: String,
}

async fn greet_user(call: &CallContext) -> Result<String, ElicitError> {
    let question = Elicit::<Name>::form("What is your name?");
    Ok(match call.elicit("user_name", question).await?.accepted() {
        Some(Name { name }) => format!("Hello, {name}!"),
        None => "Hello!".into(),
    })
}

/// Asks for a name.
#[tool]
async fn test_input_required_result_elicitation(call: &CallContext) -> Result<String, ElicitError> {
    greet_user(call).await
}

/// Asks for a name, if the client can ask.
#[tool]
async fn test_input_required_result_capabilities(
    call: &CallContext,
) -> Result<String, ElicitError> {
    greet_user(call).await
}

/// Reports progress, then asks for a name.
#[tool]
async fn test_streaming_elicitation(call: &CallContext) -> Result<String, ElicitError> {
    call.report(&Progress::of(1.0, 2.0));
    greet_user(call).await
}

/// Asks for a confirmation, and checks its state.
#[tool]
async fn test_input_required_result_request_state(
    call: &CallContext,
) -> Result<String, ElicitError> {
    call.keep("seen", "state-ok");
    call.elicit("confirm", Elicit::confirm("Please confirm"))
        .await?;
    Ok(call.kept("seen").unwrap_or_default())
}

/// Asks for a confirmation, with a state that must not change.
#[tool]
async fn test_input_required_result_tampered_state(
    call: &CallContext,
) -> Result<String, ElicitError> {
    let answer = call
        .elicit("confirm", Elicit::confirm("Please confirm"))
        .await?;
    Ok(format!("{answer:?}"))
}

/// Asks twice.
#[tool]
async fn test_input_required_result_multi_round(call: &CallContext) -> Result<String, ElicitError> {
    let name = call
        .elicit("step1", Elicit::<Name>::form("Step 1: What is your name?"))
        .await?;
    let color = Elicit::<Color>::form("Step 2: What is your favorite color?");
    let color = call.elicit("step2", color).await?;
    let name = name
        .accepted()
        .map_or("someone".into(), |answer| answer.name);
    let color = color
        .accepted()
        .map_or("nothing".into(), |answer| answer.color);
    Ok(format!("{name} likes {color}"))
}

/// Greets.
#[tool]
fn greet(
    /// Who is greeted.
    name: &str,
) -> String {
    format!("Hello, {name}!")
}

/// Takes some time.
#[tool]
async fn slow_compute(
    /// How long, in seconds.
    seconds: u32,
    /// A text for the result.
    label: Option<String>,
) -> String {
    tokio::time::sleep(Duration::from_secs(seconds.into())).await;
    format!("{} after {seconds} s", label.unwrap_or_default())
}

/// Fails, as a task.
#[tool]
fn failing_job() -> Result<String, String> {
    Err("the job failed".into())
}

/// Ends with an error of the protocol, as a task.
#[tool]
fn protocol_error_job() -> Result<String, ProtocolError> {
    Err(ProtocolError::new(-32603, "the job broke"))
}

/// Asks whether to delete a file.
#[tool]
async fn confirm_delete(
    /// The file.
    filename: String,
    call: &CallContext,
) -> Result<String, ElicitError> {
    let question = Elicit::confirm(format!("Delete {filename}?"));
    Ok(match call.elicit("confirm", question).await? {
        Elicited::Accepted(()) => format!("{filename} is deleted"),
        Elicited::Declined | Elicited::Dismissed => format!("{filename} is kept"),
    })
}

/// Asks two questions at once.
#[tool]
async fn multi_input(call: &CallContext) -> Result<String, ElicitError> {
    let (name, sure) = tokio::join!(
        call.elicit("name", Elicit::<Name>::form("What is your name?")),
        call.elicit("sure", Elicit::confirm("Are you sure?")),
    );
    let name = name?
        .accepted()
        .map_or("someone".into(), |answer| answer.name);
    Ok(format!("{name}: {:?}", sure?))
}

/// Asks for a name, then works.
#[tool]
async fn test_tool_with_task(call: &CallContext) -> Result<String, ElicitError> {
    greet_user(call).await
}

#[derive(Serialize, ToolType)]
struct Point {
    x: i32,
    y: i32,
}

/// Mirrors a point.
#[tool]
fn mirror(x: i32, y: i32) -> Point {
    Point { x: -x, y: -y }
}

/// The calls of `wait` that were cancelled.
static CANCELLED: AtomicU32 = AtomicU32::new(0);

struct CountOnDrop;

impl Drop for CountOnDrop {
    fn drop(&mut self) {
        CANCELLED.fetch_add(1, Ordering::SeqCst);
    }
}

/// Waits to be cancelled.
#[tool]
async fn wait() {
    let _guard = CountOnDrop;
    std::future::pending::<()>().await;
}

/// Counts the calls that were cancelled.
#[tool]
fn cancelled_calls() -> u32 {
    CANCELLED.load(Ordering::SeqCst)
}

/// A text.
#[tool(unlinked)]
fn static_text() -> &'static str {
    "This is the content of the static text resource."
}

/// A picture.
#[tool(unlinked)]
fn static_binary() -> Image {
    Image::png(PIXEL)
}

#[derive(Serialize, ToolType)]
#[serde(rename_all = "camelCase")]
struct Found {
    id: String,
    template_test: bool,
    data: String,
}

/// A resource to subscribe to.
#[tool(unlinked)]
fn watched_resource() -> &'static str {
    "Watched content"
}

/// The data of an id.
#[tool(unlinked)]
fn template_data(id: String) -> Found {
    let data = format!("Data for ID: {id}");
    Found {
        id,
        template_test: true,
        data,
    }
}

/// A prompt without arguments.
#[tool(unlinked)]
fn test_simple_prompt() -> &'static str {
    "This is a simple prompt for testing."
}

/// A prompt with arguments.
#[tool(unlinked)]
fn test_prompt_with_arguments(
    /// The first argument.
    arg1: &str,
    /// The second argument.
    arg2: &str,
) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

/// A prompt with a file.
#[tool(unlinked)]
fn test_prompt_with_embedded_resource(
    /// The URI of a resource.
    #[param(rename = "resourceUri")]
    resource_uri: &str,
) -> Vec<Content> {
    vec![
        File::text("embedded.txt", "Embedded resource content for testing.").into(),
        Content::text(format!("Please process the resource {resource_uri}.")),
    ]
}

/// A prompt with a picture.
#[tool(unlinked)]
fn test_prompt_with_image() -> Vec<Content> {
    vec![
        Image::png(PIXEL).into(),
        Content::text("Please analyze the image above."),
    ]
}

#[derive(ToolType)]
struct Context {
    context: String,
}

/// A prompt that asks the user.
#[tool(unlinked)]
async fn test_input_required_result_prompt(call: &CallContext) -> Result<String, ElicitError> {
    let question = Elicit::<Context>::form("What context should the prompt use?");
    let answer = call.elicit("user_context", question).await?.accepted();
    let context = answer.map_or("nothing".into(), |answer| answer.context);
    Ok(format!("Use {context}."))
}

/// Tools whose schemas have keywords that functions do not have.
fn foreign() -> Result<[ToolEntry; 2], DynamicToolError> {
    let rich = r##"{
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    }"##;
    let rich = DynamicTool::foreign("json_schema_2020_12_tool")
        .description("Tool with JSON Schema 2020-12 features")
        .parameters_json(rich)
        .build(async |arguments, _| Ok::<_, String>(arguments))?;
    let headers = r#"{
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"]
    }"#;
    let headers = DynamicTool::foreign("test_custom_headers")
        .description("Has a parameter that is sent as a header too.")
        .parameters_json(headers)
        .build(async |arguments, _| Ok::<_, String>(arguments))?;
    Ok([rich.into(), headers.into()])
}

fn policy(tool: &ToolEntry) -> TaskPolicy {
    match &*tool.name {
        "slow_compute" | "protocol_error_job" | "confirm_delete" | "multi_input" => {
            TaskPolicy::Optional
        }
        "failing_job" => TaskPolicy::Required,
        "test_tool_with_task" => TaskPolicy::AfterQuestions,
        _ => TaskPolicy::Never,
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::ERROR)
        .with_writer(std::io::stderr)
        .init();
    let shared = Arc::new(OnceLock::new());
    let changes = Changes::new();
    let registry = Registry::builder()
        .linked()
        .tools(foreign()?)
        .context(shared.clone())
        .context(changes.clone())
        .build()?;
    let _ = shared.set(registry.clone());
    let server = Server::new(registry)
        .name("tool-mcp-conformance", env!("CARGO_PKG_VERSION"))
        .tasks(policy)
        .resource("test://static-text", tools![static_text])
        .resource("test://static-binary", tools![static_binary])
        .resource("test://template/{id}/data", tools![template_data])
        .resource("test://watched-resource", tools![watched_resource])
        .changes(&changes)
        .prompt(tools![
            test_simple_prompt,
            test_prompt_with_arguments,
            test_prompt_with_embedded_resource,
            test_prompt_with_image,
            test_input_required_result_prompt,
        ])
        .complete(async |_| Vec::new());
    if std::env::args().any(|argument| argument == "--stdio") {
        Box::pin(server.stdio()).await?;
        return Ok(());
    }
    let port = std::env::var("PORT").map_or(Ok(0), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let origin = format!("http://{}", listener.local_addr()?);
    println!("{origin}/mcp");
    let mut config = HttpConfig::default();
    config.origins.push(origin);
    server.serve(listener, config).await?;
    Ok(())
}
