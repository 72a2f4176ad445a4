//! What `POLICIES.md` says, compared with the manifests and the code.

use std::fs;
use std::path::{Path, PathBuf};

const POLICIES: &str = include_str!("../../POLICIES.md");
const MANIFEST: &str = include_str!("../../Cargo.toml");
const PUBLISHED: [&str; 5] = [
    "tool-core",
    "tool-macros",
    "tool-agent",
    "tool-mcp",
    "tool-python",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the value of a key that stands at the start of a line.
fn value<'t>(text: &'t str, key: &str) -> &'t str {
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    line.unwrap_or_else(|| panic!("no line starts with {key}"))
        .trim_start_matches([' ', '=', '"'])
        .trim_end_matches('"')
}

/// Adds the Rust files below a folder.
fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn every_page_names_the_minimum_version_of_rust() {
    let version = value(MANIFEST, "rust-version");
    assert!(POLICIES.contains(&format!("**Rust {version}** is the minimum")));
    for readme in PUBLISHED.map(|package| format!("{package}/README.md")) {
        assert!(
            read(&readme).contains(&format!("Rust {version} or newer.")),
            "{readme}"
        );
    }
}

#[test]
fn the_table_lists_every_file_with_unsafe_code() {
    assert!(MANIFEST.contains("\nunsafe_code = \"deny\"\n"));
    let mut exceptions = Vec::new();
    for package in PUBLISHED {
        assert!(
            read(&format!("{package}/Cargo.toml")).contains("[lints]\nworkspace = true"),
            "{package} has lints of its own"
        );
        let mut files = Vec::new();
        rust_files(&root().join(package).join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            if text.contains("allow(unsafe_code") || text.contains("expect(unsafe_code") {
                let path = file.strip_prefix(root()).unwrap().to_str().unwrap();
                exceptions.push(path.replace('\\', "/"));
            }
        }
    }
    let section = POLICIES.split_once("## `unsafe`").unwrap().1;
    let section = section.split_once("\n## ").unwrap().0;
    let rows = section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let mut rows: Vec<_> = rows.map(str::to_owned).collect();
    exceptions.sort();
    rows.sort();
    assert_eq!(rows, exceptions);
}

#[test]
fn the_licences_and_the_number_of_packages_are_those_that_are_checked() {
    let deny = read("deny.toml");
    let allowed = deny.split_once("\nallow = [").unwrap().1;
    let allowed = allowed.split_once(']').unwrap().0;
    let allowed: Vec<_> = allowed
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.split('"').next())
        .collect();
    let (last, others) = allowed.split_last().unwrap();
    let sentence = format!("only {} and {last} (step `deny`)", others.join(", "));
    assert!(POLICIES.contains(&sentence), "{sentence}");
    for name in ["openssl-sys", "native-tls"] {
        assert!(deny.contains(&format!("crate = \"{name}\"")), "{name}");
    }

    let steps = read(".ci/run");
    let limit = steps.split_once("test \"$crates\" -le ").unwrap().1;
    let limit = limit.lines().next().unwrap();
    assert!(POLICIES.contains(&format!("at most {limit} packages")));
}

#[test]
fn every_step_that_is_named_exists() {
    let steps = read(".ci/run");
    for part in POLICIES.split("tep `").skip(1) {
        let name = part.split('`').next().unwrap();
        assert!(steps.contains(&format!("\nstep_{name}() ")), "{name}");
    }
}
