//! Translates regular expressions of ECMA 262, the dialect of JSON Schema, for the `regex` crate.

/// Returns the expression for the `regex` crate, or the error message.
#[cfg(feature = "regex")]
pub(crate) fn translate(ecma: &str) -> Result<String, &'static str> {
    if !jsonschema_regex::is_valid_ecma_regex(ecma) {
        return Err(
            "invalid ECMA 262 regular expression, the dialect of JSON Schema; write one that \
             JavaScript accepts",
        );
    }
    let translated = jsonschema_regex::to_rust_regex(ecma).map(|rust| replace_differences(&rust));
    match translated {
        Ok(rust) if regex::Regex::new(&rust).is_ok() => Ok(rust),
        _ => Err(
            "this pattern cannot be enforced in linear time; write it without look-around \
         and backreferences",
        ),
    }
}

/// Without the feature no pattern can be enforced.
#[cfg(not(feature = "regex"))]
pub(crate) fn translate(_: &str) -> Result<String, &'static str> {
    Err("a pattern requires the feature `regex` of tool-core; enable it")
}

/// Returns `true` if a string matches the expression, or if that is unknown.
#[cfg(feature = "regex")]
pub(crate) fn is_match(ecma: &str, text: &str) -> bool {
    translate(ecma)
        .ok()
        .and_then(|rust| regex::Regex::new(&rust).ok())
        .is_none_or(|regex| regex.is_match(text))
}

/// Returns an expression that matches whole strings only.
pub(crate) fn anchored(ecma: String) -> String {
    let inside = ecma
        .strip_prefix('^')
        .and_then(|rest| rest.strip_suffix('$'));
    // A choice or an escaped `$` would be anchored in part.
    if inside.is_some_and(|inside| !inside.ends_with('\\') && !inside.contains('|')) {
        ecma
    } else {
        format!("^(?:{ecma})$")
    }
}

/// Returns `true` if a quantifier is lazy, such as `+?`.
pub(crate) fn is_lazy(ecma: &str) -> bool {
    let (mut is_class, mut is_quantified) = (false, false);
    let mut characters = ecma.chars();
    while let Some(character) = characters.next() {
        let was_quantified = std::mem::take(&mut is_quantified);
        match character {
            '\\' => {
                characters.next();
            }
            '[' => is_class = true,
            ']' => is_class = false,
            _ if is_class => {}
            '?' if was_quantified => return true,
            // A group such as `(?:`.
            '(' if characters.as_str().starts_with('?') => {
                characters.next();
            }
            '*' | '+' | '?' | '}' => is_quantified = true,
            _ => {}
        }
    }
    false
}

/// Without the feature the result is unknown.
#[cfg(not(feature = "regex"))]
pub(crate) fn is_match(_: &str, _: &str) -> bool {
    true
}

/// Replaces syntax with another meaning in ECMA 262: a dot matches no line break of any kind, and `\b`
/// is ASCII.
#[cfg(feature = "regex")]
fn replace_differences(rust: &str) -> String {
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
    fn an_anchored_expression_matches_whole_texts() {
        for (pattern, yes, no) in [
            ("[0-9]+", "17", "a17"),
            ("^[0-9]+$", "17", "17a"),
            ("^a|b$", "b", "ab"),
            (r"^a\$", "a$", "a"),
            ("a|b", "a", "ab"),
        ] {
            let pattern = anchored(pattern.into());
            assert!(is_match(&pattern, yes), "{pattern} does not match {yes:?}");
            assert!(!is_match(&pattern, no), "{pattern} matches {no:?}");
        }
        assert_eq!(anchored("^a$".into()), "^a$");
    }

    #[test]
    fn lazy_quantifiers_are_found() {
        for lazy in ["a+?", "a*?b", "a??", "a{2,}?", "(?:a)+?", r"\]+?"] {
            assert!(is_lazy(lazy), "{lazy}");
        }
        for eager in ["a?", "(?:a)?", "[+?]", r"\+?", "a+", "[a]?", "(a)?(?:b)"] {
            assert!(!is_lazy(eager), "{eager}");
        }
    }

    #[test]
    fn differences_of_the_dialects_are_rejected_or_replaced() {
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
            assert!(is_match(pattern, yes), "{pattern} does not match {yes:?}");
            assert!(!is_match(pattern, no), "{pattern} matches {no:?}");
        }
    }
}
