//! This crate and `tool-eval` use only documented items of `tool-core`, so the two can change at different speeds.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Calls a function with the text of each source file in a folder.
fn each_source(folder: &Path, visit: &mut dyn FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            each_source(&path, visit);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            visit(&path, &fs::read_to_string(&path).unwrap());
        }
    }
}

/// Returns the words of a text that could be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(move |c| !is_part(c))
        .filter(|word| !word.is_empty())
}

/// Returns the name declared by a line.
fn declared(line: &str) -> Option<&str> {
    const KEYWORDS: [&str; 8] = [
        "fn", "struct", "enum", "trait", "mod", "type", "const", "static",
    ];
    let mut words = words(line).skip_while(|word| !KEYWORDS.contains(word));
    words.find(|word| !KEYWORDS.contains(word))
}

#[test]
fn no_hidden_item_of_the_core_is_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut hidden = BTreeSet::from(["__private".to_owned()]);
    each_source(&root.join("../../tool-core/src"), &mut |_, text| {
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line.trim() == "#[doc(hidden)]" {
                let is_item = |line: &&str| !line.trim_start().starts_with(['#', '/']);
                let item = lines.find(is_item);
                hidden.extend(item.and_then(declared).map(str::to_owned));
            }
        }
    });
    // Public variants, iterators of std and HTTP headers have these names too.
    for name in ["Freeform", "flatten", "LOCATION"] {
        hidden.remove(name);
    }
    assert!(hidden.contains("into_outcome"), "{hidden:?}");
    let mut used = Vec::new();
    for folder in ["src", "../tool-eval/src"] {
        each_source(&root.join(folder), &mut |path, text| {
            for word in words(text).filter(|word| hidden.contains(*word)) {
                used.push(format!("{}: {word}", path.display()));
            }
        });
    }
    assert!(
        used.is_empty(),
        "make these items public, or do without: {used:#?}"
    );
}
