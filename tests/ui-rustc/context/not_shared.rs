//! A context value that threads can't share.

use std::cell::Cell;

use tool_core::tool;

struct Db(Cell<u8>);

/// Counts rows.
#[tool]
fn count(#[param(context)] db: &Db) -> u8 {
    db.0.get()
}

fn main() {}
