//! Keys and descriptions on context parameters, which the model never sees.

#![allow(unused_variables)]

use tool_core::{tool, tools};

pub struct Db;

/// Counts.
#[tool]
fn with_keys(#[param(context, rename = "database", range = 1..)] db: &Db) {}

/// Counts.
///
/// # Arguments
/// * `db` - Where the notes are.
#[tool]
fn in_the_docs(#[param(context)] db: &Db) {}

fn main() {
    let _ = tools![with_keys, in_the_docs];
}
// 3 errors
