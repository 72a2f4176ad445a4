//! Blocks without tools.

use tool_core::toolset;

struct Home;

#[toolset]
impl Home {
    const ROOMS: usize = 3;

    fn heat(&self) {}
}

struct Garden;

#[toolset]
impl Garden {}

fn main() {
    Home.heat();
    let _ = Home::ROOMS;
    let _ = tool_core::Registry::builder().toolset("", Garden);
}
// 2 errors
