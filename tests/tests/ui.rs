//! Compile errors of the macros.
//!
//! `ui/<kind of error>/<case>.rs` contains the cases with errors of the macros alone. The errors of
//! `ui-rustc/` are mostly rustc's and change with it, so these cases run with one toolchain.
//! Each `.stderr` file contains all errors of its case: one for each mistake, and none that follow
//! from it. `TRYBUILD=overwrite cargo test -p tests --test ui` rewrites them.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../support/rustc_version.rs"]
mod rustc_version;

#[test]
fn errors_are_as_expected() {
    // A case that compiles would turn off the batches of trybuild.
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui/*/*.rs");
    match rustc_version::other_words() {
        None => cases.compile_fail("ui-rustc/*/*.rs"),
        Some(reason) => println!("ui-rustc/ is skipped: {reason}"),
    }
}

#[test]
fn every_mistake_is_one_error() {
    // Those of `targets` need another build. Only their errors are counted here.
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

/// A type of another crate needs a feature, which no one finds by the name of the type.
#[test]
fn the_features_for_types_of_other_crates_are_named() {
    let manifest = include_str!("../../tool-core/Cargo.toml");
    let (_, types) = manifest
        .split_once("# Types of other crates")
        .expect("it is there");
    let (types, _) = types.split_once("[dependencies]").expect("it is there");
    let said = include_str!("../ui-rustc/types/without_anything.stderr");
    let features = types
        .lines()
        .filter_map(|line| line.split_once(" = [\"dep:"));
    let features = features.map(|(feature, _)| feature);
    let missing = features.filter(|feature| !said.contains(&format!("`{feature}`")));
    assert_eq!(missing.collect::<Vec<_>>(), [""; 0]);
}

/// Checks the cases of a folder, and returns their number. The path of each has `depth` parts, its
/// `.stderr` file exists, and the number of errors is right.
fn check(folder: &Path, depth: usize) -> usize {
    let files = files(folder);
    for path in &files {
        let at = path.display();
        for extension in ["rs", "stderr"] {
            let other = path.with_extension(extension);
            assert!(files.contains(&other), "{} is missing", other.display());
        }
        assert_eq!(path.components().count(), depth, "{at} is not run");
    }
    let is_case = |path: &&PathBuf| path.extension().is_some_and(|kind| kind == "rs");
    let cases = files.iter().filter(is_case);
    cases.inspect(|case| check_errors(case)).count()
}

/// Checks that a case has one error, or the number in its last line, such as `// 3 errors`.
fn check_errors(case: &Path) {
    let read = |path: &Path| fs::read_to_string(path).expect("it was listed");
    let text = read(case);
    let last = text.lines().last().unwrap_or_default();
    let expected = last.strip_prefix("// ");
    let expected = expected.and_then(|rest| rest.split_once(" errors")?.0.parse().ok());
    let messages = read(&case.with_extension("stderr"));
    let is_error = |line: &&str| line.starts_with("error:") || line.starts_with("error[");
    let errors = messages.lines().filter(is_error).count();
    assert_eq!(errors, expected.unwrap_or(1), "{}", case.display());
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
