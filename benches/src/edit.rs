//! `cargo check` after an edit: instructions of rustc for a crate of tools with four scalars each, in which the docs of one
//! have changed. They are the same on every run, whatever else the machine does.

use generate::{Contender, Function, build, source};

use crate::Result;
use crate::cargo::is_wanted;
use crate::figures::{load, save, set};
use crate::instructions::is_available;
use crate::leaf::Leaf;
use crate::versions;

const COUNT: usize = 400;

pub fn measure() -> Result<()> {
    if !is_available() {
        eprintln!("valgrind is not installed; keeping the committed figures");
        return Ok(());
    }
    let mut figures = load("edit")?;
    let contenders = [Contender::Bare, Contender::ToolCore, Contender::Schemars];
    for contender in contenders.into_iter().filter(|&one| is_wanted(one)) {
        let name = contender.name();
        let leaf = Leaf::new(contender, "lib")?;
        let mut functions = functions();
        leaf.write("lib", &source(contender, &functions))?;
        leaf.compile(&["check"], true)?;
        functions[COUNT / 2].doc += " It was touched.";
        leaf.write("lib", &source(contender, &functions))?;
        let count = leaf.count(&["check"])?;
        eprintln!("{name}: {count:.0}");
        set(&mut figures, name, "check 400", count);
        save("edit", &figures)?;
        versions::record("edit", contender)?;
    }
    Ok(())
}

/// Returns functions with four scalars each: a string, a number that may be absent, a decimal and a flag.
fn functions() -> Vec<Function> {
    let mut functions = build(COUNT, Some(4));
    let scalars = functions[0].parameters.clone();
    for function in &mut functions {
        function.parameters.clone_from(&scalars);
    }
    functions
}
