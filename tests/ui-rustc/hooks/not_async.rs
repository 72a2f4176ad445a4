//! Hooks that are no async closures.

use tool_core::Registry;
use tool_core::hooks::Gate;

fn main() {
    let _ = Registry::builder().before(|_| Gate::Allow);
    let _ = Registry::builder().after(|_, result| result);
    let _ = Registry::builder().before(async |_| true);
}
// 3 errors
