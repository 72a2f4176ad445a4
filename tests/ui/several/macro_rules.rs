//! Errors in the output of `macro_rules!` are underlined where the tokens were written.

use tool_core::tool;

macro_rules! tools_for {
    ($($(#[$meta:meta])* $name:ident($parameter:ident: $ty:ty) $key:ident,)*) => { $(
        $(#[$meta])*
        #[tool($key)]
        fn $name($parameter: $ty) -> usize {
            size_of_val(&$parameter)
        }
    )* };
}

tools_for! {
    first(number: u8) read_only,
    /// Second.
    second(text: Vec<&'static str>) readonly,
    /// Third.
    ///
    /// # Arguments
    /// * `txt` - Text.
    third(text: impl ToString) read_only,
}

fn main() {}
// 5 errors
