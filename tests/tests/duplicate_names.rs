//! Two tools of one name: rejected by the build within a crate, and by the registry across crates.
//!
//! Within a crate the name is an exported symbol, and code generation rejects the second. `cargo
//! check`
//! and trybuild stop before that, so this test writes and builds crates.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// A file of the workspace that is built.
type File = (&'static str, &'static str);

const WORKSPACE: File = (
    "Cargo.toml",
    r#"
[workspace]
members = ["one-crate", "first", "second", "both"]
resolver = "3"

[workspace.package]
edition = "2024"

[workspace.dependencies]
tool-core = { path = 'TOOL_CORE' }

[profile.dev]
debug = "line-tables-only"
"#,
);

const ONE_CRATE: [File; 3] = [
    (
        "one-crate/Cargo.toml",
        r#"
package = { name = "one-crate", version = "1.2.3", edition.workspace = true }
dependencies = { tool-core.workspace = true }
"#,
    ),
    (
        "one-crate/src/lib.rs",
        r"#![forbid(unsafe_code)]

pub mod other;

/// The first.
#[tool_core::tool]
pub fn forecast() {}
",
    ),
    (
        "one-crate/src/other.rs",
        r#"//! Another module, and another function.

/// The second.
#[tool_core::tool(name = "forecast")]
pub fn prediction() {}
"#,
    ),
];

const TWO_CRATES: [File; 6] = [
    (
        "first/Cargo.toml",
        r#"
package = { name = "first", version = "0.0.0", edition.workspace = true }
dependencies = { tool-core.workspace = true }
"#,
    ),
    (
        "first/src/lib.rs",
        r#"#![forbid(unsafe_code)]

/// The first.
#[tool_core::tool]
pub fn forecast() {}

pub mod one {
    /// A twin.
    #[tool_core::tool(unlinked)]
    pub fn twin() {}
}

pub mod other {
    /// The other twin.
    #[tool_core::tool(unlinked)]
    pub fn twin() {}
}

/// Here the macros are built with no more features of syn than they ask for.
#[tool_core::tool]
pub fn odd(number: &[u8; if true { 1 } else { 2 }]) -> [u8; if true { 1 } else { 2 }] {
    *number
}

/// Symbols have no hyphens, so this name could clash with the next.
#[tool_core::tool(name = "fore-cast")]
pub fn with_a_hyphen() {}

/// The name before this one, with an underscore.
#[tool_core::tool(name = "fore_cast")]
pub fn with_an_underscore() {}
"#,
    ),
    (
        "second/Cargo.toml",
        r#"
package = { name = "second", version = "0.0.0", edition.workspace = true }
dependencies = { tool-core.workspace = true }
"#,
    ),
    (
        "second/src/lib.rs",
        r"#![forbid(unsafe_code)]

/// The second.
#[tool_core::tool]
pub fn forecast() {}
",
    ),
    (
        "both/Cargo.toml",
        r#"
package = { name = "both", version = "0.0.0", edition.workspace = true }
dependencies = { tool-core.workspace = true, first.path = "../first", second.path = "../second" }
"#,
    ),
    (
        "both/src/main.rs",
        r#"
use first::{one, other};
use second as _;
use tool_core::{Registry, tools};

fn main() {
    println!("{}", Registry::linked().unwrap_err());
    let [one, other] = [tools![one::twin], tools![other::twin]]
        .map(|tools| Registry::builder().tools(tools).build().unwrap().len());
    println!("twin: {one} and {other}");
}
"#,
    ),
];

/// Returns the workspace, written on first use.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("duplicates");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let tool_core = root.join("tool-core");
    let tool_core = tool_core.to_str().expect("a path in Unicode");
    for (path, text) in [WORKSPACE].iter().chain(&ONE_CRATE).chain(&TWO_CRATES) {
        let path = folder.join(path);
        let text = text.replace("TOOL_CORE", tool_core);
        // Unchanged files are not written, so that they are not built again.
        if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
            fs::write(path, text).expect("a writable folder");
        }
    }
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).expect("the workspace's lock");
    folder
});

fn cargo(arguments: &[&str]) -> Output {
    // The target folder of these tests, so that dependencies are not built again.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("..");
    Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--offline", "--quiet", "--color=never"])
        .env("CARGO_TARGET_DIR", target)
        .current_dir(&*FOLDER)
        .output()
        .expect("cargo runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\\', "/")
}

#[test]
fn two_tools_of_one_name_in_a_crate_do_not_build() {
    let output = cargo(&["build", "--package", "one-crate"]);
    let words = text(&output.stderr);
    assert!(!output.status.success(), "{words}");
    for part in [
        // rustc's sentence around ours.
        "error: symbol `duplicate_tool_name_in_this_crate__",
        "__rename_one_with_tool_name__or_mark_one_unlinked__",
        "__crate_one_crate_1_2_3__tool_name__forecast` is already defined",
        // The second attribute is underlined.
        "--> one-crate/src/other.rs:4:1",
        "4 | #[tool_core::tool(name = \"forecast\")]\n  | ^^^^",
    ] {
        assert!(words.contains(part), "{part} is not in:\n{words}");
    }
    assert_eq!(
        words.matches("error:").count(),
        2,
        "rustc's and cargo's:\n{words}"
    );
}

#[test]
fn two_tools_of_one_name_in_two_crates_build_and_do_not_register() {
    let output = cargo(&["run", "--package", "both"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let words = text(&output.stdout);
    for part in [
        "2 tools are named `forecast`:\n",
        "  first/src/lib.rs:4 (crate first)\n",
        "  second/src/lib.rs:4 (crate second)\n",
        "`#[tool(name = \"…\")]`",
        "`#[tool(unlinked)]`",
        "`Registry::builder().tools(tools![…])`",
    ] {
        assert!(words.contains(part), "{part} is not in:\n{words}");
    }
    // Two unlinked tools of one name in one crate build and are not linked.
    assert!(!words.contains("`twin`"), "{words}");
    assert!(words.ends_with("twin: 1 and 1\n"), "{words}");
}
