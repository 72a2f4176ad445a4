//! A float arrives with the bits that were sent: in every type, as text and as a JSON value, in calls
//! and in results.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Mutex;

use properties::random::Random;
use properties::rounds;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, ToolCall, ToolType, tool, tools};

/// Every place of a float, by the ways in which a type is decoded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToolType)]
struct Places {
    plain: f64,
    option: Option<f64>,
    list: Vec<f64>,
    tuple: (f64, bool),
    map: BTreeMap<String, f64>,
    variants: [Variant; 2],
    internal: [Internal; 2],
    adjacent: Adjacent,
    /// serde buffers these.
    untagged: Untagged,
    flattened: Flattened,
    value: Value,
    number: Number,
    object: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToolType)]
enum Variant {
    Newtype(f64),
    Struct { number: f64 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToolType)]
#[serde(tag = "kind")]
enum Internal {
    Struct { number: f64 },
    Newtype(Flat),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToolType)]
#[serde(tag = "kind", content = "content")]
enum Adjacent {
    Newtype(f64),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToolType)]
#[serde(untagged)]
enum Untagged {
    Number(f64),
    Text(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToolType)]
struct Flat {
    flat: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToolType)]
struct Flattened {
    #[serde(flatten)]
    flat: Flat,
}

impl Places {
    fn of(number: f64) -> Places {
        let flat = Flat { flat: number };
        let object = json!({"deep": [number, {"er": number}]});
        Places {
            plain: number,
            option: Some(number),
            list: vec![number, 1.0, number],
            tuple: (number, true),
            map: BTreeMap::from([("key".into(), number)]),
            variants: [Variant::Newtype(number), Variant::Struct { number }],
            internal: [Internal::Struct { number }, Internal::Newtype(flat.clone())],
            adjacent: Adjacent::Newtype(number),
            untagged: Untagged::Number(number),
            flattened: Flattened { flat },
            value: json!([number]),
            number: Number::from_f64(number).expect("a finite number"),
            object: object.as_object().expect("an object").clone(),
        }
    }
}

static RECEIVED: Mutex<Option<Places>> = Mutex::new(None);

/// Takes and returns.
#[tool(unlinked)]
fn typed(places: Places) -> Places {
    *RECEIVED.lock().unwrap() = Some(places.clone());
    places
}

/// Takes and returns what it does not know.
#[tool(unlinked)]
fn any(places: Value) -> Value {
    places
}

/// Takes a float whose places are limited, which is validated before it is decoded.
#[tool(unlinked)]
fn limited(
    #[param(range = 0.0..=1e308)] number: f64,
    #[param(length = 1..)] list: Vec<f64>,
) -> String {
    format!("{:x} {:x}", number.to_bits(), list[0].to_bits())
}

/// Returns a random double. One in three is a coordinate, and one in three has at most 15 digits.
fn double(random: &mut Random) -> f64 {
    loop {
        let word = random.word();
        let number = match word % 3 {
            0 => f64::from_bits(random.word()),
            #[expect(clippy::cast_precision_loss, reason = "it is random")]
            1 => random.word() as f64 / u64::MAX as f64 * 360.0 - 180.0,
            _ => {
                let digits = random.below(1_000_000_000_000_000);
                let scale = random.below(40);
                format!("{digits}e-{scale}").parse().expect("a number")
            }
        };
        if number.is_finite() {
            return number;
        }
    }
}

/// Returns the bits of all numbers in a value.
fn floats(value: &Value) -> Vec<u64> {
    match value {
        Value::Number(number) => vec![number.as_f64().expect("a float").to_bits()],
        Value::Array(items) => items.iter().flat_map(floats).collect(),
        Value::Object(members) => members.values().flat_map(floats).collect(),
        _ => Vec::new(),
    }
}

fn without_sign_of_zero(bits: u64) -> u64 {
    (f64::from_bits(bits) + 0.0).to_bits()
}

/// Debug tells -0.0 and 0.0 apart, which are equal.
fn assert_same<T: Debug>(left: &T, right: &T, text: &str) {
    assert_eq!(format!("{left:?}"), format!("{right:?}"), "{text}");
}

#[test]
fn floats_arrive_bit_by_bit_as_text_and_as_values() {
    let dynamic = DynamicTool::builder("dynamic")
        .parameters(json!({"type": "object", "properties": {"places": {"type": "object"}}}))
        .build(async |arguments, _call| Ok::<_, String>(arguments))
        .expect("a valid tool");
    let registry = Registry::builder()
        .tools(tools![typed, any, limited])
        .tool(dynamic)
        .build()
        .expect("four tools");
    let random = &mut Random::new(50);
    for _ in 0..rounds(3_000, 1_000_000) {
        let number = double(random);
        let places = Places::of(number);
        let text = format!(
            r#"{{"places":{}}}"#,
            serde_json::to_string(&places).unwrap()
        );
        let value: Value = serde_json::from_str(&text).unwrap();
        for name in ["typed", "any", "dynamic"] {
            for arguments in [Value::String(text.clone()), value.clone()] {
                let result = registry.call_blocking(ToolCall::new("id", name, arguments));
                assert!(!result.is_error(), "{}", result.content());
                // The result is text again, and another reader gets the same.
                let returned: Value = serde_json::from_str(result.content()).unwrap();
                let bits = floats(&returned);
                if name == "dynamic" {
                    // A closure gets whole floats as integers, to which `as_i64` applies.
                    let positive: Vec<_> = floats(&value)
                        .into_iter()
                        .map(without_sign_of_zero)
                        .collect();
                    assert_eq!(bits, positive, "{text}");
                    continue;
                }
                assert_eq!(bits, floats(&value), "{text}");
                let returned: Places = serde_json::from_str(result.content()).unwrap();
                assert_same(&returned, &places, &text);
                if name == "typed" {
                    let received = RECEIVED.lock().unwrap().take();
                    assert_same(&received.as_ref(), &Some(&places), &text);
                }
            }
        }
        let number = number.abs().min(1e308);
        let bits = format!("{:x} {:x}", number.to_bits(), number.to_bits());
        for arguments in [
            Value::String(format!(r#"{{"number":{number:?},"list":[{number:?}]}}"#)),
            json!({"number": number, "list": [number]}),
        ] {
            let result = registry.call_blocking(ToolCall::new("id", "limited", arguments));
            assert_eq!(result.content(), bits);
        }
    }
}
