//! Random operations on a folder, compared with a model in memory.

mod support;

use std::collections::BTreeMap;

use proptest::prelude::*;
use support::Place;
use tool_files::{FileErrorKind, Folder};

#[derive(Debug, Clone)]
enum Step {
    Write(String, String),
    Create(String, String),
    Append(String, String),
    Folder(String),
    Remove(String),
    Rename(String, String),
}

/// The folder as documented: files have a text, folders have none.
#[derive(Debug, Default)]
struct Model(BTreeMap<String, Option<String>>);

/// The size limit of files.
const BYTES: usize = 12;

impl Model {
    fn parents(path: &str) -> impl Iterator<Item = &str> {
        path.match_indices('/').map(|(end, _)| &path[..end])
    }

    /// Returns `true` if a parent in the path is a file.
    fn is_blocked(&self, path: &str) -> bool {
        Self::parents(path).any(|parent| matches!(self.0.get(parent), Some(Some(_))))
    }

    fn create_parents(&mut self, path: &str) {
        for parent in Self::parents(path) {
            self.0.entry(parent.to_owned()).or_insert(None);
        }
    }

    fn is_below(path: &str, folder: &str) -> bool {
        path.strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
    }

    /// Makes a step. Returns `false` if it fails.
    fn step(&mut self, step: &Step) -> bool {
        match step {
            Step::Write(path, text) | Step::Create(path, text) | Step::Append(path, text) => {
                if self.is_blocked(path) {
                    return false;
                }
                // Parents are created before the rest fails.
                self.create_parents(path);
                let old = self.0.get(path);
                let new = match (step, old) {
                    (_, Some(None)) | (Step::Create(..), Some(_)) => return false,
                    (Step::Append(..), Some(Some(old))) => format!("{old}{text}"),
                    _ => text.clone(),
                };
                if new.len() > BYTES {
                    return false;
                }
                self.0.insert(path.clone(), Some(new));
            }
            Step::Folder(path) => {
                if self.is_blocked(path) {
                    return false;
                }
                self.create_parents(path);
                if self.0.contains_key(path) {
                    return false;
                }
                self.0.insert(path.clone(), None);
            }
            Step::Remove(path) => {
                if self.0.remove(path).is_none() {
                    return false;
                }
                self.0.retain(|other, _| !Self::is_below(other, path));
            }
            Step::Rename(from, to) => {
                if !self.0.contains_key(from) || Self::is_below(to, from) && self.0[from].is_none()
                {
                    return false;
                }
                if self.is_blocked(to) {
                    return false;
                }
                self.create_parents(to);
                if self.0.contains_key(to) {
                    return false;
                }
                let moved: Vec<_> = self
                    .0
                    .keys()
                    .filter(|path| *path == from || Self::is_below(path, from))
                    .cloned()
                    .collect();
                for path in moved {
                    let value = self.0.remove(&path).unwrap();
                    self.0.insert(format!("{to}{}", &path[from.len()..]), value);
                }
            }
        }
        true
    }
}

fn apply(folder: &Folder, step: &Step) -> bool {
    match step {
        Step::Write(path, text) => folder.write(path, text).is_ok(),
        Step::Create(path, text) => folder.create(path, text).is_ok(),
        Step::Append(path, text) => folder.append(path, text).is_ok(),
        Step::Folder(path) => folder.create_folder(path).is_ok(),
        Step::Remove(path) => folder.remove(path).is_ok(),
        Step::Rename(from, to) => folder.rename(from, to).is_ok(),
    }
}

fn paths() -> impl Strategy<Value = String> {
    prop::collection::vec("[abc]", 1..4).prop_map(|names| names.join("/"))
}

fn steps() -> impl Strategy<Value = Step> {
    let text = || "[xy\r\nö]{0,8}";
    prop_oneof![
        (paths(), text()).prop_map(|(path, text)| Step::Write(path, text)),
        (paths(), text()).prop_map(|(path, text)| Step::Create(path, text)),
        (paths(), text()).prop_map(|(path, text)| Step::Append(path, text)),
        paths().prop_map(Step::Folder),
        paths().prop_map(Step::Remove),
        (paths(), paths()).prop_map(|(from, to)| Step::Rename(from, to)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_folder_does_what_a_model_in_memory_does(steps in prop::collection::vec(steps(), 1..40)) {
        let place = Place::new();
        let folder = place.folder().max_file_bytes(BYTES as u64);
        let mut model = Model::default();
        for step in steps {
            let before = format!("{model:?}");
            prop_assert_eq!(apply(&folder, &step), model.step(&step), "{:?} in {}", step, before);
            let listing = folder.list("", 10).unwrap();
            prop_assert!(listing.is_complete && listing.unusable == 0);
            let listed: BTreeMap<_, _> = listing
                .entries
                .into_iter()
                .map(|entry| {
                    let text = (!entry.is_folder).then(|| folder.read(&entry.path).unwrap());
                    assert!(text.as_ref().is_none_or(|text| text.len() as u64 == entry.bytes));
                    (entry.path, text)
                })
                .collect();
            prop_assert_eq!(&listed, &model.0, "after {:?} in {}", step, before);
        }
        place.assert_secret();
    }

    /// Whatever path a model writes, nothing outside of the folder changes.
    #[test]
    fn no_path_leaves_the_folder(path in "(/|\\.|\\.\\.|[a-c]|\\\\|:|~1|\u{200b}|\0|con|secret.md| ){1,6}", text in "[a-z]{0,4}") {
        let place = Place::new();
        let folder = place.folder().hidden(true);
        let created = folder.create(&path, &text);
        let _ = folder.append(&path, &text);
        let _ = folder.rename(&path, "moved");
        let _ = folder.remove(&path);
        let _ = folder.remove("moved");
        if created.is_ok() {
            prop_assert!(!path.contains(['\\', ':', '\0']) && !path.split('/').any(|name| matches!(name, "" | "." | "..")));
        } else {
            prop_assert!(created.unwrap_err().kind() != FileErrorKind::Io);
        }
        prop_assert_eq!(std::fs::read_dir(place.outside("")).unwrap().count(), 2);
        place.assert_secret();
    }
}
