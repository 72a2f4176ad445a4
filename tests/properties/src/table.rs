//! The table: one tool for each type and each combination of constraints.

// Odd types are the point.
#![allow(
    clippy::linkedlist,
    clippy::option_option,
    clippy::redundant_allocation,
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref
)]

mod constrained;
mod containers;
mod enums;
mod flattened;
mod recursive;
mod scalars;
mod signatures;
mod structs;

use std::fmt::Debug;

use serde::Serialize;
use serde_json::Value;
use tool_core::ToolResult;

use crate::subject::{Row, Subject, received};

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

        pub(super) fn rows() -> Vec<$crate::subject::Row> {
            vec![
                $($crate::subject::Row {
                    name: stringify!($name),
                    tool: tool_core::ToolEntry::of::<$name>(),
                    round_trip: Some($crate::table::round_trip::<$ty>),
                },)*
                $($crate::subject::Row {
                    name: stringify!($read),
                    tool: tool_core::ToolEntry::of::<$read>(),
                    round_trip: None,
                },)*
            ]
        }
    };
}
use table;

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
    Ok(())
}
