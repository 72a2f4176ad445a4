//! Whether this toolchain has the words of rustc that stand beside the cases of some packages.

use std::path::Path;
use std::process::Command;

/// The toolchain whose words stand beside cases where rustc has a say.
const PINNED: &str = "rustc 1.95.";

/// Why rustc may have other words than those beside the cases.
pub(crate) fn other_words() -> Option<String> {
    let version = rustc(&["--version"]);
    if !version.starts_with(PINNED) {
        return Some(format!(
            "the words are those of {PINNED}, and this is {version}"
        ));
    }
    // With its sources at hand, rustc quotes them.
    let sources = Path::new(&rustc(&["--print", "sysroot"])).join("lib/rustlib/src/rust");
    let has_sources = sources.exists();
    has_sources.then(|| "the component rust-src is installed".to_owned())
}

fn rustc(arguments: &[&str]) -> String {
    let output = Command::new("rustc").args(arguments).output();
    let output = output.expect("rustc is there, since this was compiled");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
