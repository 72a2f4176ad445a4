//! Schemas that are compared while compiling.

use tool_core::{assert_schema, tool};

assert_schema!(
    documented::constrained,
    include_str!("../documented/constrained.json"),
);

#[test]
fn a_schema_is_compared_where_its_tool_stands() {
    /// Local.
    #[tool]
    fn local(r#type: &str) -> usize {
        r#type.len()
    }

    const EXPECTED: &str = concat!(
        r#"{"type":"object","properties":{"type":{"type":"string"}},"#,
        r#""required":["type"],"additionalProperties":false}"#,
    );
    assert_schema!(local, EXPECTED);
}
