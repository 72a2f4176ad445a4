//! Templates of URIs: RFC 6570, level 1.

/// A URI with variables, such as `notes://{id}`.
pub(super) struct Template {
    source: String,
    tokens: Vec<Token>,
}

/// A part of a template. Runs and separators take turns, so that a URI matches in one way at most.
enum Token {
    /// Reserved characters.
    Separator(String),
    /// Characters that the value of a variable may be written with, with one variable at most.
    Run {
        prefix: String,
        variable: Option<String>,
        suffix: String,
    },
}

/// Returns `true` for the characters of a value: unreserved characters, characters of percent-encoded
/// bytes, and characters of other languages, which clients send as they are.
fn is_of_value(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-._~%".contains(character) || !character.is_ascii()
}

impl Template {
    /// Parses a template. The error says what is wrong with it.
    pub(super) fn parse(source: &str) -> Result<Template, String> {
        let problem = |problem: &str| format!("the URI template `{source}` {problem}");
        let mut tokens: Vec<Token> = Vec::new();
        let mut rest = source;
        while let Some(character) = rest.chars().next() {
            if character == '{' {
                let Some((name, after)) = rest[1..].split_once('}') else {
                    return Err(problem("has a `{` without `}`"));
                };
                let is_name = |name: &str| {
                    let mut bytes = name.bytes();
                    !name.is_empty()
                        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                };
                if !name.split('.').all(is_name) {
                    return Err(problem(&format!(
                        "has `{{{name}}}`; a variable is the name of a parameter, without an operator"
                    )));
                }
                if tokens.iter().any(|token| token.variable() == Some(name)) {
                    return Err(problem(&format!("has `{{{name}}}` twice")));
                }
                match tokens.last_mut() {
                    Some(Token::Run {
                        variable: Some(_), ..
                    }) => {
                        return Err(problem(&format!(
                            "has nothing between `{{{name}}}` and the variable before that a value can't contain; \
                             write a `/`"
                        )));
                    }
                    Some(Token::Run { variable, .. }) => *variable = Some(name.into()),
                    _ => tokens.push(Token::Run {
                        prefix: String::new(),
                        variable: Some(name.into()),
                        suffix: String::new(),
                    }),
                }
                rest = after;
                continue;
            }
            if character == '}' || character.is_whitespace() || character.is_control() {
                return Err(problem(&format!(
                    "has {character:?}, which a URI can't have"
                )));
            }
            match (tokens.last_mut(), is_of_value(character)) {
                (Some(Token::Separator(text)), false) => text.push(character),
                (_, false) => tokens.push(Token::Separator(character.into())),
                (
                    Some(Token::Run {
                        variable: Some(_),
                        suffix,
                        ..
                    }),
                    true,
                ) => suffix.push(character),
                (Some(Token::Run { prefix, .. }), true) => prefix.push(character),
                (_, true) => tokens.push(Token::Run {
                    prefix: character.into(),
                    variable: None,
                    suffix: String::new(),
                }),
            }
            rest = &rest[character.len_utf8()..];
        }
        let is_absolute = match (tokens.first(), tokens.get(1)) {
            (Some(Token::Run { variable: None, .. }), Some(Token::Separator(text))) => {
                text.starts_with(':')
            }
            _ => false,
        };
        if !is_absolute {
            return Err(problem("does not start with a scheme, such as `notes://`"));
        }
        Ok(Template {
            source: source.into(),
            tokens,
        })
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Returns the names of the variables.
    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        self.tokens.iter().filter_map(Token::variable)
    }

    /// Returns the values of the variables in a URI, decoded once; `None` if it does not match.
    ///
    /// A value is one segment: it is not empty, and has neither slashes nor control characters, encoded or not. It is not
    /// `.` or `..`, so that no function takes it for a path to elsewhere.
    pub(super) fn matches<'t>(&'t self, uri: &str) -> Option<Vec<(&'t str, String)>> {
        let mut values = Vec::new();
        let mut rest = uri;
        for token in &self.tokens {
            let is_run = matches!(token, Token::Run { .. });
            let end = rest.find(|character| is_of_value(character) != is_run);
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            rest = after;
            match token {
                Token::Separator(text) if part == text => {}
                Token::Run {
                    prefix,
                    variable: Some(variable),
                    suffix,
                } => {
                    let value = part.strip_prefix(&**prefix)?.strip_suffix(&**suffix)?;
                    let value = decoded(value).filter(|value| is_segment(value))?;
                    values.push((&**variable, value));
                }
                Token::Run { prefix, .. } if part == prefix => {}
                _ => return None,
            }
        }
        rest.is_empty().then_some(values)
    }

    /// Returns `true` if a URI may match both.
    pub(super) fn overlaps(&self, other: &Template) -> bool {
        let mut pairs = self.tokens.iter().zip(&other.tokens);
        self.tokens.len() == other.tokens.len() && pairs.all(|(one, other)| one.overlaps(other))
    }
}

impl Token {
    fn variable(&self) -> Option<&str> {
        match self {
            Token::Run { variable, .. } => variable.as_deref(),
            Token::Separator(_) => None,
        }
    }

    fn overlaps(&self, other: &Token) -> bool {
        match (self, other) {
            (Token::Separator(one), Token::Separator(other)) => one == other,
            (
                Token::Run {
                    prefix,
                    variable,
                    suffix,
                },
                Token::Run {
                    prefix: other_prefix,
                    variable: other_variable,
                    suffix: other_suffix,
                },
            ) => {
                let has = |text: &str, prefix: &str, suffix: &str| {
                    text.len() > prefix.len() + suffix.len()
                        && text.starts_with(prefix)
                        && text.ends_with(suffix)
                };
                match (variable, other_variable) {
                    (None, None) => prefix == other_prefix,
                    (None, Some(_)) => has(prefix, other_prefix, other_suffix),
                    (Some(_), None) => has(other_prefix, prefix, suffix),
                    (Some(_), Some(_)) => {
                        (prefix.starts_with(other_prefix) || other_prefix.starts_with(prefix))
                            && (suffix.ends_with(other_suffix) || other_suffix.ends_with(suffix))
                    }
                }
            }
            _ => false,
        }
    }
}

/// Decodes percent-encoded bytes, once.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

fn is_segment(value: &str) -> bool {
    let is_forbidden = |character: char| matches!(character, '/' | '\\') || character.is_control();
    !matches!(value, "" | "." | "..") && !value.contains(is_forbidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(template: &str, uri: &str) -> Option<Vec<String>> {
        let template = Template::parse(template).unwrap();
        let values = template.matches(uri)?;
        Some(values.into_iter().map(|(_, value)| value).collect())
    }

    #[test]
    fn variables_are_decoded_once() {
        let found = values(
            "shop://{city}/items/{id}.json?lang={lang}",
            "shop://S%C3%A3o%20P/items/a.b.json?lang=pt",
        );
        assert_eq!(found.unwrap(), ["São P", "a.b", "pt"]);
        assert_eq!(
            values("notes://{id}", "notes://%252e%252e").unwrap(),
            ["%2e%2e"]
        );
        assert_eq!(values("notes://today", "notes://today").unwrap(), [""; 0]);
    }

    #[test]
    fn a_value_is_one_segment() {
        for value in [
            "",
            ".",
            "..",
            "%2e%2e",
            "%2E.",
            "a/b",
            "a%2fb",
            "..%2F..%2Fetc",
            "a%5Cb",
            "%00",
            "a%0Ab",
            "%",
            "%4",
            "%zz",
            "%ff",
            "%+1",
            "a?b",
            "a#b",
            "a b",
            "{id}",
        ] {
            assert_eq!(
                values("notes://{id}", &format!("notes://{value}")),
                None,
                "{value}"
            );
        }
        for uri in [
            "notes:/1",
            "Notes://1",
            "notes://1/",
            "notes://1?",
            "xnotes://1",
            "",
        ] {
            assert_eq!(values("notes://{id}", uri), None, "{uri}");
        }
    }

    #[test]
    fn what_is_around_a_value_is_that_of_the_template() {
        let template = "notes://n-{id}.json";
        assert_eq!(values(template, "notes://n-7.json").unwrap(), ["7"]);
        for uri in [
            "notes://x-7.json",
            "notes://7.json",
            "notes://n-7.txt",
            "notes://n-7",
        ] {
            assert_eq!(values(template, uri), None, "{uri}");
        }
    }

    #[test]
    fn templates_that_may_match_the_same_uri_overlap() {
        let overlap = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|source| Template::parse(source).unwrap());
            assert_eq!(one.overlaps(&other), other.overlaps(&one));
            one.overlaps(&other)
        };
        for (one, other) in [
            ("a://{x}", "a://{y}"),
            ("a://{x}", "a://today"),
            ("a://{x}.json", "a://b{y}"),
            ("a://{x}/{y}", "a://b/{z}"),
            ("a://b", "a://b"),
        ] {
            assert!(overlap(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("a://{x}", "b://{x}"),
            ("a://{x}", "a://{x}/y"),
            ("a://{x}.json", "a://{x}.txt"),
            ("a://b{x}", "a://b"),
            ("a://b/{x}", "a://c/{x}"),
        ] {
            assert!(!overlap(one, other), "{one} {other}");
        }
    }

    #[test]
    fn templates_that_are_no_uris_are_rejected() {
        for (source, problem) in [
            ("", "does not start with a scheme"),
            ("notes", "does not start with a scheme"),
            ("{scheme}://a", "does not start with a scheme"),
            ("a://{x", "has a `{` without `}`"),
            ("a://x}", "which a URI can't have"),
            ("a://{}", "is the name of a parameter"),
            ("a://{+x}", "without an operator"),
            ("a://{x}{y}", "write a `/`"),
            ("a://{x}.{y}", "write a `/`"),
            ("a://{x}/{x}", "twice"),
        ] {
            let error = Template::parse(source).err().unwrap_or_default();
            assert!(error.contains(problem), "{source}: {error}");
        }
    }
}
