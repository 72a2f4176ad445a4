use generate::{Contender, calls, source};

fn main() {
    let path = std::env::var("OUT_DIR").expect("cargo sets it");
    let text = source(Contender::ToolCore, &calls(50));
    std::fs::write(format!("{path}/tools.rs"), text).expect("a folder to write to");
    println!("cargo::rerun-if-changed=build.rs");
}
