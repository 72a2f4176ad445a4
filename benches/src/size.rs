//! Binary size per tool: stripped release builds that differ in the number of tools.

use generate::{build, program};

use crate::Result;
use crate::cargo::{callable, is_wanted, output};
use crate::figures::{load, rounded, save, set};
use crate::leaf::Leaf;
use crate::versions;

pub const FEW: usize = 40;
pub const MANY: usize = 140;
/// Parameters of each tool.
const PARAMETERS: usize = 4;

pub fn measure() -> Result<()> {
    let mut figures = load("size")?;
    let everyone = std::iter::once(generate::Contender::Bare).chain(callable());
    for contender in everyone.filter(|&contender| is_wanted(contender)) {
        let name = contender.name();
        let leaf = Leaf::new(contender, "size")?;
        let size = |count| -> Result<f64> {
            leaf.write("main", &program(contender, &build(count, Some(PARAMETERS))))?;
            output(leaf.cargo().args(["build", "--release", "--quiet"]))?;
            let built = leaf.target().join("release/leaf");
            // Run it: if it does not list its tools, the linker removed what is measured.
            let said = output(&mut std::process::Command::new(&built))?;
            let last = format!("search_{}", count - 1);
            if contender.lists() && !said.contains(&last) {
                return Err(format!("{name} does not list {last}").into());
            }
            Ok(std::fs::metadata(built)?.len() as f64)
        };
        let (few, many) = (size(FEW)?, size(MANY)?);
        let growth = (many - few) / (MANY - FEW) as f64;
        eprintln!("{name}: {growth:.0} bytes a tool");
        set(&mut figures, name, "bytes a tool", rounded(growth, 0));
        set(&mut figures, name, &format!("{FEW} tools"), few);
        set(&mut figures, name, &format!("{MANY} tools"), many);
        save("size", &figures)?;
        versions::record("size", contender)?;
    }
    Ok(())
}
