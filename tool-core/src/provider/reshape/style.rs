//! [`Style`]: what a provider's subset of JSON Schema can say.

use crate::provider::anthropic::rules as anthropic;
use crate::provider::gemini::rules as gemini;
use crate::provider::openai::rules as openai;
use crate::provider::rules::{Rule, others};
use crate::schema::Strings;

/// A subset of JSON Schema.
pub(crate) struct Style {
    /// The rules that list its keywords.
    keywords: &'static [&'static Rule],
    /// The rule that lists the formats of strings; all, if there is none.
    formats: Option<&'static Rule>,
    pattern: fn(&str) -> bool,
    /// The greatest `minItems`.
    least_items: usize,
    /// Whether every key is required, so that `null` stands for leaving it out.
    pub(crate) requires_all: bool,
    /// Whether it is a subset of OpenAPI, with types in capitals and without closed objects.
    pub(crate) is_open_api: bool,
    /// Whether keys must be names.
    has_named_keys: bool,
    /// Whether a type may be a list with `null`; a union says it otherwise.
    pub(crate) has_lists_of_types: bool,
}

impl Style {
    pub(crate) const OPENAI_STRICT: Style = Style {
        keywords: &[
            &openai::STRING_KEYWORDS,
            &openai::NUMBER_KEYWORDS,
            &openai::ARRAY_KEYWORDS,
            &openai::CONSTANTS,
        ],
        formats: Some(&openai::FORMATS),
        pattern: |pattern| !has_lookaround(pattern),
        least_items: usize::MAX,
        requires_all: true,
        is_open_api: false,
        has_named_keys: false,
        has_lists_of_types: true,
    };
    pub(crate) const ANTHROPIC_STRICT: Style = Style {
        keywords: &[&anthropic::SUPPORTED, &anthropic::STRING_KEYWORDS],
        formats: Some(&anthropic::FORMATS),
        pattern: is_simple,
        // "Array `minItems` (only values 0 and 1)".
        least_items: 1,
        requires_all: false,
        is_open_api: false,
        has_named_keys: false,
        // Its documents have them, its own packages do not.
        has_lists_of_types: false,
    };
    pub(crate) const GEMINI_JSON: Style = Style {
        keywords: &[&gemini::KEYWORDS],
        formats: None,
        pattern: |_| true,
        least_items: usize::MAX,
        requires_all: false,
        is_open_api: false,
        has_named_keys: true,
        has_lists_of_types: true,
    };
    pub(crate) const GEMINI_OPEN_API: Style = Style {
        keywords: &[&gemini::SCHEMA_FIELDS],
        formats: Some(&gemini::STRING_FORMATS),
        pattern: |_| true,
        least_items: usize::MAX,
        requires_all: false,
        is_open_api: true,
        has_named_keys: true,
        has_lists_of_types: true,
    };
    pub(crate) const XAI: Style = Style {
        keywords: &[&others::XAI_KEYWORDS],
        formats: Some(&others::XAI_FORMATS),
        pattern: |pattern| is_simple(pattern) && is_whole(pattern),
        least_items: usize::MAX,
        requires_all: false,
        is_open_api: false,
        has_named_keys: false,
        has_lists_of_types: true,
    };

    pub(crate) fn takes(&self, keyword: &str) -> bool {
        self.keywords.iter().any(|rule| rule.value.lists(keyword))
    }

    pub(crate) fn takes_length(&self, keyword: &str, length: usize) -> bool {
        if keyword == "minItems" && self.least_items < usize::MAX {
            return length <= self.least_items;
        }
        self.takes(keyword)
    }

    pub(crate) fn takes_pattern(&self, pattern: &str) -> bool {
        !pattern.is_empty() && self.takes("pattern") && (self.pattern)(pattern)
    }

    pub(crate) fn takes_format(&self, format: &str) -> bool {
        let is_listed = self.formats.is_none_or(|rule| rule.value.lists(format));
        !format.is_empty() && self.takes("format") && is_listed
    }

    /// Whether the keys of a map can be written as those of an object.
    pub(crate) fn takes_keys(&self, keys: Strings) -> bool {
        let is_name = |key: &str| {
            let mut bytes = key.bytes();
            let begins = bytes.next().is_some_and(|first| !first.is_ascii_digit());
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            begins && key.len() <= 64 && key.bytes().all(is_word)
        };
        !self.has_named_keys || keys.values.iter().all(|key| is_name(key.as_str()))
    }
}

fn has_lookaround(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"]
        .iter()
        .any(|group| pattern.contains(group))
}

/// Whether a pattern has nothing beyond characters, classes, groups, alternatives and short
/// repeats.
fn is_simple(pattern: &str) -> bool {
    let bytes = pattern.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => {
                at += 1;
                // Boundaries, references to groups, classes of Unicode.
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
                if counts.max().unwrap_or(0) > LONGEST_REPEAT {
                    return false;
                }
            }
            _ => {}
        }
        at += 1;
    }
    true
}

/// "Complex `{n,m}` quantifiers with large ranges" are refused; how large is not told.
const LONGEST_REPEAT: usize = 100;

/// Whether a pattern that is found in a text fits all of it.
fn is_whole(pattern: &str) -> bool {
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
    fn a_simple_pattern_has_no_looks_boundaries_references_modes_and_long_repeats() {
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
    fn a_whole_pattern_is_anchored_in_every_alternative() {
        for (pattern, whole) in [
            ("^a$", true),
            ("^$", true),
            (r"^a\\$", true),
            (r"^a\$", false),
            ("a$", false),
            ("^a", false),
            ("^a|b$", false),
        ] {
            assert_eq!(is_whole(pattern), whole, "{pattern}");
        }
    }

    /// The lists of the table are what is written.
    #[test]
    fn what_a_style_takes_is_what_its_rules_list() {
        let openai = Style::OPENAI_STRICT;
        assert!(openai.takes("multipleOf") && !openai.takes("uniqueItems"));
        assert!(openai.takes_format("ipv4") && !openai.takes_format("uri"));
        let anthropic = Style::ANTHROPIC_STRICT;
        assert!(!anthropic.takes("minimum") && anthropic.takes_format("uri"));
        assert!(anthropic.takes_length("minItems", 1) && !anthropic.takes_length("minItems", 2));
        assert!(!anthropic.takes_length("maxItems", 1));
        assert!(Style::GEMINI_OPEN_API.takes("pattern") && !Style::GEMINI_JSON.takes("pattern"));
    }
}
