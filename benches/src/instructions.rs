//! Instructions a call, counted by callgrind: the same on every run, whatever else the machine does.

use std::path::Path;
use std::process::Command;

use generate::Contender;

use crate::Result;
use crate::cargo::{callable, output, program};
use crate::figures::{Figures, save, set};

/// The cases of `harness::cases` and how many calls each makes in one repeat.
pub const CASES: &[(&str, u32)] = &[
    ("flat", 1),
    ("nested", 1),
    ("text", 1),
    ("none", 1),
    ("refused", 1),
    ("flat in turn", 50),
    ("200 in turn", 200),
];

/// Whether callgrind is there.
pub fn is_available() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok()
}

pub fn measure() -> Result<()> {
    if !is_available() {
        eprintln!("valgrind is not installed: the committed figures stay");
        return Ok(());
    }
    let mut figures = Figures::new();
    for contender in callable() {
        of(contender, &mut figures)?;
        save("instructions", &figures)?;
    }
    Ok(())
}

/// Counts one contender.
pub fn of(contender: Contender, figures: &mut Figures) -> Result<()> {
    let program = program("counts", contender)?;
    output(Command::new(&program).arg("check"))?;
    for &(case, calls) in CASES {
        let count = difference(&program, case, if calls == 1 { 100 } else { 4 })?;
        note(figures, contender, case, count / f64::from(calls));
    }
    for form in forms(contender) {
        let case = format!("list {form}");
        note(figures, contender, &case, difference(&program, &case, 2)?);
    }
    if contender != Contender::Floor {
        note(
            figures,
            contender,
            "start",
            difference(&program, "start", 1)?,
        );
    }
    Ok(())
}

fn note(figures: &mut Figures, contender: Contender, case: &str, count: f64) {
    eprintln!("{} {case}: {count:.0}", contender.name());
    set(figures, contender.name(), case, count.round());
}

/// The forms in which a contender lists its tools.
pub fn forms(contender: Contender) -> &'static [&'static str] {
    match contender {
        Contender::Bare | Contender::Floor => &[],
        Contender::ToolCore => &[
            "openai-chat",
            "openai-responses",
            "anthropic",
            "gemini",
            "mcp",
        ],
        _ => &["definitions"],
    }
}

/// The instructions of one repeat: of a run with twice as many less those of a run.
fn difference(program: &Path, case: &str, repeats: u32) -> Result<f64> {
    // One repeat more in both, for what is done at first use.
    let few = run(program, case, 1 + repeats)?;
    let many = run(program, case, 1 + 2 * repeats)?;
    Ok((many - few) / f64::from(repeats))
}

fn run(program: &Path, case: &str, repeats: u32) -> Result<f64> {
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([case, &repeats.to_string()]);
    let run = command.output()?;
    let said = String::from_utf8_lossy(&run.stderr);
    said.lines()
        .find_map(|line| line.split_once("Collected :"))
        .and_then(|(_, count)| count.trim().parse().ok())
        .ok_or_else(|| format!("{command:?}: {}\n{said}", run.status).into())
}
