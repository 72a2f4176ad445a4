//! What `Registry::linked()` finds, in programs that this test writes, builds and runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tests::root;

mod copies;
mod duplicate_names;
mod shared_objects;

/// A file of a workspace, with `TOOL_CORE` for the folder of the crate.
type File<'t> = (&'static str, &'t str);

/// A workspace that is built in the target folder of these tests, so that dependencies are not built again.
struct Workspace {
    folder: PathBuf,
}

impl Workspace {
    /// Writes a workspace.
    fn new(name: &str, files: &[&[File<'_>]]) -> Workspace {
        let workspace = Workspace {
            folder: Path::new(env!("CARGO_TARGET_TMPDIR")).join(name),
        };
        for (path, text) in files.iter().copied().flatten() {
            workspace.write(
                path,
                &text.replace("TOOL_CORE", &slashes(&root().join("tool-core"))),
            );
        }
        let lock = fs::read_to_string(root().join("Cargo.lock")).expect("the workspace's lock");
        workspace.write("Cargo.lock", &lock);
        workspace
    }

    /// Writes a file, unless it has this text, so that it is not built again.
    fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return;
        }
        fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
        fs::write(path, text).expect("a writable folder");
    }

    fn cargo(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("cargo runs")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO"));
        command
            .args(arguments)
            .args(["--offline", "--quiet", "--color=never"])
            .env("CARGO_TARGET_DIR", target())
            .current_dir(&self.folder);
        command
    }

    /// Runs a package. Returns what it prints.
    fn run(&self, package: &str) -> String {
        let output = self.cargo(&["run", "--package", package]);
        assert!(
            output.status.success(),
            "{package}: {}",
            text(&output.stderr)
        );
        text(&output.stdout)
    }
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("..")
}

fn slashes(path: &Path) -> String {
    path.to_str().expect("a path in Unicode").replace('\\', "/")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\\', "/")
}

#[track_caller]
fn assert_parts(words: &str, parts: &[&str]) {
    for part in parts {
        assert!(words.contains(part), "{part} is not in:\n{words}");
    }
}

/// Returns `true` if what takes minutes is tested, too.
fn is_long() -> bool {
    let is_long = std::env::var_os("TOOL_CORE_LONG").is_some();
    if !is_long {
        println!("skipped: set TOOL_CORE_LONG=1");
    }
    is_long
}
