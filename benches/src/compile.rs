//! What a tool costs to build: CPU seconds of rustc for a crate of 200 or 1,000 tools, beside those
//! for the same functions alone.

use generate::{Contender, build, source};

use crate::Result;
use crate::cargo::is_wanted;
use crate::figures::{get, load, rounded, save, set};
use crate::leaf::{Leaf, median};

pub const COUNTS: &[usize] = &[200, 1000];
const MODES: &[(&str, &[&str])] = &[
    ("check", &["check"]),
    ("debug", &["build"]),
    ("release", &["build", "--release"]),
];

/// Whoever is compiled.
pub fn compiled() -> impl Iterator<Item = Contender> {
    Contender::ALL
        .into_iter()
        .filter(|&c| c == Contender::Bare || c.has_macro() || c == Contender::Schemars)
}

pub fn measure() -> Result<()> {
    let counts = std::env::var("COUNTS").unwrap_or_default();
    let mut figures = load("compile")?;
    for &count in COUNTS {
        if !counts.is_empty() && !counts.split(',').any(|c| c == count.to_string()) {
            continue;
        }
        for contender in compiled().filter(|&contender| is_wanted(contender)) {
            let name = contender.name();
            let mut asked = ["check", "debug", "release", "incremental"]
                .into_iter()
                .filter(|mode| is_asked(mode));
            let is_known =
                asked.all(|mode| get(&figures, name, &format!("{mode} {count}")).is_some());
            if is_long(contender, count) && is_known && std::env::var_os("AGAIN").is_none() {
                eprintln!("{name} {count}: as measured before");
                continue;
            }
            let mut note = |mode: &str, seconds: f64| {
                eprintln!("{name} {count} {mode}: {seconds:.2} s");
                set(
                    &mut figures,
                    name,
                    &format!("{mode} {count}"),
                    rounded(seconds, 3),
                );
            };
            let leaf = Leaf::new(contender, "lib")?;
            let functions = build(count, None);
            for (mode, arguments) in MODES.iter().filter(|(mode, _)| is_asked(mode)) {
                note(
                    mode,
                    leaf.compile_anew(arguments, &source(contender, &functions))?,
                );
            }
            if is_asked("incremental") {
                note("incremental", touched(&leaf, contender, functions)?);
            }
            save("compile", &figures)?;
        }
    }
    Ok(())
}

/// Whether to build this way: all, or those that `MODES` names.
fn is_asked(mode: &str) -> bool {
    let asked = std::env::var("MODES").unwrap_or_default();
    asked.is_empty() || asked.split(',').any(|one| one == mode)
}

/// Whether a build takes minutes, of code that changes with its pinned version alone.
fn is_long(contender: Contender, count: usize) -> bool {
    count > 200 && !matches!(contender, Contender::Bare | Contender::ToolCore)
}

/// The CPU seconds of a debug build after the docs of one tool have changed: the median of several.
fn touched(
    leaf: &Leaf,
    contender: Contender,
    mut functions: Vec<generate::Function>,
) -> Result<f64> {
    leaf.write("lib", &source(contender, &functions))?;
    leaf.compile(&["build"], true)?;
    let middle = functions.len() / 2;
    median(|| {
        functions[middle].doc += " It was touched.";
        leaf.write("lib", &source(contender, &functions))?;
        leaf.compile(&["build"], true)
    })
}
