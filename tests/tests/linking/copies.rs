//! Two copies of tool-core in one program, whose tools have different forms.

use std::fs;
use std::path::Path;

use super::{File, Workspace, assert_parts, is_long, root, text};

const PROGRAM: [File<'static>; 6] = [
    (
        "Cargo.toml",
        r#"
[workspace]
members = ["other", "program"]
resolver = "3"

[workspace.package]
edition = "2024"

[profile.dev]
debug = "line-tables-only"
"#,
    ),
    (
        "other/Cargo.toml",
        r#"
package = { name = "other", version = "0.0.0", edition.workspace = true }
dependencies = { tool-core.path = "../../copy-of-tool-core/tool-core" }
"#,
    ),
    (
        "other/src/lib.rs",
        r"#![forbid(unsafe_code)]

/// The first.
#[tool_core::tool]
pub fn first() {}

pub mod inner {
    /// The second.
    #[tool_core::tool]
    pub fn second() {}
}

pub fn problem() -> String {
    tool_core::Registry::linked().unwrap_err().to_string()
}

pub fn listed() -> usize {
    let tools = tool_core::tools![first, inner::second];
    tool_core::Registry::builder().tools(tools).build().unwrap().len()
}
",
    ),
    (
        "program/Cargo.toml",
        r#"
package = { name = "program", version = "0.0.0", edition.workspace = true }
dependencies = { tool-core.path = 'TOOL_CORE', other.path = "../other" }
lib = { path = "src/lib.rs", crate-type = ["cdylib", "rlib"] }
"#,
    ),
    (
        "program/src/lib.rs",
        r#"
use other as _;

/// Counts the tools.
#[unsafe(no_mangle)]
pub extern "C" fn count() -> usize {
    tool_core::Registry::linked().map_or(0, |tools| tools.len())
}
"#,
    ),
    (
        "program/src/main.rs",
        r#"
use tool_core::{Registry, tool, tools};

/// The third.
#[tool]
fn third() {}

fn main() {
    println!("program: {}", Registry::linked().unwrap_err());
    println!("other: {}", other::problem());
    let own = Registry::builder().tools(tools![third]).build().unwrap().len();
    println!("listed: {own} and {}", other::listed());
}
"#,
    ),
];

/// Copies a folder of the workspace into another.
fn copy(from: &Path, to: &Workspace, path: &str) {
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let name = entry.file_name();
        let path = format!("{path}/{}", name.to_str().expect("a name in Unicode"));
        let from = entry.path();
        if from.is_dir() {
            copy(&from, to, &path);
        } else if let Ok(text) = fs::read_to_string(&from) {
            to.write(&path, &changed(&path, &text));
        }
    }
}

/// Adds a field to what a linked tool refers to, and makes a version of its own, which lock files need.
fn changed(path: &str, text: &str) -> String {
    match path {
        "tool-core/src/tool.rs" => {
            let text = replaced(
                text,
                "pub struct StaticTool {",
                "pub struct StaticTool { pub more: &'static str,",
            );
            replaced(&text, "= &StaticTool {", "= &StaticTool { more: \"\",")
        }
        _ if path.ends_with("/Cargo.toml") => text.replace("0.1.0", "0.1.1"),
        _ => text.to_owned(),
    }
}

#[track_caller]
fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replace(from, to)
}

fn workspace() -> Workspace {
    let copied = Workspace::new("copy-of-tool-core", &[]);
    for package in ["tool-core", "tool-macros"] {
        copy(&root().join(package), &copied, package);
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace's manifest");
    let (before, members) = manifest.split_once("members = [").expect("members");
    let (_, behind) = members.split_once(']').expect("members");
    let manifest = format!("{before}members = [\"tool-core\", \"tool-macros\"]{behind}");
    copied.write("Cargo.toml", &manifest.replace("0.1.0", "0.1.1"));
    Workspace::new("two-copies", &[&PROGRAM])
}

#[test]
fn two_copies_of_tool_core_in_a_program_are_an_error_of_each() {
    let words = workspace().run("program");
    assert_parts(
        &words,
        &[
            "program: these crates define tools with another copy of tool-core",
            "this one: other; `cargo tree -d`",
            "other: these crates define tools with another copy of tool-core",
            "this one: program; `cargo tree -d`",
            "listed: 1 and 2\n",
        ],
    );
}

#[test]
fn two_copies_of_tool_core_in_a_module_of_webassembly_do_not_link() {
    if !is_long() {
        return;
    }
    let output = workspace().cargo(&[
        "build",
        "--package",
        "program",
        "--lib",
        "--target",
        "wasm32-unknown-unknown",
    ]);
    let words = text(&output.stderr);
    if words.contains("target may not be installed") {
        println!("skipped: the target wasm32-unknown-unknown is not installed");
        return;
    }
    assert!(!output.status.success(), "{words}");
    assert_parts(
        &words,
        &["two_copies_of_tool_core_0_1_are_in_this_module__cargo_tree_d_shows_them"],
    );
}
