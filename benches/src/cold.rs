//! A cold build: the number of crates that a contender needs, and a debug build of them from
//! nothing,
//! with default features.

use generate::Contender;

use crate::Result;
use crate::cargo::{is_wanted, output};
use crate::compile::compiled;
use crate::figures::{load, rounded, save, set};
use crate::leaf::{Leaf, needed, seconds_of_children, workspace_dependency};
use crate::versions;

/// The builds of each contender, which run in turn. The least figure counts: whatever else the machine does adds to it.
const ROUNDS: usize = 3;

pub fn measure() -> Result<()> {
    let mut figures = load("cold")?;
    let contenders = compiled().filter(|&contender| contender != Contender::Bare);
    let mut leaves = Vec::new();
    for contender in contenders.filter(|&contender| is_wanted(contender)) {
        leaves.push((contender, leaf(contender)?, f64::INFINITY));
    }
    for _ in 0..ROUNDS {
        for (contender, leaf, least) in &mut leaves {
            let seconds = built(leaf)?;
            eprintln!("{}: {seconds:.1} s", contender.name());
            *least = least.min(seconds);
        }
    }
    for (contender, leaf, least) in leaves {
        let name = contender.name();
        set(&mut figures, name, "crates", crates(&leaf)? as f64);
        set(&mut figures, name, "CPU seconds", rounded(least, 2));
        versions::record("cold", contender)?;
    }
    save("cold", &figures)
}

/// Returns the CPU seconds of a build from nothing.
fn built(leaf: &Leaf) -> Result<f64> {
    let _ = std::fs::remove_dir_all(leaf.target());
    let before = seconds_of_children();
    // As from a registry: only crates with a path are built incrementally, which takes longer.
    let mut build = leaf.cargo();
    build.env("CARGO_INCREMENTAL", "0");
    let built = output(build.args(["build", "--quiet"]));
    let seconds = seconds_of_children() - before;
    std::fs::remove_dir_all(leaf.target())?;
    built?;
    Ok(seconds)
}

/// Returns a package that depends on what a crate of tools needs, with default features.
pub fn leaf(contender: Contender) -> Result<Leaf> {
    let mut dependencies = String::new();
    for name in needed(contender) {
        dependencies += &with_default_features(&workspace_dependency(name)?);
    }
    let leaf = Leaf::with(&format!("{}-cold", contender.name()), "", &dependencies)?.apart();
    leaf.write("lib", "")?;
    output(leaf.cargo().args(["fetch", "--quiet"]))?;
    Ok(leaf)
}

/// Returns the number of crates in the dependency tree of a package, itself excluded.
pub fn crates(leaf: &Leaf) -> Result<usize> {
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
    Ok(crates.len())
}

/// Other parts measure contenders with as few features as they need.
fn with_default_features(line: &str) -> String {
    line.replace(", default-features = false", "")
}
