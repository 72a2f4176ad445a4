//! What `COMING-FROM.md` says about other crates.

use rig::rig_tool;
use rig::tool::{ErasedTool, ToolContext, ToolExecutionError, ToolResult, ToolSet};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolRequestParams;
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use serde_json::{Value, json};

/// Multiplies two numbers.
#[rig_tool(params(a = "The first factor.", b = "The second factor."))]
fn multiply(a: i64, b: i64) -> Result<i64, ToolExecutionError> {
    Ok(a * b)
}

/// Reads a number.
#[rig_tool]
fn read(text: String) -> Result<i64, std::num::ParseIntError> {
    text.parse()
}

async fn rig(tool: impl ErasedTool, arguments: &str) -> ToolResult {
    let mut context = ToolContext::new();
    tool.execute(arguments.to_owned(), &mut context).await
}

#[tokio::test]
async fn rig_accepts_unknown_arguments_and_positions_and_words_the_first_mistake() {
    for arguments in [r#"{"a":2,"b":3,"c":4}"#, "[2,3]"] {
        let result = rig(Multiply, arguments).await;
        assert_eq!(result.output().as_json(), Some(&json!(6)), "{arguments}");
    }
    let result = rig(Multiply, r#"{"a":"two","b":"three"}"#).await;
    let text = result.output().render();
    assert!(text.contains("two") && !text.contains("three"), "{text}");
}

#[tokio::test]
async fn rig_hides_the_text_of_an_error() {
    let text = rig(Read, r#"{"text":"x"}"#).await.output().render();
    assert!(!text.contains("invalid digit"), "{text}");
}

#[test]
fn rig_and_rmcp_keep_one_of_two_tools_of_a_name() {
    let mut tools = ToolSet::default();
    tools.add_tool(Multiply);
    tools.add_tool(Multiply);
    assert_eq!(tools.tool_definitions().len(), 1);

    let both = Calculator::tool_router() + Calculator::tool_router();
    assert_eq!(
        both.list_all().len(),
        Calculator::tool_router().list_all().len()
    );
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Summands {
    a: i64,
    b: i64,
}

#[derive(Clone)]
struct Calculator;

#[tool_router]
impl Calculator {
    #[tool(description = "Adds two numbers.")]
    fn sum(&self, Parameters(Summands { a, b }): Parameters<Summands>) -> String {
        (a + b).to_string()
    }

    #[tool(description = "Panics.")]
    fn fail(&self) -> String {
        panic!("a bug")
    }
}

#[tool_handler]
impl ServerHandler for Calculator {}

#[tokio::test]
async fn rmcp_ignores_unknown_arguments_and_words_the_first_mistake() {
    let (ours, theirs) = tokio::io::duplex(4096);
    tokio::spawn(async move { Calculator.serve(theirs).await.unwrap().waiting().await });
    let client = ().serve(ours).await.unwrap();
    let call = |arguments: Value| {
        let arguments = arguments.as_object().cloned().unwrap();
        client.call_tool(CallToolRequestParams::new("sum").with_arguments(arguments))
    };
    let sum = call(json!({"a": 2, "b": 3, "c": 4})).await.unwrap();
    assert_eq!(sum.content[0].as_text().unwrap().text, "5");
    let wrong = call(json!({"a": "x", "b": "y"})).await.unwrap();
    assert_eq!(wrong.is_error, Some(true));
    let text = &wrong.content[0].as_text().unwrap().text;
    assert!(text.contains("\"x\"") && !text.contains("\"y\""), "{text}");

    let schema = json!(Calculator::tool_router().list_all()[1].input_schema);
    assert!(schema["$schema"].is_string() && schema["additionalProperties"].is_null());
    assert_eq!(schema["properties"]["a"]["format"], "int64");
}

#[tokio::test]
async fn rmcp_does_not_answer_a_call_that_panics() {
    let (ours, theirs) = tokio::io::duplex(4096);
    tokio::spawn(async move { Calculator.serve(theirs).await.unwrap().waiting().await });
    let client = ().serve(ours).await.unwrap();
    let failing = client.call_tool(CallToolRequestParams::new("fail"));
    // The answer of a later request comes first.
    let later = client.list_all_tools();
    tokio::select! {
        biased;
        answer = failing => panic!("{answer:?}"),
        listed = later => assert_eq!(listed.unwrap().len(), 2),
    }
}
