//! [`Secrets`]: what must not be in an error.

/// The longest text of a provider in an error, in characters.
const MAX_WORDS: usize = 900;

/// What must not be in an error.
#[derive(Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// Adds a key. A placeholder such as `none` is not worth hiding, and part of other words.
    pub(super) fn add(&mut self, secret: &str) {
        if secret.len() >= 6 {
            self.0.push(secret.to_owned());
        }
    }

    /// Removes the secrets from a message of the server, and truncates it.
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

/// Returns the start of what is not JSON, in quotes.
pub(super) fn start_of(bytes: &[u8], secrets: &Secrets) -> String {
    const SHOWN: usize = 60;
    // The secrets first: a part of one would not be recognized.
    let text = secrets.hide(&String::from_utf8_lossy(bytes));
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Returns `true` if the value of a header is a secret, judged by its name.
pub(super) fn is_secret(header: &str) -> bool {
    const PARTS: [&str; 5] = ["auth", "cookie", "key", "secret", "token"];
    let header = header.to_ascii_lowercase();
    PARTS.iter().any(|part| header.contains(part))
}
