//! A value of a type without `#[toolset]`.

use tool_core::Registry;

struct Home;

fn main() {
    let _ = Registry::builder().toolset("home_", Home);
}
