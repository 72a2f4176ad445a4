//! Two tools of one name: rejected by the build within a crate, and by the registry across crates.
//!
//! Within a crate the name is an exported symbol, and code generation rejects the second. `cargo
//! check`
//! and trybuild stop before that, so this test writes and builds crates.

use std::sync::LazyLock;

use super::{File, Workspace, assert_parts, text};

const WORKSPACE: File<'static> = (
    "Cargo.toml",
    r#"
[workspace]
members = ["one-crate", "first", "second", "both", "x1", "x2", "same"]
resolver = "3"

[workspace.package]
edition = "2024"

[workspace.dependencies]
tool-core = { path = 'TOOL_CORE' }

[profile.dev]
debug = "line-tables-only"
"#,
);

const ONE_CRATE: [File<'static>; 3] = [
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

const TWO_CRATES: [File<'static>; 6] = [
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

/// Two packages whose libraries have one name and version, and a program with the name of its library.
const SAME_LIBRARY: [File<'static>; 7] = [
    ("x1/Cargo.toml", X1),
    ("x1/src/lib.rs", ROLL),
    ("x2/Cargo.toml", X2),
    ("x2/src/lib.rs", ROLL),
    (
        "same/Cargo.toml",
        r#"
package = { name = "same", version = "0.0.0", edition.workspace = true }

[dependencies]
tool-core.workspace = true
x1.path = "../x1"
other = { package = "x2", path = "../x2" }
"#,
    ),
    ("same/src/lib.rs", ROLL),
    (
        "same/src/main.rs",
        r#"
use tool_core::Registry;

/// Rolls a die.
#[tool_core::tool]
pub fn roll() -> u8 {
    4
}

fn main() {
    println!("{} {} {} {}", roll(), same::roll(), tools::roll(), other::roll());
    println!("{}", Registry::linked().unwrap_err());
}
"#,
    ),
];

const X1: &str = r#"
package = { name = "x1", version = "0.0.0", edition.workspace = true }
lib = { name = "tools" }
dependencies = { tool-core.workspace = true }
"#;

const X2: &str = r#"
package = { name = "x2", version = "0.0.0", edition.workspace = true }
lib = { name = "tools" }
dependencies = { tool-core.workspace = true }
"#;

const ROLL: &str = r"
/// Rolls a die.
#[tool_core::tool]
pub fn roll() -> u8 {
    4
}
";

/// The workspace, written on first use.
static WRITTEN: LazyLock<Workspace> = LazyLock::new(|| {
    Workspace::new(
        "duplicates",
        &[&[WORKSPACE], &ONE_CRATE, &TWO_CRATES, &SAME_LIBRARY],
    )
});

#[test]
fn two_tools_of_one_name_in_a_crate_do_not_build() {
    let output = WRITTEN.cargo(&["build", "--package", "one-crate"]);
    let words = text(&output.stderr);
    assert!(!output.status.success(), "{words}");
    let parts = [
        // rustc's sentence around ours.
        "error: symbol `duplicate_tool_name_in_this_crate__",
        "__rename_one_with_tool_name__or_mark_one_unlinked__",
        "__tool_name__forecast__crate_one_crate__package_one_crate_1_2_3_",
        "` is already defined",
        // The second attribute is underlined.
        "--> one-crate/src/other.rs:4:1",
        "4 | #[tool_core::tool(name = \"forecast\")]\n  | ^^^^",
    ];
    assert_parts(&words, &parts);
    assert_eq!(
        words.matches("error:").count(),
        2,
        "rustc's and cargo's:\n{words}"
    );
}

#[test]
fn two_tools_of_one_name_in_two_crates_build_and_do_not_register() {
    let words = WRITTEN.run("both");
    let parts = [
        "2 tools are named `forecast`:\n",
        "  first/src/lib.rs:4 (crate first)\n",
        "  second/src/lib.rs:4 (crate second)\n",
        "`#[tool(name = \"…\")]`",
        "`#[tool(unlinked)]`",
        "`Registry::builder().tools(tools![…])`",
    ];
    assert_parts(&words, &parts);
    // Two unlinked tools of one name in one crate build and are not linked.
    assert!(!words.contains("`twin`"), "{words}");
    assert!(words.ends_with("twin: 1 and 1\n"), "{words}");
}

#[test]
fn tools_of_libraries_and_programs_of_one_name_are_all_found() {
    let words = WRITTEN.run("same");
    let parts = [
        "4 4 4 4\n4 tools are named `roll`:\n",
        "  same/src/lib.rs:3 (crate same)\n",
        "  same/src/main.rs:5 (crate same)\n",
        "  x1/src/lib.rs:3 (crate tools)\n",
        "  x2/src/lib.rs:3 (crate tools)\n",
    ];
    assert_parts(&words, &parts);
}
