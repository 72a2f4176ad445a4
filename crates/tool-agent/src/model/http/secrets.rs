//! [`Secrets`]: strings that must not appear in an error.

/// Maximum number of characters of a provider's words in an error.
const MAX_WORDS: usize = 900;

/// Strings that must not appear in an error.
#[derive(Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// Adds a key. Ignores short placeholders such as `none`, because they are not secret and occur in other words.
    pub(super) fn add(&mut self, secret: &str) {
        if secret.len() >= 6 {
            self.0.push(secret.to_owned());
        }
    }

    /// Removes secrets from the server's message, and truncates it.
    pub(super) fn hide(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.0 {
            text = text.replace(secret, "[key]");
        }
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(MAX_WORDS) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }
}

/// Returns the start of a body that is not JSON, in quotes.
pub(super) fn start_of(bytes: &[u8], secrets: &Secrets) -> String {
    const SHOWN: usize = 60;
    // Secrets are removed first, because after the cut a part of one would not be recognized.
    let text = secrets.hide(&String::from_utf8_lossy(bytes));
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Returns `true` if a header with this name usually contains a secret.
pub(super) fn is_secret(header: &str) -> bool {
    const PARTS: [&str; 5] = ["auth", "cookie", "key", "secret", "token"];
    let header = header.to_ascii_lowercase();
    PARTS.iter().any(|part| header.contains(part))
}
