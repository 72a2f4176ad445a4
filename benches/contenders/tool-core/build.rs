use generate::{Contender, calls, source};

fn main() {
    let path = std::env::var("OUT_DIR").expect("cargo sets it");
    let text = source(Contender::ToolCore, &calls(50));
    std::fs::write(format!("{path}/tools.rs"), text).expect("a folder to write to");

    let mut many = String::from("pub fn all() -> Vec<ToolEntry> {\n    vec![\n");
    for index in 0..10_000 {
        many += &format!(
            "        ToolEntry::of::<Search<{}>>(),\n",
            index * 7919 % 10_000
        );
    }
    many += "    ]\n}\n";
    std::fs::write(format!("{path}/many.rs"), many).expect("a folder to write to");
    println!("cargo::rerun-if-changed=build.rs");
}
