//! Every public item of the published packages has an example that compiles, and so has each method in a list.
//!
//! Reads the pages that rustdoc wrote with all features, because they have what a reader sees: items that are exported
//! from private modules, and those that macros write. Step `rustdoc` of `.ci/run` names their folder in
//! `TOOL_CORE_PAGES`. The doc tests compile and run what is found here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use tests::{PUBLISHED, crate_in};

/// The start of the name of an item's page.
const KINDS: [&str; 10] = [
    "struct",
    "enum",
    "union",
    "trait",
    "type",
    "fn",
    "macro",
    "attr",
    "derive",
    "traitalias",
];

/// The methods that programs use most, each as `crate::Type::method`; `crate` is where rustdoc has the page of the type.
const METHODS: &str = include_str!("methods.txt");

/// A code block that doc tests compile: one that is ignored or must not compile has another class.
const EXAMPLE: &str = "<div class=\"example-wrap\"><pre class=\"rust rust-example-rendered\">";

/// Returns the folder of the pages.
fn folder() -> Option<PathBuf> {
    let folder = env::var_os("TOOL_CORE_PAGES");
    if folder.is_none() {
        println!("skipped: TOOL_CORE_PAGES names no folder; `.ci/run rustdoc` sets it");
    }
    Some(fs::canonicalize(folder?).unwrap())
}

/// Returns what is between the start and the end of a part of a page.
fn between<'p>(page: &'p str, start: &str, end: &str) -> Option<&'p str> {
    let (_, rest) = page.split_once(start)?;
    Some(rest.split_once(end).map_or(rest, |(part, _)| part))
}

/// Returns `true` if the documentation of the item itself has an example.
fn has_example(page: &str) -> bool {
    let docs = between(page, "<details class=\"toggle top-doc\"", "</details>");
    docs.is_some_and(|docs| docs.contains(EXAMPLE))
}

/// Returns `true` if the documentation of a method has an example. `None` if the page has no such method.
fn method_has_example(page: &str, name: &str) -> Option<bool> {
    ["tymethod", "method"].iter().find_map(|kind| {
        let start = format!("<section id=\"{kind}.{name}\"");
        Some(between(page, &start, "<section id=\"")?.contains(EXAMPLE))
    })
}

/// Adds the pages of items below a folder, by what they are about.
fn items(folder: &Path, pages: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            items(&path, pages);
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy();
        let [kind, item, "html"] = name.split('.').collect::<Vec<_>>()[..] else {
            continue;
        };
        if !KINDS.contains(&kind) {
            continue;
        }
        let page = fs::read_to_string(&path).unwrap();
        // An item that is exported elsewhere has a page that leads there.
        if page.contains("<meta http-equiv=\"refresh\"") {
            continue;
        }
        let place = between(&page, "<div class=\"rustdoc-breadcrumbs\">", "</div>").unwrap();
        let place: String = place
            .split('<')
            .filter_map(|part| part.split('>').nth(1))
            .collect();
        pages.insert(format!("{kind} {place}::{item}"), page);
    }
}

fn all_items(folder: &Path) -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    for name in PUBLISHED.map(crate_in) {
        let before = pages.len();
        items(&folder.join(&name), &mut pages);
        assert!(
            pages.len() > before,
            "no page of {name} in {}",
            folder.display()
        );
    }
    pages
}

/// rustdoc lists the methods of submodules before those of the module, each in the order of the source.
#[test]
fn pages_of_main_types_open_with_what_one_uses() {
    let Some(folder) = folder() else { return };
    for (page, first) in [
        ("tool_core/struct.Registry.html", "new linked builder call"),
        ("tool_core/struct.ToolCall.html", "new"),
        ("tool_core/struct.ToolResult.html", "new"),
        ("tool_agent/struct.Agent.html", "new ask ask_for"),
        ("tool_agent/run/struct.Run.html", "new builder"),
        ("tool_mcp/struct.Server.html", "new stdio"),
    ] {
        let text = fs::read_to_string(folder.join(page)).unwrap();
        let own = between(
            &text,
            "id=\"implementations\"",
            "id=\"trait-implementations\"",
        )
        .unwrap();
        let methods = own.split("<section id=\"method.").skip(1);
        let methods = methods.filter_map(|rest| rest.split('"').next());
        let methods: Vec<_> = methods.collect();
        assert!(methods.join(" ").starts_with(first), "{page}: {methods:?}");
    }
}

#[test]
fn every_public_item_has_an_example() {
    let Some(folder) = folder() else { return };
    let pages = all_items(&folder);
    let without: Vec<_> = pages
        .iter()
        .filter(|(_, page)| !has_example(page))
        .map(|(item, _)| item.as_str())
        .collect();
    println!(
        "{} of {} items have an example",
        pages.len() - without.len(),
        pages.len()
    );
    assert!(
        pages.len() > 250,
        "only {} items: are all features on?",
        pages.len()
    );
    assert!(
        without.is_empty(),
        "without an example:\n{}",
        without.join("\n")
    );
}

#[test]
fn the_methods_that_are_used_most_have_examples() {
    let Some(folder) = folder() else { return };
    let pages = all_items(&folder);
    let mut problems = Vec::new();
    for path in METHODS.lines() {
        let (item, method) = path.rsplit_once("::").unwrap();
        let page = ["struct", "enum", "trait"]
            .iter()
            .find_map(|kind| pages.get(&format!("{kind} {item}")));
        match page.and_then(|page| method_has_example(page, method)) {
            Some(true) => {}
            Some(false) => problems.push(format!("{path}: no example")),
            None => problems.push(format!("{path}: no such method")),
        }
    }
    assert!(METHODS.lines().count() > 50);
    assert!(METHODS.lines().is_sorted(), "methods.txt is not sorted");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn only_examples_that_compile_count() {
    let docs = |block: &str| format!("<details class=\"toggle top-doc\" open>{block}</details>");
    assert!(has_example(&docs(EXAMPLE)));
    assert!(!has_example(&docs("<p>Words.</p>")));
    for class in ["example-wrap ignore", "example-wrap compile_fail"] {
        assert!(!has_example(&docs(&EXAMPLE.replace("example-wrap", class))));
    }
    // Neither does one of a method.
    assert!(!has_example(&format!(
        "{}<section id=\"method.a\">{EXAMPLE}",
        docs("")
    )));

    let page = format!("<section id=\"method.a\">x<section id=\"tymethod.b\">{EXAMPLE}");
    assert_eq!(method_has_example(&page, "a"), Some(false));
    assert_eq!(method_has_example(&page, "b"), Some(true));
    assert_eq!(method_has_example(&page, "c"), None);
}
