//! The schema is enforced, whatever the type's `Deserialize` would accept.

use serde::Deserialize;
use serde_json::{Value, json};
use tool_core::{Registry, Tool, ToolCall, ToolType, tool, tools};

use super::enums::External;
use super::{Circle, Subject};

mod elsewhere {
    pub(crate) use serde as own_serde;
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(
    crate = "elsewhere::own_serde",
    bound(deserialize = "T: Deserialize<'de>, U: Default")
)]
struct Bounded<T, U: Default> {
    values: Vec<Option<T>>,
    #[serde(skip)]
    unused: U,
}

#[test]
fn serde_bounds_and_crate_path_need_no_support() {
    struct NoSchema;
    impl Default for NoSchema {
        fn default() -> Self {
            NoSchema
        }
    }
    impl std::fmt::Debug for NoSchema {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("NoSchema")
        }
    }
    /// Takes a value.
    #[tool(unlinked)]
    fn take(value: Bounded<u8, NoSchema>) -> String {
        format!("{value:?}")
    }
    let registry = Registry::builder().tools(tools![take]).build().unwrap();
    let result = registry.call_blocking(ToolCall::new(
        "id",
        "take",
        json!({"value": {"values": [1, null]}}),
    ));
    assert_eq!(
        result.content(),
        "Bounded { values: [Some(1), None], unused: NoSchema }"
    );
}

#[derive(Debug, Deserialize, ToolType)]
struct Wrapped(Vec<Option<External>>);

#[derive(Debug, Deserialize, ToolType)]
struct Nested {
    circle: Circle,
    wrapped: Wrapped,
    pair: (Option<Circle>, External),
}

#[test]
fn values_that_only_serde_accepts_are_rejected_at_every_depth() {
    let subject = subject!(Nested);
    let good = json!({
        "circle": {"radius": 1.5},
        "wrapped": [null, "Nothing", {"Boxed": {"radius": 2.5}}],
        "pair": [{"radius": 3.5}, {"Named": {"firstName": "Ada"}}],
    });
    assert!(!subject.call(&good).is_error());
    for (place, value, said) in [
        ("/circle", json!([1.5]), "value.circle: expected an object"),
        (
            "/circle",
            json!({"radius": 1.5, "x": 1}),
            "value.circle.x: unknown",
        ),
        ("/wrapped/1", json!({"Nothing": null}), "value.wrapped[1]"),
        (
            "/wrapped/2/Boxed",
            json!([2.5]),
            "value.wrapped[2].Boxed: expected an object",
        ),
        (
            "/wrapped/2/Boxed",
            json!({"radius": 2.5, "x": 1}),
            "value.wrapped[2].Boxed.x: unknown",
        ),
        ("/pair/0", json!([3.5]), "value.pair[0]: expected an object"),
        (
            "/pair/1/Named",
            json!({"firstName": "Ada", "x": 1}),
            "value.pair[1].Named.x: unknown",
        ),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(place).unwrap() = value;
        assert!(
            serde_json::from_value::<Nested>(bad.clone()).is_ok(),
            "{bad}"
        );
        subject.refuses(bad, said);
    }
    // Values that are accepted although serde rejects them.
    let mut spelled = good;
    spelled["circle"]["radius"] = json!(2);
    spelled["pair"][1] = json!({"Number": 7.0});
    spelled["wrapped"][1] = json!("NOTHING");
    assert!(!subject.call(&spelled).is_error());
}

/// Its `Deserialize` accepts more than its schema shows.
#[derive(Debug, ToolType)]
#[param(serde)]
struct Celsius {
    degrees: f64,
}

impl<'de> Deserialize<'de> for Celsius {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Bare(f64),
            Object { degrees: f64 },
        }
        let (Either::Bare(degrees) | Either::Object { degrees }) =
            Either::deserialize(deserializer)?;
        Ok(Celsius { degrees })
    }
}

#[test]
fn a_type_with_its_own_deserialize_is_validated_against_its_schema() {
    let subject = subject!(Vec<Celsius>);
    subject.accepts(json!([{"degrees": 21.5}]), "[Celsius { degrees: 21.5 }]");
    subject.refuses(json!([21.5]), "value[0]: expected an object");
    subject.refuses(json!([{"degrees": 21.5, "x": 1}]), "value[0].x: unknown");
}
