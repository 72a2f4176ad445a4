//! What is measured, for every contender alike.

pub mod allocations;
pub mod cases;
pub mod counts;
pub mod now;
mod work;

pub use work::{Work, work};

/// A way to let a model call functions.
pub trait Contender: Sized + 'static {
    /// What is known of a tool before a call: its name, or for the floor the function itself.
    type Tool: 'static;

    /// The functions of [`generate::calls`](../generate/fn.calls.html), ready to be called.
    fn start() -> Self;

    /// A tool by name, as a caller holds it who has read a model's answer.
    fn find(&self, name: &'static str) -> Self::Tool;

    /// One call: arguments as JSON text in, the text for the model out.
    fn call(&self, tool: &Self::Tool, arguments: &str, look: impl FnOnce(Result<&str, &str>));

    /// The forms in which it can list its tools for a request.
    const FORMS: &'static [&'static str];

    /// The `tools` of a request, as bytes.
    fn list(&self, form: &str) -> Vec<u8>;

    /// Takes a tool out.
    fn forget(&mut self, name: &str);

    /// Cases that no other contender has.
    const OWN: &'static [&'static str] = &[];

    /// One of those.
    fn own(case: &str) -> Work {
        panic!("no case {case}")
    }
}

/// How many tools of each of the four shapes there are.
pub const OF_EACH: usize = 50;

/// The shapes, in the order of the number of their parameters: 0, 1, 2 with structs in them, 6.
pub const SHAPES: [&str; 4] = ["none", "text", "nested", "flat"];
