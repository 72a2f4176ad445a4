//! Methods of an `impl` block without `#[toolset]`.

use tool_core::tool;

struct Counter(u64);

impl Counter {
    /// Reads the counter.
    #[tool]
    fn get(&self) -> u64 {
        self.0
    }

    /// Adds to the counter.
    #[tool]
    fn add(&mut self, amount: u64) {
        self.0 += amount;
    }

    /// Ends the counter.
    #[tool]
    fn end(self: Box<Self>) -> u64 {
        self.0
    }
}

fn main() {
    let mut counter = Counter(1);
    counter.add(counter.get());
    Box::new(counter).end();
}
// 3 errors
