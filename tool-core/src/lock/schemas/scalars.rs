//! Types, listed values, bounds, lengths, patterns.

use std::cmp::Ordering;

use super::{Effect, Walk};
use crate::json::Json;
use crate::schema::numbers::{is_multiple, whole_number};

impl Walk<'_> {
    /// Compares the types, and says whether there is a point in comparing the rest.
    pub(super) fn types(&mut self, old: &Json, new: &Json, path: &str) -> bool {
        let (old, new) = (types(old), types(new));
        if old == new {
            return true;
        }
        let lost = missing(old.as_deref(), new.as_deref());
        let gained = missing(new.as_deref(), old.as_deref());
        let words = |types: Option<&[&str]>| {
            types.map_or_else(|| "anything".to_owned(), |types| types.join(" or "))
        };
        let message = match (&lost[..], &gained[..]) {
            (["null"], []) => "may no longer be null".to_owned(),
            ([], ["null"]) => "may be null now".to_owned(),
            _ => format!(
                "type {} -> {}",
                words(old.as_deref()),
                words(new.as_deref())
            ),
        };
        match (lost.is_empty(), gained.is_empty()) {
            (true, true) => {}
            (true, false) => self.add(path, Effect::Wider, message),
            (false, true) => self.add(path, Effect::Narrower, message),
            (false, false) => {
                self.add(path, Effect::Other, message);
                return false;
            }
        }
        true
    }

    /// `enum` and `const`.
    pub(super) fn values(&mut self, old: &Json, new: &Json, path: &str) {
        let words = |values: &[&Json]| {
            let values: Vec<_> = values.iter().map(ToString::to_string).collect();
            values.join(", ")
        };
        match (values(old), values(new)) {
            (None, None) => {}
            (None, Some(new)) => {
                self.add(
                    path,
                    Effect::Narrower,
                    format!("must be one of {} now", words(&new)),
                );
            }
            (Some(_), None) => {
                self.add(path, Effect::Wider, "is no longer one of a few values");
            }
            (Some(old), Some(new)) => {
                let lost: Vec<_> = old.iter().filter(|v| !new.contains(v)).copied().collect();
                let gained: Vec<_> = new.iter().filter(|v| !old.contains(v)).copied().collect();
                if !lost.is_empty() {
                    self.add(
                        path,
                        Effect::Narrower,
                        format!("no longer {}", words(&lost)),
                    );
                }
                if !gained.is_empty() {
                    self.add(
                        path,
                        Effect::Wider,
                        format!("may be {} now", words(&gained)),
                    );
                }
            }
        }
    }

    /// The bounds of numbers.
    pub(super) fn numbers(&mut self, old: &Json, new: &Json, path: &str) {
        for (name, exclusive, loose) in [
            ("minimum", "exclusiveMinimum", Ordering::Less),
            ("maximum", "exclusiveMaximum", Ordering::Greater),
        ] {
            let [old, new] = [old, new].map(|schema| Limit::of(schema, name, exclusive, loose));
            let effect = match (old, new) {
                (None, None) => continue,
                (None, Some(_)) => Effect::Narrower,
                (Some(_), None) => Effect::Wider,
                (Some(old), Some(new)) => match new.compare(old, loose) {
                    Some(Ordering::Equal) => continue,
                    Some(order) if order == loose => Effect::Wider,
                    Some(_) => Effect::Narrower,
                    None => Effect::Other,
                },
            };
            let [old, new] = [old, new].map(|limit| limit.map(Limit::words));
            self.add(path, effect, step(name, old, new));
        }
        let [old, new] = [old, new].map(|schema| schema.get("multipleOf").and_then(Json::number));
        let effect = match (old, new) {
            (None, None) => return,
            (None, Some(_)) => Effect::Narrower,
            (Some(_), None) => Effect::Wider,
            (Some(old), Some(new)) => match (is_multiple(old, new), is_multiple(new, old)) {
                (true, true) => return,
                (true, false) => Effect::Wider,
                (false, true) => Effect::Narrower,
                (false, false) => Effect::Other,
            },
        };
        let [old, new] = [old, new].map(|text| text.map(str::to_owned));
        self.add(path, effect, step("multipleOf", old, new));
    }

    /// How long strings and arrays may be, and how many members an object may have.
    pub(super) fn lengths(&mut self, old: &Json, new: &Json, path: &str) {
        for (name, loose) in [
            ("minLength", Ordering::Less),
            ("maxLength", Ordering::Greater),
            ("minItems", Ordering::Less),
            ("maxItems", Ordering::Greater),
            ("minProperties", Ordering::Less),
            ("maxProperties", Ordering::Greater),
        ] {
            let [old, new] = [old, new].map(|schema| {
                let length = schema.get(name).and_then(Json::number);
                // Nothing is shorter than nothing.
                length.filter(|length| {
                    !(loose == Ordering::Less && compare(length, "0") == Some(Ordering::Equal))
                })
            });
            let effect = match (old, new) {
                (None, None) => continue,
                (None, Some(_)) => Effect::Narrower,
                (Some(_), None) => Effect::Wider,
                (Some(old), Some(new)) => match compare(new, old) {
                    Some(Ordering::Equal) => continue,
                    Some(order) if order == loose => Effect::Wider,
                    Some(_) => Effect::Narrower,
                    None => Effect::Other,
                },
            };
            let [old, new] = [old, new].map(|text| text.map(str::to_owned));
            self.add(path, effect, step(name, old, new));
        }
        let is_unique = |schema: &Json| schema.get("uniqueItems") == Some(&Json::Boolean(true));
        match (is_unique(old), is_unique(new)) {
            (false, true) => self.add(path, Effect::Narrower, "no item may come twice now"),
            (true, false) => self.add(path, Effect::Wider, "an item may come twice now"),
            _ => {}
        }
    }

    /// `pattern` and `format`, of which nobody can tell which is the wider.
    pub(super) fn texts(&mut self, old: &Json, new: &Json, path: &str) {
        for name in ["pattern", "format"] {
            let (old, new) = (old.get(name), new.get(name));
            let effect = match (old, new) {
                (old, new) if old == new => continue,
                (None, _) => Effect::Narrower,
                (_, None) => Effect::Wider,
                _ => Effect::Other,
            };
            let [old, new] = [old, new].map(|text| text.map(ToString::to_string));
            self.add(path, effect, step(name, old, new));
        }
    }
}

/// "minimum 0 -> 1"
fn step(name: &str, old: Option<String>, new: Option<String>) -> String {
    match (old, new) {
        (Some(old), Some(new)) => format!("{name} {old} -> {new}"),
        (None, Some(new)) => format!("{name} {new} added"),
        (Some(old), None) => format!("{name} {old} removed"),
        (None, None) => String::new(),
    }
}

/// The types that a schema accepts, sorted; `None` for all of them.
fn types(schema: &Json) -> Option<Vec<&str>> {
    let mut types: Vec<&str> = match schema.get("type") {
        Some(Json::String(name)) => vec![name],
        Some(list) => list.items().iter().filter_map(Json::text).collect(),
        None => values(schema)?.into_iter().map(type_of).collect(),
    };
    if types.contains(&"number") {
        types.retain(|name| *name != "integer");
    }
    types.sort_unstable();
    types.dedup();
    Some(types)
}

pub(super) fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Boolean(_) => "boolean",
        Json::Number(text) if whole_number(text).is_some() => "integer",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// The types of the first list that the second does not accept.
fn missing<'t>(types: Option<&[&'t str]>, others: Option<&[&str]>) -> Vec<&'t str> {
    let Some(others) = others else {
        return Vec::new();
    };
    let all = ["array", "boolean", "null", "number", "object", "string"];
    let types = types.unwrap_or(&all).iter().copied();
    let is_held =
        |name: &&str| others.contains(name) || *name == "integer" && others.contains(&"number");
    types.filter(|name| !is_held(name)).collect()
}

/// The values that a schema lists; `None` when it lists none.
fn values(schema: &Json) -> Option<Vec<&Json>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value]),
        (None, Some(values)) => Some(values.items().iter().collect()),
        (None, None) => None,
    }
}

/// One end of a range.
#[derive(Clone, Copy)]
struct Limit<'s> {
    number: &'s str,
    is_exclusive: bool,
}

impl<'s> Limit<'s> {
    /// The tighter of the two limits that a schema may give for one end.
    fn of(schema: &'s Json, name: &str, exclusive: &str, loose: Ordering) -> Option<Limit<'s>> {
        let limit = |name, is_exclusive| {
            let number = schema.get(name)?.number()?;
            Some(Limit {
                number,
                is_exclusive,
            })
        };
        match (limit(name, false), limit(exclusive, true)) {
            (Some(inclusive), Some(exclusive)) => {
                let is_looser = exclusive.compare(inclusive, loose) == Some(loose);
                Some(if is_looser { inclusive } else { exclusive })
            }
            (inclusive, exclusive) => inclusive.or(exclusive),
        }
    }

    /// How this limit stands to another; of two at one number, the exclusive one is the tighter.
    fn compare(self, other: Limit<'_>, loose: Ordering) -> Option<Ordering> {
        let tight = loose.reverse();
        let order = compare(self.number, other.number)?;
        Some(order.then(match (self.is_exclusive, other.is_exclusive) {
            (true, false) => tight,
            (false, true) => loose,
            _ => Ordering::Equal,
        }))
    }

    fn words(self) -> String {
        let hint = if self.is_exclusive {
            " (exclusive)"
        } else {
            ""
        };
        format!("{}{hint}", self.number)
    }
}

/// Compares two numbers by their digits, or as floats where they are no whole numbers.
fn compare(left: &str, right: &str) -> Option<Ordering> {
    let whole = |text| whole_number(text)?.parse::<i128>().ok();
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => {
            let (left, right): (f64, f64) = (left.parse().ok()?, right.parse().ok()?);
            left.partial_cmp(&right)
        }
    }
}
