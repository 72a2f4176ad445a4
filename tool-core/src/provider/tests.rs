//! Tests of shared modules with the profiles of providers.

use crate::ToolType;
use crate::provider::profile::Construct;
use crate::provider::profiles::{anthropic, gemini, openai, xai};
use crate::provider::reshape::{is_common, write};
use crate::provider::subset::Subset;
use crate::provider::writer::JsonWriter;
use crate::schema::Schema;

#[test]
fn subsets_accept_what_their_rules_list() {
    let openai = openai::STRICT;
    assert!(openai.accepts("maximum") && !openai.accepts("uniqueItems"));
    assert!(openai.accepts_format("ipv4") && !openai.accepts_format("uri"));
    let anthropic = anthropic::STRICT;
    assert!(!anthropic.accepts("minimum") && anthropic.accepts_format("uri"));
    assert!(anthropic.accepts_length("minItems", 1) && !anthropic.accepts_length("minItems", 2));
    assert!(!anthropic.accepts_length("maxItems", 1));
    assert!(gemini::OPEN_API.accepts("pattern") && !gemini::JSON_SCHEMA.accepts("pattern"));
}

#[test]
fn a_subset_has_recursion_unless_the_profile_rejects_it() {
    let providers = [
        (&anthropic::PROFILE, &anthropic::STRICT),
        (&openai::PROFILE, &openai::STRICT),
        (&xai::PROFILE, &xai::SUBSET),
        (&gemini::PROFILE, &gemini::JSON_SCHEMA),
    ];
    for (profile, subset) in providers {
        let is_recursion = |rejected: &(Construct, _)| matches!(rejected.0, Construct::Recursion);
        let is_rejected = profile.rejected.iter().any(is_recursion);
        assert_eq!(subset.has_recursion, !is_rejected, "{}", profile.name);
    }
}

/// How hot.
#[derive(ToolType)]
#[serde(rename_all = "lowercase")]
#[allow(dead_code)]
enum Heat {
    /// It does not burn.
    Mild,
    /// It "burns".
    Hot,
}

/// A dish.
#[derive(ToolType)]
#[allow(dead_code)]
struct Dish {
    /// Its name.
    name: String,
    heat: Heat,
    /// How hot its sauce is.
    heat_of_sauce: Option<Heat>,
    tags: Vec<Option<u8>>,
    sides: Vec<Dip>,
    price: f64,
    count: i8,
    vegan: Option<bool>,
}

#[derive(ToolType)]
#[allow(dead_code)]
struct Dip {
    parts: Vec<Vec<String>>,
    grams: u32,
}

#[derive(ToolType)]
#[allow(dead_code)]
struct Sized {
    #[param(length = 1..=4)]
    name: String,
}

fn reshaped(schema: &Schema, subset: &Subset) -> serde_json::Value {
    let mut out = JsonWriter::new();
    write(schema, subset, &mut out);
    serde_json::from_str(&out.into_string()).unwrap()
}

#[test]
fn common_schemas_are_not_rewritten() {
    let list = Schema::array(Dip::SCHEMA);
    for schema in [Heat::SCHEMA, Dip::SCHEMA, &list, <Vec<Vec<bool>>>::SCHEMA] {
        assert!(is_common(schema));
        let plain: serde_json::Value = serde_json::from_str(&schema.to_json()).unwrap();
        assert_eq!(reshaped(schema, &gemini::JSON_SCHEMA), plain);
        assert_eq!(reshaped(schema, &xai::SUBSET), plain);
    }
    // `null` in a list, and keywords that Gemini ignores.
    assert!(!is_common(Dish::SCHEMA) && !is_common(Sized::SCHEMA));
    let plain: serde_json::Value = serde_json::from_str(&Sized::SCHEMA.to_json()).unwrap();
    assert_ne!(reshaped(Sized::SCHEMA, &gemini::JSON_SCHEMA), plain);
}
