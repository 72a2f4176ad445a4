/// Adds numbers.
#[tool(freeform, grammar = lark(RULES), programmatic = only)]
fn add(sum: &str) -> u64 {
    sum.split('+').filter_map(|number| number.parse::<u64>().ok()).sum()
}

/// Runs a query.
#[tool(freeform, programmatic)]
fn run_sql(#[param(rename = "query", length = ..=400)] sql: String) {
    drop(sql);
}
