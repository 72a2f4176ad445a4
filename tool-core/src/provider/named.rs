//! [`NamedDialect`]: a dialect with its names, for lists to choose from.

use std::fmt;

use crate::provider::wire::Dialect;

/// A dialect with its names, for a program whose user chooses a provider. [`all`](crate::dialect::all) lists them, and
/// [`find`](crate::dialect::find) finds one.
///
/// ```
/// use tool_core::dialect;
///
/// for known in dialect::all().filter(|known| known.is_strict) {
///     println!("{}: {}", known.name, known.title);
/// }
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct NamedDialect {
    /// The name on command lines and in files, such as `openai-chat`. A strict dialect has the same name as
    /// the dialect that is not strict.
    pub name: &'static str,
    /// The name in texts for people, such as `OpenAI Chat, strict`.
    pub title: &'static str,
    /// `true` if the provider is asked to make calls follow the schema, where a dialect has the choice.
    pub is_strict: bool,
    /// The dialect with its default settings.
    pub dialect: &'static dyn Dialect,
}

impl fmt::Debug for NamedDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedDialect")
            .field("name", &self.name)
            .field("title", &self.title)
            .field("is_strict", &self.is_strict)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use crate::Registry;
    use crate::dialect::{all, find};

    /// The other promise, that each dialect is there, is kept by the compiler: `dialect` lists the dialects by their types.
    #[test]
    fn each_dialect_is_found_by_its_name() {
        let (mut names, mut titles) = (BTreeSet::new(), BTreeSet::new());
        for known in all() {
            assert!(names.insert((known.name, known.is_strict)), "{known:?}");
            assert!(titles.insert(known.title), "{known:?}");
            let found = find(known.name, known.is_strict).unwrap();
            assert_eq!(found.title, known.title);
            // A strict dialect is one of two.
            assert!(find(known.name, false).is_some(), "{known:?}");
            assert_eq!(known.title.ends_with(", strict"), known.is_strict);
            let rendered = Registry::new().render(known.dialect);
            let written: Result<Value, _> = serde_json::from_str(rendered.as_str());
            assert!(written.is_ok(), "{known:?}");
        }
        assert!(find("openai", false).is_none());
        assert!(find("gemini", true).is_none());
    }

    #[test]
    fn every_dialect_of_the_crate_is_listed() {
        /// Returns the files in a folder, at every depth.
        fn files(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    files(&path, found);
                } else {
                    found.push(path);
                }
            }
        }
        let mut paths = Vec::new();
        files(
            std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/provider")),
            &mut paths,
        );
        let code = paths
            .iter()
            .map(|path| std::fs::read_to_string(path).unwrap());
        let written = code.map(|code| code.matches("\nimpl Dialect for ").count());
        let listed = all().filter(|known| !known.is_strict);
        assert_eq!(written.sum::<usize>(), listed.count());
    }
}
