//! Includes the tools of the file that `BFCL_TOOLS` names; none without it.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-env-changed=BFCL_TOOLS");
    let mut text = String::new();
    if let Ok(path) = var("BFCL_TOOLS") {
        println!("cargo::rerun-if-changed={path}");
        text = std::fs::read_to_string(path).expect("the file that BFCL_TOOLS names");
    }
    let out = var("OUT_DIR").expect("cargo sets it");
    std::fs::write(format!("{out}/tools.rs"), text).expect("a folder to write to");
}
