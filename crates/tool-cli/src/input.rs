//! Values read from files or standard input.

use std::io::Read;

use crate::failure::Failure;

/// Maximum length of a value from a file, so a wrong path can't fill the memory.
const LONGEST: u64 = 64 << 20;

/// Reads values. Standard input can be read only once.
#[derive(Default)]
pub(crate) struct Input {
    /// The flag that read standard input.
    stdin: Option<String>,
}

impl Input {
    /// Returns the content of a file for `@path`, standard input for `-`, and `@path` for `@@path`. Returns any other
    /// value unchanged.
    pub(crate) fn read(&mut self, flag: &str, value: &str) -> Result<String, Failure> {
        if value == "-" {
            if let Some(earlier) = self.stdin.replace(flag.to_owned()) {
                let message = format!("{flag}: standard input was already read by {earlier}");
                return Err(Failure::Wrong(message));
            }
            return text(std::io::stdin().lock()).map_err(|error| {
                Failure::Wrong(format!("{flag}: can't read standard input: {error}"))
            });
        }
        match value.strip_prefix('@') {
            None => Ok(value.to_owned()),
            Some(escaped) if escaped.starts_with('@') => Ok(escaped.to_owned()),
            Some(path) => std::fs::File::open(path)
                .and_then(text)
                .map_err(|error| Failure::Wrong(format!("{flag}: can't read {path}: {error}"))),
        }
    }
}

fn text(source: impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    source.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        return Err(std::io::Error::other("it has more than 64 MiB"));
    }
    Ok(text)
}
