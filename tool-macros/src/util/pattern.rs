//! Regular expressions of ECMA 262, which JSON Schema has and models know, as those of the `regex`
//! crate, which enforce them.

/// The same expression for the `regex` crate, or what is wrong with it and what to do.
#[cfg(feature = "regex")]
pub(crate) fn translate(ecma: &str) -> Result<String, &'static str> {
    if !jsonschema_regex::is_valid_ecma_regex(ecma) {
        return Err(
            "invalid ECMA 262 regular expression, the dialect of JSON Schema; write one that \
             JavaScript accepts",
        );
    }
    let translated = jsonschema_regex::to_rust_regex(ecma).map(|rust| differences(&rust));
    match translated {
        Ok(rust) if regex::Regex::new(&rust).is_ok() => Ok(rust),
        _ => Err(
            "this pattern cannot be enforced in linear time; write it without look-around \
         and backreferences",
        ),
    }
}

/// Nothing is enforced without the feature, so nothing may be promised.
#[cfg(not(feature = "regex"))]
pub(crate) fn translate(_: &str) -> Result<String, &'static str> {
    Err("a pattern requires the feature `regex` of tool-core; enable it")
}

/// Whether a text holds the expression, as far as that is known.
#[cfg(feature = "regex")]
pub(crate) fn is_match(ecma: &str, text: &str) -> bool {
    translate(ecma)
        .ok()
        .and_then(|rust| regex::Regex::new(&rust).ok())
        .is_none_or(|regex| regex.is_match(text))
}

/// Whether a text holds the expression, as far as that is known.
#[cfg(not(feature = "regex"))]
pub(crate) fn is_match(_: &str, _: &str) -> bool {
    true
}

/// Spells out what the two dialects write alike and mean differently: a dot stops at every end of
/// a line in ECMA 262, and its words are ASCII.
#[cfg(feature = "regex")]
fn differences(rust: &str) -> String {
    let mut spelled = String::with_capacity(rust.len());
    let mut classes = 0_usize;
    let mut characters = rust.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('b') if classes == 0 => spelled.push_str(r"(?-u:\b)"),
                Some('B') if classes == 0 => spelled.push_str(r"(?-u:\B)"),
                escaped => {
                    spelled.push('\\');
                    spelled.extend(escaped);
                }
            },
            '.' if classes == 0 => spelled.push_str(r"[^\n\r\x{2028}\x{2029}]"),
            other => {
                classes = match other {
                    '[' => classes + 1,
                    ']' => classes.saturating_sub(1),
                    _ => classes,
                };
                spelled.push(other);
            }
        }
    }
    spelled
}

#[cfg(all(test, feature = "regex"))]
mod tests {
    use super::*;

    #[test]
    fn what_the_dialects_mean_differently_is_refused_or_spelled_out() {
        for pattern in [
            "[[:alpha:]]",
            "(?i)a",
            r"\Aa\z",
            r"\pL",
            "(?P<n>a)",
            "[a--b]",
            "a{,3}",
            "(?=a)b",
            r"(a)\1",
            r"[\b]",
            "(?x) a",
            "(",
            "a**",
        ] {
            assert!(translate(pattern).is_err(), "{pattern}");
        }
        for (pattern, yes, no) in [
            (r"^\d$", "7", "٧"),
            (r"^\w$", "a", "é"),
            (r"^\s$", "\u{feff}", "\u{85}"),
            ("^.$", "é", "\r"),
            ("^.$", " ", "\u{2028}"),
            (r"\bna", "éna", "ana"),
            ("^a$", "a", "a\n"),
            ("[a&&b]", "&", "c"),
            (r"^[.]\.$", "..", "ab"),
            (r"^[[.]$", "[", "x"),
        ] {
            assert!(is_match(pattern, yes), "{pattern} finds nothing in {yes:?}");
            assert!(
                !is_match(pattern, no),
                "{pattern} finds something in {no:?}"
            );
        }
    }
}
