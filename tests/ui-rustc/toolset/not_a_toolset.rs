//! A value without tools where its tools are wanted.

use tool_core::Registry;

struct Home;

fn main() {
    let _ = Registry::builder().toolset("home_", Home);
}
