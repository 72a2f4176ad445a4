//! A method whose future is not `Send`.

use std::rc::Rc;

use tool_core::toolset;

struct Home;

#[toolset]
impl Home {
    /// Heats.
    #[tool]
    async fn heat(&self) {
        let held = Rc::new(());
        std::future::ready(()).await;
        drop(held);
    }
}

fn main() {}
