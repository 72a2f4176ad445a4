//! Spellings, types and uses that the shapes of all contenders lack.

use std::hint::black_box;

use harness::now::now;
use harness::{Work, cases};
use tool_core::hooks::Gate;
use tool_core::{Registry, ToolCall, ToolType, tool, tools};

/// The case `nested` with a space after each colon and each comma, as Python writes JSON.
pub fn spaced() -> Work {
    let registry = Registry::linked().expect("unique names");
    let arguments = cases::nested();
    let arguments = arguments
        .replace("\":", "\": ")
        .replace(",\"", ", \"")
        .replace(",{", ", {");
    calls(registry, "nested_7", arguments)
}

/// A condition and what follows if it holds.
#[allow(dead_code, reason = "fields are decoded, not read")]
#[derive(ToolType)]
struct Rule {
    /// Name of the rule.
    #[param(length = 1..=40)]
    name: String,
    /// Weight in percent.
    #[param(range = 0..=100)]
    weight: u8,
    /// Words to find.
    #[param(length = ..=5)]
    words: Vec<String>,
    /// Rules that must hold as well.
    #[param(recursive)]
    rules: Vec<Rule>,
}

/// Sorts mail.
#[tool(unlinked)]
fn sort(
    /// The first rule.
    rule: Rule,
) -> String {
    black_box(rule);
    "sorted".into()
}

/// A tree of 13 rules.
pub fn constrained() -> Work {
    let rule = |name: &str, rules: &[String]| {
        let rules = rules.join(",");
        format!(r#"{{"name":"{name}","weight":40,"words":["offer","invoice"],"rules":[{rules}]}}"#)
    };
    let leaves = vec![rule("From a shop", &[]); 3];
    let inner = vec![rule("On a weekday", &leaves); 3];
    let arguments = format!(r#"{{"rule":{}}}"#, rule("Orders", &inner));
    let registry = Registry::builder().tools(tools![sort]).build();
    calls(registry.expect("one tool"), "sort", arguments)
}

/// Searches flats.
#[tool(unlinked)]
fn find_flats(
    /// The city.
    city: String,
    /// The highest rent.
    rent: Option<u32>,
    /// The number of rooms.
    #[param(range = 1..=9)]
    rooms: Option<u8>,
    /// The district.
    district: Option<String>,
    /// Whether there is a balcony.
    balcony: Option<bool>,
) -> String {
    black_box((city, rent, rooms, district, balcony));
    "found".into()
}

fn flats() -> Registry {
    let registry = Registry::builder().tools(tools![find_flats]).build();
    registry.expect("one tool")
}

const FLATS: &str = r#"{"city":"Lisbon, Portugal","rooms":3}"#;

/// A call that leaves out three of five parameters.
pub fn left_out() -> Work {
    calls(flats(), "find_flats", FLATS.into())
}

/// Validates the call that leaves out parameters.
pub fn validate_left_out() -> Work {
    validate_in(flats(), "find_flats", FLATS.into())
}

/// The call of another case in a registry with a hook that allows every call.
pub fn hooked(tool: &'static str, arguments: String) -> Work {
    let registry = Registry::builder().linked().before(async |_| Gate::Allow);
    calls(registry.build().expect("unique names"), tool, arguments)
}

/// Validates the call of another case without running it.
pub fn validate(tool: &'static str, arguments: String) -> Work {
    let registry = Registry::linked().expect("unique names");
    validate_in(registry, tool, arguments)
}

fn validate_in(registry: Registry, tool: &'static str, arguments: String) -> Work {
    Work::new(1, move || {
        let call = ToolCall::new("call_1", tool, &*arguments);
        black_box(registry.validate(&call)).expect("a valid call");
    })
}

/// The bytes of a piece of arguments, about two tokens.
const PIECE: usize = 8;

/// Validates the arguments of a call while they arrive in pieces.
pub fn pieces(tool: &'static str, arguments: String) -> Work {
    let registry = Registry::linked().expect("unique names");
    let pieces = arguments.into_bytes();
    let pieces = pieces.chunks(PIECE).map(<[u8]>::to_vec);
    let pieces: Result<Vec<_>, _> = pieces.map(String::from_utf8).collect();
    let pieces = pieces.expect("ASCII");
    Work::new(1, move || {
        let mut reader = registry.arguments(tool).expect("a known tool");
        for piece in &pieces {
            reader.push(piece);
            assert!(black_box(reader.error()).is_none());
        }
        black_box(reader.finish()).expect("a valid call");
    })
}

fn calls(registry: Registry, tool: &'static str, arguments: String) -> Work {
    Work::new(1, move || {
        let call = ToolCall::new("call_1", tool, &*arguments);
        assert!(!black_box(now(registry.call(call))).is_error());
    })
}
