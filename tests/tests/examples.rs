//! `#[tool(example = …)]`: what becomes of the examples of a tool. `tests/ui*/examples` has what the
//! compiler rejects.

use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_core::dialect::Dialect;
use tool_core::dynamic::DynamicTool;
use tool_core::hooks::Gate;
use tool_core::{
    DecodeOwned, Registry, Tool, ToolCall, ToolEntry, ToolErrorKind, ToolType, tool, tools, toolset,
};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mcp, Mistral, OpenAiChat,
    OpenAiResponses, XAi,
};
use tool_docs::lock::{Class, Lock, compare};
use tool_docs::{Docs, testing};

/// Weather in a city.
#[tool(
    example = r#" { "days" : 3.0, "city" : "Lisbon" } "#,
    example = r#"{"city": "S\u00e3o \ud83c\udf0a\n"}"#
)]
fn get_weather(city: &str, #[param(range = 1..=14)] days: Option<u8>) -> String {
    format!("{city} {days:?}")
}

/// Weather in a city.
#[tool(name = "get_weather", unlinked)]
fn without_examples(city: &str, #[param(range = 1..=14)] days: Option<u8>) -> String {
    format!("{city} {days:?}")
}

/// Draws.
#[tool(
    example = r#"{"shapes": [{"kind": "group", "shapes": [{"kind": "circle", "radius": 1.5}]}, {"kind": "circle", "radius": 2}], "size": [3, 4]}"#
)]
fn draw(shapes: Vec<Shape>, size: (u8, u8), note: Option<String>) -> usize {
    drop((size, note));
    shapes.len()
}

#[derive(Debug, Deserialize, Serialize, ToolType)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { radius: f64 },
    Group { shapes: Vec<Shape> },
}

/// Pings a host.
#[tool(example = r#"{"host": "localhost"}"#)]
fn ping(host: IpAddr) -> String {
    host.to_string()
}

fn registry(tools: impl IntoIterator<Item = ToolEntry>) -> Registry {
    let registry = Registry::builder().tools(tools).build();
    registry.expect("unique names")
}

fn call(registry: &Registry, name: &str, arguments: &str) -> String {
    let call = ToolCall::new("id", name, arguments);
    registry.call_blocking(call).content().to_owned()
}

const FIRST: &str = r#"{"days":3.0,"city":"Lisbon"}"#;

#[test]
fn examples_keep_their_order_and_spelling() {
    let examples = [FIRST, "{\"city\":\"São 🌊\\n\"}"];
    assert!(get_weather::SPEC.examples().eq(examples));
    assert_eq!(without_examples::SPEC.examples().len(), 0);
    assert_eq!(draw::SPEC.examples().len(), 1);
}

struct Home<T>(T);

#[toolset]
impl<T: ToolType + Serialize + DecodeOwned + Clone + Send + Sync + 'static> Home<T> {
    /// Sets the light.
    #[tool(example = r#"{"on": true}"#)]
    fn light(&self, on: T) -> T {
        drop(on);
        self.0.clone()
    }
}

#[test]
fn methods_have_examples() {
    let registry = Registry::builder().toolset("home", Home(true)).build();
    let registry = registry.expect("one tool");
    let tool = registry.specs().into_iter().next().expect("it is there");
    assert!(tool.examples().eq([r#"{"on":true}"#]));
    testing::check(&registry).examples().run();
}

#[test]
fn anthropic_gets_the_examples_and_nobody_else() {
    let with = registry(tools![get_weather]);
    let without = registry(tools![without_examples]);
    for dialect in [Anthropic::default(), Anthropic::strict()] {
        let mut tools = json!(with.render(&dialect));
        let examples = tools[0]["input_examples"].take();
        assert_eq!(
            examples,
            json!([{"days": 3.0, "city": "Lisbon"}, {"city": "São 🌊\n"}])
        );
        // As the provider checks it.
        let schema = jsonschema::validator_for(&tools[0]["input_schema"]).expect("a schema");
        assert!(
            examples
                .as_array()
                .is_some_and(|all| all.iter().all(|one| schema.is_valid(one)))
        );
        if let Value::Object(tool) = &mut tools[0] {
            tool.remove("input_examples");
        }
        assert_eq!(tools, json!(without.render(&dialect)));
    }
    let others: [&dyn Dialect; 9] = [
        &Bedrock::default(),
        &Cohere::default(),
        &Gemini::default(),
        &GeminiInteractions::default(),
        &Mcp::default(),
        &Mistral::default(),
        &OpenAiChat::default(),
        &OpenAiResponses::default(),
        &XAi::default(),
    ];
    for dialect in others {
        let render = |registry: &Registry| registry.render(dialect).to_string();
        assert_eq!(render(&with), render(&without), "{}", dialect.provider());
    }
}

#[test]
fn a_rejected_call_is_told_one_that_fits() {
    let registry = registry(tools![get_weather, without_examples].into_iter().take(1));
    let text = call(
        &registry,
        "get_weather",
        r#"{"days":30,"contry":"Portugal"}"#,
    );
    let (list, example) = text.rsplit_once('\n').expect("several lines");
    assert!(
        list.ends_with("\n- city: missing; expected a string"),
        "{text}"
    );
    assert_eq!(example, format!("a call that fits: {FIRST}"));
    let text = call(&registry, "get_weather", r#"{"city":"#);
    assert!(
        text.ends_with(&format!("\na call that fits: {FIRST}")),
        "{text}"
    );
    // It does fit.
    assert_eq!(call(&registry, "get_weather", FIRST), "Lisbon Some(3)");

    let error = registry.validate(&ToolCall::new("id", "get_weather", "{}"));
    let error = error.expect_err("the city is missing");
    assert!(error.message().ends_with(FIRST), "{error}");
    assert_eq!(error.violations().len(), 1);

    let mut reader = registry.arguments("get_weather").expect("the tool");
    reader.push(r#"{"days":300,"#);
    let error = reader.error().expect("300 days are too many");
    assert!(error.message().ends_with(FIRST), "{error}");
}

#[test]
fn a_call_with_hooks_is_told_too() {
    let registry = Registry::builder().tools(tools![get_weather]);
    let registry = registry.before(async |_| Gate::Allow).build();
    let text = call(&registry.expect("one tool"), "get_weather", "{}");
    assert!(
        text.ends_with(&format!("\na call that fits: {FIRST}")),
        "{text}"
    );
}

/// Fails.
#[tool(example = r#"{"text": "a"}"#)]
fn fail(text: &str) -> Result<(), String> {
    Err(format!("no {text}"))
}

#[test]
fn other_errors_have_no_example() {
    let registry = registry(tools![get_weather, fail]);
    assert!(!call(&registry, "fail", r#"{"text":"b"}"#).contains("fits"));
    assert!(!call(&registry, "get_wether", "{}").contains("fits"));
    // The arguments may have been fine up to where they end.
    let response = json!({
        "stop_reason": "max_tokens",
        "content": [{"type": "tool_use", "id": "1", "name": "get_weather", "input": {}}],
    });
    let calls = Anthropic::default().read(&response).expect("a call").calls;
    let text = registry
        .call_blocking(calls[0].clone())
        .content()
        .to_owned();
    assert!(text.contains("truncated"), "{text}");
    assert!(!text.contains("fits"), "{text}");
}

/// Has a long and a short example.
#[tool(
    example = r#"{"text": "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"}"#,
    example = r#"{"text": "short"}"#
)]
fn store(text: &str) -> usize {
    text.len()
}

#[test]
fn a_long_example_is_not_in_an_error() {
    let text = call(&registry(tools![store]), "store", "{}");
    assert!(
        text.ends_with(r#"a call that fits: {"text":"short"}"#),
        "{text}"
    );
}

#[test]
fn a_limited_error_has_the_whole_example_or_none() {
    for cap in 20..200 {
        let builder = Registry::builder().tools(tools![get_weather]);
        let registry = builder.output_cap(cap).build().expect("one tool");
        let text = call(&registry, "get_weather", "{}");
        assert!(
            !text.contains("fits") || text.ends_with(FIRST),
            "{cap}: {text}"
        );
    }
}

#[test]
fn an_error_that_was_passed_on_keeps_its_violations() {
    let inner = registry(tools![get_weather]);
    let outer = DynamicTool::builder("get_weather")
        .description("Weather in a city.")
        .parameters(json!({"type": "object"}))
        .build(move |arguments, _| {
            let inner = inner.clone();
            async move {
                let call = ToolCall::new("id", "get_weather", arguments);
                inner
                    .call_blocking(call)
                    .into_result()
                    .map_err(|error| error.to_string())
            }
        });
    let outer = registry([outer.expect("a tool").into()]);
    let result = outer.call_blocking(ToolCall::new("id", "get_weather", "{}"));
    let error = result.error().expect("the city is missing");
    assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
    let violations: Vec<_> = error.violations().iter().map(ToString::to_string).collect();
    assert_eq!(violations, ["city: missing; expected a string"]);
}

#[test]
fn catalogues_show_the_examples() {
    let registry = registry(tools![get_weather, draw]);
    let markdown = Docs::new(&registry).to_markdown();
    assert!(markdown.contains("**Example calls**"), "{markdown}");
    assert!(markdown.contains("**Example call**"), "{markdown}");
    for text in ["\"days\": 3.0,\n", "\"São 🌊\\n\"", "\"kind\": \"group\""] {
        assert!(markdown.contains(text), "{text} is missing in {markdown}");
    }
    let html = Docs::new(&registry).to_html();
    assert!(
        html.contains("Example calls") && html.contains("São 🌊"),
        "{html}"
    );
    assert_eq!(tool_docs::example(&get_weather::SPEC).as_deref(), Ok(FIRST));
}

#[test]
fn a_changed_example_is_a_change_of_wording() {
    let [with, without] =
        [tools![get_weather], tools![without_examples]].map(|tools| Lock::new(&registry(tools)));
    let changes = compare(&without, &with);
    assert_eq!(changes.class(), Some(Class::Wording));
    let lines: Vec<_> = changes.iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["wording     get_weather, examples: added"]);
    assert_eq!(with.to_string().parse().as_ref().ok(), Some(&with));
    assert!(!without.to_string().contains("examples"));
}

fn failure(run: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("something is wrong");
    panic.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn a_check_tries_what_the_compiler_cannot_decide() {
    let good = registry(tools![get_weather, draw, fail, store]);
    testing::check(&good).examples().run();
    let text = failure(|| testing::check(&registry(tools![ping])).examples().run());
    assert!(
        text.starts_with(r#"the example {"host":"localhost"} of `ping` fails: host: "#),
        "{text}"
    );
}

#[test]
fn a_check_runs_examples_only_when_asked() {
    let registry = registry(
        tools![get_weather, fail, without_examples]
            .into_iter()
            .take(2),
    );
    testing::check(&registry)
        .examples()
        .run_examples(["get_weather"])
        .run();
    let text = failure(|| testing::check(&registry).run_examples(["fail"]).run());
    assert!(
        text.contains(r#"the example {"text":"a"} of `fail` fails: "#),
        "{text}"
    );
    assert!(text.contains("no a"), "{text}");
    let text = failure(|| testing::check(&registry).run_examples(["other"]).run());
    assert_eq!(text, "no example to run of `other`");
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"file-path": {"type": "string"}, "mode": {"type": "integer"}},
        "required": ["file-path"],
        "additionalProperties": {"type": "boolean"},
    })
}

#[test]
fn a_dynamic_tool_rejects_an_example_that_its_schema_rejects() {
    let builder = DynamicTool::builder("read")
        .description("Reads.")
        .parameters(schema());
    let tool = builder
        .example_json(r#"{"mode": 1, "mode": 2, "file-path": "a"}"#)
        .example_json("{")
        .example(json!(["a"]))
        .example(json!({"mode": "r", "more": 1}))
        .build(async |_, _| Ok::<_, String>(()));
    let error = tool.expect_err("all are wrong");
    let starts = [
        r#"its example {"mode": 1, "mode": 2, "file-path": "a"}: mode: given twice"#,
        "its example {: the JSON is cut off",
        r#"its example ["a"]: expected an object"#,
        r#"its example {"mode":"r","more":1}: "#,
    ];
    assert_eq!(error.problems().len(), starts.len(), "{error}");
    for (problem, start) in error.problems().iter().zip(starts) {
        assert!(problem.starts_with(start), "{problem}");
    }
}

#[test]
fn a_foreign_tool_has_examples_with_the_keys_of_models() {
    let builder = DynamicTool::foreign("read/file")
        .description("Reads.")
        .parameters(schema());
    let tool = builder
        .example_json(r#"{"mode": 7, "file-path": "a"}"#)
        .example(json!({"mode": "r"}))
        .build(async |arguments, _| Ok::<_, String>(arguments["file-path"].to_string()))
        .expect("repaired");
    assert!(tool.spec().examples().eq([r#"{"mode":7,"file_path":"a"}"#]));
    let repairs: Vec<_> = tool.repairs().iter().map(ToString::to_string).collect();
    assert!(
        repairs
            .iter()
            .any(|one| one.starts_with(r#"its example {"mode":"r"}: "#)),
        "{repairs:?}"
    );
    let registry = registry([tool.into()]);
    testing::check(&registry)
        .examples()
        .run_examples(["read_file"])
        .run();
    let text = call(&registry, "read_file", "{}");
    assert!(
        text.ends_with(r#"a call that fits: {"mode":7,"file_path":"a"}"#),
        "{text}"
    );
    // A client with the original name may know the original keys only.
    let text = call(&registry, "read/file", "{}");
    assert!(!text.contains("fits"), "{text}");
    let tools = json!(registry.render(&Anthropic::default()));
    let schema = jsonschema::validator_for(&tools[0]["input_schema"]).expect("a schema");
    assert!(schema.is_valid(&tools[0]["input_examples"][0]), "{tools}");
}
