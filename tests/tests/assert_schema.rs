//! `assert_schema!`: schemas that are compared at compile time.

use tool_core::{assert_schema, tool};

assert_schema!(
    rustdoc_fixture::constrained,
    include_str!("../rustdoc-fixture/constrained.json"),
);

#[test]
fn a_local_tool_can_be_compared() {
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
