//! Methods that take `self` in a form that concurrent calls cannot share.

use std::sync::Arc;

use tool_core::toolset;

struct Counter(u64);

#[toolset]
impl Counter {
    /// Adds to the counter.
    #[tool]
    fn add(&mut self, amount: u64) {
        self.0 += amount;
    }

    /// Takes the counter.
    #[tool]
    fn take(self) -> u64 {
        self.0
    }

    /// Ends the counter.
    #[tool]
    fn end(self: Box<Self>) -> u64 {
        self.0
    }

    /// Shares the counter.
    #[tool]
    fn share(self: Arc<Self>) -> u64 {
        self.0
    }

    /// Reads the counter.
    #[tool]
    fn get(self: &Self) -> u64 {
        self.0
    }
}

fn main() {
    let mut counter = Counter(1);
    counter.add(counter.get());
    let _ = tool_core::Registry::builder().toolset("", Counter(counter.take()));
    Box::new(Counter(1)).end();
    Arc::new(Counter(1)).share();
}
// 4 errors
