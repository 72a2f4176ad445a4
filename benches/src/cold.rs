//! A cold build: the number of crates that a contender needs, and a debug build of them from
//! nothing,
//! with default features.

use generate::Contender;

use crate::Result;
use crate::cargo::{is_wanted, output};
use crate::compile::compiled;
use crate::figures::{load, rounded, save, set};
use crate::leaf::{Leaf, needed, seconds_of_children, workspace_dependency};

pub fn measure() -> Result<()> {
    let mut figures = load("cold")?;
    let contenders = compiled().filter(|&contender| contender != Contender::Bare);
    for contender in contenders.filter(|&contender| is_wanted(contender)) {
        let name = contender.name();
        let mut dependencies = String::new();
        for name in needed(contender) {
            dependencies += &with_default_features(&workspace_dependency(name)?);
        }
        let leaf = Leaf::with(&format!("{name}-cold"), "", &dependencies)?.apart();
        leaf.write("lib", "")?;
        output(leaf.cargo().args(["fetch", "--quiet"]))?;

        let tree = ["tree", "--edges", "normal,build", "--prefix", "none"];
        let tree = output(leaf.cargo().args(tree))?;
        let mut crates: Vec<_> = tree
            .lines()
            .filter_map(|line| line.split_once(" v"))
            .map(|(name, rest)| (name, rest.split(' ').next()))
            .filter(|(name, _)| *name != "leaf")
            .collect();
        crates.sort_unstable();
        crates.dedup();

        let _ = std::fs::remove_dir_all(leaf.target());
        let before = seconds_of_children();
        let built = output(leaf.cargo().args(["build", "--quiet"]));
        let seconds = seconds_of_children() - before;
        std::fs::remove_dir_all(leaf.target())?;
        built?;

        eprintln!("{name}: {} crates, {seconds:.1} s", crates.len());
        set(&mut figures, name, "crates", crates.len() as f64);
        set(&mut figures, name, "CPU seconds", rounded(seconds, 2));
        save("cold", &figures)?;
    }
    Ok(())
}

/// Other parts measure contenders with as few features as they need.
fn with_default_features(line: &str) -> String {
    line.replace(", default-features = false", "")
}
