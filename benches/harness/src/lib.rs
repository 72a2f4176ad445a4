//! What is measured, for every contender alike.

pub mod cases;
pub mod counts;
pub mod now;

/// A way to let a model call functions.
pub trait Contender: Sized {
    /// What is known of a tool before a call: its name, or for the floor the function itself.
    type Tool;

    /// The 200 functions of [`generate::calls`](../generate/fn.calls.html), ready to be called.
    fn start() -> Self;

    /// A tool by name, as a caller holds it who has read a model's answer.
    fn find(&self, name: &'static str) -> Self::Tool;

    /// One call: arguments as JSON text in, the text for the model out.
    fn call(&self, tool: &Self::Tool, arguments: &str, look: impl FnOnce(Result<&str, &str>));

    /// The forms in which it can list its tools for a request.
    const FORMS: &'static [&'static str];

    /// The `tools` of a request, as bytes.
    fn list(&self, form: &str) -> Vec<u8>;
}

/// How many tools of each of the four shapes there are.
pub const OF_EACH: usize = 50;
