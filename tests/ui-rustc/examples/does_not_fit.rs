//! Examples that the schema rejects.

use serde::Deserialize;
use tool_core::{ToolType, tool, tools, toolset};

#[derive(Deserialize, ToolType)]
struct Route {
    stops: Vec<Stop>,
}

#[derive(Deserialize, ToolType)]
struct Stop {
    name: String,
    unit: Unit,
}

#[derive(Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[derive(Deserialize, ToolType)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

/// Has an unknown and a missing key.
#[tool(example = r#"{"town": "Lisbon"}"#)]
fn key(city: &str) -> usize {
    city.len()
}

/// Is wrong three levels down.
#[tool(example = r#"{"route": {"stops": [{"name": "Lisbon", "unit": "celsius"}, {"name": 3, "unit": "celsius"}]}}"#)]
fn nested(route: Route) -> usize {
    drop(route.stops.into_iter().map(|stop| (stop.name, stop.unit)));
    0
}

/// Is out of range.
#[tool(example = r#"{"days": 15, "certainty": 1e0, "tags": ["a", "a", "b", "c"]}"#)]
fn range(
    #[param(range = 1..=14)] days: u8,
    #[param(range = 0.0..1.0)] certainty: f64,
    #[param(length = 1..=3, unique)] tags: Vec<String>,
) -> f64 {
    f64::from(days) + certainty + tags.len() as f64
}

/// Has a value in another case, which only a call may have.
#[tool(example = r#"{"unit": "Celsius", "note": null}"#)]
fn listed(unit: Unit, note: Option<String>) -> bool {
    drop(note);
    matches!(unit, Unit::Celsius)
}

/// Has a field of another variant.
#[tool(example = r#"{"shape": {"kind": "square", "radius": 2}}"#)]
fn variant(shape: Shape) -> f64 {
    match shape {
        Shape::Circle { radius } => radius,
        Shape::Square { side } => side,
    }
}

/// Has two wrong examples.
#[tool(
    example = r#"{"days": "three"}"#,
    example = r#"{"days": 3}"#,
    example = r#"{"days": -1}"#
)]
fn two(days: u8) -> u8 {
    days
}

struct Home;

#[toolset]
impl Home {
    /// Is a method.
    #[tool(example = r#"{"on": "yes"}"#)]
    fn light(&self, on: bool) -> bool {
        on
    }
}

fn main() {
    let _ = tools![key, nested, range, listed, variant, two];
}
// 8 errors
