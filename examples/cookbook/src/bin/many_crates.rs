//! Tools of many crates in one program.
//!
//! ```sh
//! cargo add tool-core
//! cargo add --path ../weather-tools      # crates with `#[tool]` functions
//! cargo add --path ../clock-tools
//! cargo run
//! ```
//!
//! Two traps:
//! - A crate in `Cargo.toml` that the code never names is not linked, and its tools are silently absent. Name it
//!   (`use weather_tools as _;`), and state at start-up what you expect.
//! - Two crates may have tools of one name. `Registry::linked` then returns an error with both places; the recipe
//!   `duplicate_names` shows the ways out.

// Links the tools of both crates. `station_tools` is in `Cargo.toml` too, but is not named here.
use clock_tools as _;
use weather_tools as _;

use tool_core::{Registry, ToolCall};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = Registry::linked()?.expect(["get_temperature", "get_time"])?;
    for tool in tools.specs() {
        println!("{} of the crate {}", tool.name, tool.location.krate());
    }
    let call = ToolCall::new("call_1", "get_temperature", r#"{"city":"Lisbon"}"#);
    println!("{}", tools.call_blocking(call).content());
    Ok(())
}

#[cfg(test)]
mod tests {
    use tool_docs::testing;

    use super::*;

    #[test]
    fn the_named_crates_are_linked() {
        main().unwrap();
    }

    #[test]
    fn there_are_no_tools_of_other_crates() {
        // `station_tools` would be here, if it were named; another dependency might add some.
        testing::assert_linked_only(["get_temperature", "get_time"]);
    }

    #[test]
    fn a_missing_tool_is_an_error_that_says_what_to_do() {
        let error = Registry::linked()
            .unwrap()
            .expect(["get_forecast"])
            .unwrap_err()
            .to_string();
        assert!(error.contains("get_forecast"), "{error}");
        assert!(error.contains("use "), "{error}");
    }
}
