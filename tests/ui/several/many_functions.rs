//! Each function reports its own errors, and can still be imported.

use tools::{first, second, third};

mod tools {
    use tool_core::tool;

    #[tool]
    pub fn first() {}

    /// Second.
    #[tool(nam = "second")]
    pub fn second() {}

    /// Third.
    #[tool]
    pub async fn third(text: &mut String) -> Result<(), std::fmt::Error> {
        text.clear();
        Ok(())
    }
}

fn main() {
    let list = tool_core::tools![first, second, third];
    let _ = tool_core::Registry::builder().tools(list).build();
    first();
    second();
    let _ = third(&mut String::new());
}
// 3 errors
