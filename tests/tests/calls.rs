//! A call from JSON text to the function and back.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_core::call::Transient;
use tool_core::dialect::Dialect;
use tool_core::dynamic::DynamicTool;
use tool_core::hooks::Gate;
use tool_core::{Registry, Tool, ToolCall, ToolErrorKind, ToolResult, ToolType, tool, tools};
use tool_dialects::Gemini;

/// Temperature unit.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToolType, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Fahrenheit,
}

/// Weather of a city.
#[tool]
fn get_weather(
    /// City name.
    city: String,
    /// Number of days to forecast.
    days: Option<u8>,
    /// Temperature unit.
    unit: Unit,
) -> String {
    format!("{city} {days:?} {unit:?}")
}

/// Does nothing.
#[tool]
fn no_arguments() {}

#[derive(Deserialize, ToolType)]
struct Stop {
    name: String,
    #[serde(default)]
    minutes: u16,
}

/// Plans stops.
#[tool]
fn nested(stops: Vec<Stop>, labels: std::collections::BTreeMap<String, i64>) -> usize {
    stops
        .iter()
        .map(|stop| stop.name.len() + usize::from(stop.minutes))
        .sum::<usize>()
        + labels.len()
}

fn call(name: &str, arguments: &str) -> ToolResult {
    Registry::linked()
        .expect("unique names")
        .call_blocking(ToolCall::new("id", name, arguments))
}

/// Returns the message of a rejected call without its reference.
fn refused(name: &str, arguments: &str) -> String {
    let result = call(name, arguments);
    let Some(error) = result.error() else {
        panic!("{arguments} was accepted: {}", result.content())
    };
    assert_eq!(result.content(), error.message());
    error.message().replace(error.id(), "…")
}

#[test]
fn the_example_schema_is_minimal_and_closed() {
    let json = get_weather::SPEC.parameters_json().to_owned();
    assert_eq!(
        json,
        r#"{"type":"object","properties":{"city":{"type":"string","description":"City name."},"days":{"type":"integer","minimum":0,"maximum":255,"description":"Number of days to forecast."},"unit":{"type":"string","enum":["celsius","fahrenheit"],"description":"Temperature unit."}},"required":["city","unit"],"additionalProperties":false}"#
    );
    assert!(json.len() <= 327, "{} bytes", json.len());
}

#[test]
fn a_tool_without_parameters_has_a_closed_empty_schema() {
    assert_eq!(
        no_arguments::SPEC.parameters_json(),
        r#"{"type":"object","properties":{},"additionalProperties":false}"#
    );
}

#[test]
fn arguments_are_accepted_in_any_order_spacing_and_escaping() {
    for arguments in [
        r#"{"city":"Lisbon","days":3,"unit":"celsius"}"#,
        "\r\n{ \"unit\" : \"celsius\" ,\t\"days\" : 3.0 , \"city\" : \"Lisbon\" } \n",
        r#"{"unit":"celsius","da\u0079s":3e0,"city":"Lisb\u006fn"}"#,
    ] {
        assert_eq!(
            call("get_weather", arguments).content(),
            "Lisbon Some(3) Celsius"
        );
    }
    let without = r#"{"city":"Lisbon","days":null,"unit":"fahrenheit"}"#;
    assert_eq!(
        call("get_weather", without).content(),
        "Lisbon None Fahrenheit"
    );
}

#[test]
fn missing_arguments_count_as_an_empty_object() {
    for nothing in ["", "null", "{}", " { } ", "\n null\t"] {
        assert!(!call("no_arguments", nothing).is_error(), "{nothing:?}");
    }
    let registry = Registry::linked().unwrap();
    for nothing in [json!(null), json!({})] {
        let call = ToolCall::new("id", "no_arguments", nothing);
        assert_eq!(call.parse_error(), None);
        assert_eq!(registry.call_blocking(call).content(), "ok");
    }
}

#[test]
fn members_are_accepted_in_any_order_with_any_whitespace_and_only_once() {
    let members = [r#""city":"Lisbon""#, r#""days":3"#, r#""unit":"celsius""#];
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let [a, b, c] = order.map(|place| members[place]);
        let tight = format!("{{{a},{b},{c}}}");
        for text in [
            tight.clone(),
            tight.replace(',', ", ").replace(':', ": "),
            format!(" {{ {a} ,\n{b}\t, {c} }} ").replace(':', " :\r\n "),
            format!("{{{a},{b} ,{c}}}"),
        ] {
            let result = call("get_weather", &text);
            assert_eq!(result.content(), "Lisbon Some(3) Celsius", "{text}");
        }
        for text in [
            format!("{{{a},{b},{c},{a}}}"),
            format!("{{{a},{b},{c},{c}}}"),
            format!("{{{a},{b},{a},{c}}}"),
            format!("{{{a},{a},{b},{c}}}"),
            format!("{{{a},{b},{c},}}"),
            format!("{{,{a},{b},{c}}}"),
            format!("{{{a},,{b},{c}}}"),
            format!("{{{a}{b},{c}}}"),
            format!("{{{a},{b},{c}"),
            format!("{{{a},{b},{c},"),
            format!("{{{a},{b},{c}}}}}"),
            format!("{{{a},{b},{c}}}{{}}"),
            format!("{{{{{a},{b},{c}}}"),
            format!("{{{a},{b},{c}]"),
            format!("[{a},{b},{c}}}"),
            tight.replacen(':', "", 1),
            tight.replacen(':', "::", 1),
            tight.replacen('"', "", 1),
        ] {
            assert!(call("get_weather", &text).is_error(), "{text}");
        }
    }
}

#[test]
fn one_reply_names_every_violation() {
    let arguments = r#"{"contry":"PT","town":7,"days":300,"days":1,"unit":"kelvin"}"#;
    assert_eq!(
        refused("get_weather", arguments),
        "invalid arguments for get_weather [ref …]:\n\
         - contry: unknown; did you mean \"city\"?\n\
         - town: unknown; expected \"city\", \"days\" or \"unit\"\n\
         - days: 300 is above the maximum 255\n\
         - days: given twice; give it once\n\
         - unit: expected \"celsius\" or \"fahrenheit\", got \"kelvin\"\n\
         - city: missing; expected a string"
    );
    let result = call("get_weather", arguments);
    let violations = result.error().unwrap().violations();
    assert_eq!(violations.len(), 6);
    assert_eq!(violations[2].path(), "days");
    assert_eq!(violations[2].message(), "300 is above the maximum 255");
}

#[test]
fn violations_carry_a_path_at_every_depth() {
    let arguments = r#"{"stops":[{"name":"Porto"},{"nam":"Braga","minutes":-1},[1],"x"],
                        "labels":{"a":1,"b.c":"two","a":3}}"#;
    assert_eq!(
        refused("nested", arguments),
        "invalid arguments for nested [ref …]:\n\
         - stops[1].nam: unknown; did you mean \"name\"?\n\
         - stops[1].minutes: -1 is below the minimum 0\n\
         - stops[1].name: missing; expected a string\n\
         - stops[2]: expected an object, got [1]\n\
         - stops[3]: expected an object, got \"x\"\n\
         - labels.b.c: expected an integer, got \"two\"\n\
         - labels.a: given twice; give it once"
    );
}

#[test]
fn null_counts_as_absent_for_a_field_with_a_default() {
    let arguments = r#"{"stops":[{"minutes":null,"name":"Po\u0072to"}],"labels":{}}"#;
    assert_eq!(call("nested", arguments).content(), "5");
}

static RUNS: AtomicUsize = AtomicUsize::new(0);

/// Counts its runs.
#[tool]
fn counted(stops: Option<Vec<Stop>>) {
    drop(stops);
    RUNS.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn arguments_that_are_not_an_object_never_run_the_tool() {
    for (arguments, said) in [
        ("[]", "expected an object, got []"),
        ("7", "expected an object, got 7"),
        (
            "\"{}\"",
            "expected an object, got \"{}\"; send the value itself, not its JSON in a string",
        ),
        ("true", "expected an object, got true"),
    ] {
        let error = refused("counted", arguments);
        assert!(error.ends_with(&format!(":\n- {said}")), "{error}");
    }
    for (arguments, said) in [
        ("{", "the JSON is cut off inside an object; send it whole"),
        (
            "{} {}",
            "another JSON value follows; make a call for each: trailing characters at line 1 column 4",
        ),
        (
            "{}x",
            "more follows after the end of the JSON; send the JSON alone: trailing characters at line 1 column 3",
        ),
        (
            "{\"stops\":[],}",
            "no comma may follow the last item: key must be a string at line 1 column 13",
        ),
        (
            "{stops:[]}",
            "keys need double quotes (\"): key must be a string at line 1 column 2",
        ),
        (
            "{\"stops\":[]",
            "the JSON is cut off inside an object; send it whole",
        ),
        (
            "```json\n{}\n```",
            "a Markdown code fence is around the JSON; send the JSON alone",
        ),
        ("nul", "the JSON is cut off before a value; send it whole"),
        (
            "{\"a\tb\":1}",
            "write line breaks and tabs in strings as \\n and \\t: control character (\\u0000-\\u001F) found while parsing a string at line 1 column 3",
        ),
    ] {
        let result = call("counted", arguments);
        let error = result
            .error()
            .unwrap_or_else(|| panic!("{arguments} was accepted"));
        assert_eq!(error.kind(), ToolErrorKind::MalformedJson, "{arguments}");
        let message = error.message().replace(error.id(), "…");
        let start = "the arguments for counted are not valid JSON [ref …]: ";
        assert_eq!(
            message.strip_prefix(start),
            Some(said),
            "{arguments}: {message}"
        );
        assert!(
            ToolCall::new("id", "counted", arguments)
                .parse_error()
                .is_some()
        );
    }
    assert_eq!(
        RUNS.load(Ordering::Relaxed),
        0,
        "a refused call ran its tool"
    );
    assert!(!call("counted", "{}").is_error());
    assert_eq!(RUNS.load(Ordering::Relaxed), 1);
}

/// While the model writes, too.
#[test]
fn arguments_in_pieces_that_are_not_json_are_explained() {
    for (piece, said) in [
        ("{\"stops\": [], }", "no comma may follow the last item: "),
        ("{'stops'", "keys and strings need double quotes (\"): "),
    ] {
        let mut arguments = Registry::linked().unwrap().arguments("counted").unwrap();
        arguments.push(piece);
        let error = arguments.error().unwrap();
        assert_eq!(error.kind(), ToolErrorKind::MalformedJson);
        assert!(error.message().contains(said), "{}", error.message());
    }
}

#[test]
fn json_in_a_string_is_explained() {
    let schema = json!({"type": "object", "properties": {"stops": {"type": "array"}, "to": {"type": "object"}}});
    let dynamic = DynamicTool::builder("dynamic")
        .description("Goes.")
        .parameters(schema)
        .build(async |_, _| Ok::<_, String>(()))
        .unwrap();
    let registry = Registry::builder()
        .tools(tools![counted])
        .tool(dynamic)
        .build()
        .unwrap();
    for tool in ["counted", "dynamic"] {
        let call = ToolCall::new("id", tool, r#"{"stops":"[1]"}"#);
        let result = registry.call_blocking(call);
        let said = "got \"[1]\"; send the value itself, not its JSON in a string";
        assert!(
            result.content().ends_with(said),
            "{tool}: {}",
            result.content()
        );
    }
    // Another string is not JSON.
    let result = registry.call_blocking(ToolCall::new("id", "counted", r#"{"stops":"a"}"#));
    assert!(
        result.content().ends_with("got \"a\""),
        "{}",
        result.content()
    );
}

#[test]
fn huge_and_hostile_arguments_are_rejected_with_a_message() {
    let deep = format!(
        "{{\"stops\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(refused("nested", &deep).contains("stops[0]: expected an object, got [[["));

    let mut keys = String::from("{\"stops\":[],\"labels\":{}");
    for at in 0..100_000 {
        keys.push_str(&format!(",\"key{at}\":{at}"));
    }
    keys.push('}');
    let error = refused("nested", &keys);
    assert!(error.ends_with("- and 99980 more"), "{error}");
    assert!(error.len() < 2000);

    let long = format!("{{\"{}\":1}}", "k".repeat(1_000_000));
    assert!(refused("nested", &long).len() < 500);
}

#[test]
fn an_unknown_tool_gets_the_nearest_name() {
    let result = call("get_wether", "{}");
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ToolErrorKind::UnknownTool);
    let message = error.message().replace(error.id(), "…");
    assert_eq!(
        message,
        "unknown tool get_wether [ref …]: did you mean get_weather?"
    );
    assert!(
        call("xyzzyxyzzyxyzzy", "{}")
            .content()
            .ends_with(": call one of the tools you were given")
    );
}

#[test]
fn a_name_from_a_model_cannot_start_a_line_of_a_message() {
    let told = |name: &str, arguments: &str| {
        let result = call(name, arguments);
        let error = result.error().unwrap();
        error.message().replace(error.id(), "…")
    };
    assert_eq!(
        told(
            "get_weather",
            r#"{"city":"Lisbon","unit":"celsius","a\n- b":1}"#
        ),
        "invalid arguments for get_weather [ref …]:\n\
         - \"a\\n- b\": unknown; expected \"city\", \"days\" or \"unit\""
    );
    assert_eq!(
        told("get\n\u{202e}weather", "{}"),
        "unknown tool \"get\\n\\u{202e}weather\" [ref …]: did you mean get_weather?"
    );
    // Rare characters stay as they are.
    assert!(
        told("get_wetter ☂ \"größer\"", "{}").starts_with("unknown tool get_wetter ☂ \"größer\" ")
    );
}

#[test]
fn arguments_can_be_a_parsed_value() {
    let registry = Registry::linked().unwrap();
    let value = json!({"city": "Lisbon", "unit": "celsius"});
    let map = value.as_object().unwrap().clone();
    for call in [
        ToolCall::new("id", "get_weather", value),
        ToolCall::new("id", "get_weather", map),
    ] {
        assert_eq!(
            registry.call_blocking(call).content(),
            "Lisbon None Celsius"
        );
    }
    let array = ToolCall::new("id", "get_weather", json!([1]));
    assert!(array.parse_error().is_some());
    assert!(registry.call_blocking(array).is_error());
}

/// The result of the inner call, in one of the forms in which a tool can return it.
fn pass_on(
    result: ToolResult,
    form: &str,
) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    match form {
        "typed" => Ok(result.into_result()?),
        "text" if result.is_error() => Err(result.content().into()),
        "transient" if result.is_error() => Err(Transient::new(result.content()).into()),
        _ => Ok(result.content().to_owned()),
    }
}

mod inner {
    use tool_core::call::Transient;

    /// Fails in several ways.
    #[tool_core::tool(unlinked)]
    pub(crate) fn forward(digit: u8, form: &str) -> Result<String, Transient> {
        match digit {
            0 => Err(Transient::new("the sensor is busy")),
            1 => panic!("with a secret"),
            _ => Ok(form.to_owned()),
        }
    }
}

/// A registry within a registry.
struct Remote(Registry);

/// Passes the call on.
#[tool(unlinked)]
async fn forward(
    digit: i64,
    form: &str,
    #[param(context)] remote: &Remote,
) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let arguments = json!({"digit": digit, "form": form});
    let call = ToolCall::new("inner", "forward", arguments);
    pass_on(remote.0.call(call).await, form)
}

/// Uses another tool.
#[tool(unlinked)]
async fn plan(
    digit: i64,
    form: &str,
    #[param(context)] remote: &Remote,
) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let arguments = json!({"digit": digit, "form": form});
    let call = ToolCall::new("inner", "forward", arguments);
    pass_on(remote.0.call(call).await, form)
}

fn call_nested(name: &str, digit: i64, form: &str) -> ToolResult {
    let denies = |registry: tool_core::RegistryBuilder| {
        registry.before(async |hook| {
            if hook.call.arguments.to_object().unwrap()["digit"] == 9 {
                Gate::deny("not today")
            } else {
                Gate::Allow
            }
        })
    };
    let remote = denies(Registry::builder().tools(tools![inner::forward]))
        .build()
        .unwrap();
    // Three registries deep.
    let middle = Registry::builder()
        .tools(tools![forward])
        .context(Remote(remote));
    let outer = Registry::builder()
        .tools(tools![forward, plan])
        .context(Remote(middle.build().unwrap()))
        .build()
        .unwrap();
    outer.call_blocking(ToolCall::new(
        "1",
        name,
        json!({"digit": digit, "form": form}),
    ))
}

#[cfg_attr(panic = "abort", ignore = "a tool or a test panics")]
#[test]
fn the_error_of_a_call_that_a_tool_passed_on_stays_as_it_is() {
    for form in ["typed", "text"] {
        for (digit, kind, body, is_retryable) in [
            (
                0,
                ToolErrorKind::Failed,
                "forward failed [ref …]: the sensor is busy; retrying the same call may succeed",
                true,
            ),
            (
                1,
                if form == "typed" {
                    ToolErrorKind::Panicked
                } else {
                    ToolErrorKind::Failed
                },
                "forward failed [ref …]: internal error; it has been reported",
                false,
            ),
            (
                999,
                ToolErrorKind::InvalidArguments,
                "invalid arguments for forward [ref …]:\n- digit: 999 is above the maximum 255",
                false,
            ),
            (
                9,
                ToolErrorKind::Denied,
                "forward was not run [ref …]: not today",
                false,
            ),
        ] {
            let result = call_nested("forward", digit, form);
            let error = result.error().unwrap();
            assert_eq!(error.message().replace(error.id(), "…"), body, "{form}");
            assert_eq!(error.kind(), kind, "{form}: {body}");
            assert_eq!(error.is_retryable(), is_retryable, "{form}: {body}");
            let violations: Vec<_> = error
                .violations()
                .iter()
                .map(|one| (one.path(), one.message()))
                .collect();
            match kind {
                ToolErrorKind::InvalidArguments => {
                    assert_eq!(violations, [("digit", "999 is above the maximum 255")]);
                }
                _ => assert!(violations.is_empty()),
            }
        }
        assert_eq!(call_nested("forward", 2, form).content(), form);
    }
    // A hint to retry is given once.
    let result = call_nested("forward", 0, "transient");
    assert_eq!(
        result.content().matches("retrying").count(),
        1,
        "{}",
        result.content()
    );
    assert_eq!(
        result.content().matches("failed").count(),
        1,
        "{}",
        result.content()
    );
    assert!(result.error().unwrap().is_retryable());
}

#[test]
fn the_error_of_another_tool_is_a_failure_of_the_tool_that_called_it() {
    for form in ["typed", "text"] {
        for digit in [0, 999] {
            let result = call_nested("plan", digit, form);
            let error = result.error().unwrap();
            assert_eq!(error.kind(), ToolErrorKind::Failed);
            // The model can repair neither: the arguments of `plan` were valid.
            assert!(!error.is_retryable() && error.violations().is_empty());
            assert!(!error.message().contains("retrying"), "{error}");
            assert!(error.message().starts_with("plan failed [ref "), "{error}");
            let source = std::error::Error::source(error).unwrap();
            assert_eq!(source.is::<tool_core::ToolError>(), form == "typed");
        }
    }
}

/// Returns this error.
#[tool(unlinked)]
fn quote(text: &str) -> Result<(), String> {
    Err(text.to_owned())
}

#[test]
fn an_error_that_was_passed_on_often_is_told_once() {
    let registry = Registry::builder().tools(tools![quote]).build().unwrap();
    let text = "quote failed [ref ABC123]: ".repeat(100_000) + "no ink";
    let result = registry.call_blocking(ToolCall::new("1", "quote", json!({ "text": text })));
    let id = result.error().unwrap().id();
    assert_eq!(result.content(), format!("quote failed [ref {id}]: no ink"));
}

#[test]
fn an_error_that_only_resembles_one_is_not_parsed() {
    let registry = Registry::builder().tools(tools![quote]).build().unwrap();
    for text in [
        "quote failed",
        "quote failed [ref 123]: x",
        "quote failed [ref abcdef]: x",
        "quote failed [ref ABC123",
        "quoted failed [ref ABC123]: x",
        "other failed [ref ABC123]: x",
        "so quote failed [ref ABC123]: x",
        "invalid arguments for other [ref ABC123]:\n- x",
        "",
    ] {
        let result = registry.call_blocking(ToolCall::new("1", "quote", json!({ "text": text })));
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ToolErrorKind::Failed);
        let message = format!("quote failed [ref {}]: {text}", error.id());
        assert_eq!(error.message(), message);
    }
}

/// What models put around a name, after the tokens of their chat format or the namespaces of their prompt.
#[test]
fn a_name_with_something_around_it_gets_a_hint_or_runs_in_a_lenient_registry() {
    let strict = Registry::builder()
        .tools(tools![get_weather])
        .build()
        .unwrap();
    let lenient = Registry::builder()
        .tools(tools![get_weather])
        .lenient()
        .build()
        .unwrap();
    for name in [
        "functions.get_weather",
        "default_api.get_weather",
        "tools/get_weather",
        "get_weather<|channel|>commentary",
        "<|start|>get_weather",
        "get_weather()",
        "get_weather ",
        "very_long_namespace_of_a_server.get_weather",
    ] {
        let call = || ToolCall::new("call_1", name, r#"{"city":"Oslo","unit":"celsius"}"#);
        let result = strict.call_blocking(call());
        assert!(
            result.content().ends_with(": did you mean get_weather?"),
            "{name}: {}",
            result.content()
        );
        let result = lenient.call_blocking(call());
        assert!(!result.is_error(), "{name}: {}", result.content());
        assert_eq!(result.name(), "get_weather");
        assert_eq!(lenient.resolve(&mut call()).unwrap().name, "get_weather");
        assert!(lenient.validate(&call()).is_ok());
    }
    let result = lenient.call_blocking(ToolCall::new("call_1", "functions.get_time", "{}"));
    assert!(result.is_error());
    // Gemini checks that a result has the name of its call.
    let call = ToolCall::new(
        "call_1",
        "default_api.get_weather",
        r#"{"city":"Oslo","unit":"celsius"}"#,
    );
    let message = &Gemini::default().results(&[lenient.call_blocking(call)])[0];
    assert_eq!(
        message["parts"][0]["functionResponse"]["name"],
        "default_api.get_weather"
    );
}
