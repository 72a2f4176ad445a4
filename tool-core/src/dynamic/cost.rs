//! Bounds the time that a schema from elsewhere may take.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::references::{References, has_key, is_reference};
use crate::ordered_json::keywords::{Applies, Holds, Step, rows};
use crate::ordered_json::{Json, pointer_below};

/// The maximum nesting of a schema's JSON. Readers of JSON allow 127 levels, of which listings, lock
/// files and pages need some themselves.
pub(super) const MAX_DEPTH: usize = 100;

/// The maximum number of references and combinators in a row that apply to one value.
const MAX_CHAIN: usize = 200;

/// How many schemas may be visited to list the errors of a value, whatever its size.
const MIN_BUDGET: usize = 1 << 16;

/// The maximum number of schemas that are visited to validate a value: a base, and an addition for each value in it.
const VISITS: (usize, usize) = (1 << 18, 32);

/// The number of ways in which schemas may apply to one value, without a step into it, beyond their
/// number: definitions that use others twice double the ways at every level.
const MAX_WAYS: usize = 1 << 12;

/// Returns `false` if listing all errors of a value may take too long: in recursive unions, that
/// visits every alternative at every depth.
pub(super) fn is_quick_to_explain(schema: &Json, value: &Value) -> bool {
    let mut visits = Visits {
        references: References::new(schema),
        circular: HashSet::new(),
        seen: HashSet::new(),
        lengths: Some(HashMap::new()),
        left: MIN_BUDGET + 4 * size(value),
    };
    visits.schema(schema, value, At::default()).is_some()
}

/// Returns `false` if the verdict on a value may take too long: if definitions share others, each of
/// which is used twice, the ways to the last one double at every level. `ways` is from [`ways`].
pub(super) fn is_quick_to_check<'s>(
    schema: impl FnOnce() -> &'s Json,
    ways: usize,
    value: &Value,
) -> bool {
    if ways <= VISITS.1 {
        return true;
    }
    let size = size(value);
    let most = VISITS.0 + VISITS.1 * size;
    if ways.saturating_mul(size) <= most {
        return true;
    }
    let schema = schema();
    let mut found = Ways::new(schema, true);
    found.of(schema);
    let mut visits = Visits {
        circular: found.circular,
        references: found.references,
        seen: HashSet::new(),
        lengths: None,
        left: most,
    };
    visits.schema(schema, value, At::default()).is_some()
}

/// Returns the number of visits that one value of any place may take, an upper limit.
pub(super) fn ways(schema: &Json) -> usize {
    let mut ways = Ways::new(schema, true);
    let all = ways.of(schema);
    all.saturating_mul(1 + ways.circular.len())
}

/// Returns the places of the keywords that apply too many schemas to one value, the innermost ones.
pub(super) fn crowded(root: &Json) -> Vec<String> {
    // Otherwise each schema is one of the ways.
    let is_shared = |key: &str| is_reference(key) || is_followed_twice(key);
    if !has_key(root, &is_shared) {
        return Vec::new();
    }
    let mut ways = Ways::new(root, false);
    let mut limit = MAX_WAYS;
    walk(root, &mut |_, _| limit += 1);
    let mut found = Vec::new();
    walk(root, &mut |schema, place| {
        if ways.of(schema) <= limit {
            return;
        }
        let inner = |(keyword, value)| ways.references.in_place(keyword, value);
        let inner: Vec<_> = rows(schema).flat_map(inner).collect();
        if inner.into_iter().all(|inner| ways.of(inner) <= limit) {
            let applied = rows(schema).filter(|(keyword, _)| keyword.applies == Applies::Itself);
            found.extend(applied.map(|(keyword, _)| pointer_below(place, keyword.name)));
        }
    });
    found.sort();
    found
}

/// Counts the ways in which the schemas of a document apply to one value.
struct Ways<'s> {
    references: References<'s>,
    /// Set to count the ways to values inside of the value, too.
    is_deep: bool,
    counted: HashMap<*const Json, usize>,
    /// The schemas that are being counted.
    open: HashSet<*const Json>,
    /// The schemas that lead to themselves. The validator remembers its verdicts on them.
    circular: HashSet<*const Json>,
}

impl<'s> Ways<'s> {
    fn new(root: &'s Json, is_deep: bool) -> Ways<'s> {
        Ways {
            references: References::new(root),
            is_deep,
            counted: HashMap::new(),
            open: HashSet::new(),
            circular: HashSet::new(),
        }
    }

    fn of(&mut self, schema: &'s Json) -> usize {
        let address = std::ptr::from_ref(schema);
        if let Some(ways) = self.counted.get(&address) {
            return *ways;
        }
        if !self.open.insert(address) {
            self.circular.insert(address);
            return 1;
        }
        let mut ways = 1_usize;
        let mut factor = 1;
        for (keyword, value) in rows(schema) {
            let in_place: Vec<_> = self.references.in_place(keyword, value).collect();
            for inner in in_place {
                ways = ways.saturating_add(self.of(inner));
            }
            if is_followed_twice(keyword.name) {
                factor = 2;
            }
            if self.is_deep && keyword.applies != Applies::Itself {
                let each = keyword.schemas(value).map(|(_, schema)| schema);
                let each = each.map(|schema| self.of(schema));
                // Of the properties, one applies to a value; of the patterns, all may.
                ways = ways.saturating_add(match keyword.name {
                    "patternProperties" => each.fold(0, usize::saturating_add),
                    _ => each.max().unwrap_or(0),
                });
            }
        }
        self.open.remove(&address);
        let ways = ways.saturating_mul(factor);
        self.counted.insert(address, ways);
        ways
    }
}

/// Returns `true` for a keyword for which the validator follows the others once more, to learn what they evaluate.
fn is_followed_twice(keyword: &str) -> bool {
    keyword.starts_with("unevaluated")
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
    references: References<'s>,
    /// The schemas on which verdicts are remembered.
    circular: HashSet<*const Json>,
    /// Those verdicts, by schema and value.
    seen: HashSet<(*const Json, *const Value)>,
    /// The lengths of the patterns and values that errors copy from the schema, unless only the verdict counts.
    lengths: Option<HashMap<*const Json, usize>>,
    left: usize,
}

/// Where [`Visits`] are.
#[derive(Clone, Copy, Default)]
struct At {
    depth: usize,
    /// The bytes of the path to the value, which each of its errors repeats.
    path: usize,
    /// `true` inside of a union, whose errors keep the values of the errors of its members.
    is_union: bool,
}

impl At {
    fn below(self, key: usize) -> At {
        At {
            depth: self.depth + 1,
            path: self.path + key,
            ..self
        }
    }
}

/// The bytes of a path, or of a value of the schema, that are as expensive as a visit.
const BYTES: usize = 64;

/// The values to copy that are as expensive as a visit.
const COPIED: usize = 16;

impl<'s> Visits<'s> {
    /// Returns `None` if the budget is used up.
    fn schema(&mut self, schema: &'s Json, value: &Value, at: At) -> Option<()> {
        let copied = if at.is_union { size(value) } else { 0 };
        let cost = 1 + at.path / BYTES + copied / COPIED;
        self.left = self.left.checked_sub(cost)?;
        // Deeper than any value, with its references.
        if at.depth > 1000 {
            return None;
        }
        let verdict = (std::ptr::from_ref(schema), std::ptr::from_ref(value));
        if self.circular.contains(&verdict.0) && !self.seen.insert(verdict) {
            return Some(());
        }
        for (keyword, inner) in rows(schema) {
            self.left = self.left.checked_sub(copied / COPIED)?;
            if keyword.name == "required" && value.is_object() {
                let missing = inner.items().len().saturating_mul(cost);
                self.left = self.left.checked_sub(missing)?;
            }
            if let (Some(lengths), "enum" | "const" | "pattern") = (&mut self.lengths, keyword.name)
            {
                let length = lengths.entry(std::ptr::from_ref(inner));
                let length = *length.or_insert_with(|| inner.to_string().len());
                self.left = self.left.checked_sub(length / BYTES)?;
            }
            let at = At {
                is_union: at.is_union || matches!(keyword.name, "anyOf" | "oneOf"),
                ..at
            };
            for inner in self.references.in_place(keyword, inner) {
                self.schema(inner, value, at.below(0))?;
            }
            for (step, schema) in keyword.schemas(inner) {
                let mut visit = |key: usize, value| self.schema(schema, value, at.below(key));
                match (keyword.applies, value, step) {
                    (Applies::Members, Value::Object(members), Step::Key(key))
                        if keyword.holds == Holds::Properties =>
                    {
                        members
                            .get(key)
                            .map_or(Some(()), |value| visit(key.len(), value))?;
                    }
                    (Applies::Members, Value::Object(members), _) => {
                        members
                            .iter()
                            .try_for_each(|(key, value)| visit(key.len(), value))?;
                    }
                    (Applies::Keys, Value::Object(members), _) => {
                        let before = self.left;
                        self.schema(schema, &Value::Null, at.below(0))?;
                        let each = before - self.left;
                        let others = members.len().saturating_sub(1);
                        self.left = self.left.checked_sub(each.saturating_mul(others))?;
                    }
                    (Applies::Items, Value::Array(items), Step::Index(at)) => {
                        items.get(at).map_or(Some(()), |value| visit(0, value))?;
                    }
                    (Applies::Items, Value::Array(items), _) => {
                        items.iter().try_for_each(|value| visit(0, value))?;
                    }
                    _ => {}
                }
            }
        }
        Some(())
    }
}

/// Calls a function with each value inside of a value, itself included, and its place.
pub(super) fn walk<'s>(root: &'s Json, visit: &mut dyn FnMut(&'s Json, &str)) {
    let mut values = vec![(root, String::new())];
    while let Some((value, place)) = values.pop() {
        visit(value, &place);
        let members = value.members().iter();
        values.extend(members.map(|(key, value)| (value, pointer_below(&place, key))));
        let items = value.items().iter().enumerate();
        values.extend(items.map(|(at, value)| (value, format!("{place}/{at}"))));
    }
}

/// Returns `true` if references or combinators lead from one to the next too often, such as in a
/// long list of aliases. A validator follows them by recursion.
pub(super) fn has_long_chain(root: &Json) -> bool {
    // Without a reference, a chain is no longer than the schema is deep.
    const { assert!(MAX_CHAIN > MAX_DEPTH) };
    if !has_key(root, &is_reference) {
        return false;
    }
    let references = References::new(root);
    let mut deepest = HashMap::new();
    let mut schemas = vec![root];
    while let Some(schema) = schemas.pop() {
        if is_long(&references, schema, 0, &mut deepest) {
            return true;
        }
        schemas.extend(schema.members().iter().map(|(_, value)| value));
        schemas.extend(schema.items());
    }
    false
}

/// The maximum number of references to look for circles in.
const MAX_REFERENCES: usize = 1000;

/// Returns the places of references that lead back to themselves for the same value.
pub(super) fn circles(root: &Json) -> Vec<String> {
    let references = References::new(root);
    let mut found = Vec::new();
    let mut left = MAX_REFERENCES;
    walk(root, &mut |value, place| {
        if value.get_str("$ref").is_some() && left > 0 {
            left -= 1;
            if is_circle(&references, value) {
                found.push(pointer_below(place, "$ref"));
            }
        }
    });
    found
}

/// Returns `true` if a schema applies to its own value again.
fn is_circle<'s>(references: &References<'s>, schema: &'s Json) -> bool {
    let mut seen = HashSet::new();
    let mut queue = vec![schema];
    while let Some(next) = queue.pop() {
        for (keyword, inner) in rows(next) {
            for inner in references.in_place(keyword, inner) {
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
    references: &References<'s>,
    schema: &'s Json,
    depth: usize,
    deepest: &mut HashMap<*const Json, usize>,
) -> bool {
    if depth > MAX_CHAIN {
        return true;
    }
    match deepest.get(&std::ptr::from_ref(schema)) {
        Some(before) if *before >= depth => return false,
        _ => deepest.insert(schema, depth),
    };
    rows(schema).any(|(keyword, inner)| {
        let mut inner = references.in_place(keyword, inner);
        inner.any(|inner| is_long(references, inner, depth + 1, deepest))
    })
}

/// The bytes that the JSON pointers of all values of a schema may have together. A validator keeps the
/// pointer of each schema.
const MAX_PLACES: usize = 1 << 24;

/// Returns `true` if the JSON pointers of all values in a schema are too long together.
pub(super) fn has_long_places(schema: &Json) -> bool {
    fn places(value: &Json, before: usize, left: &mut usize) -> bool {
        let is_left = left.checked_sub(before).map(|rest| *left = rest).is_some();
        is_left
            && (value.members().iter())
                .all(|(key, inner)| places(inner, before + 1 + key.len(), left))
            && value
                .items()
                .iter()
                .all(|inner| places(inner, before + 6, left))
    }
    let mut left = MAX_PLACES;
    !places(schema, 0, &mut left)
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
