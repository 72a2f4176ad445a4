//! A value of the application without `#[param(context)]`.

use tool_core::tool;

struct Db;

/// Counts rows.
#[tool]
fn count(db: &Db, table: &str) -> usize {
    let _ = db;
    table.len()
}

fn main() {}
