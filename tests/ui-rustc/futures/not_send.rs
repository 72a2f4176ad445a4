//! A future that is not `Send`.

use std::rc::Rc;

use tool_core::{tool, tools};

/// Waits.
#[tool]
async fn wait(minutes: u8) -> u8 {
    let minutes = Rc::new(minutes);
    std::future::ready(()).await;
    *minutes
}

fn main() {
    let _ = tools![wait];
}
