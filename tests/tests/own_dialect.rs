//! A dialect of a made-up provider, which uses public items of the core only.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};
use tests::root;
use tool_core::dialect::write::{
    Choice, Deferral, EventJson, Json, JsonWriter, NamedTool, Reason, RequestParts, RequestWriter,
    ValueLimit, WireId, write_head,
};
use tool_core::dialect::{
    Dialect, End, HostedTool, OmittedPart, ResponseError, StreamEvent, StreamReader, ToolChoice,
    Turn,
};
use tool_core::rules::{self, BrokenRule};
use tool_core::{Registry, ToolCall, ToolEntry, ToolResult, tool, tools};

/// The provider Semaphore, whose messages are flags.
struct Semaphore;

impl Dialect for Semaphore {
    fn write_tools(&self, tools: &[ToolEntry], _: &[HostedTool], out: &mut JsonWriter) {
        out.array(|out| {
            for tool in tools {
                out.object(|out| {
                    write_head(tool, out);
                    out.word("input").raw(tool.portable_json());
                });
            }
        });
    }

    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        let parts = match parts.choice() {
            Some(Choice::Tool(tool @ NamedTool::Function(_))) => parts.with_only(tool, out),
            _ => parts.filtered(out),
        };
        out.tools(&["flags"], &parts, |json| {
            self.write_tools(parts.tools(), parts.hosted(), json);
        });
        if let Some(Choice::Required) = parts.choice() {
            out.field(&["must_call"], |json| {
                json.boolean(true);
            });
        }
        out.ignores_parallel(&parts);
    }

    fn deferral(&self) -> Deferral {
        Deferral::Ignored
    }

    fn provider(&self) -> &'static str {
        "Semaphore"
    }

    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        let Some(flags) = response["flags"].as_array() else {
            return Err(ResponseError::new(
                "not a message of flags: `flags` is missing",
            ));
        };
        let mut turn = Turn::new(vec![response.clone()]);
        for flag in flags {
            match flag["call"].as_str() {
                Some(name) => {
                    let id = flag["number"].to_string();
                    let call = ToolCall::new(id, name, flag["input"].clone());
                    turn.calls.push(call.with_wire_id(WireId::Number));
                }
                None => turn
                    .text
                    .push_str(flag["text"].as_str().unwrap_or_default()),
            }
        }
        turn.stop = response["end"].as_str().map(str::to_owned);
        turn.reason = match turn.stop.as_deref() {
            Some("lowered") => Some(Reason::Answered),
            Some("fog") => Some(Reason::Length),
            _ => None,
        };
        Ok(turn)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        Box::new(Flags::default())
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let result = |result: &ToolResult| {
            let number: u64 = match result.wire_id() {
                WireId::Number => result.call_id().parse().unwrap_or_default(),
                _ => 0,
            };
            json!({ "number": number, "output": result.content() })
        };
        results.iter().map(result).collect()
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        let parts = results.iter().flat_map(|result| {
            let parts = result.parts().iter().enumerate();
            parts.map(|(at, part)| {
                let note = format!("[{}, omitted: flags show no parts]", part.description());
                OmittedPart::new(result.call_id(), at, None, note)
            })
        });
        parts.collect()
    }

    fn broken_rules(&self, tools: &[ToolEntry], _: &[HostedTool]) -> Vec<BrokenRule> {
        let rule = rules::find("bedrock.tools_min").filter(|_| tools.is_empty());
        let broken = rule.map(|rule| BrokenRule::new(rule, "a request needs a flag"));
        broken.into_iter().collect()
    }
}

/// Reads a stream of flags.
#[derive(Default)]
struct Flags {
    flags: Vec<Value>,
    end: Value,
}

impl StreamReader for Flags {
    fn event(&mut self, event: &Value) -> Result<Vec<StreamEvent>, ResponseError> {
        let event: &Value = event;
        if let Some(end) = Json::get(event, "end").as_str() {
            self.end = end.into();
            return Ok(vec![StreamEvent::Stop(end.to_owned())]);
        }
        self.flags.push(event.clone());
        let text = Json::get(event, "text").as_str();
        Ok(text
            .map(|text| StreamEvent::Text(text.to_owned()))
            .into_iter()
            .collect())
    }

    fn finish(self: Box<Self>) -> Result<(Turn, Value), ResponseError> {
        if self.end.is_null() {
            return Err(ResponseError::incomplete("the flags were not lowered"));
        }
        let response = json!({ "flags": self.flags, "end": self.end });
        Ok((Semaphore.read(&response)?, response))
    }
}

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Rolls a die.
#[tool]
fn roll_die() -> u8 {
    4
}

fn registry() -> Registry {
    let builder = Registry::builder().tools(tools![add, roll_die]);
    builder.build().expect("the tools are valid")
}

#[test]
fn a_call_and_its_result_have_the_form_of_the_provider() {
    let response = json!({"flags": [{"text": "Let me see."}, {"call": "add", "number": 7, "input": {"a": 2, "b": 3}}]});
    let turn = Semaphore.read(&response).unwrap();
    assert_eq!((&*turn.text, turn.end()), ("Let me see.", End::Calls));
    let result = registry().call_blocking(turn.calls[0].clone());
    let added = Semaphore.follow_up(&turn, &[result]);
    assert_eq!(added, [response, json!({"number": 7, "output": "5"})]);
}

#[test]
fn a_request_has_the_fields_that_the_dialect_writes() {
    let registry = registry();
    let request = registry.request(&Semaphore).choice(ToolChoice::tool("add"));
    let request = request.build().unwrap();
    let fields = json!(request.fields());
    assert_eq!(fields["must_call"], true);
    let names: Vec<_> = fields["flags"].as_array().unwrap().iter().collect();
    assert_eq!((names.len(), &names[0]["name"]), (1, &json!("add")));
    assert_eq!(request.notes().len(), 1);
}

#[test]
fn a_stream_is_read_from_values_and_from_texts() {
    let mut reader = Semaphore.stream();
    let mut limit = ValueLimit::default();
    let event = EventJson::parse(r#"{"text":"Hi"}"#, &mut limit).unwrap();
    assert_eq!(
        reader.json(&event).unwrap(),
        [StreamEvent::Text("Hi".into())]
    );
    reader.event(&json!({"end": "fog"})).unwrap();
    let (turn, _) = reader.finish().unwrap();
    assert_eq!(turn.end(), End::Length);
    assert!(Semaphore.stream().finish().unwrap_err().is_incomplete());
}

#[test]
fn a_rule_of_the_dialect_is_listed() {
    let rendered = Registry::new().render(&Semaphore);
    assert_eq!(rendered.broken_rules()[0].message, "a request needs a flag");
}

/// A method that is not forwarded would have its default. The core has the same test of pointers to dialects.
#[test]
fn a_server_forwards_every_method_to_its_dialect() {
    let methods = |path: &str, start: &str| -> BTreeSet<String> {
        let code = fs::read_to_string(root().join(path)).unwrap();
        let (_, rest) = code.split_once(start).unwrap();
        let (body, _) = rest.split_once("\n}\n").unwrap();
        let names = body.lines().filter_map(|line| line.strip_prefix("    fn "));
        names
            .map(|rest| rest.split(['(', '<']).next().unwrap().to_owned())
            .collect()
    };
    let declared = methods("tool-core/src/provider/wire.rs", "pub trait Dialect");
    assert!(declared.len() > 10);
    let forwarded = methods(
        "crates/tool-dialects/src/server.rs",
        "impl Dialect for Server {",
    );
    assert_eq!(forwarded, declared);
}
