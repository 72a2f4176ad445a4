//! [`Secrets`]: keeps secrets out of errors and logs.

use std::borrow::Cow;
use std::fmt;

/// Strings that must not be in an error or in a log: values of environment variables, tokens, headers.
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<String>);

/// Shorter values are words such as `1` or `on`.
const SHORTEST: usize = 4;

impl Secrets {
    /// Adds a secret, and each of its lines.
    pub(super) fn add(&mut self, secret: &str) {
        for part in std::iter::once(secret).chain(secret.lines()) {
            let part = part.trim();
            if part.len() >= SHORTEST && !self.0.iter().any(|other| other == part) {
                self.0.push(part.to_owned());
            }
        }
        // A secret may contain another one.
        self.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    /// Adds what a child process would inherit: the variables of this process whose names look secret.
    pub(super) fn add_inherited(&mut self) {
        const WORDS: [&str; 7] = [
            "KEY",
            "TOKEN",
            "SECRET",
            "PASS",
            "CREDENTIAL",
            "AUTH",
            "COOKIE",
        ];
        for (name, value) in std::env::vars_os() {
            let name = name.to_string_lossy().to_uppercase();
            if WORDS.iter().any(|word| name.contains(word)) {
                self.add(&value.to_string_lossy());
            }
        }
    }

    /// Replaces the secrets in a string.
    pub(super) fn redact<'t>(&self, text: impl Into<Cow<'t, str>>) -> String {
        let mut text = text.into().into_owned();
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), "[redacted]");
            }
        }
        text
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

/// Truncates a string that another program wrote.
pub(super) fn shorten(text: &str, length: usize) -> Cow<'_, str> {
    if text.len() <= length {
        return text.into();
    }
    let end = (0..=length).rev().find(|&at| text.is_char_boundary(at));
    format!("{}…", &text[..end.unwrap_or_default()]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_replaced_wherever_they_are() {
        let mut secrets = Secrets::default();
        secrets.add("hunter2");
        secrets.add("hunter2hunter2");
        secrets.add("-----BEGIN-----\nabcdefgh\n-----END-----");
        secrets.add("on");
        let text = "hunter2hunter2 hunter2, abcdefgh on";
        assert_eq!(secrets.redact(text), "[redacted] [redacted], [redacted] on");
        assert_eq!(format!("{secrets:?}"), "Secrets");
    }

    #[test]
    fn a_text_is_truncated_between_characters() {
        assert_eq!(shorten("äöü", 3), "ä…");
        assert_eq!(shorten("abc", 3), "abc");
    }
}
