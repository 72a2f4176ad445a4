//! A type passed through `macro_rules!` is underlined where it was written.

use tool_core::tool;

struct Place;

macro_rules! tools_for {
    ($($name:ident: $ty:ty),*) => { $(
        /// Takes one.
        #[tool]
        fn $name(one: $ty) -> $ty {
            one
        }
    )* };
}

tools_for!(number: u8, place: Place);

fn main() {}
// 2 errors
