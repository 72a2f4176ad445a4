//! An associated function. Its handler would be inside the `impl` block.

use tool_core::tool;

struct Weather;

impl Weather {
    /// Weather of a city.
    #[tool]
    fn of(city: &str) -> usize {
        city.len()
    }
}

fn main() {
    Weather::of("Lisbon");
}
// 4 errors, since no attribute can tell that it is inside of an `impl` block
