//! Every shape that serde derives: what its schema says and what reaches the tool.

// The values are looked at through `Debug`.
#![allow(dead_code)]

use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_core::{Registry, Tool, ToolCall, ToolResult, ToolType, tool, tools};

/// A tool with one parameter `value` of a type: its schema's JSON, and the registry that has it.
macro_rules! subject {
    ($ty:ty) => {{
        /// Takes a value.
        #[tool(unlinked)]
        fn take(value: $ty) -> String {
            format!("{value:?}")
        }
        let parameters: Value = serde_json::from_str(take::SPEC.parameters_json()).unwrap();
        let registry = Registry::builder().tools(tools![take]).build().unwrap();
        Subject {
            parameters,
            registry,
        }
    }};
}

struct Subject {
    parameters: Value,
    registry: Registry,
}

impl Subject {
    fn schema(&self, expected: Value) {
        assert_eq!(
            self.parameters["properties"]["value"], expected,
            "{}",
            self.parameters
        );
    }

    fn call(&self, value: &Value) -> ToolResult {
        let arguments = json!({ "value": value });
        self.registry
            .call_blocking(ToolCall::new("id", "take", arguments))
    }

    fn judged(&self, value: &Value) -> bool {
        let judge = jsonschema::validator_for(&self.parameters).unwrap();
        judge.is_valid(&json!({ "value": value }))
    }

    fn accepts(&self, value: Value, seen: &str) {
        assert_eq!(self.call(&value).content(), seen, "{value}");
        assert!(self.judged(&value), "{value} against {}", self.parameters);
    }

    /// Accepted though the schema does not show it.
    fn accepts_unseen(&self, value: Value, seen: &str) {
        assert_eq!(self.call(&value).content(), seen, "{value}");
        assert!(!self.judged(&value), "{value} is shown after all");
    }

    fn refuses(&self, value: Value, said: &str) {
        let result = self.call(&value);
        assert!(result.is_error(), "{value} gave {}", result.content());
        assert!(
            result.content().contains(said),
            "{value}: {}",
            result.content()
        );
        assert!(!self.judged(&value), "{value}");
    }
}

#[derive(Debug, Deserialize, ToolType)]
struct Circle {
    /// In metres.
    radius: f64,
}

#[derive(Debug, Deserialize, ToolType)]
enum External {
    Nothing,
    /// Just a number.
    Number(u8),
    Pair(u8, String),
    #[serde(rename_all = "camelCase")]
    Named {
        first_name: String,
        age: Option<u8>,
    },
    Boxed(Circle),
}

#[test]
fn external_tags() {
    let subject = subject!(External);
    let byte = json!({"type": "integer", "minimum": 0, "maximum": 255});
    let around = |key: &str, inner: Value| json!({"type": "object", "properties": {key: inner}, "required": [key], "additionalProperties": false});
    let mut number = around("Number", byte.clone());
    number["description"] = "Just a number.".into();
    subject.schema(json!({"anyOf": [
        {"type": "string", "enum": ["Nothing"]},
        number,
        around("Pair", json!({"type": "array", "prefixItems": [byte, {"type": "string"}], "items": false, "minItems": 2, "maxItems": 2})),
        around("Named", json!({"type": "object", "properties": {"firstName": {"type": "string"}, "age": byte}, "required": ["firstName"], "additionalProperties": false})),
        around("Boxed", json!({"type": "object", "properties": {"radius": {"type": "number", "description": "In metres."}}, "required": ["radius"], "additionalProperties": false})),
    ]}));
    subject.accepts(json!("Nothing"), "Nothing");
    subject.accepts(json!({"Number": 7.0}), "Number(7)");
    subject.accepts(json!({"Pair": [1, "a"]}), "Pair(1, \"a\")");
    subject.accepts(
        json!({"Named": {"firstName": "Ada"}}),
        "Named { first_name: \"Ada\", age: None }",
    );
    subject.accepts(
        json!({"Boxed": {"radius": 1}}),
        "Boxed(Circle { radius: 1.0 })",
    );
    subject.refuses(
        json!({"Nothing": null}),
        "value: expected \"Nothing\", an object with \"Number\"",
    );
    subject.refuses(
        json!({"Number": 256}),
        "value.Number: 256 is above the maximum 255",
    );
    subject.refuses(
        json!({"Pair": [1]}),
        "value.Pair: expected an array of exactly 2 items, got 1",
    );
    subject.refuses(
        json!({"Named": {"first_name": "Ada"}}),
        "value.Named.first_name: unknown; did you mean \"firstName\"?",
    );
    subject.refuses(json!({"Number": 1, "Pair": [1, "a"]}), "value");
    subject.refuses(json!("Something"), "did you mean \"Nothing\"?");
    // The name of a variant that is an object.
    subject.refuses(
        json!("Number"),
        "value: expected \"Nothing\", an object with \"Number\"",
    );
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Internal {
    /// Nothing at all.
    Nothing,
    RoundThing(Circle),
    Square {
        side: u8,
    },
}

#[test]
fn internal_tags() {
    let subject = subject!(Internal);
    subject.schema(json!({"anyOf": [
        {"type": "object", "properties": {"kind": {"type": "string", "const": "nothing"}}, "required": ["kind"], "additionalProperties": false, "description": "Nothing at all."},
        {"type": "object", "properties": {"kind": {"type": "string", "const": "round_thing"}, "radius": {"type": "number", "description": "In metres."}}, "required": ["kind", "radius"], "additionalProperties": false},
        {"type": "object", "properties": {"kind": {"type": "string", "const": "square"}, "side": {"type": "integer", "minimum": 0, "maximum": 255}}, "required": ["kind", "side"], "additionalProperties": false},
    ]}));
    subject.accepts(json!({"kind": "nothing"}), "Nothing");
    subject.accepts(
        json!({"radius": 2, "kind": "round_thing"}),
        "RoundThing(Circle { radius: 2.0 })",
    );
    subject.accepts(json!({"kind": "square", "side": 3.0}), "Square { side: 3 }");
    subject.accepts_unseen(json!({"kind": "SQUARE", "side": 3}), "Square { side: 3 }");
    subject.refuses(
        json!({"kind": "square", "side": 3, "radius": 1}),
        "value.radius: unknown",
    );
    subject.refuses(json!({"kind": "square"}), "value");
    subject.refuses(
        json!({"kind": "round"}),
        "value.kind: expected \"nothing\", \"round_thing\" or \"square\", got \"round\"",
    );
    subject.refuses(json!({"side": 3}), "value.kind: missing");
    subject.refuses(json!(["square", 3]), "got [\"square\",3]");
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Nothing,
    Number(u8),
    Pair(u8, u8),
    Named { side: u8 },
}

#[test]
fn adjacent_tags() {
    let subject = subject!(Adjacent);
    subject.accepts(json!({"t": "Nothing"}), "Nothing");
    subject.accepts(json!({"t": "Number", "c": 1}), "Number(1)");
    subject.accepts(json!({"c": [1, 2], "t": "Pair"}), "Pair(1, 2)");
    subject.accepts(json!({"t": "Named", "c": {"side": 1}}), "Named { side: 1 }");
    subject.refuses(json!({"t": "Nothing", "c": null}), "value.c: unknown");
    subject.refuses(json!({"t": "Number"}), "value");
    subject.refuses(
        json!({"t": "Named", "c": [1]}),
        "value.c: expected an object",
    );
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(untagged)]
enum Untagged {
    Flag(bool),
    Number(u8),
    Text(String),
    Circle(Circle),
    Nothing,
}

#[test]
fn no_tags() {
    let subject = subject!(Untagged);
    subject.accepts(json!(true), "Flag(true)");
    subject.accepts(json!(3.0), "Number(3)");
    subject.accepts(json!("3"), "Text(\"3\")");
    subject.accepts(json!({"radius": 1}), "Circle(Circle { radius: 1.0 })");
    subject.accepts(json!(null), "Nothing");
    subject.refuses(json!({"radius": 1, "x": 2}), "value.x: unknown");
    subject.refuses(json!(256), "value: 256 is above the maximum 255");
    subject.refuses(json!([1]), "value: expected true or false, an integer from 0 to 255, a string, an object with \"radius\" or null");
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
enum Documented {
    /// Degrees Celsius.
    Celsius,
    /// Degrees Fahrenheit, "the other" one.
    Fahrenheit,
}

#[test]
fn meanings_of_values_are_told_beside_any_description() {
    /// Takes a unit.
    #[tool(unlinked)]
    fn take(
        /// Unit of the answer.
        unit: Documented,
        plain: Documented,
    ) -> String {
        format!("{unit:?}{plain:?}")
    }
    let parameters: Value = serde_json::from_str(take::SPEC.parameters_json()).unwrap();
    let notes = "celsius: Degrees Celsius.\nfahrenheit: Degrees Fahrenheit, \"the other\" one.";
    assert_eq!(
        parameters["properties"]["unit"]["description"],
        format!("Unit of the answer.\n{notes}")
    );
    assert_eq!(parameters["properties"]["plain"]["description"], notes);
}

#[derive(Debug, Deserialize, ToolType)]
enum Open {
    #[serde(alias = "first", alias = "1st")]
    One,
    Two,
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize, ToolType)]
struct Aliased {
    #[serde(alias = "colour")]
    color: String,
}

#[test]
fn aliases_and_other_are_accepted_and_not_shown() {
    let subject = subject!(Open);
    subject.schema(json!({"type": "string", "enum": ["One", "Two"]}));
    subject.accepts(json!("One"), "One");
    subject.accepts_unseen(json!("1st"), "One");
    subject.accepts_unseen(json!("Seventeen"), "Other");
    subject.accepts_unseen(json!("two"), "Two");
    let subject = subject!(Aliased);
    subject.accepts_unseen(json!({"colour": "red"}), "Aliased { color: \"red\" }");
    subject.refuses(
        json!({"colour": "red", "color": "red"}),
        "value.colour: given twice",
    );
}

#[derive(Debug, Deserialize, ToolType)]
struct Inner {
    a: u8,
    #[serde(default)]
    b: u8,
}

#[derive(Debug, Deserialize, ToolType)]
struct Flattened {
    name: String,
    #[serde(flatten)]
    inner: Inner,
    z: bool,
}

#[derive(Debug, Deserialize, ToolType)]
struct WithRest {
    name: String,
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

#[test]
fn flattened_structs_and_maps() {
    let subject = subject!(Flattened);
    let byte = json!({"type": "integer", "minimum": 0, "maximum": 255});
    subject.schema(json!({"type": "object", "properties": {"name": {"type": "string"}, "a": byte, "b": byte, "z": {"type": "boolean"}},
        "required": ["name", "a", "z"], "additionalProperties": false}));
    subject.accepts(
        json!({"a": 1.0, "z": true, "name": "n"}),
        "Flattened { name: \"n\", inner: Inner { a: 1, b: 0 }, z: true }",
    );
    subject.refuses(
        json!({"a": 1, "z": true, "name": "n", "c": 1}),
        "value.c: unknown",
    );
    subject.refuses(json!({"z": true, "name": "n"}), "value.a: missing");
    let subject = subject!(WithRest);
    subject.schema(json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": byte}));
    subject.accepts(
        json!({"name": "n", "x": 1, "y": 2.0}),
        "WithRest { name: \"n\", rest: {\"x\": 1, \"y\": 2} }",
    );
    subject.refuses(json!({"name": "n", "x": 256}), "value.x: 256 is above");
}

#[derive(Debug, Deserialize, ToolType)]
struct Node {
    name: String,
    #[serde(default)]
    children: Vec<Node>,
    next: Option<Box<Node>>,
}

#[derive(Debug, Deserialize, ToolType)]
enum Expr {
    Number(i64),
    Sum(Box<Expr>, Box<Self>),
    All { of: HashMap<String, Expr> },
}

#[derive(Debug, Deserialize, ToolType)]
struct Tree<T> {
    value: T,
    branches: Vec<Tree<T>>,
}

#[derive(Debug, Deserialize, ToolType)]
struct Folder {
    files: Vec<File>,
}

#[derive(Debug, Deserialize, ToolType)]
struct File {
    name: String,
    #[param(recursive)]
    inside: Option<Box<Folder>>,
}

#[test]
fn recursive_types_refer_to_a_definition() {
    let subject = subject!(Node);
    let node = json!({"$ref": "#/$defs/Node"});
    subject.schema(node.clone());
    assert_eq!(
        subject.parameters["$defs"],
        json!({"Node": {"type": "object", "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": node}, "next": node},
               "required": ["name"], "additionalProperties": false}})
    );
    subject.accepts(
        json!({"name": "a", "children": [{"name": "b", "next": {"name": "c"}}]}),
        "Node { name: \"a\", children: [Node { name: \"b\", children: [], next: Some(Node { name: \"c\", children: [], next: None }) }], next: None }",
    );
    subject.refuses(
        json!({"name": "a", "children": [{"name": 1}]}),
        "value.children[0].name: expected a string",
    );

    let subject = subject!(Expr);
    subject.accepts(
        json!({"Sum": [{"Number": 1}, {"All": {"of": {"x": {"Number": 2}}}}]}),
        "Sum(Number(1), All { of: {\"x\": Number(2)} })",
    );
    subject.refuses(
        json!({"Sum": [{"Number": 1}, {"All": {"of": {"x": {"Number": "2"}}}}]}),
        "value.Sum[1].All.of.x.Number: expected an integer",
    );

    let subject = subject!(Tree<bool>);
    subject.accepts(
        json!({"value": true, "branches": []}),
        "Tree { value: true, branches: [] }",
    );
    subject.refuses(
        json!({"value": true, "branches": [{"value": 1, "branches": []}]}),
        "value.branches[0].value",
    );

    let subject = subject!(Folder);
    subject.accepts(
        json!({"files": [{"name": "a", "inside": {"files": []}}]}),
        "Folder { files: [File { name: \"a\", inside: Some(Folder { files: [] }) }] }",
    );
    subject.refuses(
        json!({"files": [{"name": "a", "inside": {"files": [1]}}]}),
        "value.files[0].inside.files[0]",
    );
}

#[test]
fn a_value_nested_beyond_every_limit_is_refused_in_words() {
    let subject = subject!(Tree<()>);
    let mut deep = json!({"value": null, "branches": []});
    for _ in 0..90 {
        deep = json!({"value": null, "branches": [deep]});
    }
    let result = subject.call(&deep);
    assert!(
        result.content().contains("nested deeper than 127 levels"),
        "{}",
        result.content()
    );
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(try_from = "u8")]
struct Even(u8);

impl TryFrom<u8> for Even {
    type Error = String;

    fn try_from(number: u8) -> Result<Even, String> {
        match number % 2 {
            0 => Ok(Even(number)),
            _ => Err(format!("{number} is odd")),
        }
    }
}

#[derive(Debug, Deserialize, ToolType)]
struct Unit;

#[derive(Debug, Deserialize, ToolType)]
#[serde(transparent)]
struct Transparent {
    inner: Option<u8>,
    #[serde(skip)]
    marker: PhantomData<String>,
}

#[derive(Debug, Deserialize, ToolType)]
struct Skipping {
    shown: bool,
    #[serde(skip)]
    hidden: u8,
    #[serde(with = "words")]
    #[param(as = String)]
    count: usize,
    #[serde(deserialize_with = "words::deserialize", default)]
    #[param(schema = r#"{"type":"string","maxLength":20,"description":"Words."}"#)]
    more: usize,
}

mod words {
    use serde::{Deserialize, Deserializer};

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<usize, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(text.split_whitespace().count())
    }
}

#[test]
fn conversions_and_stand_ins() {
    let subject = subject!(Even);
    subject.schema(json!({"type": "integer", "minimum": 0, "maximum": 255}));
    subject.accepts(json!(4.0), "Even(4)");
    let odd = subject.call(&json!(3));
    assert!(
        odd.content()
            .ends_with("\n- value: 3 is odd; expected an integer from 0 to 255"),
        "{}",
        odd.content()
    );
    subject!(Unit).accepts(json!(null), "Unit");
    let subject = subject!(Transparent);
    subject.schema(json!({"type": "integer", "minimum": 0, "maximum": 255}));
    subject.accepts(
        json!(1),
        "Transparent { inner: Some(1), marker: PhantomData<alloc::string::String> }",
    );
    let subject = subject!(Skipping);
    subject.schema(json!({"type": "object", "properties": {"shown": {"type": "boolean"}, "count": {"type": "string"},
        "more": {"type": "string", "maxLength": 20, "description": "Words."}}, "required": ["shown", "count"], "additionalProperties": false}));
    subject.accepts(
        json!({"shown": true, "count": "a b c"}),
        "Skipping { shown: true, hidden: 0, count: 3, more: 0 }",
    );
    subject.refuses(
        json!({"shown": true, "count": 3}),
        "value.count: expected a string",
    );
    subject.refuses(
        json!({"shown": true, "count": "", "more": "a".repeat(21)}),
        "value.more: expected a string of at most 20 characters",
    );
}

#[derive(Debug, Deserialize, Serialize, ToolType, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum Key {
    Low,
    High,
}

#[test]
fn maps_by_their_keys() {
    let boolean = json!({"type": "boolean"});
    let subject = subject!(BTreeMap<Key, bool>);
    subject.schema(json!({"type": "object", "properties": {"low": boolean, "high": boolean}, "additionalProperties": false}));
    subject.accepts(json!({"high": true}), "{High: true}");
    subject.refuses(
        json!({"higher": true}),
        "value.higher: unknown; a key must be \"low\" or \"high\"",
    );
    let subject = subject!(BTreeMap<i32, bool>);
    subject.schema(json!({"type": "object", "patternProperties": {"^(0|-?[1-9][0-9]*)$": boolean}, "additionalProperties": false}));
    subject.accepts(json!({"-7": true, "0": false}), "{-7: true, 0: false}");
    for key in ["07", "+7", "7.0", "", "-0", " 7"] {
        subject.refuses(json!({key: true}), "a key must be an integer");
    }
    let subject = subject!(BTreeMap<char, bool>);
    subject.accepts(json!({"é": true, "\n": false}), "{'\\n': false, 'é': true}");
    subject.refuses(
        json!({"ab": true}),
        "a key must be a string of exactly 1 character",
    );
}

#[derive(Debug, Serialize, Deserialize, ToolType)]
struct Renamed {
    #[serde(rename(serialize = "out", deserialize = "in"))]
    value: u8,
}

#[test]
fn what_is_written_differently_from_what_is_read_has_no_output_schema() {
    /// Echoes.
    #[tool(unlinked)]
    fn echo(value: Renamed) -> Vec<Renamed> {
        vec![value]
    }
    assert!(echo::SPEC.parameters_json().contains("\"in\""));
    assert_eq!(echo::SPEC.output_json(), None);
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(untagged, deny_unknown_fields)]
enum Chain {
    End(bool),
    Short { x: Box<Chain> },
    Long { x: Box<Chain>, y: Option<u8> },
    Wide { y: Box<Chain>, z: Box<Chain> },
}

#[test]
fn unions_in_unions_are_checked_in_bounded_time() {
    let subject = subject!(Chain);
    let nested = |levels: usize, end: Value, y: Value| {
        (0..levels).fold(end, |inner, _| json!({"x": inner, "y": y}))
    };
    subject.accepts(
        json!({"x": {"x": true, "y": 1}}),
        "Short { x: Long { x: End(true), y: Some(1) } }",
    );
    // Two ways at every level: 2 to the 60th if each were tried.
    let deep = (0..60).fold(json!(7), |inner, _| json!({"x": inner}));
    let result = subject.call(&deep);
    assert!(result.is_error(), "{}", result.content());
    let wrong = nested(60, json!(true), json!("y"));
    assert!(subject.call(&wrong).is_error());
    assert_eq!(
        subject
            .call(&nested(3, json!(true), json!(1)))
            .content()
            .matches("Long")
            .count(),
        3
    );
}

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

#[derive(Debug, Deserialize, ToolType)]
#[serde(untagged)]
enum Guess {
    Known(Key),
    Other(String),
}

#[test]
fn another_case_is_folded_only_where_nothing_fits_as_it_is() {
    /// Takes guesses.
    #[tool(unlinked)]
    fn take(value: Guess, size: u8) -> String {
        format!("{value:?} {size}")
    }
    let registry = Registry::builder().tools(tools![take]).build().unwrap();
    // The second argument has to be respelled, which must not change the first.
    for (size, seen) in [("1", "Other(\"LOW\") 1"), ("1.0", "Other(\"LOW\") 1")] {
        let arguments = format!("{{\"value\":\"LOW\",\"size\":{size}}}");
        let result = registry.call_blocking(ToolCall::new("id", "take", arguments));
        assert_eq!(result.content(), seen);
    }
}

#[test]
fn bounds_and_the_path_of_serde_are_serdes_business() {
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
fn what_serde_alone_would_take_is_refused_wherever_it_stands() {
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
    // Laxer than serde, and no slower way is shut by it.
    let mut spelled = good;
    spelled["circle"]["radius"] = json!(2);
    spelled["pair"][1] = json!({"Number": 7.0});
    spelled["wrapped"][1] = json!("NOTHING");
    assert!(!subject.call(&spelled).is_error());
}

/// Reads itself from more than its schema shows.
#[derive(Debug, ToolType)]
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
fn a_type_that_reads_itself_is_held_to_its_schema() {
    let subject = subject!(Vec<Celsius>);
    subject.accepts(json!([{"degrees": 21.5}]), "[Celsius { degrees: 21.5 }]");
    subject.refuses(json!([21.5]), "value[0]: expected an object");
    subject.refuses(json!([{"degrees": 21.5, "x": 1}]), "value[0].x: unknown");
}
