//! Tests are in `tests/`. The examples of documents that belong to no published package are doc tests of this one.

use std::path::{Path, PathBuf};
use std::{fs, iter};

/// Returns the folder of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Returns the folders of the library crates.
pub fn library_folders() -> Vec<PathBuf> {
    let siblings = fs::read_dir(root().join("crates")).unwrap();
    let mut folders: Vec<_> = siblings.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    iter::once("tool-core")
        .chain(["tool-macros"])
        .map(|name| root().join(name))
        .chain(folders)
        .collect()
}

/// Returns the folder of a library crate.
pub fn folder_of(name: &str) -> PathBuf {
    let mut folders = library_folders().into_iter();
    folders
        .find(|folder| folder.ends_with(name))
        .unwrap_or_else(|| panic!("no crate {name}"))
}

#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../tool-macros/README.md")]
    mod macros {}

    #[doc = include_str!("../../tool-macros/src/examples/tool.md")]
    mod tool {}

    #[doc = include_str!("../../tool-macros/src/examples/toolset.md")]
    mod toolset {}

    #[doc = include_str!("../../tool-macros/src/examples/tool_type.md")]
    mod tool_type {}

    #[doc = include_str!("../../llms.txt")]
    mod llms {}

    #[doc = include_str!("../../.agents/skills/writing-tools/SKILL.md")]
    mod writing_tools {}

    #[doc = include_str!("../../examples/cookbook/FROM-OTHER-LANGUAGES.md")]
    mod other_languages {}
}
