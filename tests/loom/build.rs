//! Copies the source of `CancellationToken` and replaces the locks and atomics of the standard
//! library with loom's, so that the shipped source is what is checked.

use std::path::Path;
use std::{env, fs};

const SOURCE: &str = "../../tool-core/src/call/cancellation.rs";

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    let source = fs::read_to_string(SOURCE).expect("the source of the token");
    let (source, _) = source
        .split_once("#[cfg(test)]")
        .expect("its own tests come last");
    let lines = source.lines().filter(|line| !line.starts_with("//!"));
    let lines: Vec<_> = lines.collect();
    let source = lines.join("\n").replace("std::sync::", "crate::sync::");
    assert!(source.contains("crate::sync::"), "it has no locks");
    let folder = env::var_os("OUT_DIR").expect("cargo sets it");
    let copy = Path::new(&folder).join("cancellation.rs");
    fs::write(copy, source).expect("the folder can be written");
}
