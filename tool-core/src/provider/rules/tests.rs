use std::collections::BTreeSet;
use std::fmt::Write;

use crate::provider::rules::*;

#[test]
fn no_two_rules_have_one_id() {
    let mut seen = BTreeSet::new();
    for rule in all() {
        assert!(seen.insert(rule.id), "{} twice", rule.id);
        assert!(rule.id.contains('.'), "{} names no provider", rule.id);
        assert!(find(rule.id).is_some());
    }
}

/// A row without an end is a promise that nobody keeps.
#[test]
fn every_rule_says_where_it_stands_and_how_it_is_met() {
    for rule in all() {
        let (Met::By(how) | Met::Waived(how)) = rule.met;
        for (what, text) in [
            ("what", rule.what),
            ("source", rule.source.name),
            ("date", rule.source.date),
            ("met", how),
        ] {
            assert!(text.len() >= 4, "{}: {what}: {text:?}", rule.id);
        }
        assert!(rule.source.date.starts_with("20"), "{}", rule.id);
    }
}

/// What is met by a check must be a rule of that check, and the other way around.
#[test]
fn what_is_checked_while_compiling_is_what_the_table_says() {
    let checked = [
        portable::PARAM_NAME,
        openai::CLOSED,
        openai::REQUIRED,
        openai::TYPES,
        openai::MAX_NESTING,
        openai::MAX_PROPERTIES,
        openai::MAX_STRINGS,
        openai::MAX_ENUM_VALUES,
        openai::MAX_ENUM_STRINGS,
        anthropic::SUPPORTED,
        anthropic::UNSUPPORTED,
        anthropic::PROPERTY_KEY,
        anthropic::ENUM_CASE,
        anthropic::MAX_OPTIONAL,
        anthropic::MAX_UNIONS,
        gemini::RECURSION,
        others::XAI_SUPPORTED,
        others::XAI_REJECTED,
        others::COHERE_REQUIRED,
        others::COHERE_FIELDS,
    ];
    let checked: BTreeSet<_> = checked.iter().map(|rule| rule.id).collect();
    let told: BTreeSet<_> = all()
        .filter(|rule| matches!(rule.met, Met::By(how) if how.contains("compile-time check")))
        .map(|rule| rule.id)
        .collect();
    assert_eq!(told, checked);
    let source = [
        include_str!("../check/fault.rs"),
        include_str!("../check/limit.rs"),
    ]
    .concat();
    let named = source
        .lines()
        .filter(|line| line.trim_start().starts_with("rule: &"))
        .count();
    assert!(
        named >= checked.len(),
        "some rule is in no fault and no limit"
    );
}

/// The collection of facts that this table was made from, where there is a copy of it.
#[test]
fn no_known_rule_is_absent() {
    let Some(path) = std::env::var_os("TOOL_CORE_PROVIDERS") else {
        return;
    };
    let text = std::fs::read_to_string(path).expect("TOOL_CORE_PROVIDERS names a file");
    let known: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let known = known["rules"].as_array().expect("it lists rules");
    assert!(known.len() > 90);
    for known in known {
        let text = |key: &str| known[key].as_str().expect("a row has it").to_owned();
        let id = format!("{}.{}", text("provider"), text("rule"));
        let rule = find(&id).unwrap_or_else(|| panic!("{id} is absent"));
        let kind = match rule.kind {
            Kind::Compile => "compile",
            Kind::Registry => "registry",
            Kind::Emit => "emit",
            Kind::Runtime => "runtime",
            Kind::Advice => "lint",
        };
        assert_eq!(kind, text("check"), "{id}");
        if let (Value::Number(number), Some(limit)) = (rule.value, known["value"].as_u64()) {
            assert_eq!(number as u64, limit, "{id}");
        }
    }
}

/// `BLESS=1` writes the page anew.
#[test]
fn the_page_says_what_the_table_says() {
    let page = page();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/provider/rules/targets.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page,
        "targets.md differs from the table; run with BLESS=1"
    );
}

fn page() -> String {
    let mut page = String::from(
        "\n# Targets\n\n\
         Each of these features of the crate makes one provider's rules hold for every tool of the \
         build. They add up. What a dialect can write otherwise is no error; what it can't is a \
         compile error at the parameter.\n\n\
         Always on are the portable rules.\n\n",
    );
    rows(&mut page, &["portable"]);
    for target in Target::ALL {
        writeln!(page, "\n## Feature `{}`\n", target.feature()).unwrap();
        rows(&mut page, target.providers());
    }
    page.push_str("\n## The Model Context Protocol\n\nNeeds no feature.\n\n");
    rows(
        &mut page,
        &["mcp", "mcp.2025-06-18", "mcp.2025-11-25", "mcp.2026-07-28"],
    );
    page
}

fn rows(page: &mut String, providers: &[&str]) {
    page.push_str("| rule | what | met by | source |\n|---|---|---|---|\n");
    for rule in all().filter(|rule| providers.contains(&rule.provider())) {
        let value = match rule.value {
            Value::None => String::new(),
            Value::Number(number) => format!(": {number}"),
            Value::Pattern(pattern) => format!(": `{pattern}`"),
            Value::Names(names) => format!(": `{}`", names.join("`, `")),
        };
        let met = match rule.met {
            Met::By(how) => how.to_owned(),
            Met::Waived(reason) => format!("not: {reason}"),
        };
        let Source { name, date } = rule.source;
        writeln!(
            page,
            "| `{}` | {}{value} | {met} | {name} ({date}) |",
            rule.id, rule.what
        )
        .unwrap();
    }
}
