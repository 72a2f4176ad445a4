//! [`RequestFields`]: the fields and headers of a request, merged with the body of the application.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::provider::writer::JsonWriter;

/// A path of keys in the body of a request.
type FieldPath = &'static [&'static str];

/// The fields of a request apart from its tools, and its headers.
#[derive(Clone, Debug)]
pub(crate) struct RequestFields {
    /// The path of the tools.
    pub(super) tools: FieldPath,
    /// Each with its JSON text.
    pub(super) others: Vec<(FieldPath, String)>,
    pub(super) headers: Headers,
}

impl Default for RequestFields {
    fn default() -> RequestFields {
        RequestFields {
            tools: &["tools"],
            others: Vec::new(),
            headers: Headers::default(),
        }
    }
}

impl RequestFields {
    /// Returns all fields with their JSON texts.
    fn all<'f>(&'f self, tools: &'f str) -> Vec<Field<'f>> {
        let others = self.others.iter();
        let others = others.map(|(path, json)| (*path, json.as_str()));
        let tools = (tools != "[]").then_some((self.tools, tools));
        let all = tools.into_iter().chain(others);
        all.filter(|(path, _)| !path.is_empty()).collect()
    }

    /// Returns the top-level fields.
    pub(crate) fn top_level(&self, tools: &str) -> BTreeMap<String, Box<RawValue>> {
        let all = self.all(tools);
        let mut fields = BTreeMap::new();
        for (path, json) in &all {
            if fields.contains_key(path[0]) {
                continue;
            }
            let text = if path.len() > 1 {
                let same = below(&all, path[0], 0);
                let mut out = JsonWriter::new();
                out.object(|out| write_others(&Map::new(), &same, 1, out));
                out.into_string()
            } else {
                (*json).to_owned()
            };
            // A dialect of the application may write anything.
            if let Ok(value) = RawValue::from_string(text) {
                fields.insert(path[0].to_owned(), value);
            }
        }
        fields
    }

    /// Returns the JSON text of a body.
    pub(crate) fn body(&self, tools: &str, own: Value) -> String {
        let own = match own {
            Value::Object(own) => own,
            _ => Map::new(),
        };
        let mut out = JsonWriter::with_capacity(tools.len() + 1024);
        out.object(|out| write_merged(&own, &self.all(tools), 0, out));
        out.into_string()
    }

    /// Returns the headers.
    pub(crate) fn headers(&self) -> impl ExactSizeIterator<Item = (&'static str, &str)> {
        self.headers.iter()
    }
}

/// A field of a request with its JSON text.
type Field<'f> = (FieldPath, &'f str);

/// Writes the members of an object: the application's, merged with fields. `depth` is the number
/// of keys in the paths that lead to the object.
fn write_merged(
    own: &Map<String, Value>,
    fields: &[Field<'_>],
    depth: usize,
    out: &mut JsonWriter,
) {
    write_own(own, fields, depth, out);
    write_others(own, fields, depth, out);
}

/// Returns the fields below a member of an object.
fn below<'f>(fields: &[Field<'f>], key: &str, depth: usize) -> Vec<Field<'f>> {
    let is_below = |path: FieldPath| path[depth] == key && path.len() > depth + 1;
    let fields = fields.iter().copied();
    fields.filter(|(path, _)| is_below(path)).collect()
}

/// Writes the members that the application sets.
fn write_own(own: &Map<String, Value>, fields: &[Field<'_>], depth: usize, out: &mut JsonWriter) {
    for (key, value) in own {
        let same = below(fields, key, depth);
        match value {
            // It removes the field.
            Value::Null => {}
            Value::Object(own) if !same.is_empty() => {
                out.key(key)
                    .object(|out| write_merged(own, &same, depth + 1, out));
            }
            _ => {
                out.key(key).raw(&value.to_string());
            }
        }
    }
}

/// Writes the members that the application does not set.
fn write_others(
    own: &Map<String, Value>,
    fields: &[Field<'_>],
    depth: usize,
    out: &mut JsonWriter,
) {
    for (at, (path, json)) in fields.iter().enumerate() {
        let key = path[depth];
        let is_written = own.contains_key(key)
            || fields[..at]
                .iter()
                .any(|(earlier, _)| earlier[depth] == key);
        if is_written {
            continue;
        }
        if path.len() == depth + 1 {
            out.key(key).raw(json);
        } else {
            let same = below(fields, key, depth);
            out.key(key)
                .object(|out| write_others(&Map::new(), &same, depth + 1, out));
        }
    }
}

/// Headers with their values.
#[derive(Clone, Debug, Default)]
pub(super) struct Headers(Vec<(&'static str, String)>);

impl Headers {
    /// Adds a value, unless the header has it.
    pub(super) fn add(&mut self, name: &'static str, value: &str) {
        match self.0.iter_mut().find(|(other, _)| *other == name) {
            None => self.0.push((name, value.to_owned())),
            Some((_, values)) => {
                if values.split(',').all(|other| other != value) {
                    values.push(',');
                    values.push_str(value);
                }
            }
        }
    }

    fn iter(&self) -> impl ExactSizeIterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }
}
