//! Bounds the time that a schema from elsewhere may take.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::ordered_json::pointer_below;

/// The maximum nesting of a schema's JSON. Readers of JSON allow 127 levels, of which listings, lock
/// files and pages need some themselves.
pub(super) const MAX_DEPTH: usize = 100;

/// The maximum number of references and combinators in a row that apply to one value.
const MAX_CHAIN: usize = 200;

/// The visits of schemas that listing the errors of a value may take, whatever its size.
const MIN_BUDGET: usize = 1 << 16;

/// Returns `false` if listing all errors of a value may take too long: in recursive unions, that
/// visits every alternative at every depth.
pub(super) fn is_quick_to_explain(schema: &Value, value: &Value) -> bool {
    let mut visits = Visits {
        root: schema,
        left: MIN_BUDGET + 4 * size(value),
    };
    visits.schema(schema, value, 0).is_some()
}

/// Returns the number of values in a value.
pub(super) fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members.values().map(size).sum(),
        _ => 0,
    }
}

/// Counts the schemas that a validator visits if it never stops at the first error.
struct Visits<'s> {
    root: &'s Value,
    left: usize,
}

impl Visits<'_> {
    /// Returns `None` if the budget is used up.
    fn schema(&mut self, schema: &Value, value: &Value, depth: usize) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        // Deeper than any value, with its references.
        if depth > 1000 {
            return None;
        }
        let Value::Object(keywords) = schema else {
            return Some(());
        };
        for (keyword, inner) in keywords {
            for inner in in_place(self.root, keyword, inner) {
                self.schema(inner, value, depth + 1)?;
            }
            match value {
                Value::Object(members) => self.members(keyword, inner, members, depth + 1)?,
                Value::Array(items) => self.items(keyword, inner, items, depth + 1)?,
                _ => {}
            }
        }
        Some(())
    }

    fn members(
        &mut self,
        keyword: &str,
        inner: &Value,
        members: &Map<String, Value>,
        depth: usize,
    ) -> Option<()> {
        match (keyword, inner) {
            ("properties", Value::Object(schemas)) => {
                for (key, schema) in schemas {
                    if let Some(value) = members.get(key) {
                        self.schema(schema, value, depth)?;
                    }
                }
            }
            ("patternProperties", Value::Object(schemas)) => {
                for schema in schemas.values() {
                    for value in members.values() {
                        self.schema(schema, value, depth)?;
                    }
                }
            }
            ("additionalProperties" | "unevaluatedProperties", Value::Object(_)) => {
                for value in members.values() {
                    self.schema(inner, value, depth)?;
                }
            }
            _ => {}
        }
        Some(())
    }

    fn items(&mut self, keyword: &str, inner: &Value, items: &[Value], depth: usize) -> Option<()> {
        match (keyword, inner) {
            ("items" | "prefixItems", Value::Array(schemas)) => {
                for (schema, value) in schemas.iter().zip(items) {
                    self.schema(schema, value, depth)?;
                }
            }
            ("items" | "additionalItems" | "unevaluatedItems" | "contains", Value::Object(_)) => {
                for value in items {
                    self.schema(inner, value, depth)?;
                }
            }
            _ => {}
        }
        Some(())
    }
}

/// Returns the schemas of a keyword that apply to the same value as the schema that has it.
pub(super) fn in_place<'s>(root: &'s Value, keyword: &str, inner: &'s Value) -> Vec<&'s Value> {
    match (keyword, inner) {
        ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
            find(root, reference).into_iter().collect()
        }
        ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => schemas.iter().collect(),
        ("not" | "if" | "then" | "else", schema) => vec![schema],
        ("dependentSchemas" | "dependencies", Value::Object(schemas)) => schemas.values().collect(),
        _ => Vec::new(),
    }
}

/// Finds the schema of a reference: by its place, its anchor or its address.
fn find<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let base = match address {
        "" => root,
        address => having(root, &|members| {
            let id = members.get("$id").or(members.get("id"));
            let id = id.and_then(Value::as_str);
            id.is_some_and(|id| id.trim_end_matches('#').ends_with(address))
        })?,
    };
    match fragment {
        "" => Some(base),
        pointer if pointer.starts_with('/') => {
            let decoded = pointer
                .replace("%25", "%")
                .replace("%22", "\"")
                .replace("%20", " ");
            base.pointer(pointer).or_else(|| base.pointer(&decoded))
        }
        anchor => having(base, &|members| {
            let is = |key, prefix: &str| {
                let text = members.get(key).and_then(Value::as_str);
                text.and_then(|text| text.strip_prefix(prefix)) == Some(anchor)
            };
            is("$anchor", "") || is("$dynamicAnchor", "") || is("$id", "#") || is("id", "#")
        }),
    }
}

/// Returns the first object that fulfils a condition.
fn having<'s>(
    value: &'s Value,
    condition: &impl Fn(&Map<String, Value>) -> bool,
) -> Option<&'s Value> {
    match value {
        Value::Object(members) if condition(members) => Some(value),
        Value::Object(members) => members.values().find_map(|value| having(value, condition)),
        Value::Array(items) => items.iter().find_map(|value| having(value, condition)),
        _ => None,
    }
}

/// Returns `true` if references or combinators lead from one to the next too often, such as in a
/// long list of aliases. A validator follows them by recursion.
pub(super) fn has_long_chain(root: &Value) -> bool {
    let mut deepest = HashMap::new();
    let mut schemas = vec![root];
    while let Some(schema) = schemas.pop() {
        if is_long(root, schema, 0, &mut deepest) {
            return true;
        }
        match schema {
            Value::Object(members) => schemas.extend(members.values()),
            Value::Array(items) => schemas.extend(items),
            _ => {}
        }
    }
    false
}

/// The maximum number of references to look for circles in.
const MAX_REFERENCES: usize = 1000;

/// Returns the places of references that lead back to themselves for the same value.
pub(super) fn circles(root: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = MAX_REFERENCES;
    let mut values = vec![(root, String::new())];
    while let Some((value, place)) = values.pop() {
        let below = |key: &str| pointer_below(&place, key);
        match value {
            Value::Object(members) => {
                if members.get("$ref").is_some_and(Value::is_string) && left > 0 {
                    left -= 1;
                    if is_circle(root, value) {
                        found.push(below("$ref"));
                    }
                }
                values.extend(members.iter().map(|(key, value)| (value, below(key))));
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                values.extend(items.map(|(at, value)| (value, below(&at.to_string()))));
            }
            _ => {}
        }
    }
    found
}

/// Returns `true` if a schema applies to its own value again.
fn is_circle(root: &Value, schema: &Value) -> bool {
    let mut seen = HashSet::new();
    let mut queue = vec![schema];
    while let Some(next) = queue.pop() {
        for (keyword, inner) in next.as_object().into_iter().flatten() {
            for inner in in_place(root, keyword, inner) {
                if std::ptr::eq(inner, schema) {
                    return true;
                }
                if seen.insert(std::ptr::from_ref(inner)) {
                    queue.push(inner);
                }
            }
        }
    }
    false
}

fn is_long<'s>(
    root: &'s Value,
    schema: &'s Value,
    depth: usize,
    deepest: &mut HashMap<*const Value, usize>,
) -> bool {
    if depth > MAX_CHAIN {
        return true;
    }
    let Value::Object(keywords) = schema else {
        return false;
    };
    match deepest.get(&std::ptr::from_ref(schema)) {
        Some(before) if *before >= depth => return false,
        _ => deepest.insert(schema, depth),
    };
    keywords.iter().any(|(keyword, inner)| {
        let mut inner = in_place(root, keyword, inner).into_iter();
        inner.any(|inner| is_long(root, inner, depth + 1, deepest))
    })
}

/// Returns `true` if a value is nested deeper than [`MAX_DEPTH`].
pub(super) fn is_deep(value: &Value) -> bool {
    let mut values = vec![(value, 0)];
    while let Some((value, depth)) = values.pop() {
        let is_container = matches!(value, Value::Array(_) | Value::Object(_));
        if is_container && depth >= MAX_DEPTH {
            return true;
        }
        match value {
            Value::Array(items) => values.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                values.extend(members.values().map(|value| (value, depth + 1)));
            }
            _ => {}
        }
    }
    false
}

/// Returns `true` if JSON text is nested deeper than [`MAX_DEPTH`].
pub(super) fn is_deep_text(text: &str) -> bool {
    let (mut depth, mut is_inside, mut is_escaped) = (0_usize, false, false);
    text.bytes().any(|byte| {
        match byte {
            b'"' if !is_escaped => is_inside = !is_inside,
            b'[' | b'{' if !is_inside => depth += 1,
            b']' | b'}' if !is_inside => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_escaped = byte == b'\\' && !is_escaped;
        depth > MAX_DEPTH
    })
}

/// Drops a value in a loop, because it may be nested deeper than the stack.
pub(super) fn drop_deep(value: Value) {
    let mut values = vec![value];
    while let Some(value) = values.pop() {
        match value {
            Value::Array(items) => values.extend(items),
            Value::Object(members) => values.extend(members.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}
