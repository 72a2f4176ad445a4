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

/// The folders of the published packages.
pub const PUBLISHED: [&str; 10] = [
    "tool-core",
    "tool-macros",
    "tool-dialects",
    "tool-docs",
    "tool-agent",
    "tool-eval",
    "tool-files",
    "tool-mcp",
    "tool-python",
    "tool-cli",
];

/// Returns the name of the package in a folder.
pub fn package_in(folder: &str) -> &str {
    match folder {
        "tool-macros" => "tool-core-macros",
        folder => folder,
    }
}

/// Returns the name of the crate in a folder, as rustdoc names its pages.
pub fn crate_in(folder: &str) -> String {
    package_in(folder).replace('-', "_")
}

/// Returns the files below a folder, sorted. Leaves out links, and folders with what others wrote or built.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_foreign = ["target", "node_modules", ".git"]
            .iter()
            .any(|name| path.ends_with(name));
        if path.is_symlink() || is_foreign {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the Rust files of a library crate, without files of tests.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = files(&folder.join("src"));
    found.retain(|path| has_extension(path, "rs") && !path.ends_with("tests.rs"));
    found
}

/// Returns `true` for a file with this extension.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own == extension)
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
