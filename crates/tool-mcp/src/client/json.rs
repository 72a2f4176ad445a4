//! Between the types of a client and JSON. serde's derives would take longer to compile than everything else in a client.

use std::collections::BTreeMap;
use std::fmt;
use std::slice::Iter;

use serde_json::{Map, Value};

/// What reading returns.
pub type Result<T> = std::result::Result<T, Mismatch>;

/// Where a result does not fit its type.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// From the inside out.
    path: Vec<String>,
    problem: String,
}

impl Mismatch {
    pub(super) fn new(problem: impl Into<String>) -> Mismatch {
        Mismatch {
            path: Vec::new(),
            problem: problem.into(),
        }
    }

    fn of(json: &Value, expected: &str) -> Mismatch {
        let got = match json {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        };
        Mismatch::new(format!("is {got}, but must be {expected}"))
    }

    fn at(mut self, step: impl Into<String>) -> Mismatch {
        self.path.push(step.into());
        self
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return write!(f, "it {}", self.problem);
        }
        f.write_str("`")?;
        for (at, step) in self.path.iter().rev().enumerate() {
            let dot = if at == 0 || step.starts_with('[') {
                ""
            } else {
                "."
            };
            write!(f, "{dot}{step}")?;
        }
        write!(f, "` {}", self.problem)
    }
}

/// An argument.
pub trait IntoJson {
    /// Returns the JSON of the value.
    fn into_json(self) -> Value;
}

/// A result.
pub trait FromJson: Sized {
    /// Reads the value.
    fn from_json(json: Value) -> Result<Self>;
}

impl IntoJson for Value {
    fn into_json(self) -> Value {
        self
    }
}

impl FromJson for Value {
    fn from_json(json: Value) -> Result<Value> {
        Ok(json)
    }
}

macro_rules! plain {
    ($($ty:ty: $expected:literal, $read:expr;)*) => {$(
        impl IntoJson for $ty {
            fn into_json(self) -> Value {
                self.into()
            }
        }

        impl FromJson for $ty {
            fn from_json(json: Value) -> Result<$ty> {
                let read: fn(&Value) -> Option<$ty> = $read;
                read(&json).ok_or_else(|| Mismatch::of(&json, $expected))
            }
        }
    )*};
}

plain! {
    bool: "a boolean", Value::as_bool;
    f64: "a number", Value::as_f64;
    i64: "an integer", integer;
    String: "a string", |json| json.as_str().map(str::to_owned);
}

/// JSON has one kind of numbers, so that 1.0 is an integer.
#[allow(clippy::cast_possible_truncation)]
fn integer(json: &Value) -> Option<i64> {
    let whole = |number: &f64| number.fract() == 0.0 && number.abs() < 9e15;
    json.as_i64()
        .or_else(|| json.as_f64().filter(whole).map(|number| number as i64))
}

impl<T: IntoJson> IntoJson for Option<T> {
    fn into_json(self) -> Value {
        self.map_or(Value::Null, T::into_json)
    }
}

impl<T: FromJson> FromJson for Option<T> {
    fn from_json(json: Value) -> Result<Option<T>> {
        if json.is_null() {
            return Ok(None);
        }
        T::from_json(json).map(Some)
    }
}

impl<T: IntoJson> IntoJson for Box<T> {
    fn into_json(self) -> Value {
        (*self).into_json()
    }
}

impl<T: FromJson> FromJson for Box<T> {
    fn from_json(json: Value) -> Result<Box<T>> {
        T::from_json(json).map(Box::new)
    }
}

impl<T: IntoJson> IntoJson for Vec<T> {
    fn into_json(self) -> Value {
        self.into_iter().map(T::into_json).collect()
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    fn from_json(json: Value) -> Result<Vec<T>> {
        let Value::Array(items) = json else {
            return Err(Mismatch::of(&json, "an array"));
        };
        let items = items.into_iter().enumerate();
        let items = items.map(|(at, item)| {
            T::from_json(item).map_err(|mismatch| mismatch.at(format!("[{at}]")))
        });
        items.collect()
    }
}

impl<T: IntoJson> IntoJson for BTreeMap<String, T> {
    fn into_json(self) -> Value {
        let members = self.into_iter();
        Value::Object(
            members
                .map(|(key, value)| (key, value.into_json()))
                .collect(),
        )
    }
}

impl<T: FromJson> FromJson for BTreeMap<String, T> {
    fn from_json(json: Value) -> Result<BTreeMap<String, T>> {
        let Value::Object(members) = json else {
            return Err(Mismatch::of(&json, "an object"));
        };
        let members = members.into_iter();
        let members = members.map(|(key, value)| match T::from_json(value) {
            Ok(value) => Ok((key, value)),
            Err(mismatch) => Err(mismatch.at(key)),
        });
        members.collect()
    }
}

/// Returns a member that is always written.
pub fn required(value: impl IntoJson) -> Option<Value> {
    Some(value.into_json())
}

/// Returns a member that is left out if it is `None`.
pub fn optional<T: IntoJson>(value: Option<T>) -> Option<Value> {
    value.map(T::into_json)
}

/// Returns an object of the members that are not left out.
pub fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let members = members.into_iter();
    Value::Object(
        members
            .filter_map(|(key, value)| Some((key.to_owned(), value?)))
            .collect(),
    )
}

/// Returns the text of a variant.
pub fn text<T>(texts: &[(&str, T)], at: usize) -> Value {
    texts[at].0.into()
}

/// Returns the variant of a text.
pub fn of_text<T: Copy>(texts: &[(&str, T)], json: Value) -> Result<T> {
    let known = json
        .as_str()
        .and_then(|text| texts.iter().find(|(other, _)| *other == text));
    match known {
        Some((_, variant)) => Ok(*variant),
        None if json.is_string() => {
            let texts = texts.iter().map(|(text, _)| format!("{text:?}"));
            let texts = texts.collect::<Vec<_>>().join(", ");
            Err(Mismatch::new(format!("is a string, but none of {texts}")))
        }
        None => Err(Mismatch::of(&json, "a string")),
    }
}

/// Reads a struct by its keys, of which some are required. Other members are ignored.
pub fn read<T: FromMembers, S>(json: Value, keys: &[(&str, bool)], make: fn(T) -> S) -> Result<S> {
    let Value::Object(object) = json else {
        return Err(Mismatch::of(&json, "an object"));
    };
    let keys = keys.iter();
    T::from_members(&mut Members { object, keys }).map(make)
}

/// The members of an object that are not yet read.
pub struct Members<'a> {
    object: Map<String, Value>,
    keys: Iter<'a, (&'a str, bool)>,
}

impl Members<'_> {
    fn read<T: FromJson>(&mut self) -> Result<T> {
        let Some((key, is_required)) = self.keys.next() else {
            unreachable!("a key for each field");
        };
        match self.object.swap_remove(*key) {
            None if *is_required => Err(Mismatch::new("is missing").at(*key)),
            json => T::from_json(json.unwrap_or_default()).map_err(|mismatch| mismatch.at(*key)),
        }
    }
}

/// The fields of a struct in nested tuples. rustc checks them faster than an expression for each.
pub trait FromMembers: Sized {
    /// Reads the fields in the order of their keys.
    fn from_members(members: &mut Members<'_>) -> Result<Self>;
}

impl FromMembers for () {
    fn from_members(_: &mut Members<'_>) -> Result<()> {
        Ok(())
    }
}

impl<A: FromJson, T: FromMembers> FromMembers for (A, T) {
    fn from_members(members: &mut Members<'_>) -> Result<(A, T)> {
        Ok((members.read()?, T::from_members(members)?))
    }
}

impl<A: FromJson, B: FromJson, C: FromJson, D: FromJson, T: FromMembers> FromMembers
    for (A, B, C, D, T)
{
    fn from_members(members: &mut Members<'_>) -> Result<(A, B, C, D, T)> {
        let (a, b, c, d) = (
            members.read()?,
            members.read()?,
            members.read()?,
            members.read()?,
        );
        Ok((a, b, c, d, T::from_members(members)?))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_that_does_not_fit_is_an_error_with_its_path() {
        type Nested = BTreeMap<String, Vec<Option<i64>>>;
        let fits = Nested::from_json(json!({"a": [1, null, 2.0]})).unwrap();
        assert_eq!(fits["a"], [Some(1), None, Some(2)]);
        for (json, expected) in [
            (
                json!({"a": [1, "2"]}),
                "`a[1]` is a string, but must be an integer",
            ),
            (
                json!({"a": [1.5]}),
                "`a[0]` is a number, but must be an integer",
            ),
            (json!({"a": {}}), "`a` is an object, but must be an array"),
            (json!(null), "it is null, but must be an object"),
        ] {
            assert_eq!(Nested::from_json(json).unwrap_err().to_string(), expected);
        }
        let of = |json| read(json, &[("a", false), ("b", true)], |(a, (b, ()))| (a, b));
        let (a, b): (Option<String>, BTreeMap<String, i64>) =
            of(json!({"a": null, "b": {"c": 1}})).unwrap();
        assert_eq!((a, b["c"]), (None, 1));
        let (mismatch, missing) = (json!({"b": {"c": "1"}}), json!({"a": "1"}));
        assert_eq!(
            of(mismatch).unwrap_err().to_string(),
            "`b.c` is a string, but must be an integer"
        );
        assert_eq!(of(missing).unwrap_err().to_string(), "`b` is missing");
    }

    #[test]
    fn texts_are_variants() {
        let texts = [("open", 1), ("closed", 2)];
        assert_eq!(of_text(&texts, json!("closed")).unwrap(), 2);
        assert_eq!(text(&texts, 1), "closed");
        let mismatch = of_text(&texts, json!("reopened")).unwrap_err().to_string();
        assert_eq!(mismatch, "it is a string, but none of \"open\", \"closed\"");
    }
}
