//! Schemas in the subset of a strict mode, and calls that came through one.

// Only the schema reads the fields.
#![allow(dead_code)]

mod unsupported;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use tool_core::dialect::Dialect;
use tool_core::dialect::write::JsonWriter;
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, ToolCall, ToolEntry, ToolType, tool, tools};
use tool_dialects::{Anthropic, Bedrock, Gemini, Mistral, OpenAiChat, OpenAiResponses, XAi};

/// How loud.
#[derive(Debug, Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
enum Volume {
    /// As in a library.
    Quiet,
    Loud,
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum When {
    At {
        #[param(format = "date-time")]
        time: String,
    },
    In {
        #[param(range = 1..=1440)]
        minutes: u16,
    },
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(untagged)]
enum Sound {
    Melody { name: String, speed: f32 },
    Tone { name: String, pitch: f32 },
}

/// Sets an alarm.
#[tool]
fn set_alarm(
    /// When it rings.
    when: When,
    #[param(length = 1..=40)] label: Option<String>,
    volume: Option<Volume>,
    #[param(default = 3, range = 0..10)] snoozes: u8,
    #[param(length = 2..=4, unique, example = ["mon", "tue"])] days: Option<Vec<String>>,
    /// Where it rings.
    place: Option<(f64, f64)>,
    sound: Option<Sound>,
) -> String {
    format!("{when:?} {label:?} {volume:?} {snoozes} {days:?} {place:?} {sound:?}")
}

#[derive(Deserialize, ToolType)]
struct Tree {
    name: String,
    child: Option<Box<Tree>>,
}

/// Plants a tree.
#[tool]
fn plant(
    /// Its trunk.
    tree: Tree,
) -> String {
    tree.name
}

/// Counts words.
#[tool]
fn count(words: BTreeMap<String, u32>) -> usize {
    words.len()
}

pub(crate) fn tools() -> [ToolEntry; 3] {
    tools![set_alarm, plant, count]
}

fn render(dialect: &dyn Dialect, tool: ToolEntry) -> Value {
    let mut out = JsonWriter::new();
    dialect.write_tools(&[tool], &[], &mut out);
    serde_json::from_str(&out.into_string()).unwrap()
}

fn alarm() -> ToolEntry {
    ToolEntry::of::<set_alarm>()
}

#[test]
fn openai_requires_every_key_and_describes_the_other_constraints() {
    let tool = render(&OpenAiResponses::strict(), alarm());
    assert_eq!(tool[0]["strict"], true);
    let expected = json!({
        "type": "object",
        "properties": {
            "when": {
                "anyOf": [
                    {"type": "object",
                     "properties": {"kind": {"type": "string", "const": "at"},
                                    "time": {"type": "string", "format": "date-time"}},
                     "required": ["kind", "time"], "additionalProperties": false},
                    {"type": "object",
                     "properties": {"kind": {"type": "string", "const": "in"},
                                    "minutes": {"type": "integer", "minimum": 1, "maximum": 1440}},
                     "required": ["kind", "minutes"], "additionalProperties": false},
                ],
                "description": "When it rings.",
            },
            "label": {"type": ["string", "null"],
                      "description": "Must be a string of 1 to 40 characters."},
            "volume": {
                "anyOf": [{"type": "string", "enum": ["quiet", "loud"]}, {"type": "null"}],
                "description": "How loud.\nquiet: As in a library.",
            },
            "snoozes": {"type": ["integer", "null"], "minimum": 0, "maximum": 9,
                        "description": "null means the default, 3."},
            "days": {
                "anyOf": [
                    {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 4},
                    {"type": "null"},
                ],
                "description": "No item may occur twice. For example: [\"mon\",\"tue\"].",
            },
            "place": {
                "anyOf": [
                    {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
                    {"type": "null"},
                ],
                "description": "Where it rings.\nMust be an array of exactly 2 items: \
                                first a number, then a number.",
            },
            "sound": {"anyOf": [
                {"type": "object",
                 "properties": {"speed": {"type": "number"}, "name": {"type": "string"}},
                 "required": ["speed", "name"], "additionalProperties": false},
                {"type": "object",
                 "properties": {"pitch": {"type": "number"}, "name": {"type": "string"}},
                 "required": ["pitch", "name"], "additionalProperties": false},
                {"type": "null"},
            ]},
        },
        "required": ["when", "label", "volume", "snoozes", "days", "place", "sound"],
        "additionalProperties": false,
    });
    assert_eq!(tool[0]["parameters"], expected);
    let chat = render(&OpenAiChat::strict(), alarm());
    assert_eq!(chat[0]["function"]["strict"], true);
    assert_eq!(chat[0]["function"]["parameters"], expected);
}

/// A model writes keys in this order and picks a variant by the first.
#[test]
fn the_first_key_identifies_the_variant() {
    let mut out = JsonWriter::new();
    OpenAiResponses::strict().write_tools(&[alarm()], &[], &mut out);
    let text = out.into_string();
    for start in [
        r#"{"kind":{"type":"string","const":"at"},"time""#,
        r#"{"kind":{"type":"string","const":"in"},"minutes""#,
        r#"{"speed":{"type":"number"},"name""#,
        r#"{"pitch":{"type":"number"},"name""#,
    ] {
        assert!(text.contains(start), "{start} in {text}");
    }
}

#[test]
fn anthropic_omits_optional_keys_and_bounds() {
    let tool = render(&Anthropic::strict(), alarm());
    assert_eq!(tool[0]["strict"], true);
    let schema = &tool[0]["input_schema"];
    assert_eq!(schema["required"], json!(["when"]));
    let properties = &schema["properties"];
    assert_eq!(
        properties["label"],
        json!({"type": "string", "description": "Must be a string of 1 to 40 characters."})
    );
    assert_eq!(
        properties["snoozes"],
        json!({"type": "integer", "default": 3,
               "description": "Must be an integer from 0 to 9."})
    );
    assert_eq!(
        properties["days"],
        json!({"type": "array", "items": {"type": "string"},
               "description": "Must be an array of 2 to 4 items. No item may occur twice. \
                               For example: [\"mon\",\"tue\"]."})
    );
    assert_eq!(
        properties["when"]["anyOf"][1]["properties"]["minutes"],
        json!({"type": "integer", "description": "Must be an integer from 1 to 1440."})
    );
}

#[test]
fn gemini_has_two_forms() {
    let tool = render(&Gemini::open_api(), alarm());
    let function = &tool[0]["functionDeclarations"][0];
    assert_eq!(function.get("parametersJsonSchema"), None);
    let schema = &function["parameters"];
    assert_eq!(schema["type"], "OBJECT");
    assert_eq!(schema.get("additionalProperties"), None);
    assert_eq!(
        schema["properties"]["volume"],
        json!({"type": "STRING", "format": "enum", "enum": ["quiet", "loud"],
               "description": "How loud.\nquiet: As in a library."})
    );
    assert_eq!(
        schema["properties"]["when"]["anyOf"][0],
        json!({
            "type": "OBJECT",
            "properties": {"kind": {"type": "STRING", "format": "enum", "enum": ["at"]},
                           "time": {"type": "STRING", "format": "date-time"}},
            "propertyOrdering": ["kind", "time"],
            "required": ["kind", "time"],
        })
    );

    let tool = render(&Gemini::default(), alarm());
    let function = &tool[0]["functionDeclarations"][0];
    assert_eq!(function.get("parameters"), None);
    let properties = &function["parametersJsonSchema"]["properties"];
    assert_eq!(
        properties["label"],
        json!({"type": "string", "description": "Must be a string of 1 to 40 characters."})
    );
    assert_eq!(
        properties["place"],
        json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}],
               "minItems": 2, "maxItems": 2, "description": "Where it rings."})
    );

    // Schemas beyond the OpenAPI subset use the other form.
    for tool in tools![plant, count] {
        let tool = &render(&Gemini::open_api(), tool)[0]["functionDeclarations"][0];
        assert_eq!(tool.get("parameters"), None);
        assert_eq!(tool["parametersJsonSchema"]["type"], "object");
    }
}

/// A `$ref` allows no siblings, so its description goes on a wrapper.
#[test]
fn a_recursive_type_is_a_reference_where_possible() {
    let tool = render(&OpenAiResponses::strict(), ToolEntry::of::<plant>());
    assert_eq!(
        tool[0]["parameters"],
        json!({
            "type": "object",
            "properties": {
                "tree": {"anyOf": [{"$ref": "#/$defs/Tree"}], "description": "Its trunk."},
            },
            "required": ["tree"],
            "additionalProperties": false,
            "$defs": {"Tree": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "child": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]},
                },
                "required": ["name", "child"],
                "additionalProperties": false,
            }},
        })
    );
    let tool = render(&Anthropic::strict(), ToolEntry::of::<plant>());
    assert_eq!(tool[0]["strict"], false);
    let plain: Value = serde_json::from_str(ToolEntry::of::<plant>().parameters_json()).unwrap();
    assert_eq!(tool[0]["input_schema"], plain);
}

/// A copy of a tool with the same schema, as another server lists it.
fn foreign(tool: &ToolEntry) -> ToolEntry {
    let schema: Value = serde_json::from_str(tool.parameters_json()).unwrap();
    let builder = DynamicTool::foreign(tool.name.to_string()).description("Plants a tree.");
    let built = builder
        .parameters(schema)
        .build(async |_, _| Ok::<_, String>(""));
    built.unwrap().into()
}

/// xAI accepts no circular references (docs.x.ai, "Structured Outputs", 2026).
#[test]
fn xai_gets_a_recursive_type_once_whoever_wrote_the_tool() {
    let compiled = ToolEntry::of::<plant>();
    for tool in [foreign(&compiled), compiled] {
        let sent = render(&XAi::default(), tool);
        let tree = &sent[0]["function"]["parameters"]["properties"]["tree"];
        // Where it has a description, the foreign tool's reference stands in a union of one.
        let tree = tree.pointer("/anyOf/0").unwrap_or(tree);
        assert_eq!(tree["properties"]["name"], json!({"type": "string"}));
        let inner = &tree["properties"]["child"]["description"];
        assert_eq!(
            inner, "Has the form of a schema that contains it.",
            "{sent}"
        );
        assert!(!sent.to_string().contains("$ref"), "{sent}");
    }
}

#[test]
fn xai_is_told_the_step_of_an_integer_even_if_it_is_a_fraction() {
    for step in ["2", "2.5", "1e300"] {
        let schema = format!(
            r#"{{"type":"object","properties":{{"n":{{"type":"integer","multipleOf":{step}}}}}}}"#
        );
        let builder = DynamicTool::foreign("count").description("Counts.");
        let tool = builder
            .parameters_json(schema)
            .build(async |_, _| Ok::<_, String>(""));
        let sent = render(&XAi::default(), tool.unwrap().into());
        let said = &sent[0]["function"]["parameters"]["properties"]["n"]["description"];
        assert_eq!(said, &format!("Must be an integer, a multiple of {step}."));
    }
}

#[test]
fn xai_describes_the_values_of_an_open_object() {
    let tool = render(&XAi::default(), ToolEntry::of::<count>());
    assert_eq!(
        tool[0]["function"]["parameters"]["properties"]["words"],
        json!({"type": "object",
               "additionalProperties": {"type": "integer", "minimum": 0}})
    );
}

/// Strict modes send `null` for absent values, and enum values in another case.
#[test]
fn a_call_from_a_strict_mode_is_accepted() {
    let registry = Registry::builder()
        .tools(tools![set_alarm])
        .build()
        .unwrap();
    let call = |arguments: Value| {
        let result = registry.call_blocking(ToolCall::new("1", "set_alarm", arguments));
        assert!(!result.is_error(), "{}", result.content());
        result.content().to_owned()
    };
    let left_out = json!({
        "when": {"kind": "in", "minutes": 5}, "label": null, "volume": null, "snoozes": null,
        "days": null, "place": null, "sound": null,
    });
    assert_eq!(
        call(left_out),
        call(json!({"when": {"kind": "in", "minutes": 5}}))
    );
    let other_case = json!({
        "when": {"kind": "In", "minutes": 5}, "volume": "Quiet",
        "sound": {"name": "Reveille", "speed": 2},
    });
    let same = json!({
        "when": {"kind": "in", "minutes": 5}, "volume": "quiet",
        "sound": {"name": "Reveille", "speed": 2},
    });
    assert_eq!(call(other_case), call(same));
}

/// Moves money.
#[tool(unlinked, strict, eager_input)]
fn transfer(#[param(range = 1..=9)] amount: u8, note: Option<String>) {
    let _ = (amount, note);
}

/// Takes a note.
#[tool(unlinked, strict = false, eager_input = false)]
fn take_note(#[param(range = 1..=9)] stars: u8) {
    let _ = stars;
}

/// Counts words, in a form that strict modes reject.
#[tool(unlinked, strict)]
fn count_words(words: BTreeMap<String, u8>) {
    let _ = words;
}

/// Has no settings.
#[tool(unlinked)]
fn plain(#[param(range = 1..=9)] stars: u8) {
    let _ = stars;
}

#[test]
fn a_tool_is_strict_by_its_own_setting_or_that_of_the_dialect() {
    let registry = Registry::builder()
        .tools(tools![transfer, take_note, count_words, plain])
        .build()
        .unwrap();
    let strict = |dialect: &dyn Dialect, path: &str| -> Vec<Value> {
        let tools = json!(registry.render(dialect));
        let tools = tools.as_array().unwrap().iter();
        tools
            .map(|tool| tool.pointer(path).cloned().unwrap_or_default())
            .collect()
    };
    let absent = Value::Null;
    // count_words, plain, take_note, transfer
    let chat = "/function/strict";
    let no = json!(false);
    let yes = json!(true);
    for (dialect, path, expected) in [
        (
            &OpenAiChat::default() as &dyn Dialect,
            chat,
            [&no, &absent, &absent, &yes],
        ),
        (&OpenAiChat::strict(), chat, [&no, &yes, &absent, &yes]),
        (
            &OpenAiResponses::default(),
            "/strict",
            [&no, &no, &no, &yes],
        ),
        (
            &OpenAiResponses::strict(),
            "/strict",
            [&no, &yes, &no, &yes],
        ),
        (
            &Anthropic::default(),
            "/strict",
            [&no, &absent, &absent, &yes],
        ),
        (&Anthropic::strict(), "/strict", [&no, &yes, &absent, &yes]),
        (
            &Bedrock::default(),
            "/toolSpec/strict",
            [&absent, &absent, &absent, &yes],
        ),
        (&Mistral::default(), chat, [&yes, &absent, &absent, &yes]),
    ] {
        assert_eq!(strict(dialect, path).iter().collect::<Vec<_>>(), expected);
    }
    // The schema of a strict tool is reduced, and the schema of another one is not.
    let required = strict(&OpenAiChat::default(), "/function/parameters/required");
    assert_eq!(required[3], json!(["amount", "note"]));
    assert_eq!(required[1], json!(["stars"]));
    let bounds = strict(
        &Bedrock::default(),
        "/toolSpec/inputSchema/json/properties/amount/maximum",
    );
    assert_eq!(bounds[3], absent);
    let bounds = strict(
        &Anthropic::strict(),
        "/input_schema/properties/stars/maximum",
    );
    assert_eq!(
        bounds,
        [&absent, &absent, &json!(9), &absent].map(Value::clone)
    );
    // Only strict tools count towards the limits of strict mode.
    let rendered = registry.render(&Anthropic::default());
    assert_eq!(rendered.broken_rules(), []);
}

#[test]
fn eager_input_is_a_setting_of_a_tool_or_of_the_dialect() {
    let registry = Registry::builder()
        .tools(tools![transfer, take_note, plain])
        .build()
        .unwrap();
    let eager = |dialect: &dyn Dialect| -> Vec<Value> {
        let tools = json!(registry.render(dialect));
        let tools = tools.as_array().unwrap().iter();
        tools
            .map(|tool| tool["eager_input_streaming"].clone())
            .collect()
    };
    // plain, take_note, transfer
    assert_eq!(
        eager(&Anthropic::default()),
        [json!(null), json!(false), json!(true)]
    );
    assert_eq!(
        eager(&Anthropic::default().eager_input()),
        [json!(true), json!(false), json!(true)]
    );
    assert_eq!(eager(&OpenAiResponses::default()), vec![Value::Null; 3]);
}
