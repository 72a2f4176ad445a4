//! The `cargo add` lines that readers paste, and the dependencies: each package and each feature exists.
//!
//! Features of other packages are read from the sources that the lock files name, without the network. Where a source is not
//! on this machine, the test says so; `.ci/run locks` downloads it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{files, root};

/// A `cargo add` line, or a dependency as such a line.
struct Line {
    place: String,
    words: Vec<String>,
}

/// Returns a line of a manifest, in a document or a comment, as the words after `cargo add`.
fn dependency(line: &str) -> Option<Vec<String>> {
    let (name, rest) = line.split_once(" = { version = \"")?;
    let name = name.trim_start_matches(['/', '!', ' ']);
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let (_, list) = rest.split_once("features = [")?;
    let list = list.split(']').next()?.replace(['"', ' '], "");
    name.chars()
        .all(is_name)
        .then(|| vec![name.to_owned(), "--features".into(), list])
}

/// Returns every `cargo add` line of documents, code, comments and manifests.
fn lines() -> Vec<Line> {
    let is_text = |path: &Path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|name| ["html", "md", "rs", "toml", "txt"].contains(&name))
            && !path.ends_with(file!())
    };
    let mut paths = files(root());
    paths.retain(|path| is_text(path));
    let mut lines = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let shown = path.strip_prefix(root()).unwrap().display().to_string();
        for (at, line) in text.lines().enumerate() {
            let place = format!("{shown}:{}", at + 1);
            if let Some(words) = dependency(line).filter(|_| !path.ends_with("Cargo.toml")) {
                lines.push(Line {
                    place: place.clone(),
                    words,
                });
            }
            for command in line.split("cargo add ").skip(1) {
                let end = command.find(['`', '"', '#', ';', '&', '|', '<', '\\']);
                let words = command[..end.unwrap_or(command.len())].split_whitespace();
                if words.clone().next().is_none() {
                    continue;
                }
                lines.push(Line {
                    place: place.clone(),
                    words: words.map(str::to_owned).collect(),
                });
            }
        }
    }
    lines
}

/// What a line adds.
#[derive(Default)]
struct Added {
    /// Names, as in `rig@0.44`, and folders.
    packages: Vec<String>,
    features: Vec<String>,
}

impl Added {
    fn read(words: &[String]) -> Result<Added, String> {
        let mut added = Added::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (flag, value) = match word.split_once('=') {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let mut value = || value.clone().or_else(|| words.next().cloned());
            match flag {
                "--features" | "-F" => {
                    let list = value().ok_or("`--features` has no value")?;
                    added.features.extend(list.split(',').map(str::to_owned));
                }
                "--path" => {
                    let folder = value().ok_or("`--path` has no value")?;
                    let name = folder.rsplit('/').next().unwrap_or_default();
                    added.packages.push(name.to_owned());
                }
                "--no-default-features" | "--dev" | "--build" | "--optional" => {}
                _ if flag.starts_with('-') => return Err(format!("unknown flag {flag}")),
                _ => added.packages.push(word.clone()),
            }
        }
        if added.packages.is_empty() {
            return Err("no package".into());
        }
        Ok(added)
    }
}

/// The features of a version of a package. `None` if its source is not on this machine.
type Features = Option<BTreeSet<String>>;

/// The packages of the repository and of its lock files: their versions, with features.
#[derive(Default)]
struct Packages(BTreeMap<String, BTreeMap<String, Features>>);

impl Packages {
    fn read() -> Packages {
        let mut packages = Packages::default();
        let locks = files(root()).into_iter();
        for lock in locks.filter(|path| path.ends_with("Cargo.lock")) {
            let manifest = lock.with_extension("toml");
            packages.add_metadata(&manifest, &["--no-deps"]);
            packages.add_locked(&fs::read_to_string(&lock).unwrap());
            packages.add_metadata(&manifest, &["--locked"]);
        }
        packages
    }

    fn add(&mut self, name: &str, version: &str, features: Features) {
        let versions = self.0.entry(name.to_owned()).or_default();
        let known = versions.entry(version.to_owned()).or_default();
        if features.is_some() {
            *known = features;
        }
    }

    fn add_locked(&mut self, lock: &str) {
        for package in lock.split("[[package]]").skip(1) {
            let value = |key: &str| {
                let line = package.lines().find_map(|line| line.strip_prefix(key));
                line.unwrap().trim_matches([' ', '=', '"'])
            };
            self.add(value("name"), value("version"), None);
        }
    }

    /// Adds what cargo reads from manifests on this machine.
    fn add_metadata(&mut self, manifest: &Path, arguments: &[&str]) {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--offline", "--format-version=1"])
            .args(arguments)
            .arg("--manifest-path")
            .arg(manifest)
            .output()
            .unwrap();
        if !output.status.success() {
            return;
        }
        let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
        for package in metadata["packages"].as_array().unwrap() {
            let features = package["features"].as_object().unwrap().keys().cloned();
            let (name, version) = (&package["name"], &package["version"]);
            self.add(
                name.as_str().unwrap(),
                version.as_str().unwrap(),
                Some(features.collect()),
            );
        }
    }

    /// Returns what is wrong with a package of a line, or with a feature.
    fn problem(&self, package: &str, feature: Option<&str>) -> Option<String> {
        let (name, wanted) = package.split_once('@').unwrap_or((package, ""));
        let Some(versions) = self.0.get(name) else {
            return Some(format!("{name} is in no lock file"));
        };
        let fits = |version: &str| {
            let rest = version.strip_prefix(wanted);
            wanted.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let mut fitting = versions.iter().filter(|(version, _)| fits(version));
        if fitting.clone().next().is_none() {
            return Some(format!("no lock file has {package}"));
        }
        let feature = feature?;
        fitting.find_map(|(version, features)| {
            let Some(features) = features else {
                println!(
                    "skipped: feature {feature} of {name} {version}: no source on this machine"
                );
                return None;
            };
            let is_known = features.contains(feature);
            (!is_known).then(|| format!("{name} {version} has no feature {feature}"))
        })
    }
}

/// Returns everything that is wrong with a line.
fn problems(words: &[String], packages: &Packages) -> Vec<String> {
    let added = match Added::read(words) {
        Ok(added) => added,
        Err(problem) => return vec![problem],
    };
    let unknown = added
        .packages
        .iter()
        .filter_map(|package| packages.problem(package, None));
    let mut problems: Vec<_> = unknown.collect();
    for feature in &added.features {
        // With several packages, cargo asks for `package/feature`.
        let (name, feature) = match (feature.split_once('/'), &*added.packages) {
            (Some((name, feature)), _) => (name, feature),
            (None, [one]) => (one.split('@').next().unwrap(), &**feature),
            (None, _) => {
                problems.push(format!("of which package is feature {feature}?"));
                continue;
            }
        };
        let is_of = |package: &&String| package.split('@').next() == Some(name);
        match added.packages.iter().find(is_of) {
            Some(package) => problems.extend(packages.problem(package, Some(feature))),
            None => problems.push(format!("{name}/{feature}: the line does not add {name}")),
        }
    }
    problems
}

#[test]
fn cargo_add_lines_name_packages_and_features_that_exist() {
    let packages = Packages::read();
    let lines = lines();
    assert!(lines.len() > 30, "only {} lines were found", lines.len());
    let problems: BTreeSet<_> = lines
        .iter()
        .flat_map(|line| {
            let problems = problems(&line.words, &packages).into_iter();
            problems.map(|problem| format!("{}: {problem}", line.place))
        })
        .collect();
    let problems: Vec<_> = problems.into_iter().collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
