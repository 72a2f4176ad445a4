//! A manual `ToolType` implementation without `by_serde!`.

use tool_core::schema::Schema;
use tool_core::{ToolType, tool, tools};

#[derive(serde::Deserialize)]
struct Port(u16);

impl ToolType for Port {
    const SCHEMA: &'static Schema = u16::SCHEMA;
}

/// Opens ports.
#[tool]
fn open(ports: Option<Vec<Port>>) -> usize {
    ports.map_or(0, |ports| ports.iter().map(|port| usize::from(port.0)).sum())
}

fn main() {
    let _ = tools![open];
}
