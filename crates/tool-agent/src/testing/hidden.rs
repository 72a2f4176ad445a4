//! [`Hidden`]: secrets that recordings don't have.

use std::collections::BTreeMap;

use serde_json::Value;

/// Secrets, and what stands for each in a recording.
#[derive(Clone, Default)]
pub(super) struct Hidden(Vec<Secret>);

#[derive(Clone)]
struct Secret {
    mark: String,
    text: String,
}

impl Hidden {
    pub(super) fn add(&mut self, name: &str, secret: String) {
        if secret.is_empty() {
            return;
        }
        let mark = format!("<{name}>");
        self.0.push(Secret { mark, text: secret });
        // One that has another in it is replaced as a whole.
        self.0
            .sort_by_key(|secret| std::cmp::Reverse(secret.text.len()));
    }

    /// Replaces the secrets in a JSON text, where they have escapes, and more of them in a text in that text.
    pub(super) fn hide(&self, json: &str) -> String {
        let mut json = json.to_owned();
        for Secret { mark, text } in &self.0 {
            let once = escaped(text);
            for form in [&escaped(&once), &once, text] {
                json = json.replace(form, mark);
            }
        }
        json
    }

    /// Replaces the secrets in a response, also those that the pieces of a stream have together.
    pub(super) fn hide_in(&self, response: &mut [Value]) {
        for Secret { mark, text } in &self.0 {
            // Arguments may be a JSON text.
            for form in [&escaped(text), text] {
                replace(response, form, mark);
            }
        }
    }

    /// Puts the values of this process in the place of the marks.
    pub(super) fn show_in(&self, response: &mut [Value]) {
        for Secret { mark, text } in &self.0 {
            replace(response, mark, text);
        }
    }
}

/// Returns a text as it is between the quotes of a JSON text.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn replace(response: &mut [Value], old: &str, new: &str) {
    let mut texts = BTreeMap::new();
    for value in response {
        collect(value, String::new(), (old, new), &mut texts);
    }
    for pieces in texts.values_mut() {
        replace_in(pieces, old, new);
    }
}

/// Collects the texts at each place. Keys and numbers are replaced at once, because they are in one piece.
fn collect<'v>(
    value: &'v mut Value,
    place: String,
    (old, new): (&str, &str),
    found: &mut BTreeMap<String, Vec<&'v mut String>>,
) {
    match value {
        Value::String(text) => found.entry(place).or_default().push(text),
        Value::Array(items) => {
            for item in items {
                collect(item, format!("{place}/"), (old, new), found);
            }
        }
        Value::Object(members) => {
            if members.keys().any(|key| key.contains(old)) {
                let renamed = std::mem::take(members).into_iter();
                *members = renamed
                    .map(|(key, value)| (key.replace(old, new), value))
                    .collect();
            }
            for (key, value) in members {
                collect(value, format!("{place}/{key}"), (old, new), found);
            }
        }
        Value::Number(number) if number.to_string() == old => *value = new.into(),
        _ => {}
    }
}

/// Replaces a text in pieces. The new one is in the piece in which the old one starts.
fn replace_in(pieces: &mut [&mut String], old: &str, new: &str) {
    let whole: String = pieces.iter().map(|piece| piece.as_str()).collect();
    let found: Vec<_> = whole.match_indices(old).map(|(at, _)| at).collect();
    let mut start = whole.len();
    for piece in pieces.iter_mut().rev() {
        let end = start;
        start -= piece.len();
        for &at in found.iter().rev() {
            let (from, to) = (at.max(start), (at + old.len()).min(end));
            if from < to {
                let new = if at >= start { new } else { "" };
                piece.replace_range(from - start..to - start, new);
            }
        }
    }
}
