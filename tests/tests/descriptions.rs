//! Descriptions that are constant expressions.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use tool_core::{Registry, Tool, ToolSpec, ToolType, tool, tools, toolset};
use tool_docs::Docs;

const WEATHER: &str = "\n  The \"weather\" of a city.\nFor days.\n";
const CITY: &str = "City,\tnot \\ a country.";

macro_rules! says {
    ($what:expr) => {
        concat!("Says ", $what, ".")
    };
}

#[derive(Deserialize, ToolType)]
#[doc = concat!("A ", "place.")]
struct Place {
    /// The name.
    #[doc = says!("hello")]
    name: String,
    #[param(description = CITY)]
    city: Option<Kind>,
    #[param(description = CITY, length = 1..)]
    list: Generic<u8>,
    #[doc = says!("more")]
    others: BTreeMap<String, Choice>,
}

#[derive(Deserialize, ToolType)]
#[param(description = concat!("A list", '\n', "of any."))]
#[serde(transparent)]
struct Generic<T> {
    list: Vec<T>,
}

#[derive(Deserialize, ToolType)]
enum Kind {
    /// Large.
    Large,
    #[doc = concat!("Sm", "all.")]
    Small,
    #[param(description = CITY)]
    Tiny,
    Unknown,
}

#[derive(Deserialize, ToolType)]
enum Choice {
    #[doc = concat!("A ", "number.")]
    #[allow(dead_code)]
    Number(i64),
    /// Text.
    #[allow(dead_code)]
    Text { text: String },
}

#[tool(description = WEATHER)]
fn weather(
    #[param(description = CITY)] city: &str,
    #[doc = says!(3)] days: Option<u8>,
    #[doc = concat!("Where", " to.")] place: Place,
) {
    let Place {
        name,
        city: kind,
        list,
        others,
    } = place;
    let _ = (city, days, name, kind.is_some(), list.list, others);
    let _ = [Kind::Large, Kind::Small, Kind::Tiny, Kind::Unknown].len();
    let _ = (
        Choice::Number(1),
        Choice::Text {
            text: String::new(),
        },
    );
}

/// Time.
///
#[doc = include_str!("descriptions/time.md")]
/// Not read: it is below a heading of the file.
///
/// # When to use
#[doc = says!("when")]
/// And then.
///
/// # Returns
#[doc = concat!("A", " time.")]
///
/// # Examples
#[doc = concat!("# Ret", "urns")]
#[tool]
fn time() -> u8 {
    0
}

struct Home(i32);

impl Home {
    const HEAT: &'static str = "Heats.";
}

#[toolset]
impl Home {
    #[tool(description = Self::HEAT)]
    fn heat(&self, #[param(description = Self::HEAT)] degrees: i32) -> i32 {
        degrees + self.0
    }
}

fn parameters(spec: &ToolSpec) -> Value {
    serde_json::from_str(spec.parameters_json()).expect("JSON")
}

#[test]
fn a_constant_is_trimmed_and_escaped() {
    assert_eq!(
        weather::SPEC.description,
        "The \"weather\" of a city.\nFor days."
    );
    let schema = parameters(&weather::SPEC);
    let properties = &schema["properties"];
    assert_eq!(properties["city"]["description"], CITY);
    assert_eq!(properties["days"]["description"], "Says 3.");
    assert_eq!(properties["place"]["description"], "Where to.");
}

#[test]
fn types_fields_and_variants_accept_constants() {
    let schema = parameters(&weather::SPEC);
    let place = &schema["properties"]["place"]["properties"];
    assert_eq!(place["name"]["description"], "The name.\nSays hello.");
    assert_eq!(
        place["city"]["description"],
        format!("{CITY}\nLarge: Large.\nSmall: Small.\nTiny: {CITY}")
    );
    assert_eq!(place["list"]["description"], CITY);
    assert_eq!(place["others"]["description"], "Says more.");
    let choice = &place["others"]["additionalProperties"]["anyOf"];
    assert_eq!(choice[0]["description"], "A number.");
    assert_eq!(<Place as ToolType>::SCHEMA.description(), "A place.");
    assert_eq!(
        <Generic<u8> as ToolType>::SCHEMA.description(),
        "A list\nof any."
    );
}

#[test]
fn docs_of_a_function_are_read_up_to_the_first_heading() {
    let spec = &time::SPEC;
    assert_eq!(
        spec.description,
        "Time.\n\nOf *now*.\n\n```sh\n# not a heading\n```"
    );
    assert_eq!(spec.when_to_use(), Some("Says when.\nAnd then."));
    assert_eq!(spec.returns(), Some("A time."));
}

#[test]
fn a_constant_of_a_method_may_name_the_type() {
    let registry = Registry::builder()
        .toolset("", Home(1))
        .build()
        .expect("one tool");
    let heat = registry.get("heat").expect("a tool");
    assert_eq!(heat.description, "Heats.");
    let degrees = parameters(&heat)["properties"]["degrees"].clone();
    assert_eq!(degrees["description"], "Heats.");
}

#[test]
fn a_catalogue_shows_the_texts_of_constants() {
    let registry = Registry::builder().tools(tools![time, weather]).build();
    let docs = Docs::new(&registry.expect("two tools")).to_markdown();
    for text in ["Of \\*now\\*.", "And then.", "A time.", "Says 3."] {
        assert!(docs.contains(text), "{text}\n{docs}");
    }
    assert!(!docs.contains("Not read"));
}
