//! Types, listed values, bounds, lengths, patterns.

use std::cmp::Ordering;
use std::fmt::{self, Display};

use tool_core::__docs::{is_multiple, whole_number};
use tool_core::schema::Json;

use super::{Comparison, Effect};

impl Comparison<'_> {
    /// Compares the types. Returns `false` if they share none, so that the rest does not matter.
    pub(super) fn types(&mut self, old: &Json, new: &Json, path: &str) -> bool {
        let (old, new) = (types(old), types(new));
        if old == new {
            return true;
        }
        let lost = missing(old.as_deref(), new.as_deref());
        let gained = missing(new.as_deref(), old.as_deref());
        let text = |types: &Option<Vec<&str>>| {
            let types = types.as_ref();
            types.map_or_else(|| "any".to_owned(), |types| types.join(" or "))
        };
        let message = match (&lost[..], &gained[..]) {
            (["null"], []) => "can no longer be null".to_owned(),
            ([], ["null"]) => "can now be null".to_owned(),
            _ => format!("type {} -> {}", text(&old), text(&new)),
        };
        let effect = match (lost.is_empty(), gained.is_empty()) {
            (true, true) => return true,
            (true, false) => Effect::Wider,
            (false, true) => Effect::Narrower,
            (false, false) => Effect::Other,
        };
        self.add(path, effect, message);
        effect != Effect::Other
    }

    /// Compares `enum` and `const`.
    pub(super) fn values(&mut self, old: &Json, new: &Json, path: &str) {
        let list = |values: &[&Json]| {
            let values: Vec<_> = values.iter().map(ToString::to_string).collect();
            values.join(", ")
        };
        let missing = |values: &[&Json], others: &[&Json]| {
            let missing = values.iter().filter(|value| !others.contains(value));
            let missing: Vec<_> = missing.copied().collect();
            (!missing.is_empty()).then(|| list(&missing))
        };
        match (values(old), values(new)) {
            (None, None) => {}
            (None, Some(new)) => {
                let message = format!("must now be one of {}", list(&new));
                self.add(path, Effect::Narrower, message);
            }
            (Some(_), None) => self.add(path, Effect::Wider, "no longer limited to listed values"),
            (Some(old), Some(new)) => {
                if let Some(lost) = missing(&old, &new) {
                    self.add(path, Effect::Narrower, format!("can no longer be {lost}"));
                }
                if let Some(gained) = missing(&new, &old) {
                    self.add(path, Effect::Wider, format!("can now be {gained}"));
                }
            }
        }
    }

    pub(super) fn numbers(&mut self, old: &Json, new: &Json, path: &str) {
        for (name, exclusive, loose) in [
            ("minimum", "exclusiveMinimum", Ordering::Less),
            ("maximum", "exclusiveMaximum", Ordering::Greater),
        ] {
            let [old, new] = [old, new].map(|schema| Limit::new(schema, name, exclusive, loose));
            self.constraint(path, name, old, new, |old, new| {
                effect_of(new.compare(*old, loose), loose)
            });
        }
        let [old, new] = [old, new].map(|schema| schema.get_number("multipleOf"));
        self.constraint(path, "multipleOf", old, new, |old, new| {
            match (is_multiple(old, new), is_multiple(new, old)) {
                (true, true) => None,
                (true, false) => Some(Effect::Wider),
                (false, true) => Some(Effect::Narrower),
                (false, false) => Some(Effect::Other),
            }
        });
    }

    /// Compares the lengths of strings and arrays, and the number of properties of objects.
    pub(super) fn lengths(&mut self, old: &Json, new: &Json, path: &str) {
        for (name, loose) in [
            ("minLength", Ordering::Less),
            ("maxLength", Ordering::Greater),
            ("minItems", Ordering::Less),
            ("maxItems", Ordering::Greater),
            ("minProperties", Ordering::Less),
            ("maxProperties", Ordering::Greater),
        ] {
            // A minimum of zero is no constraint.
            let is_constraint = |length: &&str| {
                loose == Ordering::Greater || compare(length, "0") != Some(Ordering::Equal)
            };
            let [old, new] = [old, new].map(|schema| schema.get_number(name).filter(is_constraint));
            self.constraint(path, name, old, new, |old, new| {
                effect_of(compare(new, old), loose)
            });
        }
        let is_unique = |schema: &Json| schema.get("uniqueItems") == Some(&Json::Boolean(true));
        match (is_unique(old), is_unique(new)) {
            (false, true) => self.add(path, Effect::Narrower, "items must now be unique"),
            (true, false) => self.add(path, Effect::Wider, "items no longer have to be unique"),
            _ => {}
        }
    }

    /// Compares `pattern` and `format`. Two different ones can't be ordered.
    pub(super) fn texts(&mut self, old: &Json, new: &Json, path: &str) {
        for name in ["pattern", "format"] {
            self.constraint(path, name, old.get(name), new.get(name), |old, new| {
                (old != new).then_some(Effect::Other)
            });
        }
    }

    /// Compares a constraint that both schemas may have.
    fn constraint<T: Display>(
        &mut self,
        path: &str,
        name: &str,
        old: Option<T>,
        new: Option<T>,
        compare: impl FnOnce(&T, &T) -> Option<Effect>,
    ) {
        let effect = match (&old, &new) {
            (None, None) => None,
            (None, Some(_)) => Some(Effect::Narrower),
            (Some(_), None) => Some(Effect::Wider),
            (Some(old), Some(new)) => compare(old, new),
        };
        if let Some(effect) = effect {
            self.add(path, effect, change(name, old, new));
        }
    }
}

/// Describes a change, such as "minimum 0 -> 1".
pub(super) fn change<T: Display>(name: &str, old: Option<T>, new: Option<T>) -> String {
    match (old, new) {
        (Some(old), Some(new)) => format!("{name} {old} -> {new}"),
        (None, Some(new)) => format!("{name} {new} added"),
        (Some(old), None) => format!("{name} {old} removed"),
        (None, None) => String::new(),
    }
}

/// The effect of a new limit, from its order relative to the old one.
fn effect_of(order: Option<Ordering>, loose: Ordering) -> Option<Effect> {
    match order {
        Some(Ordering::Equal) => None,
        Some(order) if order == loose => Some(Effect::Wider),
        Some(_) => Some(Effect::Narrower),
        None => Some(Effect::Other),
    }
}

/// The types that a schema accepts, sorted; `None` if it accepts all.
fn types(schema: &Json) -> Option<Vec<&str>> {
    let mut types: Vec<&str> = match schema.get("type") {
        Some(Json::String(name)) => vec![name],
        Some(list) => list.items().iter().filter_map(Json::as_str).collect(),
        None => values(schema)?.into_iter().map(type_of).collect(),
    };
    if types.contains(&"number") {
        types.retain(|name| *name != "integer");
    }
    types.sort_unstable();
    types.dedup();
    Some(types)
}

fn type_of(value: &Json) -> &'static str {
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

/// The types that are accepted by the first list and not by the second.
fn missing<'t>(types: Option<&[&'t str]>, others: Option<&[&str]>) -> Vec<&'t str> {
    let Some(others) = others else {
        return Vec::new();
    };
    let all = ["array", "boolean", "null", "number", "object", "string"];
    let types = types.unwrap_or(&all).iter().copied();
    let is_accepted =
        |name: &&str| others.contains(name) || *name == "integer" && others.contains(&"number");
    types.filter(|name| !is_accepted(name)).collect()
}

/// The values of `const` or `enum`.
fn values(schema: &Json) -> Option<Vec<&Json>> {
    match schema.get("const") {
        Some(value) => Some(vec![value]),
        None => Some(schema.get("enum")?.items().iter().collect()),
    }
}

/// One end of a range.
#[derive(Clone, Copy)]
struct Limit<'s> {
    number: &'s str,
    is_exclusive: bool,
}

impl<'s> Limit<'s> {
    /// The stricter of the inclusive and the exclusive limit.
    fn new(schema: &'s Json, name: &str, exclusive: &str, loose: Ordering) -> Option<Limit<'s>> {
        let limit = |name, is_exclusive| {
            let number = schema.get_number(name)?;
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

    /// Compares two limits. At the same number, the exclusive limit is the stricter one.
    fn compare(self, other: Limit<'_>, loose: Ordering) -> Option<Ordering> {
        let order = compare(self.number, other.number)?;
        Some(order.then(match (self.is_exclusive, other.is_exclusive) {
            (true, false) => loose.reverse(),
            (false, true) => loose,
            _ => Ordering::Equal,
        }))
    }
}

impl Display for Limit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.number)?;
        f.write_str(if self.is_exclusive {
            " (exclusive)"
        } else {
            ""
        })
    }
}

/// Compares two numbers: whole ones exactly, others as floats.
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
