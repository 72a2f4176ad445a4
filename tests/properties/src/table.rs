//! The table: one tool for each type and each combination of constraints.

// Odd types are the point.
#![allow(
    clippy::linkedlist,
    clippy::option_option,
    clippy::redundant_allocation,
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_box_returns,
    clippy::zero_sized_map_values
)]

mod constrained;
mod containers;
mod enums;
mod flattened;
mod recursive;
mod scalars;
mod signatures;
mod structs;
mod written;

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_core::schema::Schema;
use tool_core::{ToolResult, ToolType, by_serde};

use crate::subject::{Row, Subject, received};
use crate::written::Returning;

/// Makes a tool for each row. A row is a name, the keys of `#[param]`, and a type. Types of the
/// first
/// list serialize as they are read, those of the second do not.
macro_rules! table {
    (
        both { $($name:ident $([$($param:tt)*])? : $ty:ty;)* }
        read { $($read:ident $([$($read_param:tt)*])? : $read_ty:ty;)* }
    ) => {
        $(
            /// Takes a value.
            #[tool_core::tool(unlinked)]
            fn $name($(#[param($($param)*)])? value: $ty) {
                $crate::subject::receive(value);
            }
        )*
        $(
            /// Takes a value.
            #[tool_core::tool(unlinked)]
            fn $read($(#[param($($read_param)*)])? value: $read_ty) {
                $crate::subject::ran(value);
            }
        )*

        pub(super) fn returning() -> Vec<$crate::written::Returning> {
            vec![$({
                /// Returns a value.
                #[tool_core::tool(unlinked)]
                fn result() -> $ty {
                    $crate::written::next()
                }
                $crate::written::Returning {
                    name: stringify!($name),
                    tool: tool_core::ToolEntry::of::<result>(),
                    probe: $crate::written::decoded::<$ty>,
                }
            },)*]
        }

        pub(super) fn rows() -> Vec<$crate::subject::Row> {
            vec![
                $($crate::subject::Row {
                    name: stringify!($name),
                    tool: tool_core::ToolEntry::of::<$name>(),
                    round_trip: Some($crate::table::round_trip::<$ty>),
                    by_serde: {
                        /// Takes a value.
                        #[tool_core::tool(unlinked)]
                        fn $name($(#[param($($param)*)])? value: $crate::table::BySerde<$ty>) {
                            $crate::subject::receive(value.0);
                        }
                        Some((tool_core::ToolEntry::of::<$name>(), $crate::table::is_same::<$ty>))
                    },
                    typed: {
                        #[allow(unused_imports)]
                        use $crate::typed::Untyped as _;
                        let has_keys = stringify!($($($param)*)?) != "";
                        (!has_keys).then(|| $crate::typed::Typed::<$ty>::TYPE).flatten()
                    },
                },)*
                $($crate::subject::Row {
                    name: stringify!($read),
                    tool: tool_core::ToolEntry::of::<$read>(),
                    round_trip: None,
                    by_serde: None,
                    typed: None,
                },)*
            ]
        }
    };
}
use table;

pub use constrained::promises;

/// What the tool of a row may rely on, because of a constraint.
pub struct Promise {
    /// The name of the row.
    pub row: &'static str,
    /// Returns `true` if the value that the tool received fulfils the promise.
    pub is_kept: fn() -> bool,
    /// Removes items that decode to the same value as an earlier one.
    pub without_duplicates: fn(&mut Vec<Value>),
}

impl Promise {
    /// The items are unique.
    fn unique<T: DeserializeOwned + PartialEq + 'static>(row: &'static str) -> Promise {
        Promise {
            row,
            is_kept: || {
                let items: Vec<T> = received().expect("the tool has run");
                (1..items.len()).all(|at| !items[..at].contains(&items[at]))
            },
            without_duplicates: without_duplicates::<T>,
        }
    }

    /// The set has at least two items.
    fn two<S: IntoIterator<Item = T> + 'static, T: DeserializeOwned + PartialEq>(
        row: &'static str,
    ) -> Promise {
        Promise {
            row,
            is_kept: || {
                let set: S = received().expect("the tool has run");
                set.into_iter().count() >= 2
            },
            without_duplicates: without_duplicates::<T>,
        }
    }
}

fn without_duplicates<T: DeserializeOwned + PartialEq>(items: &mut Vec<Value>) {
    let mut seen: Vec<T> = Vec::new();
    items.retain(|item| match T::deserialize(whole(item)) {
        Ok(item) if seen.contains(&item) => false,
        Ok(item) => {
            seen.push(item);
            true
        }
        Err(_) => true,
    });
}

/// Returns a value with integers for floats without a fraction, which integer types reject.
pub fn whole(value: &Value) -> Value {
    match value {
        #[allow(clippy::cast_possible_truncation)]
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => {
                Value::from(float as i64)
            }
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(whole).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), whole(value)))
            .collect(),
        other => other.clone(),
    }
}

/// Returns every row.
pub fn rows() -> Vec<Row> {
    let mut rows = scalars::rows();
    rows.extend(containers::rows());
    rows.extend(structs::rows());
    rows.extend(enums::rows());
    rows.extend(flattened::rows());
    rows.extend(recursive::rows());
    rows.extend(constrained::rows());
    rows.extend(signatures::rows());
    rows
}

/// Returns a tool for each type that serializes, and for types that are only serialized.
pub fn returning() -> Vec<Returning> {
    let mut returning = scalars::returning();
    returning.extend(containers::returning());
    returning.extend(structs::returning());
    returning.extend(enums::returning());
    returning.extend(flattened::returning());
    returning.extend(recursive::returning());
    returning.extend(constrained::returning());
    returning.extend(written::returning());
    returning
}

/// A type with the schema of another one, which serde decodes.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct BySerde<T>(pub T);

impl<T: ToolType> ToolType for BySerde<T> {
    const SCHEMA: &'static Schema = T::SCHEMA;
}

by_serde!(BySerde<T> [T]);

/// Calls both tools with the same arguments. Returns `true` if both receive the same value, and `false` if both reject the
/// arguments with the same violations.
fn is_same<T: PartialEq + Debug + 'static>(
    own: &Subject,
    by_serde: &Subject,
    text: &str,
) -> Result<bool, String> {
    let seen = [own, by_serde].map(|subject| {
        let result = subject.call(text, false);
        let violations = result
            .error()
            .map(|error| (error.kind(), error.violations().to_vec()));
        (violations, received::<T>())
    });
    let [own, by_serde] = &seen;
    if own == by_serde {
        Ok(own.0.is_none())
    } else {
        Err(format!("{text}: {own:?}\n    by serde: {by_serde:?}"))
    }
}

/// Sends the value that these arguments decode to, and compares what the tool receives.
fn round_trip<T: Serialize + PartialEq + Debug + 'static>(
    subject: &Subject,
    arguments: &Value,
) -> Option<Result<(), String>> {
    if !subject.accepts(arguments) {
        return None;
    }
    let sent: T = received()?;
    Some(sends(subject, &sent))
}

/// Sends a value to a tool that accepts its type, and compares what the tool receives.
///
/// # Errors
///
/// Returns an error if the value is rejected or differs on arrival.
pub fn sends<T: Serialize + PartialEq + Debug + 'static>(
    subject: &Subject,
    sent: &T,
) -> Result<(), String> {
    let json = serde_json::to_string(sent).map_err(|error| format!("{sent:?}: {error}"))?;
    let text = format!("{{\"value\":{json}}}");
    let call = || subject.call(&text, false);
    let call_gated = || subject.call_gated(&text, false).0;
    for call in [&call as &dyn Fn() -> ToolResult, &call_gated] {
        let result = call();
        if result.is_error() {
            return Err(format!("{json} was rejected: {}", result.content()));
        }
        match received::<T>() {
            Some(arrived) if arrived == *sent => {}
            arrived => {
                return Err(format!(
                    "{sent:?} was sent as {json} and arrived as {arrived:?}"
                ));
            }
        }
    }
    // A value holds no integers of more than 64 bits. They are rejected, not rounded.
    match subject.call_value(&text) {
        Some(result) if result.is_error() => {
            if !result.content().contains("may have been rounded") {
                return Err(format!("{json} as a value: {}", result.content()));
            }
        }
        Some(_) => {
            let arrived = received::<T>();
            if arrived.as_ref() != Some(sent) {
                return Err(format!("{json} arrived as {arrived:?} as a value"));
            }
        }
        None => return Err(format!("{json} is not JSON")),
    }
    Ok(())
}
