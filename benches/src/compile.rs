//! Compile time of tools: CPU seconds of rustc for a crate of 200 or 1,000 tools, and for the same
//! functions without tools.

use generate::{Contender, build, source};

use crate::Result;
use crate::cargo::is_wanted;
use crate::figures::{get, load, rounded, save, set};
use crate::leaf::{Leaf, median};
use crate::versions;

pub const COUNTS: &[usize] = &[200, 1000];
const MODES: &[(&str, &[&str])] = &[
    ("check", &["check"]),
    ("debug", &["build"]),
    ("release", &["build", "--release"]),
];

/// Returns every contender that is compiled.
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
                eprintln!("{name} {count}: kept");
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
            for (mode, _) in MODES.iter().chain(&[("incremental", &[][..])]) {
                if is_asked(mode) {
                    versions::record(&format!("{mode} {count}"), contender)?;
                }
            }
        }
    }
    Ok(())
}

/// Returns `true` if this kind of build is wanted: all are, or those that `MODES` lists.
fn is_asked(mode: &str) -> bool {
    let asked = std::env::var("MODES").unwrap_or_default();
    asked.is_empty() || asked.split(',').any(|one| one == mode)
}

/// Returns `true` if a build takes minutes and changes only with the pinned version of its
/// contender.
fn is_long(contender: Contender, count: usize) -> bool {
    count > 200 && !matches!(contender, Contender::Bare | Contender::ToolCore)
}

/// Returns the CPU seconds of a debug build after an edit to the docs of one tool: the median of
/// several.
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
