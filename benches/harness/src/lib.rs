//! The cases and the measuring programs that all contenders share.

pub mod allocations;
pub mod cases;
pub mod counts;
pub mod now;
pub mod streams;
mod work;

pub use work::{Work, work};

/// A library that lets a model call functions.
pub trait Contender: Sized + 'static {
    /// Identifies a tool to its caller before a call: its name, or for the floor the function
    /// itself.
    type Tool: 'static;

    /// Prepares the functions of [`generate::calls`](../generate/fn.calls.html) for calls.
    fn start() -> Self;

    /// Returns what a caller knows about the tool with this name.
    fn find(&self, name: &'static str) -> Self::Tool;

    /// Runs one call: arguments as JSON text in, text for the model out.
    fn call(&self, tool: &Self::Tool, arguments: &str, look: impl FnOnce(Result<&str, &str>));

    /// The formats in which it can list its tools for a request.
    const FORMS: &'static [&'static str];

    /// Returns the `tools` of a request, as bytes.
    fn list(&self, form: &str) -> Vec<u8>;

    /// Removes a tool.
    fn forget(&mut self, name: &str);

    /// Cases that no other contender has.
    const OWN: &'static [&'static str] = &[];

    /// Returns one of those cases.
    fn own(case: &str) -> Work {
        panic!("no case {case}")
    }
}

/// Number of tools of each of the four shapes.
pub const OF_EACH: usize = 50;

/// The shapes, by number of parameters: 0, 1, 2 with nested structs, 6.
pub const SHAPES: [&str; 4] = ["none", "text", "nested", "flat"];
