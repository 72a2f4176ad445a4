//! Schemas that every subset writes as they are.

use crate::schema::{Kind, Schema};

/// Whether a schema says nothing but what every provider reads, apart from strict modes: most do,
/// and their text is there already.
pub(crate) fn is_common(schema: &Schema) -> bool {
    match &schema.kind {
        Kind::Boolean => true,
        Kind::Integer(range) => range.multiple_of == 0,
        Kind::Number(range) => {
            range.minimum.is_none() && range.maximum.is_none() && range.multiple_of.is_none()
        }
        Kind::String(rule) => {
            rule.lengths.is_any() && rule.pattern.is_empty() && rule.format.is_empty()
        }
        Kind::Enum(strings) => !strings.is_tag,
        Kind::Array(rule) => rule.lengths.is_any() && !rule.is_unique && is_common(rule.items),
        Kind::Object(properties) => properties.iter().all(|property| {
            let is_bare = property.default.is_empty() && property.example.is_empty();
            is_bare && !property.flat && is_common(property.schema)
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ToolType;
    use crate::provider::dialect::JsonWriter;
    use crate::provider::reshape::{Style, write};

    /// How hot.
    #[derive(serde::Deserialize, ToolType)]
    #[serde(rename_all = "lowercase")]
    #[allow(dead_code)]
    enum Heat {
        /// It does not burn.
        Mild,
        /// It "burns".
        Hot,
    }

    /// A dish.
    #[derive(serde::Deserialize, ToolType)]
    #[allow(dead_code)]
    struct Dish {
        /// Its name.
        name: String,
        heat: Heat,
        /// Whether it is for today.
        heat_of_sauce: Option<Heat>,
        tags: Vec<Option<u8>>,
        sides: Vec<Dip>,
        price: f64,
        count: i8,
        vegan: Option<bool>,
    }

    #[derive(serde::Deserialize, ToolType)]
    #[allow(dead_code)]
    struct Dip {
        parts: Vec<Vec<String>>,
        grams: u32,
    }

    #[derive(serde::Deserialize, ToolType)]
    #[allow(dead_code)]
    struct Sized {
        #[param(length = 1..=4)]
        name: String,
    }

    fn reshaped(schema: &Schema, style: &Style) -> serde_json::Value {
        let mut out = JsonWriter::new();
        write(schema, style, &mut out);
        serde_json::from_str(&out.into_string()).unwrap()
    }

    #[test]
    fn what_is_common_is_written_as_it_is() {
        let list = Schema::array(Dip::SCHEMA);
        for schema in [Heat::SCHEMA, Dip::SCHEMA, &list, <Vec<Vec<bool>>>::SCHEMA] {
            assert!(is_common(schema));
            let plain: serde_json::Value = serde_json::from_str(&schema.to_json()).unwrap();
            assert_eq!(reshaped(schema, &Style::GEMINI_JSON), plain);
            assert_eq!(reshaped(schema, &Style::XAI), plain);
        }
        // `null` in a list, and what Gemini does not read.
        assert!(!is_common(Dish::SCHEMA) && !is_common(Sized::SCHEMA));
        let plain: serde_json::Value = serde_json::from_str(&Sized::SCHEMA.to_json()).unwrap();
        assert_ne!(reshaped(Sized::SCHEMA, &Style::GEMINI_JSON), plain);
    }
}
