//! [`Secrets`]: keeps secrets out of errors and logs.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use tool_core::visible;

use crate::lock;

/// Strings that must not be in an error or in a log: values of environment variables, tokens, headers.
#[derive(Clone, Default)]
pub(super) struct Secrets {
    fixed: Vec<String>,
    /// The newest tokens, which all clones share: they change while an import is connected.
    tokens: Arc<Mutex<VecDeque<String>>>,
}

/// Older tokens are forgotten.
#[cfg(feature = "client-http")]
const MAX_TOKENS: usize = 32;

/// Shorter values are words such as `1` or `on`.
const SHORTEST: usize = 4;

impl Secrets {
    /// Adds a secret, and each of its lines.
    pub(super) fn add(&mut self, secret: &str) {
        for part in std::iter::once(secret).chain(secret.lines()) {
            let part = part.trim();
            if part.len() >= SHORTEST && !self.fixed.iter().any(|other| other == part) {
                self.fixed.push(part.to_owned());
            }
        }
        // A secret may contain another one.
        self.fixed
            .sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    /// Adds a token, to all clones.
    #[cfg(feature = "client-http")]
    pub(super) fn add_token(&self, token: &str) {
        let mut tokens = lock(&self.tokens);
        if token.len() >= SHORTEST && !tokens.iter().any(|other| other == token) {
            if tokens.len() == MAX_TOKENS {
                tokens.pop_front();
            }
            tokens.push_back(token.to_owned());
        }
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

    /// Replaces the secrets in a string, and escapes it.
    pub(super) fn redact<'t>(&self, text: impl Into<Cow<'t, str>>) -> String {
        let mut text = text.into().into_owned();
        for secret in self.fixed.iter().chain(&*lock(&self.tokens)) {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), "[redacted]");
            }
        }
        match visible::escape(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(escaped) => escaped,
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

/// Truncates a string that another program wrote, and escapes it.
pub(super) fn shorten(text: &str, length: usize) -> Cow<'_, str> {
    let text = match visible::escape(text) {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => return shorten(&text, length).into_owned().into(),
    };
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

    #[cfg(feature = "client-http")]
    #[test]
    fn tokens_are_shared_by_clones_and_the_oldest_are_forgotten() {
        let secrets = Secrets::default();
        let clone = secrets.clone();
        for number in 0..=MAX_TOKENS {
            secrets.add_token(&format!("token-{number:03}"));
        }
        assert_eq!(clone.redact("token-001 token-032"), "[redacted] [redacted]");
        assert_eq!(clone.redact("token-000"), "token-000");
        assert_eq!(lock(&clone.tokens).len(), MAX_TOKENS);
    }

    #[test]
    fn what_nobody_sees_is_escaped() {
        let text = "a\u{1b}[2Jb\r\u{7}\u{9b}c\u{202e}d\n\té";
        let escaped = "a\\u{1b}[2Jb\\r\\u{7}\\u{9b}c\\u{202e}d\n\té";
        assert_eq!(visible::escape(text), escaped);
        assert_eq!(shorten(text, 100), escaped);
        assert_eq!(Secrets::default().redact(text), escaped);
        assert!(!shorten(&"\u{1b}".repeat(100), 10).contains('\u{1b}'));
    }

    #[test]
    fn a_text_is_truncated_between_characters() {
        assert_eq!(shorten("äöü", 3), "ä…");
        assert_eq!(shorten("abc", 3), "abc");
    }
}
