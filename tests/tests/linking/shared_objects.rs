//! Tools in optimised programs, in shared libraries, and in a static library that a C linker links.

use std::process::Command;

use super::{File, Workspace, is_long, target, text};

const FILES: [File<'static>; 8] = [
    (
        "Cargo.toml",
        r#"
[workspace]
members = ["tools", "shapes", "loader"]
resolver = "3"

[workspace.package]
edition = "2024"

[workspace.dependencies]
tool-core = { path = 'TOOL_CORE' }
"#,
    ),
    (
        "tools/Cargo.toml",
        r#"
package = { name = "tools-of-shapes", version = "0.0.0", edition.workspace = true }
dependencies = { tool-core.workspace = true }
"#,
    ),
    (
        "tools/src/lib.rs",
        r"#![forbid(unsafe_code)]

pub mod inner {
    /// The first.
    #[tool_core::tool]
    pub fn first() {}

    pub mod most {
        /// The second.
        #[tool_core::tool]
        async fn second() {}
    }
}

/// The third.
#[tool_core::tool]
fn third(values: Vec<f64>) -> f64 {
    values.iter().sum()
}
",
    ),
    (
        "shapes/Cargo.toml",
        r#"
package = { name = "shapes", version = "0.0.0", edition.workspace = true }
dependencies = { tool-core.workspace = true, tools-of-shapes.path = "../tools" }
lib = { crate-type = ["cdylib", "staticlib", "rlib"] }
"#,
    ),
    (
        "shapes/src/lib.rs",
        r"
use tools_of_shapes as _;

mod inner {
    /// The fourth.
    #[tool_core::tool]
    fn fourth() {}
}

/// Counts the tools.
#[unsafe(no_mangle)]
pub extern fn count_tools() -> i32 {
    let names = [`first`, `second`, `third`, `fourth`];
    let tools = tool_core::Registry::linked().and_then(|tools| Ok(tools.expect(names)));
    match tools {
        Ok(Ok(tools)) => tools.len() as i32,
        problem => {
            println!(`{problem:?}`);
            -1
        }
    }
}
",
    ),
    (
        "loader/Cargo.toml",
        r#"
package = { name = "loader", version = "0.0.0", edition.workspace = true }
dependencies = { shapes.path = "../shapes", tool-core.workspace = true }
"#,
    ),
    (
        "loader/src/main.rs",
        r"
use std::ffi::{CString, c_char, c_int, c_void};

/// The fifth.
#[tool_core::tool]
fn fifth() {}

unsafe extern `C` {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

fn main() {
    let Some(path) = std::env::args().nth(1) else {
        println!(`{} of a program`, shapes::count_tools());
        return;
    };
    let path = CString::new(path).unwrap();
    let library = unsafe { dlopen(path.as_ptr(), 2) };
    let count = unsafe { dlsym(library, c`count_tools`.as_ptr()) };
    assert!(!count.is_null());
    let count: extern fn() -> i32 = unsafe { std::mem::transmute(count) };
    let own = tool_core::Registry::linked().unwrap().len();
    println!(`{} of a library, {own} of its program`, count());
}
",
    ),
    (
        "main.c",
        r#"
#include <stdio.h>

int count_tools(void);

int main(void) {
    printf("%d of a static library\n", count_tools());
    return 0;
}
"#,
    ),
];

fn workspace() -> Workspace {
    let files = FILES.map(|(path, text)| (path, text.replace('`', "\"")));
    let files: Vec<File<'_>> = files.iter().map(|(path, text)| (*path, &**text)).collect();
    Workspace::new("shared-objects", &[&files])
}

#[test]
fn optimised_programs_find_every_tool() {
    if !is_long() {
        return;
    }
    let workspace = workspace();
    for (lto, units, level) in [
        ("off", "16", "3"),
        ("false", "256", "0"),
        ("thin", "16", "3"),
        ("fat", "1", "z"),
    ] {
        let output = workspace
            .command(&["run", "--release", "--package", "loader"])
            .env("CARGO_PROFILE_RELEASE_LTO", lto)
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", units)
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", level)
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(
            text(&output.stdout),
            "5 of a program\n",
            "{lto} {units} {level}"
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn libraries_find_their_own_tools_and_export_nothing_for_them() {
    if !is_long() {
        return;
    }
    let workspace = workspace();
    let output = workspace.cargo(&[
        "build",
        "--release",
        "--package",
        "shapes",
        "--package",
        "loader",
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let release = target().join("release");
    let library = release.join("libshapes.so");
    let output = Command::new(release.join("loader")).arg(&library).output();
    let output = output.expect("the loader runs");
    assert_eq!(
        text(&output.stdout),
        "4 of a library, 5 of its program\n",
        "{}",
        text(&output.stderr)
    );
    let library = std::fs::read(library).expect("a library");
    let name = b"duplicate_tool_name";
    assert!(!library.windows(name.len()).any(|bytes| bytes == name));

    // A C linker takes the objects of an archive to which something refers, unless it is to take all.
    let program = release.join("counts-tools-of-shapes");
    let linked = Command::new("cc")
        .arg(workspace.folder.join("main.c"))
        .arg("-Wl,--whole-archive")
        .arg(release.join("libshapes.a"))
        .args(["-Wl,--no-whole-archive", "-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .output()
        .expect("a C compiler");
    assert!(linked.status.success(), "{}", text(&linked.stderr));
    let output = Command::new(program).output().expect("the program runs");
    assert_eq!(text(&output.stdout), "4 of a static library\n");
}
