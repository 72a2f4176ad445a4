//! Mistakes in the use of the macros, and the words for them.
//!
//! `ui/<kind of mistake>/<case>.rs` holds the cases whose messages are our own words. Those of
//! `ui-rustc/` are mostly rustc's and change with it, so they run under one toolchain. Beside each
//! case stand its messages, all of them: what follows from a mistake is not reported as another.
//! `TRYBUILD=overwrite cargo test -p tests --test ui` rewrites them.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../support/rustc_version.rs"]
mod rustc_version;

#[test]
fn every_mistake_has_its_words() {
    // No case that compiles may join these: it would switch trybuild's batches off.
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui/*/*.rs");
    match rustc_version::other_words() {
        None => cases.compile_fail("ui-rustc/*/*.rs"),
        Some(reason) => println!("ui-rustc/ is skipped: {reason}"),
    }
}

#[test]
fn every_mistake_is_one_error() {
    // Those of `targets` need another build, and are counted from here.
    let folders = [
        ("ui", 3),
        ("ui-rustc", 3),
        ("targets/ui", 4),
        ("targets/ui-alone", 4),
    ];
    let cases = folders.map(|(folder, depth)| check(Path::new(folder), depth));
    assert!(
        cases.iter().sum::<usize>() >= 60,
        "the cases moved: {cases:?}"
    );
}

/// Checks the cases of a folder and gives their number: each stands `depth` names deep, with its
/// words beside it, and as many errors as it tells, or one.
fn check(folder: &Path, depth: usize) -> usize {
    let files = files(folder);
    for path in &files {
        let at = path.display();
        for beside in ["rs", "stderr"] {
            let beside = path.with_extension(beside);
            assert!(files.contains(&beside), "{at} stands alone");
        }
        assert_eq!(path.components().count(), depth, "{at} is not run");
    }
    let is_case = |path: &&PathBuf| path.extension().is_some_and(|kind| kind == "rs");
    let cases = files.iter().filter(is_case);
    cases.inspect(|case| check_errors(case)).count()
}

/// Every mistake of a case is one error, and nothing follows from it. A case that is about more than
/// one says how many in its last line: `// 3 errors`, with a reason if one mistake has so many.
fn check_errors(case: &Path) {
    let read = |path: &Path| fs::read_to_string(path).expect("it was listed");
    let text = read(case);
    let last = text.lines().last().unwrap_or_default();
    let told = last.strip_prefix("// ");
    let told = told.and_then(|told| told.split_once(" errors")?.0.parse().ok());
    let words = read(&case.with_extension("stderr"));
    let is_error = |line: &&str| line.starts_with("error:") || line.starts_with("error[");
    let errors = words.lines().filter(is_error).count();
    assert_eq!(errors, told.unwrap_or(1), "{}", case.display());
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
