//! Explains why a text is not JSON, in words for its author: a model.

use serde_json::error::Error;

/// Returns the mistake and the text to send in its place. Called only once `serde_json` has rejected the
/// text.
///
/// Repeats nothing of the text, which may have secrets.
#[cold]
pub(crate) fn why(text: &str, error: &Error) -> String {
    let found = error.to_string();
    let (problem, place) = match found.rfind(" at line ") {
        Some(at) => found.split_at(at),
        None => (&*found, ""),
    };
    let (before, rest) = text.split_at(offset(text, error));
    if error.is_eof() {
        return match text.trim_ascii() {
            "" => "there is no JSON".into(),
            start if start.starts_with("```") => FENCE.into(),
            _ => {
                let place = match problem.strip_prefix("EOF while parsing ") {
                    Some("a list") => "inside an array",
                    Some("an object") => "inside an object",
                    Some("a string") => "inside a string",
                    _ => "before a value",
                };
                format!("the JSON is cut off {place}; send it whole")
            }
        };
    }
    let is_first = before.trim_ascii().is_empty();
    let starts = |words: &[&str]| words.iter().any(|word| rest.starts_with(word));
    let advice = if is_first && starts(&["```"]) {
        return FENCE.into();
    } else if problem == "trailing characters" {
        if starts(&["{", "["]) {
            "another JSON value follows; make a call for each"
        } else {
            "more follows after the end of the JSON; send the JSON alone"
        }
    } else if starts(&["'", "‘", "’", "“", "”", "`"]) {
        "keys and strings need double quotes (\")"
    } else if is_first {
        "other characters come before the JSON; send the JSON alone"
    } else if starts(&["}", "]", ","]) || problem == "trailing comma" {
        if before.trim_ascii_end().ends_with(',') {
            "no comma may follow the last item"
        } else {
            "a value is missing"
        }
    } else if starts(&["//", "/*", "#"]) {
        "JSON has no comments; remove them"
    } else if problem == "key must be a string" {
        "keys need double quotes (\")"
    } else if starts(&["True", "False", "None"]) {
        "write true, false and null in lower case"
    } else if starts(&["NaN", "Infinity", "-Infinity", "undefined"]) {
        "JSON has no NaN, Infinity or undefined; send a number or null"
    } else if problem == "invalid number" {
        "a number is not written as in JSON, such as 0.5, 10 or -1e3"
    } else if problem.starts_with("control character") {
        "write line breaks and tabs in strings as \\n and \\t"
    } else if problem == "invalid escape" {
        "write a backslash in a string as \\\\"
    } else if problem.starts_with("expected `,`") {
        "a comma is missing, or a double quote in a string is not written as \\\""
    } else if problem == "recursion limit exceeded" {
        "the values are nested too deep; send fewer levels"
    } else {
        return found;
    };
    format!("{advice}: {problem}{place}")
}

const FENCE: &str = "a Markdown code fence is around the JSON; send the JSON alone";

/// Returns where the character is that the error is about.
fn offset(text: &str, error: &Error) -> usize {
    let line = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1));
    let start: usize = line.map(str::len).sum();
    let at = start + error.column().saturating_sub(1);
    (0..=at.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde::de::IgnoredAny;

    use super::why;

    /// The mistakes of models, and the start of the messages that they read.
    #[test]
    fn a_model_reads_what_to_send() {
        const MISTAKES: &[(&str, &str)] = &[
            ("", "there is no JSON"),
            ("```json\n{\"a\":1}\n```", "a Markdown code fence is around"),
            ("  ```\n{}", "a Markdown code fence is around"),
            ("```", "a Markdown code fence is around"),
            (
                r#"{"a": {"b": "x", "#,
                "the JSON is cut off inside an object; send it whole",
            ),
            (r#"{"a": [1"#, "the JSON is cut off inside an array"),
            (r#"{"a": "x"#, "the JSON is cut off inside a string"),
            (r#"{"a":"#, "the JSON is cut off before a value"),
            ("{'a': 1}", "keys and strings need double quotes (\")"),
            (r#"{"a": 'x'}"#, "keys and strings need double quotes (\")"),
            (
                "{\"ä\": 1,\n \"b\": “x”}",
                "keys and strings need double quotes (\")",
            ),
            ("{a: 1}", "keys need double quotes (\")"),
            (
                r#"{"a":1} ok"#,
                "more follows after the end of the JSON; send the JSON alone",
            ),
            ("{\"a\":1}\n```", "more follows after the end of the JSON"),
            (r#"{"a":1}}"#, "more follows after the end of the JSON"),
            (
                r#"{"a":1}{"a":2}"#,
                "another JSON value follows; make a call for each",
            ),
            (
                r#"Here it is: {"a":1}"#,
                "other characters come before the JSON",
            ),
            ("<a>1</a>", "other characters come before the JSON"),
            (r#"{"a":1,}"#, "no comma may follow the last item"),
            (r#"{"a":[1,]}"#, "no comma may follow the last item"),
            (r#"{"a":}"#, "a value is missing"),
            ("{\"a\":1, // one\n\"b\":2}", "JSON has no comments"),
            (r#"{"a": True}"#, "write true, false and null in lower case"),
            (r#"{"a": None}"#, "write true, false and null in lower case"),
            (r#"{"a": NaN}"#, "JSON has no NaN"),
            (r#"{"a": 01}"#, "a number is not written as in JSON"),
            (
                "{\"a\": \"x\ny\"}",
                "write line breaks and tabs in strings as \\n and \\t",
            ),
            (
                r#"{"a": "C:\dir"}"#,
                "write a backslash in a string as \\\\",
            ),
            (
                r#"{"a": "say "hi""}"#,
                "a comma is missing, or a double quote",
            ),
            (
                r#"{"a": 1 "b": 2}"#,
                "a comma is missing, or a double quote",
            ),
        ];
        for (text, said) in MISTAKES {
            let error = serde_json::from_str::<IgnoredAny>(text).expect_err(text);
            let why = why(text, &error);
            assert!(why.starts_with(said), "{text}: {why}");
        }
        let deep = "[".repeat(200);
        let error = serde_json::from_str::<serde_json::Value>(&deep).expect_err("too deep");
        assert!(why(&deep, &error).starts_with("the values are nested too deep"));
    }

    /// The text may have a secret.
    #[test]
    fn nothing_of_the_text_is_repeated() {
        let secret = "hunter2";
        for text in [
            format!("{{'{secret}': 1}}"),
            format!("{{\"a\": {secret}}}"),
            format!("{{}} {secret}"),
            secret.to_owned(),
            format!("{{\"a\": \"{secret}"),
        ] {
            let error = serde_json::from_str::<IgnoredAny>(&text).expect_err(&text);
            assert!(!why(&text, &error).contains(secret), "{text}");
        }
    }

    #[test]
    fn any_text_that_is_not_json_gets_an_answer() {
        let text = "{\"ä\": [1, 'é', tru, \"\u{7}\", \\], \n // 日本\n \"b\": NaN} ```";
        for (start, _) in text.char_indices() {
            for (end, _) in text.char_indices().filter(|(end, _)| *end >= start) {
                let text = &text[start..end];
                if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
                    assert!(!why(text, &error).is_empty(), "{text}");
                }
            }
        }
    }
}
