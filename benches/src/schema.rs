//! The size of a request's tools in bytes and in tokens, and the correctness of their schemas
//! according
//! to a validator.

use std::collections::BTreeMap;
use std::process::Command;

use generate::Contender;
use serde_json::Value;

use crate::Result;
use crate::cargo::{callable, cargo, cases, is_wanted, output, program, target};
use crate::figures::{Figures, load, save};
use crate::versions;

pub fn measure() -> Result<()> {
    output(cargo().args(["build", "--release", "--quiet", "--package", "schema-check"]))?;
    let schema_check = target().join("release/schema-check");
    let file = target().join("list.json");
    let mut figures: Figures<Value> = load("schema")?;
    for contender in callable().filter(|&contender| is_wanted(contender)) {
        let name = contender.name();
        let program = program("counts", contender)?;
        let mut checked = BTreeMap::new();
        for form in forms(contender, &cases(&program)?) {
            eprintln!("{name} {form}");
            let list = output(Command::new(&program).args(["print", &form]))?;
            std::fs::write(&file, list)?;
            let said = output(Command::new(&schema_check).arg(&file))?;
            checked.insert(form, serde_json::from_str(&said)?);
        }
        figures.remove(name);
        if !checked.is_empty() {
            figures.insert(name.to_owned(), checked);
            versions::record("schema", contender)?;
        }
    }
    save("schema", &figures)
}

/// Returns the formats in which a contender lists its tools.
fn forms(contender: Contender, cases: &[String]) -> Vec<String> {
    if !contender.lists() {
        return Vec::new();
    }
    let lists = cases.iter().filter_map(|case| case.strip_prefix("list "));
    lists
        .filter(|form| !form.contains(' '))
        .map(str::to_owned)
        .collect()
}
