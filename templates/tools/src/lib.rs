//! A library of tools. A program that uses them refers to this crate, with `use its_name as _;`, so that the linker keeps them.

use serde::Serialize;
use tool_core::{ToolType, tool};

/// Temperature unit.
#[derive(Clone, Copy, ToolType)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    Celsius,
    Fahrenheit,
}

/// Weather of the next days.
#[derive(Serialize, ToolType)]
pub struct Forecast {
    /// Daily highs in degrees.
    pub highs: Vec<f64>,
}

/// Weather forecast for a city.
///
/// # Errors
///
/// If the city is unknown.
#[tool(
    read_only,
    example = r#"{"city": "Lisbon", "days": 2, "unit": "celsius"}"#
)]
pub fn get_forecast(
    /// Name of the city.
    city: &str,
    #[param(range = 1..=14, default = 1)] days: u8,
    unit: Unit,
) -> Result<Forecast, String> {
    if city != "Lisbon" {
        return Err(format!("no city is named {city:?}; the only one is Lisbon"));
    }
    let high = match unit {
        Unit::Celsius => 21.5,
        Unit::Fahrenheit => 70.7,
    };
    Ok(Forecast {
        highs: vec![high; days.into()],
    })
}

#[cfg(test)]
mod tests {
    use tool_core::{Registry, ToolCall};
    use tool_docs::testing;

    #[test]
    fn the_tools_are_what_models_expect() {
        // Add `.lock("tools.lock.json")` and `.docs("TOOLS.md")` to see each change of what models read.
        testing::check(&Registry::linked().unwrap())
            .expect_tools(["get_forecast"])
            .examples()
            .budget_bytes(1_000)
            .run();
    }

    #[test]
    fn an_unknown_city_is_an_error_that_names_a_known_one() {
        let arguments = r#"{"city":"Lisboa","unit":"celsius"}"#;
        let call = ToolCall::new("call_1", "get_forecast", arguments);
        let result = Registry::linked().unwrap().call_blocking(call);
        assert!(result.is_error());
        assert!(result.content().ends_with("the only one is Lisbon"));
    }
}
