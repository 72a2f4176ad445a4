//! The keywords that restrict a value, in words for people.

use super::Json;

impl Json {
    /// Returns what the keywords of a schema demand of its values, such as `1 to 14` and `pattern ^[A-Z]+$`. Types,
    /// lists of allowed values, and the schemas of items and members are left out.
    ///
    /// ```
    /// use tool_core::schema::Json;
    ///
    /// let schema = Json::parse(r#"{"type": "array", "minItems": 2, "uniqueItems": true}"#)?;
    /// assert_eq!(schema.constraints(), ["at least 2 items", "no duplicate items"]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn constraints(&self) -> Vec<String> {
        let mut constraints = Vec::new();
        let number = |key: &str| self.get_number(key);
        constraints.extend(match (number("minimum"), number("maximum")) {
            (Some(minimum), Some(maximum)) => Some(format!("{minimum} to {maximum}")),
            (Some(minimum), None) => Some(format!("at least {minimum}")),
            (None, Some(maximum)) => Some(format!("at most {maximum}")),
            (None, None) => None,
        });
        constraints.extend(number("exclusiveMinimum").map(|bound| format!("greater than {bound}")));
        constraints.extend(number("exclusiveMaximum").map(|bound| format!("less than {bound}")));
        constraints.extend(number("multipleOf").map(|step| format!("multiple of {step}")));
        for (minimum, maximum, units) in [
            ("minLength", "maxLength", ["character", "characters"]),
            ("minItems", "maxItems", ["item", "items"]),
            ("minProperties", "maxProperties", ["property", "properties"]),
        ] {
            constraints.extend(length(number(minimum), number(maximum), units));
        }
        if self.get("uniqueItems") == Some(&Json::Boolean(true)) {
            constraints.push("no duplicate items".to_owned());
        }
        for key in ["pattern", "format"] {
            constraints.extend(self.get_str(key).map(|text| format!("{key} {text}")));
        }
        constraints
    }
}

fn length(minimum: Option<&str>, maximum: Option<&str>, [one, many]: [&str; 2]) -> Option<String> {
    let units = |count: &str| format!("{count} {}", if count == "1" { one } else { many });
    match (minimum.filter(|minimum| *minimum != "0"), maximum) {
        (Some(minimum), Some(maximum)) if minimum == maximum => {
            Some(format!("exactly {}", units(maximum)))
        }
        (Some(minimum), Some(maximum)) => Some(format!("{minimum} to {}", units(maximum))),
        (Some(minimum), None) => Some(format!("at least {}", units(minimum))),
        (None, Some(maximum)) => Some(format!("at most {}", units(maximum))),
        (None, None) => None,
    }
}
