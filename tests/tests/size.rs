//! Bounds of what tends to grow: lines of code, dependencies, and names at the root of `tool-core`. They are in
//! `tests/size.txt`. A change that needs a higher bound raises it there and says why in its commit.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use tests::{library_folders, root, sources};

/// Returns the number of lines of code of a crate, without comments, blank lines and unit tests.
fn code_lines(folder: &Path) -> usize {
    let files = sources(folder).into_iter();
    files
        .map(|file| code_lines_of(&fs::read_to_string(file).unwrap()))
        .sum()
}

fn code_lines_of(text: &str) -> usize {
    let mut lines = text.lines();
    let mut found = 0;
    let mut is_for_tests = false;
    while let Some(line) = lines.next() {
        let code = line.trim();
        if code.starts_with("#[cfg(test)]") || code.starts_with("#[cfg(all(test") {
            is_for_tests = true;
        } else if is_for_tests && code.starts_with("mod ") && code.ends_with('{') {
            let end = line.replace(code, "}");
            lines.find(|line| *line == end);
            is_for_tests = false;
        } else if is_for_tests {
            // Another attribute of the module, or an item that is not a module.
            is_for_tests = code.starts_with("#[");
        } else if !code.is_empty() && !code.starts_with("//") {
            found += 1;
        }
    }
    found
}

/// Returns the number of crates that a package depends on here, with itself. The features are those of a job, or none for
/// the default.
fn crates_of(package: &str, features: Option<&str>) -> usize {
    let features = features.map(|features| ["--no-default-features", "--features", features]);
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--package", package, "--edges", "normal"])
        .args(["--prefix", "none", "--offline"])
        .args(features.iter().flatten())
        .current_dir(root())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let name = |line: &str| line.split(" (").next().unwrap().to_owned();
    text.lines().map(name).collect::<BTreeSet<_>>().len()
}

/// Returns the public names at the root of a crate, without hidden ones and pages that only rustdoc sees.
fn names_at_root(lib: &str) -> usize {
    let mut names = BTreeSet::new();
    let mut is_hidden = false;
    for line in lib.lines() {
        let item = line.trim();
        if let Some(rest) = line.strip_prefix("pub use ") {
            let list = rest.trim_end_matches(';').rsplit("::").next().unwrap();
            let list = rest.split_once('{').map_or(list, |(_, list)| list);
            for name in list.trim_end_matches([';', '}']).split(',') {
                names.insert(name.trim().to_owned());
            }
        } else if let Some(module) = line.strip_prefix("pub mod ") {
            let name = module.trim_end_matches(';');
            if !is_hidden && name != "guide" {
                names.insert(name.to_owned());
            }
        } else if let Some(name) = line.strip_prefix("macro_rules! ") {
            names.insert(name.trim_end_matches(" {").to_owned());
        }
        is_hidden = item == "#[doc(hidden)]" || (is_hidden && item.starts_with("#["));
    }
    names.len()
}

#[test]
fn nothing_grows_without_a_reason() {
    let bounds = fs::read_to_string(root().join("tests/size.txt")).unwrap();
    let mut seen = 0;
    for line in bounds.lines().filter(|line| !line.starts_with('#')) {
        let (name, bound) = line.rsplit_once(' ').unwrap();
        let bound: usize = bound.parse().unwrap();
        let size = match name {
            "lines of code in tool-core" => code_lines(&root().join("tool-core")),
            "lines of code in all libraries" => {
                let folders = library_folders().into_iter();
                folders.map(|folder| code_lines(&folder)).sum()
            }
            "default crates of tool-core" => crates_of("tool-core", None),
            "crates of an agent over HTTP" => crates_of("tool-agent", Some("http")),
            "crates of an MCP server" => crates_of("tool-mcp", Some("server")),
            "crates of an MCP server over HTTP" => crates_of("tool-mcp", Some("server-http")),
            "names at the root of tool-core" => {
                names_at_root(&fs::read_to_string(root().join("tool-core/src/lib.rs")).unwrap())
            }
            _ => panic!("tests/size.txt has an unknown bound: {name}"),
        };
        println!("{name}: {size} of {bound}");
        assert!(
            size <= bound,
            "{name}: {size} is above {bound}; take out as much as you add, or raise the bound in tests/size.txt and say why in \
             the commit"
        );
        seen += 1;
    }
    assert_eq!(seen, 7);
}
