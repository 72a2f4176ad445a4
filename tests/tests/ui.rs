//! Mistakes in the use of the macros, and the words for them.
//!
//! `ui/<kind of mistake>/<case>.rs` holds the cases whose messages are our own words. Those of
//! `ui-rustc/` are mostly rustc's and change with it, so they run under one toolchain. Beside each
//! case stand its messages, all of them: what follows from a mistake is not reported as another.
//! `TRYBUILD=overwrite cargo test -p tests --test ui` rewrites them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The toolchain whose words `ui-rustc/` holds.
const PINNED: &str = "rustc 1.95.";

#[test]
fn every_mistake_has_its_words() {
    // No case that compiles may join these: it would switch trybuild's batches off.
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui/*/*.rs");
    match other_words() {
        None => cases.compile_fail("ui-rustc/*/*.rs"),
        Some(reason) => println!("ui-rustc/ holds the words of {PINNED} and is skipped: {reason}"),
    }
}

/// Why rustc may have other words than those of `ui-rustc/`.
fn other_words() -> Option<String> {
    let version = rustc(&["--version"]);
    if !version.starts_with(PINNED) {
        return Some(format!("this is {version}"));
    }
    // With its sources at hand, rustc quotes them.
    let sources = Path::new(&rustc(&["--print", "sysroot"])).join("lib/rustlib/src/rust");
    let has_sources = sources.exists();
    has_sources.then(|| "the component rust-src is installed".to_owned())
}

fn rustc(arguments: &[&str]) -> String {
    let output = Command::new("rustc").args(arguments).output();
    let output = output.expect("rustc is there, since this was compiled");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn no_words_are_left_behind_by_a_case() {
    let files: Vec<_> = ["ui", "ui-rustc"]
        .map(Path::new)
        .iter()
        .flat_map(|at| files(at))
        .collect();
    let has = |path: &Path, extension| files.contains(&path.with_extension(extension));
    let cases = files
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "rs"));
    assert!(cases.count() > 40, "the cases moved");
    for path in &files {
        let (case, words) = (has(path, "rs"), has(path, "stderr"));
        assert!(case && words, "{} stands alone", path.display());
        assert_eq!(
            path.components().count(),
            3,
            "{} is not run",
            path.display()
        );
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().expect("the tests run in their package");
    let paths = entries.map(|entry| entry.expect("it was listed").path());
    let files = paths.flat_map(|path| {
        if path.is_dir() {
            files(&path)
        } else {
            vec![path]
        }
    });
    files.collect()
}
