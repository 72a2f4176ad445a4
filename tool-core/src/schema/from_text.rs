//! [`object_from_text`]: from named strings to the JSON text of an object, by its schema alone.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ptr;

use serde_json::{Number, Value};

/// The most schemas that one conversion looks at. Later values stay strings.
const MAX_STEPS: usize = 100_000;

/// The most levels of a dotted name, and of schemas that combine each other.
const MAX_DEPTH: usize = 32;

/// The schema of a place that no schema describes.
static ANY: Value = Value::Bool(true);

/// Converts named strings to the JSON text of an object, by the JSON text of its schema.
///
/// The rules are the same as for [`ToolSpec::arguments_from_text`](crate::ToolSpec::arguments_from_text).
/// Without a schema that can be read, each value stays a string.
///
/// ```
/// use tool_core::schema::object_from_text;
///
/// let schema = r#"{"properties": {"row": {"type": "integer"}, "window": {"type": "boolean"}}}"#;
/// let seat = object_from_text(schema, [("row", "7"), ("window", "true")]);
/// assert_eq!(seat, r#"{"row":7,"window":true}"#);
/// ```
pub fn object_from_text<N: AsRef<str>, V: AsRef<str>>(
    schema: &str,
    pairs: impl IntoIterator<Item = (N, V)>,
) -> String {
    let pairs: Vec<(N, V)> = pairs.into_iter().collect();
    let root = serde_json::from_str(schema).unwrap_or_default();
    let schemas = Schemas {
        root: &root,
        steps: Cell::new(0),
    };
    let mut places = HashMap::new();
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (name, value) in &pairs {
        let (name, value) = (name.as_ref(), value.as_ref());
        let place = *places.entry(name).or_insert(entries.len());
        if place == entries.len() {
            let values = Vec::new();
            entries.push(Entry { name, values });
        }
        entries[place].values.push(value);
    }
    let mut out = String::new();
    let members = schemas.members(&[&root]);
    schemas.write_object(&members, entries, MAX_DEPTH, &mut out);
    out
}

/// The values of one name, in their order.
struct Entry<'t> {
    name: &'t str,
    values: Vec<&'t str>,
}

/// The JSON types of values.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Types(u8);

impl Types {
    const NULL: Types = Types(1);
    const BOOLEAN: Types = Types(2);
    const NUMBER: Types = Types(4);
    const STRING: Types = Types(8);
    const ARRAY: Types = Types(16);
    const OBJECT: Types = Types(32);
    const NONE: Types = Types(0);
    const ANY: Types = Types(63);

    fn named(name: &Value) -> Types {
        match name.as_str() {
            Some("null") => Types::NULL,
            Some("boolean") => Types::BOOLEAN,
            Some("integer" | "number") => Types::NUMBER,
            Some("string") => Types::STRING,
            Some("array") => Types::ARRAY,
            Some("object") => Types::OBJECT,
            _ => Types::NONE,
        }
    }

    fn of(value: &Value) -> Types {
        match value {
            Value::Null => Types::NULL,
            Value::Bool(_) => Types::BOOLEAN,
            Value::Number(_) => Types::NUMBER,
            Value::String(_) => Types::STRING,
            Value::Array(_) => Types::ARRAY,
            Value::Object(_) => Types::OBJECT,
        }
    }

    fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    fn and(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    fn has(self, other: Types) -> bool {
        self.and(other) != Types::NONE
    }

    fn any_of(types: impl Iterator<Item = Types>) -> Types {
        types.fold(Types::NONE, Types::or)
    }
}

/// The values that one place accepts.
struct Place<'s> {
    types: Types,
    /// The strings that the schema lists.
    words: HashSet<&'s str>,
    /// The schemas of the items of an array: the first ones, and all others.
    first_items: Vec<Vec<&'s Value>>,
    items: Vec<&'s Value>,
}

/// The members that an object may have.
#[derive(Default)]
struct Members<'s> {
    known: HashMap<&'s str, Vec<&'s Value>>,
    /// The schemas of all other members.
    others: Vec<&'s Value>,
    /// The length of the longest known name.
    longest: usize,
}

impl<'s> Members<'s> {
    fn is_empty(&self) -> bool {
        self.known.is_empty() && self.others.is_empty()
    }

    /// Splits a dotted name. Returns the key, the schemas in which the rest of the name is looked up, and the rest.
    fn split<'t>(&self, name: &'t str) -> Option<(&'t str, Vec<&'s Value>, &'t str)> {
        let ends = name.bytes().enumerate().take(self.longest + 1);
        let mut dots = ends.filter_map(|(at, byte)| (byte == b'.').then_some(at));
        // The longest name that is known.
        let known = dots
            .by_ref()
            .filter(|at| self.known.contains_key(&name[..*at]))
            .last();
        let (at, schemas) = match known {
            Some(at) => (at, &self.known[&name[..at]]),
            None => (name.find('.')?, &self.others),
        };
        (!schemas.is_empty()).then(|| (&name[..at], schemas.clone(), &name[at + 1..]))
    }
}

/// A member to write.
enum Member<'s, 't> {
    Value(Vec<&'s Value>, Vec<&'t str>),
    Object(Members<'s>, Vec<Entry<'t>>),
}

/// The schemas of one document.
struct Schemas<'s> {
    root: &'s Value,
    /// The schemas looked at.
    steps: Cell<usize>,
}

impl<'s> Schemas<'s> {
    /// Counts a schema. Returns `false` if it is one too many.
    fn step(&self) -> bool {
        self.steps.set(self.steps.get() + 1);
        self.steps.get() <= MAX_STEPS
    }

    fn referent(&self, schema: &Value) -> Option<&'s Value> {
        let reference = schema.get("$ref")?.as_str()?;
        self.root.pointer(reference.strip_prefix('#')?)
    }

    /// Returns the types of the values that a schema may accept.
    fn types(&self, schema: &'s Value, depth: usize) -> Types {
        if depth == 0 || !self.step() {
            return Types::ANY;
        }
        let inner = |schema| self.types(schema, depth - 1);
        let mut types = match schema.get("type") {
            Some(Value::Array(names)) => Types::any_of(names.iter().map(Types::named)),
            Some(name) => Types::named(name),
            None if *schema == Value::Bool(false) => Types::NONE,
            None => Types::ANY,
        };
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            types = types.and(Types::any_of(values.iter().map(Types::of)));
        }
        if let Some(value) = schema.get("const") {
            types = types.and(Types::of(value));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(schemas) = schema.get(key).and_then(Value::as_array) {
                types = types.and(Types::any_of(schemas.iter().map(inner)));
            }
        }
        let all = schema.get("allOf").and_then(Value::as_array);
        let all = all.into_iter().flatten().chain(self.referent(schema));
        all.map(inner).fold(types, Types::and)
    }

    /// Returns these schemas and all that they combine or refer to, for the same value.
    fn applied(&self, schemas: &[&'s Value]) -> Vec<&'s Value> {
        let mut waiting = schemas.to_vec();
        let mut seen = HashSet::new();
        let mut applied = Vec::new();
        while let Some(schema) = waiting.pop() {
            if !seen.insert(ptr::from_ref(schema)) {
                continue;
            }
            if !self.step() {
                break;
            }
            applied.push(schema);
            for key in ["allOf", "anyOf", "oneOf"] {
                waiting.extend(
                    schema
                        .get(key)
                        .and_then(Value::as_array)
                        .into_iter()
                        .flatten(),
                );
            }
            waiting.extend(schema.get("then").into_iter().chain(schema.get("else")));
            waiting.extend(self.referent(schema));
        }
        applied
    }

    fn place(&self, schemas: &[&'s Value]) -> Place<'s> {
        let mut place = Place {
            types: Types::STRING,
            words: HashSet::new(),
            first_items: Vec::new(),
            items: Vec::new(),
        };
        let applied = self.applied(schemas);
        let types = || schemas.iter().map(|schema| self.types(schema, MAX_DEPTH));
        // Schemas that apply together, unless they are alternatives.
        let together = types().fold(Types::ANY, Types::and);
        let types = if together == Types::NONE {
            Types::any_of(types())
        } else {
            together
        };
        if schemas.is_empty() || self.steps.get() > MAX_STEPS {
            return place;
        }
        place.types = types;
        for schema in applied {
            let listed = schema.get("enum").and_then(Value::as_array);
            let listed = listed.into_iter().flatten().chain(schema.get("const"));
            place.words.extend(listed.filter_map(Value::as_str));
            let items = schema.get("items");
            let first = schema
                .get("prefixItems")
                .or(items.filter(|items| items.is_array()));
            let first = first.and_then(Value::as_array).into_iter().flatten();
            for (at, item) in first.enumerate() {
                if at == place.first_items.len() {
                    place.first_items.push(Vec::new());
                }
                place.first_items[at].push(item);
            }
            place.items.extend(items.filter(|items| !items.is_array()));
        }
        place
    }

    fn members(&self, schemas: &[&'s Value]) -> Members<'s> {
        let mut members = Members::default();
        for schema in self.applied(schemas) {
            let known = schema.get("properties").and_then(Value::as_object);
            for (name, schema) in known.into_iter().flatten() {
                members.longest = members.longest.max(name.len());
                members.known.entry(name).or_default().push(schema);
            }
            let is_open = known.is_none()
                && others_of(schema).is_none()
                && schema.get("type").is_some_and(|name| name == "object");
            if is_open {
                members.others.push(&ANY);
            }
            let patterns = schema.get("patternProperties").and_then(Value::as_object);
            let others = others_of(schema);
            let others = others.filter(|schema| **schema != Value::Bool(false));
            let others = patterns
                .into_iter()
                .flat_map(|patterns| patterns.values())
                .chain(others);
            members.others.extend(others);
        }
        members
    }

    /// Writes an object of these entries.
    fn write_object<'t>(
        &self,
        members: &Members<'s>,
        entries: Vec<Entry<'t>>,
        depth: usize,
        out: &mut String,
    ) {
        let mut written: Vec<(&'t str, Member<'s, 't>)> = Vec::new();
        let mut objects = HashMap::new();
        for Entry { name, values } in entries {
            let known = members.known.get(name);
            let split = known.is_none().then(|| members.split(name)).flatten();
            if let Some((key, schemas, rest)) = split.filter(|_| depth > 0) {
                let entry = |name| Entry {
                    name,
                    values: values.clone(),
                };
                if let Some(&at) = objects.get(key)
                    && let Some((_, Member::Object(_, entries))) = written.get_mut::<usize>(at)
                {
                    entries.push(entry(rest));
                    continue;
                }
                let inner = self.members(&schemas);
                if !inner.is_empty() {
                    objects.insert(key, written.len());
                    written.push((key, Member::Object(inner, vec![entry(rest)])));
                    continue;
                }
            }
            let schemas = known.unwrap_or(&members.others).clone();
            written.push((name, Member::Value(schemas, values)));
        }
        out.push('{');
        for (at, (key, member)) in written.into_iter().enumerate() {
            out.push_str(if at > 0 { "," } else { "" });
            push_string(out, key);
            out.push(':');
            match member {
                Member::Value(schemas, values) => self.write_values(&schemas, &values, out),
                Member::Object(members, entries) => {
                    self.write_object(&members, entries, depth - 1, out);
                }
            }
        }
        out.push('}');
    }

    fn write_values(&self, schemas: &[&'s Value], values: &[&str], out: &mut String) {
        let place = self.place(schemas);
        match values {
            [value] => {
                let is_list = place.types.has(Types::ARRAY) && !place.types.has(Types::STRING);
                if push_value(&place, value, !is_list, out) {
                    return;
                }
            }
            _ if !place.types.has(Types::ARRAY) => {
                push_list(values, out, |_, value, out| {
                    push_value(&place, value, true, out);
                });
                return;
            }
            _ => {}
        }
        let any = [&ANY];
        let items = if place.items.is_empty() {
            &any[..]
        } else {
            &place.items
        };
        let others = self.place(items);
        push_list(values, out, |at, value, out| {
            match place.first_items.get(at) {
                Some(schemas) => push_value(&self.place(schemas), value, true, out),
                None => push_value(&others, value, true, out),
            };
        });
    }
}

fn others_of(schema: &Value) -> Option<&Value> {
    schema.get("additionalProperties")
}

fn push_list(values: &[&str], out: &mut String, push: impl Fn(usize, &str, &mut String)) {
    out.push('[');
    for (at, value) in values.iter().enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        push(at, value, out);
    }
    out.push(']');
}

/// Appends one value as JSON. Does nothing and returns `false` if it is only a string and strings are not wanted.
fn push_value(place: &Place<'_>, text: &str, or_string: bool, out: &mut String) -> bool {
    let types = place.types;
    let has = |own| types.has(own);
    let is_json = || match text.trim_ascii_start().as_bytes().first() {
        Some(b'{') => has(Types::OBJECT) && parses(text),
        Some(b'[') => has(Types::ARRAY) && parses(text),
        Some(b't' | b'f') => has(Types::BOOLEAN) && matches!(text, "true" | "false"),
        Some(b'-' | b'0'..=b'9') => has(Types::NUMBER) && is_number(text),
        // Where strings are accepted, too, an absent value is clearer.
        Some(b'n') => {
            text == "null" && has(Types::NULL) && (!has(Types::STRING) || types == Types::ANY)
        }
        Some(b'"') => types == Types::ANY && parses(text),
        _ => false,
    };
    if !place.words.contains(text) && is_json() {
        out.push_str(text);
        return true;
    }
    if or_string {
        push_string(out, text);
    }
    or_string
}

/// Returns `true` for JSON as the arguments of a call may contain it.
fn parses(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok()
}

fn is_number(text: &str) -> bool {
    text.ends_with(|end: char| end.is_ascii_digit())
        && text.starts_with(|start: char| start == '-' || start.is_ascii_digit())
        && serde_json::from_str::<Number>(text).is_ok()
}

fn push_string(out: &mut String, text: &str) {
    out.push_str(&Value::from(text).to_string());
}
