//! Copies the source of the token, with the locks and atomics of the model checker in the place of
//! those of the standard library, so that what is checked is what is shipped.

use std::path::Path;
use std::{env, fs};

const SOURCE: &str = "../../tool-core/src/call/context/cancellation.rs";

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    let source = fs::read_to_string(SOURCE).expect("the source is where it was");
    let (source, _) = source
        .split_once("#[cfg(test)]")
        .expect("its own tests come last");
    let lines = source.lines().filter(|line| !line.starts_with("//!"));
    let lines: Vec<_> = lines.collect();
    let source = lines.join("\n").replace("std::sync::", "crate::sync::");
    assert!(source.contains("crate::sync::"), "it has no locks");
    let folder = env::var_os("OUT_DIR").expect("cargo gives one");
    let copy = Path::new(&folder).join("cancellation.rs");
    fs::write(copy, source).expect("the folder can be written");
}
