//! [`Subset`]: what a provider's subset of JSON Schema can express.

use crate::provider::portable::is_param_name;
use crate::provider::profiles;
use crate::provider::rule::Rule;
use crate::schema::{Kind, Schema, Strings};

/// A subset of JSON Schema.
///
/// ```
/// use tool_core::dialect::write::{JsonWriter, Subset};
/// use tool_core::{Tool, tool};
///
/// /// Sets the volume.
/// #[tool]
/// fn set_volume(#[param(range = 0..=100)] percent: u8) {
///     println!("volume {percent} %");
/// }
///
/// let mut out = JsonWriter::new();
/// Subset::ANTHROPIC_STRICT.write(&set_volume::SPEC.parameters(), &mut out);
/// // The bounds are a sentence, because the subset has no keyword for them.
/// assert!(out.into_string().contains("from 0 to 100"));
/// ```
pub struct Subset {
    /// The rules that list its keywords.
    pub(crate) keywords: &'static [&'static Rule],
    /// The rule that lists the formats of strings; every format is accepted if there is none.
    pub(crate) formats: Option<&'static Rule>,
    /// Returns `true` for an accepted regular expression.
    pub(crate) pattern: fn(&str) -> bool,
    /// The greatest accepted `minItems`.
    pub(crate) max_min_items: usize,
    /// Set when every key is required, so that `null` means an absent value.
    pub(crate) requires_all: bool,
    /// Set for a subset of OpenAPI: types in capitals, and no `additionalProperties`.
    pub(crate) is_open_api: bool,
    /// Set when keys must be identifiers.
    pub(crate) requires_identifiers: bool,
    /// Set when a schema may refer to one that contains it. Otherwise that part accepts any value, and
    /// its description says so.
    pub(crate) has_recursion: bool,
    /// Set when `type` may be a list with `null`. Otherwise a union is written.
    pub(crate) has_type_lists: bool,
}

impl Subset {
    /// No keywords, but every format, pattern and key.
    pub(crate) const BASE: Subset = Subset {
        keywords: &[],
        formats: None,
        pattern: |_| true,
        max_min_items: usize::MAX,
        requires_all: false,
        is_open_api: false,
        requires_identifiers: false,
        has_recursion: true,
        has_type_lists: true,
    };

    /// The subset of OpenAI's strict modes.
    pub const OPENAI_STRICT: Subset = profiles::openai::STRICT;

    /// The subset of Anthropic's strict mode.
    pub const ANTHROPIC_STRICT: Subset = profiles::anthropic::STRICT;

    /// The subset of Gemini's `parametersJsonSchema`.
    pub const GEMINI: Subset = profiles::gemini::JSON_SCHEMA;

    /// The subset of Gemini's `parameters`, which is one of OpenAPI.
    pub const GEMINI_OPEN_API: Subset = profiles::gemini::OPEN_API;

    /// The subset of xAI.
    pub const XAI: Subset = profiles::xai::SUBSET;

    /// Returns `false` if the subset can't express a part of the schema. OpenAPI's has no form for a part without a type and
    /// for an object without properties.
    pub fn fits(&self, schema: &Schema) -> bool {
        !self.is_open_api || fits_open_api(self, schema)
    }

    pub(crate) fn accepts(&self, keyword: &str) -> bool {
        self.keywords.iter().any(|rule| rule.value.lists(keyword))
    }

    pub(crate) fn accepts_length(&self, keyword: &str, length: usize) -> bool {
        if keyword == "minItems" && self.max_min_items < usize::MAX {
            return length <= self.max_min_items;
        }
        self.accepts(keyword)
    }

    pub(crate) fn accepts_pattern(&self, pattern: &str) -> bool {
        !pattern.is_empty() && self.accepts("pattern") && (self.pattern)(pattern)
    }

    pub(crate) fn accepts_format(&self, format: &str) -> bool {
        let is_listed = self.formats.is_none_or(|rule| rule.value.lists(format));
        !format.is_empty() && self.accepts("format") && is_listed
    }

    /// Returns `true` if the keys of a map can be written as keys of an object.
    pub(crate) fn accepts_keys(&self, keys: Strings) -> bool {
        let mut keys = keys.values.iter();
        !self.requires_identifiers || keys.all(|key| is_param_name(key.as_str()))
    }
}

/// Returns `true` if a schema is possible under `parameters`, where every node has a type and every
/// object has properties.
fn fits_open_api(subset: &Subset, schema: &Schema) -> bool {
    match schema.kind {
        Kind::Any | Kind::Reference(_) => false,
        Kind::Nullable(inner) => fits_open_api(subset, inner),
        Kind::Array(rule) => fits_open_api(subset, rule.items),
        Kind::AnyOf(schemas) | Kind::Tuple(schemas) => {
            schemas.iter().all(|schema| fits_open_api(subset, schema))
        }
        Kind::Map(rule) => match rule.keys.kind {
            Kind::Enum(keys) => subset.accepts_keys(keys) && fits_open_api(subset, rule.values),
            _ => false,
        },
        Kind::Object(properties) => {
            !properties.is_empty()
                && properties
                    .iter()
                    .all(|property| fits_open_api(subset, property.schema))
        }
        _ => true,
    }
}

/// The description of a part that refers to a schema around it.
pub(crate) const RECURSIVE: &str = "Has the form of a schema that contains it.";

pub(crate) fn has_lookaround(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"]
        .iter()
        .any(|group| pattern.contains(group))
}

/// Returns `true` if a pattern consists of characters, classes, groups, alternatives and short
/// repetitions only.
pub(crate) fn is_simple(pattern: &str) -> bool {
    let bytes = pattern.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => {
                at += 1;
                // Boundaries, backreferences, Unicode classes.
                if matches!(
                    bytes.get(at),
                    Some(b'b' | b'B' | b'k' | b'p' | b'P' | b'1'..=b'9')
                ) {
                    return false;
                }
            }
            b'(' if bytes.get(at + 1) == Some(&b'?') && bytes.get(at + 2) != Some(&b':') => {
                return false;
            }
            b'{' => {
                let inside = pattern[at + 1..].split('}').next().unwrap_or_default();
                let counts = inside.split(',').filter_map(|count| count.parse().ok());
                if counts.max().unwrap_or(0) > MAX_REPETITION {
                    return false;
                }
            }
            _ => {}
        }
        at += 1;
    }
    true
}

/// Anthropic rejects "complex `{n,m}` quantifiers with large ranges" without saying how large.
const MAX_REPETITION: usize = 100;

/// Returns `true` if a pattern can match a whole text only.
pub(crate) fn is_anchored(pattern: &str) -> bool {
    let inside = pattern
        .strip_prefix('^')
        .and_then(|rest| rest.strip_suffix('$'));
    inside.is_some_and(|inside| {
        let escapes = inside.len() - inside.trim_end_matches('\\').len();
        escapes % 2 == 0 && !inside.contains('|')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_patterns_have_no_lookaround_boundaries_references_modes_or_long_repetitions() {
        for pattern in [
            "",
            "^[a-z]{2,100}$",
            r"(?:a|b)+\d*\.\\b",
            "[{]",
            "a{,b}",
            "x{2}",
        ] {
            assert!(is_simple(pattern), "{pattern}");
        }
        for pattern in [
            "(?=a)", "(?<!a)", "(?i)a", r"\bword", r"a\B", r"(a)\1", r"\k<n>", r"\p{L}",
            "a{2,101}", "a{101}", "a{1000,}",
        ] {
            assert!(!is_simple(pattern), "{pattern}");
        }
        assert!(has_lookaround("a(?<=b)") && !has_lookaround("(?:a)"));
    }

    #[test]
    fn anchored_patterns_are_anchored_in_every_alternative() {
        for (pattern, expected) in [
            ("^a$", true),
            ("^$", true),
            (r"^a\\$", true),
            (r"^a\$", false),
            ("a$", false),
            ("^a", false),
            ("^a|b$", false),
        ] {
            assert_eq!(is_anchored(pattern), expected, "{pattern}");
        }
    }
}
