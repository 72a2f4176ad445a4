//! Instructions of rustc, which are the same on every run, whatever else the machine does: `cargo check` after an edit to the
//! docs of one tool with four scalars, and of a crate of tools that each have a struct and an enum of their own.

use generate::{Contender, Function, build, calls, lean, modules, source};

use crate::Result;
use crate::cargo::is_wanted;
use crate::figures::{load, save, set};
use crate::instructions::is_available;
use crate::leaf::Leaf;
use crate::versions;

const COUNT: usize = 400;
/// The tools with types of their own.
const TYPED: usize = 100;

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
        let before = lean(contender, &source(contender, &functions));
        functions[COUNT / 2].doc += " It was touched.";
        let after = lean(contender, &source(contender, &functions));
        let typed = modules(contender, &typed());
        for (case, before, after) in [
            (format!("check {COUNT}"), &*before, &after),
            (format!("check {TYPED} with types"), "", &typed),
        ] {
            leaf.write("lib", before)?;
            leaf.compile(&["check"], true)?;
            leaf.write("lib", after)?;
            let count = leaf.count(&["check"])?;
            eprintln!("{name} {case}: {count:.0}");
            set(&mut figures, name, &case, count);
            save("edit", &figures)?;
        }
        versions::record("edit", contender)?;
    }
    Ok(())
}

/// Returns functions with a string, a number that may be absent, an enum, a list of strings and a struct.
fn typed() -> Vec<Function> {
    let function = calls(0).pop().expect("`get_forecast`");
    let named = |index| Function {
        name: format!("{}_{index}", function.name),
        ..function.clone()
    };
    (0..TYPED).map(named).collect()
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
