//! From a proposed spec to the start of a Rust function.

use examples::terminal::safe;
use serde_json::{Map, Value};

/// Words that are no names of parameters. Those that `r#` can't escape get a `_`.
const KEYWORDS: &str = "as async await become box break const continue do dyn else enum extern false final fn for gen if \
                        impl in let loop macro match mod move mut override priv pub ref return static struct trait true \
                        try type typeof unsafe unsized use virtual where while yield abstract";
const UNESCAPABLE: &str = "self Self super crate _";

/// Returns a function with the parameters of a JSON Schema and without a body, for a person to fill in.
///
/// The model wrote the texts: they stay in comments and string literals.
pub(crate) fn stub(name: &str, description: &str, schema: &Map<String, Value>) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |key: &str| required.is_some_and(|names| names.iter().any(|name| name == key));
    let mut parameters = String::new();
    let mut taken = Vec::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (key, property) in properties.into_iter().flatten() {
        let mut ident = identifier(key);
        while taken.contains(&ident) {
            ident.push('_');
        }
        parameters.push('\n');
        let description = property["description"].as_str().unwrap_or_default();
        parameters.push_str(&comment(description, "    "));
        if is_portable(key) && ident.trim_start_matches("r#") != key {
            parameters.push_str(&format!("    #[param(rename = {key:?})]\n"));
        }
        let mut kind = rust_type(property, true);
        if !is_required(key) && !kind.starts_with("Option") {
            kind = format!("Option<{kind}>");
        }
        parameters.push_str(&format!("    {ident}: {kind},"));
        taken.push(ident);
    }
    if !parameters.is_empty() {
        parameters.push('\n');
    }
    let comment = comment(description, "");
    format!(
        "{comment}#[tool]\nfn {}({parameters}) -> Result<String, String> {{\n    todo!()\n}}\n",
        identifier(name)
    )
}

/// Returns doc comments with this text. No line of it can end them.
fn comment(text: &str, indent: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = format!("/// {}", safe(line));
        format!("{indent}{}\n", line.trim_end())
    });
    lines.collect()
}

/// Returns `true` if every provider accepts the key of a property. Others get a new name.
fn is_portable(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key.len() <= 64
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn identifier(key: &str) -> String {
    let mut ident = String::new();
    for character in key.chars() {
        match character {
            'A'..='Z' => {
                if ident.ends_with(|last: char| last.is_ascii_lowercase()) {
                    ident.push('_');
                }
                ident.push(character.to_ascii_lowercase());
            }
            'a'..='z' | '0'..='9' | '_' => ident.push(character),
            _ => ident.push('_'),
        }
    }
    if ident.is_empty() || ident.starts_with(|first: char| first.is_ascii_digit()) {
        ident.insert_str(0, "p_");
    }
    let is_in = |words: &str| words.split(' ').any(|word| word == ident);
    if is_in(UNESCAPABLE) {
        ident.push('_');
    } else if is_in(KEYWORDS) {
        ident.insert_str(0, "r#");
    }
    ident
}

/// Returns the type of a property. One that does not exist marks what a person must decide.
fn rust_type(schema: &Value, is_borrowed: bool) -> String {
    let mut kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    let all = kinds.len();
    kinds.retain(|kind| *kind != "null");
    let kind = match kinds[..] {
        ["string"] if is_borrowed => "&str".to_owned(),
        ["string"] => "String".to_owned(),
        ["integer"] => "i64".to_owned(),
        ["number"] => "f64".to_owned(),
        ["boolean"] => "bool".to_owned(),
        ["array"] => format!("Vec<{}>", rust_type(&schema["items"], false)),
        ["object"] if schema["properties"].is_null() => {
            "serde_json::Map<String, serde_json::Value>".to_owned()
        }
        _ => "SeeToolJson".to_owned(),
    };
    if kinds.len() < all {
        format!("Option<{kind}>")
    } else {
        kind
    }
}
