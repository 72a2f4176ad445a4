//! Values that can be spelled in several ways, and numbers that JSON values can't hold.

// Tests compare the values, and no code reads their fields.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::num::NonZero;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value, json};
use tool_core::call::Arguments;
use tool_core::dialect::Dialect;
use tool_core::hooks::Gate;
use tool_core::{Registry, ToolCall, ToolEntry, ToolResult, ToolType, tool, tools};
use tool_dialects::{Anthropic, Gemini, Mcp, OpenAiChat};

#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
enum Colour {
    #[serde(alias = "crimson")]
    Red,
    Blue,
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize, ToolType)]
struct Paint {
    #[serde(alias = "colour")]
    name: String,
    litres: Option<u8>,
}

fn call(tool: &[ToolEntry], arguments: impl Into<Arguments>) -> ToolResult {
    let registry = Registry::builder().tools(tool.iter().cloned());
    let registry = registry.build().expect("one tool has one name");
    registry.call_blocking(ToolCall::new("id", "take", arguments))
}

/// Calls a tool with each text and compares the end of the result.
fn check(tool: &[ToolEntry], calls: &[(&str, &str)]) {
    for (text, said) in calls {
        let result = call(tool, *text);
        assert!(
            result.content().ends_with(said),
            "{text}: {}",
            result.content()
        );
    }
}

#[test]
fn unique_items_are_unique_as_values() {
    /// Takes lists of unique items.
    #[tool(unlinked)]
    fn take(
        #[param(unique)] colours: Option<Vec<Colour>>,
        #[param(unique)] wide: Option<Vec<u128>>,
        #[param(unique)] paints: Option<Vec<Paint>>,
        #[param(unique)] addresses: Option<Vec<IpAddr>>,
        #[param(unique)] sets: Option<Vec<BTreeSet<u8>>>,
    ) -> String {
        drop((colours, wide, paints, addresses, sets));
        "taken".into()
    }
    check(
        &tools![take],
        &[
            (
                r#"{"colours":["red","RED"]}"#,
                "colours: contains \"red\" twice; give it once",
            ),
            (
                r#"{"colours":["red","crimson"]}"#,
                "colours: contains \"crimson\" twice; give it once",
            ),
            (
                r#"{"colours":["mauve","beige"]}"#,
                "colours: contains \"beige\" twice; give it once",
            ),
            (r#"{"colours":["red","mauve","Blue"]}"#, "taken"),
            // As floats these would be equal.
            (
                r#"{"wide":[340282366920938463463374607431768211455,340282366920938463463374607431768211454]}"#,
                "taken",
            ),
            (
                r#"{"wide":[18446744073709551617,1.8446744073709551617e19]}"#,
                "wide: contains 18446744073709551617 twice; give it once",
            ),
            (
                r#"{"paints":[{"name":"a","litres":null},{"colour":"a"}]}"#,
                "paints: contains {\"name\":\"a\",\"litres\":null} twice; give it once",
            ),
            (
                r#"{"addresses":["::1","0::0:1"]}"#,
                "addresses: contains \"0::0:1\" twice; give it once",
            ),
            (
                r#"{"sets":[[1,2],[2,1.0,1]]}"#,
                "sets: contains [2,1,1] twice; give it once",
            ),
            (r#"{"sets":[[1,2],[[1,2]],[1]]}"#, "got [1,2]"),
        ],
    );
}

#[test]
fn a_minimum_length_of_a_set_counts_values() {
    /// Takes sets.
    #[tool(unlinked)]
    fn take(
        #[param(length = 2..)] colours: Option<HashSet<Colour>>,
        #[param(length = 1..=2)] few: Option<BTreeSet<i8>>,
    ) -> String {
        assert!(colours.is_none_or(|colours| colours.len() >= 2));
        assert!(few.is_none_or(|few| !few.is_empty()));
        "taken".into()
    }
    let tools = tools![take];
    let schema: Value = serde_json::from_str(tools[0].parameters_json()).unwrap();
    let properties = &schema["properties"];
    assert_eq!(properties["colours"]["uniqueItems"], true);
    assert_eq!(properties["few"].get("uniqueItems"), None);
    check(
        &tools,
        &[
            (
                r#"{"colours":["red","red"]}"#,
                "colours: contains \"red\" twice; give it once",
            ),
            (
                r#"{"colours":["RED","crimson"]}"#,
                "colours: contains \"crimson\" twice; give it once",
            ),
            (r#"{"colours":["red","blue"]}"#, "taken"),
            (r#"{"few":[1,1]}"#, "taken"),
        ],
    );
}

#[test]
fn a_single_value_is_not_wrapped_in_an_array_that_needs_more() {
    /// Takes numbers.
    #[tool(unlinked)]
    fn take(#[param(length = 2..)] numbers: Vec<u8>) -> String {
        format!("{numbers:?}")
    }
    let registry = Registry::builder().tools(tools![take]).lenient().build();
    let result = registry
        .expect("one tool has one name")
        .call_blocking(ToolCall::new("id", "take", r#"{"numbers":7}"#));
    let said = "numbers: expected an array of at least 2 items, got 7";
    assert!(result.content().ends_with(said), "{}", result.content());
}

#[test]
fn map_keys_are_compared_as_values() {
    /// Takes maps.
    #[tool(unlinked)]
    fn take(
        colours: Option<BTreeMap<Colour, u8>>,
        flags: Option<BTreeMap<bool, u8>>,
        bytes: Option<HashMap<u8, bool>>,
        longs: Option<HashMap<i64, bool>>,
        wide: Option<HashMap<u128, bool>>,
    ) -> String {
        format!("{colours:?} {flags:?} {bytes:?} {longs:?} {wide:?}")
    }
    let tools = tools![take];
    let schema: Value = serde_json::from_str(tools[0].parameters_json()).unwrap();
    let byte = json!({"type": "integer", "minimum": 0, "maximum": 255});
    assert_eq!(
        schema["properties"]["flags"],
        json!({"type": "object", "properties": {"true": byte, "false": byte}, "additionalProperties": false})
    );
    check(
        &tools,
        &[
            (
                r#"{"colours":{"Red":1,"BLUE":2}}"#,
                "Some({Red: 1, Blue: 2}) None None None None",
            ),
            (
                r#"{"colours":{"red":1,"RED":2}}"#,
                "colours.RED: means \"red\", which is given twice; give it once",
            ),
            (
                r#"{"colours":{"crimson":1,"red":2}}"#,
                "colours.red: given twice; give it once",
            ),
            (
                r#"{"colours":{"mauve":1,"beige":2}}"#,
                "colours.beige: means \"unknown\", which is given twice; give it once",
            ),
            (
                r#"{"flags":{"True":1,"false":2}}"#,
                "None Some({false: 2, true: 1}) None None None",
            ),
            (
                r#"{"flags":{"yes":1}}"#,
                "flags.yes: unknown; a key must be \"true\" or \"false\"",
            ),
            (
                r#"{"flags":{"true":1,"TRUE":2}}"#,
                "flags.TRUE: means \"true\", which is given twice; give it once",
            ),
            (
                r#"{"bytes":{"256":true}}"#,
                "bytes.256: unknown; a key must be an integer from 0 to 255",
            ),
            (
                r#"{"longs":{"9223372036854775808":true}}"#,
                "a key must be an integer from -9223372036854775808 to 9223372036854775807",
            ),
            (
                r#"{"longs":{"a":true}}"#,
                "longs.a: unknown; a key must be an integer",
            ),
            (
                r#"{"wide":{"340282366920938463463374607431768211455":true}}"#,
                "Some({340282366920938463463374607431768211455: true})",
            ),
            (
                r#"{"wide":{"340282366920938463463374607431768211456":true}}"#,
                "a key must be an integer from 0 to 340282366920938463463374607431768211455",
            ),
            (
                r#"{"bytes":{"\ud800":true}}"#,
                "bytes.\"\\ud800\": contains an unpaired surrogate, which is not valid text",
            ),
        ],
    );
}

#[test]
fn a_key_that_is_an_integer_may_be_escaped() {
    /// Takes a map.
    #[tool(unlinked)]
    fn take(flags: BTreeMap<u8, bool>) -> String {
        format!("{flags:?}")
    }
    check(
        &tools![take],
        &[
            (
                r#"{"flags":{"\u0031":true,"2\u0030":false}}"#,
                "{1: true, 20: false}",
            ),
            (
                r#"{"flags":{"\u0031":true,"1":false}}"#,
                "given twice; give it once",
            ),
        ],
    );
}

#[test]
fn numbers_tell_the_limits_of_their_types() {
    /// Takes numbers.
    #[tool(unlinked)]
    fn take(
        number: Option<NonZero<i64>>,
        wide: Option<NonZero<i128>>,
        list: Option<Vec<i128>>,
        unsigned: Option<u128>,
    ) -> String {
        format!("{number:?} {wide:?} {list:?} {unsigned:?}")
    }
    check(
        &tools![take],
        &[
            (
                r#"{"number":9223372036854775808}"#,
                "number: 9223372036854775808 is above the maximum 9223372036854775807",
            ),
            (
                r#"{"number":-9223372036854775809}"#,
                "number: -9223372036854775809 is below the minimum -9223372036854775808",
            ),
            (
                r#"{"number":0}"#,
                "number: expected an integer of at least 1 or an integer of at most -1, got 0",
            ),
            (
                r#"{"number":"1"}"#,
                "number: expected an integer of at least 1 or an integer of at most -1, got \"1\"",
            ),
            (
                r#"{"wide":170141183460469231731687303715884105728}"#,
                "wide: not accepted; expected an integer from \
                 -170141183460469231731687303715884105728 to 170141183460469231731687303715884105727",
            ),
            (
                r#"{"list":[1,-1e300]}"#,
                "list[1]: -1e300 is below the minimum -170141183460469231731687303715884105728",
            ),
            (
                r#"{"list":[1e41]}"#,
                "list[0]: 1e41 is above the maximum 170141183460469231731687303715884105727",
            ),
            (
                r#"{"unsigned":340282366920938463463374607431768211456}"#,
                "unsigned: 340282366920938463463374607431768211456 is above the maximum \
                 340282366920938463463374607431768211455",
            ),
            (
                r#"{"unsigned":34e37}"#,
                "Some(340000000000000000000000000000000000000)",
            ),
        ],
    );
}

#[test]
fn wide_integers_in_a_value_are_rejected_and_not_rounded() {
    /// Takes integers.
    #[tool(unlinked)]
    fn take(
        wide: Option<u128>,
        long: Option<u64>,
        float: Option<f64>,
        quoted: Option<i128>,
    ) -> String {
        format!("{wide:?} {long:?} {float:?} {quoted:?}")
    }
    let tools = tools![take];
    let text = r#"{"wide":340282366920938463463374607431768211455}"#;
    let exact = "Some(340282366920938463463374607431768211455) None None None";
    assert_eq!(call(&tools, text).content(), exact);
    let rounded = |number: &str| {
        format!(
            "{number} may have been rounded on the way; give an integer from \
             -9223372036854775808 to 18446744073709551615 in plain digits"
        )
    };
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let result = call(&tools, value(text));
    let said = rounded("3.402823669209385e+38");
    assert!(result.content().ends_with(&said), "{}", result.content());
    let big = 9_007_199_254_740_992_u64;
    for (arguments, said) in [
        (
            json!({"long": u64::MAX, "wide": u64::MAX}),
            "Some(18446744073709551615) Some(18446744073709551615) None None",
        ),
        (
            json!({"wide": 1e3, "long": 9_007_199_254_740_991.0}),
            "Some(1000) Some(9007199254740991) None None",
        ),
        (json!({"float": 1e38}), "None None Some(1e38) None"),
        (
            json!({"long": 9_007_199_254_740_992.0}),
            &*format!("long: {}", rounded("9007199254740992.0")),
        ),
        (
            json!({"long": big}),
            "None Some(9007199254740992) None None",
        ),
        // What was sent may be the greatest number of the type.
        (
            value(r#"{"long":18446744073709551615.0}"#),
            &*format!("long: {}", rounded("1.8446744073709552e+19")),
        ),
        (
            value(r#"{"long":36893488147419103232}"#),
            "long: 3.6893488147419103e+19 is above the maximum 18446744073709551615",
        ),
        (value(r#"{"long":1e-400}"#), "None Some(0) None None"),
    ] {
        let result = call(&tools, arguments.clone());
        assert!(
            result.content().ends_with(said),
            "{arguments}: {}",
            result.content()
        );
    }
    // A float holds neither of these numbers.
    assert_eq!(
        call(&tools, r#"{"long":1e-400,"float":1e-400}"#).content(),
        "None Some(0) Some(0.0) None"
    );
    // A gate that changes a call can't round its numbers either.
    let gated = |change: Arguments| {
        let registry = Registry::builder()
            .tools(tools![take])
            .before(move |_| {
                let change = change.clone();
                async move { Gate::Change(change) }
            })
            .build()
            .expect("one tool has one name");
        registry.call_blocking(ToolCall::new("id", "take", "{}"))
    };
    assert_eq!(gated(text.into()).content(), exact);
    assert!(gated(value(text).into()).content().ends_with(&said));
    // In a value, text stays exact.
    let lenient = Registry::builder().tools(tools![take]).lenient().build();
    let quoted = json!({"quoted": "170141183460469231731687303715884105727"});
    let result = lenient
        .expect("one tool has one name")
        .call_blocking(ToolCall::new("id", "take", quoted));
    assert!(
        result
            .content()
            .contains("Some(170141183460469231731687303715884105727)")
    );
    // Whoever inspects a call is not misled.
    let problem = Arguments::from(text).to_object().unwrap_err();
    assert!(problem.contains("more than 64 bits"), "{problem}");
}

#[test]
fn wide_integers_in_results_are_sent_exactly_or_not_at_all() {
    #[derive(Serialize, ToolType)]
    struct Account {
        number: u128,
        note: String,
    }

    /// Returns an account.
    #[tool(unlinked)]
    fn take(number: u128) -> Account {
        Account {
            number,
            note: "170141183460469231731687303715884105727".into(),
        }
    }
    let tools = tools![take];
    let registry = Registry::builder().tools(tools.clone()).build();
    let registry = registry.expect("one tool has one name");
    let listed = registry.render(&Mcp::default()).to_string();
    assert!(!listed.contains("outputSchema"), "{listed}");
    let small = call(&tools, r#"{"number":18446744073709551615}"#);
    assert_eq!(small.structured().unwrap()["number"], u64::MAX);
    let wide = call(&tools, r#"{"number":18446744073709551616}"#);
    assert_eq!(wide.structured(), None);
    let exact =
        r#"{"number":18446744073709551616,"note":"170141183460469231731687303715884105727"}"#;
    assert_eq!(wide.structured_json(), Some(exact));
    let sent = Mcp::default().results(&[wide]).remove(0);
    assert_eq!(sent["result"]["content"][0]["text"], exact);
    assert_eq!(sent["result"].get("structuredContent"), None);
    let wide = call(&tools, r#"{"number":18446744073709551616}"#);
    let sent = Gemini::default().results(&[wide]).clone();
    assert!(sent[0].to_string().contains("18446744073709551616"));
}

#[test]
fn an_empty_string_means_no_arguments() {
    /// Takes nothing.
    #[tool(unlinked)]
    fn take() -> String {
        "taken".into()
    }
    let tools = tools![take];
    let nothing: [Arguments; 9] = [
        "".into(),
        " \n".into(),
        "null".into(),
        "\"\"".into(),
        " \" \" ".into(),
        json!("").into(),
        json!("\"\"").into(),
        Arguments::Json(json!("")),
        Arguments::Json(Value::Null),
    ];
    for arguments in nothing {
        assert!(arguments.to_object().unwrap().is_empty(), "{arguments:?}");
        let made = ToolCall::new("id", "take", arguments.clone());
        assert_eq!(made.parse_error(), None, "{arguments:?}");
        assert_eq!(
            call(&tools, arguments.clone()).content(),
            "taken",
            "{arguments:?}"
        );
    }
    for arguments in ["\"", "\"\"\"", "\"a\"", "[]"] {
        assert!(call(&tools, arguments).is_error(), "{arguments}");
    }
    for arguments in ["", "\"\""] {
        let chat = json!({"choices": [{"message": {"tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "take", "arguments": arguments}},
        ]}}]});
        let anthropic = json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "take", "input": arguments},
        ]});
        let gemini = json!({"candidates": [{"content": {"role": "model", "parts": [
            {"functionCall": {"name": "take", "args": arguments}},
        ]}}]});
        let mcp = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "take", "arguments": arguments}});
        let turns = [
            OpenAiChat::default().read(&chat),
            Anthropic::default().read(&anthropic),
            Gemini::default().read(&gemini),
            Mcp::default().read(&mcp),
        ];
        for turn in turns {
            let read = turn.expect("a response").calls.remove(0);
            assert_eq!(read.parse_error(), None);
            assert_eq!(call(&tools, read.arguments).content(), "taken");
        }
    }
}

#[test]
fn lengths_may_be_exact_and_numbers_untyped() {
    /// Takes a code.
    #[tool(unlinked)]
    fn take(
        #[param(length = 3)] code: String,
        #[param(range = 0.0..)] number: Option<Number>,
    ) -> String {
        format!("{code} {number:?}")
    }
    let tools = tools![take];
    let schema: Value = serde_json::from_str(tools[0].parameters_json()).unwrap();
    assert_eq!(
        schema["properties"],
        json!({
            "code": {"type": "string", "minLength": 3, "maxLength": 3},
            "number": {"type": "number", "minimum": 0},
        })
    );
    check(
        &tools,
        &[
            (r#"{"code":"abc","number":7}"#, "abc Some(Number(7))"),
            (r#"{"code":"abc","number":7.5}"#, "abc Some(Number(7.5))"),
            (
                r#"{"code":"ab"}"#,
                "code: expected a string of exactly 3 characters, got \"ab\"",
            ),
            (
                r#"{"code":"abc","number":-1}"#,
                "number: -1 is below the minimum 0",
            ),
        ],
    );
}

#[test]
fn multiples_of_a_decimal_step_are_decimal() {
    /// Takes a price.
    #[tool(unlinked)]
    fn take(#[param(multiple_of = 0.1)] price: f64) -> String {
        format!("{price}")
    }
    let tools = tools![take];
    for price in ["0.3", "0.7", "1.1", "3"] {
        let result = call(&tools, format!("{{\"price\":{price}}}"));
        assert_eq!(result.content(), price);
    }
    let result = call(&tools, r#"{"price":0.30000000000000004}"#);
    assert!(result.is_error(), "{}", result.content());
}

/// Returns the number as it arrived.
#[tool(unlinked)]
fn whole(#[param(schema = r#"{"type":"integer"}"#)] x: f64) -> String {
    format!("{x:e}")
}

#[test]
fn an_integer_of_any_size_keeps_its_value() {
    let registry = Registry::builder().tools(tools![whole]).build().unwrap();
    for mantissa in ["1", "-12", "1.7976931348623157", "2.50"] {
        for exponent in (0..=308).step_by(7).chain([39, 40, 41, 308]) {
            let text = format!("{mantissa}e{exponent}");
            let number: f64 = text.parse().unwrap();
            if !number.is_finite() || number.fract() != 0.0 {
                continue;
            }
            let call = ToolCall::new("1", "whole", format!(r#"{{"x":{text}}}"#));
            let result = registry.call_blocking(call);
            assert_eq!(result.content(), format!("{number:e}"), "{text}");
        }
    }
}
