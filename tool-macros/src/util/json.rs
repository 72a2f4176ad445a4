//! JSON: strings, and a parser. `serde_json` would have to be compiled a second time, for the host.

use std::fmt::Write;

use proc_macro2::TokenStream;

use super::site::{code, respanned, string};

/// The deepest nesting, which equals the limit of `serde_json`.
const DEPTH: usize = 127;

/// A JSON value. Numbers are text, and objects keep their order.
#[derive(Clone)]
pub(crate) enum Json {
    Null,
    Boolean(bool),
    Number(String),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

pub(crate) fn parse(text: &str) -> Result<Json, String> {
    let mut reader = Reader {
        rest: text,
        depth: 0,
    };
    let json = reader.value()?;
    match reader.next() {
        None => Ok(json),
        Some(_) => Err(reader.wrong("the end")),
    }
}

impl Json {
    /// Returns the text without white space, with the escapes of a schema's strings.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    // Input:  {"a": [1, "b"]}
    // Output: Literal::Object("{…}", &[("a", Literal::Array("[…]", &[
    //             Literal::Number("1", 1f64), Literal::String("b", 1)
    //         ]))])
    pub(crate) fn constant(&self) -> TokenStream {
        let path = code!(__tool_core::Literal);
        match self {
            Json::Null => code!(#path::Null),
            Json::Boolean(truth) => {
                let truth = respanned(truth);
                code!(#path::Boolean(#truth))
            }
            Json::Number(text) => {
                let number = text.parse::<f64>().map(respanned);
                let number = number.expect("every JSON number is a float");
                let text = string(text);
                code!(#path::Number(#text, #number))
            }
            Json::String(text) => {
                let (length, text) = (respanned(text.chars().count()), string(text));
                code!(#path::String(#text, #length))
            }
            Json::Array(items) => {
                let (text, items) = (string(&self.text()), items.iter().map(Json::constant));
                code!(#path::Array(#text, &[#(#items),*]))
            }
            Json::Object(members) => {
                let members = members.iter().map(|(key, value)| {
                    let (key, value) = (string(key), value.constant());
                    code!((#key, #value))
                });
                let text = string(&self.text());
                code!(#path::Object(#text, &[#(#members),*]))
            }
        }
    }

    /// Returns the value of a key.
    #[cfg(feature = "client")]
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        let mut members = self.members().iter();
        members.find_map(|(other, value)| (other == key).then_some(value))
    }

    /// Returns the value of a key, if it is a string.
    #[cfg(feature = "client")]
    pub(crate) fn str(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Json::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the members of an object; none for other values.
    #[cfg(feature = "client")]
    pub(crate) fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }

    /// Returns `true` for this string.
    #[cfg(feature = "client")]
    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self, Json::String(other) if other == text)
    }

    /// Returns the value to which a JSON pointer leads through objects.
    #[cfg(feature = "client")]
    pub(crate) fn pointer(&self, pointer: &str) -> Option<&Json> {
        let steps = pointer.split('/').skip(1);
        steps.fold(
            (pointer.is_empty() || pointer.starts_with('/')).then_some(self),
            |json, step| json?.get(&step.replace("~1", "/").replace("~0", "~")),
        )
    }

    fn write(&self, out: &mut String) {
        let quoted = |text: &str, out: &mut String| {
            out.push('"');
            out.push_str(&escape(text));
            out.push('"');
        };
        match self {
            Json::Null => out.push_str("null"),
            Json::Boolean(truth) => out.push_str(if *truth { "true" } else { "false" }),
            Json::Number(number) => out.push_str(number),
            Json::String(text) => quoted(text, out),
            Json::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    quoted(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// Returns `true` if a string is the same in a JSON string.
pub(crate) fn is_same(text: &str) -> bool {
    let is_escaped = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    !text.bytes().any(is_escaped)
}

/// Escapes a string for a JSON string. The quotes are not included.
pub(crate) fn escape(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            control if u32::from(control) < 0x20 => {
                write!(json, "\\u{:04x}", u32::from(control))
                    .expect("writing to a String succeeds");
            }
            other => json.push(other),
        }
    }
    json
}

struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start_matches([' ', '\n', '\r', '\t']);
        self.rest.chars().next()
    }

    fn eat(&mut self, token: &str) -> bool {
        self.next();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn wrong(&self, wanted: &str) -> String {
        let got: String = self.rest.chars().take(12).collect();
        if got.is_empty() {
            format!("invalid JSON: expected {wanted} at the end of the text")
        } else {
            format!("invalid JSON: expected {wanted} at `{got}`")
        }
    }

    fn value(&mut self) -> Result<Json, String> {
        if self.depth > DEPTH {
            return Err(format!("invalid JSON: nested deeper than {DEPTH} levels"));
        }
        self.depth += 1;
        let value = self.value_inside();
        self.depth -= 1;
        value
    }

    fn value_inside(&mut self) -> Result<Json, String> {
        match self.next() {
            Some('{') => self.object(),
            Some('[') => self.array(),
            Some('"') => self.string().map(Json::String),
            Some('-' | '0'..='9') => {
                let is_part = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
                let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
                let (number, rest) = self.rest.split_at(end);
                self.rest = rest;
                if is_number(number) {
                    Ok(Json::Number(number.into()))
                } else {
                    Err(format!("invalid JSON: `{number}` is not a number"))
                }
            }
            _ if self.eat("true") => Ok(Json::Boolean(true)),
            _ if self.eat("false") => Ok(Json::Boolean(false)),
            _ if self.eat("null") => Ok(Json::Null),
            _ => Err(self.wrong("a value")),
        }
    }

    fn object(&mut self) -> Result<Json, String> {
        let mut members: Vec<(String, Json)> = Vec::new();
        self.eat("{");
        while !self.eat("}") {
            if !members.is_empty() && !self.eat(",") {
                return Err(self.wrong("`,` or `}`"));
            }
            self.next();
            let key = self.string()?;
            if !self.eat(":") {
                return Err(self.wrong("`:`"));
            }
            if members.iter().any(|(other, _)| *other == key) {
                return Err(format!("duplicate key `{key}`; remove one of the two"));
            }
            members.push((key, self.value()?));
        }
        Ok(Json::Object(members))
    }

    fn array(&mut self) -> Result<Json, String> {
        let mut items = Vec::new();
        self.eat("[");
        while !self.eat("]") {
            if !items.is_empty() && !self.eat(",") {
                return Err(self.wrong("`,` or `]`"));
            }
            items.push(self.value()?);
        }
        Ok(Json::Array(items))
    }

    fn string(&mut self) -> Result<String, String> {
        let Some(inner) = self.rest.strip_prefix('"') else {
            return Err(self.wrong("a string"));
        };
        let mut text = String::new();
        let mut characters = inner.chars();
        loop {
            match characters.next() {
                None => return Err("invalid JSON: a string has no closing quote".into()),
                Some('"') => break,
                Some('\\') => text.push(unescape(&mut characters)?),
                Some(control) if control < ' ' => {
                    return Err(
                        "invalid JSON: a control character in a string; escape it, as in `\\n`"
                            .into(),
                    );
                }
                Some(other) => text.push(other),
            }
        }
        self.rest = characters.as_str();
        Ok(text)
    }
}

fn unescape(characters: &mut std::str::Chars<'_>) -> Result<char, String> {
    let unknown = || String::from("invalid JSON: unknown escape in a string");
    Ok(match characters.next().ok_or_else(unknown)? {
        mark @ ('"' | '\\' | '/') => mark,
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => {
            let mut code = hex(characters).ok_or_else(unknown)?;
            if (0xd800..0xdc00).contains(&code) {
                let pair = characters.next() == Some('\\') && characters.next() == Some('u');
                let low = hex(characters).filter(|low| pair && (0xdc00..0xe000).contains(low));
                let low = low.ok_or("invalid JSON: an unpaired surrogate in a string")?;
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            }
            char::from_u32(code).ok_or("invalid JSON: an unpaired surrogate in a string")?
        }
        _ => return Err(unknown()),
    })
}

/// Reads four hexadecimal digits.
fn hex(characters: &mut std::str::Chars<'_>) -> Option<u32> {
    let digits: String = characters.by_ref().take(4).collect();
    let is_hex = digits.len() == 4 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u32::from_str_radix(&digits, 16).ok().filter(|_| is_hex)
}

/// Returns `true` for a number of JSON that is not too large for a float.
fn is_number(text: &str) -> bool {
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    all_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && all_digits(fraction)
        && all_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_written_in_one_form() {
        for (text, written) in [
            (
                " { \"a\" : [ 1 , 2.50 , -3e+2 , null ] , \"b\" : { } } ",
                r#"{"a":[1,2.50,-3e+2,null],"b":{}}"#,
            ),
            (r#""\u00e9\ud83e\udd80\u000a\/""#, r#""é🦀\n/""#),
            ("true", "true"),
        ] {
            assert_eq!(parse(text).map(|json| json.text()), Ok(written.to_owned()));
        }
    }

    #[test]
    fn what_is_not_json_is_rejected() {
        let deep = "[".repeat(200);
        for text in [
            "",
            "{",
            "{,}",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\" 1}",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "1e999",
            "'a'",
            "\"\n\"",
            r#""\ud800""#,
            r#""\x""#,
            r#""\u00g0""#,
            "tru",
            "1 2",
            "NaN",
            "{\"a\":1,\"a\":2}",
            &deep,
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
