//! Context parameters that are not shared references.

#![allow(unused_variables)]

use tool_core::{CallContext, tool, tools};

pub struct Db;

/// Counts.
#[tool]
fn by_value(#[param(context)] db: Db) {}

/// Counts.
#[tool]
fn mutably(#[param(context)] db: &mut Db, call: &mut CallContext) {}

/// Counts.
#[tool]
fn as_a_trait(#[param(context)] db: &dyn Send, #[param(context)] other: &impl Send) {}

fn main() {
    let _ = tools![by_value, mutably, as_a_trait];
}
// 5 errors
