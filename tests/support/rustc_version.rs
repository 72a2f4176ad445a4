//! Checks that this toolchain words its errors as the committed UI files do.

use std::path::Path;
use std::process::Command;

/// The toolchain that the committed UI files of rustc's errors were written with.
const PINNED: &str = "rustc 1.95.";

/// Returns the reason why rustc may word its errors differently; `None` if it does not.
pub(crate) fn other_words() -> Option<String> {
    let version = rustc(&["--version"]);
    if !version.starts_with(PINNED) {
        return Some(format!(
            "the words are those of {PINNED}, and this is {version}"
        ));
    }
    // If its sources are installed, rustc quotes them.
    let sources = Path::new(&rustc(&["--print", "sysroot"])).join("lib/rustlib/src/rust");
    let has_sources = sources.exists();
    has_sources.then(|| "the component rust-src is installed".to_owned())
}

fn rustc(arguments: &[&str]) -> String {
    let output = Command::new("rustc").args(arguments).output();
    let output = output.expect("rustc runs");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
