//! Third-party functions in one crate: the Berkeley Function Calling Leaderboard, written as tools by a
//! script that is not part of this project.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::cargo::{built, home, output};
use crate::figures::{Figures, rounded, save, set};
use crate::instructions::{counted, is_available};
use crate::leaf::{Leaf, workspace_dependency};
use crate::times::{ROUNDS, time};

/// The variable with the folder of the script and its data.
const FOLDER: &str = "BFCL";

/// Cases that are run on all tools.
const CASES: &[&str] = &["start", "list openai-chat", "list mcp"];

pub fn measure() -> Result<()> {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        eprintln!(
            "{FOLDER} is not set to a folder with tools/bfcl.py; keeping the committed figures"
        );
        return Ok(());
    };
    let mut figures = Figures::new();
    let leaf = Leaf::with(
        "bfcl",
        "",
        &[
            workspace_dependency("serde")?,
            workspace_dependency("serde_json")?,
            workspace_dependency("tool-core")?,
        ]
        .concat(),
    )?;
    let tools = emit(&folder, leaf.folder())?;
    let text = std::fs::read_to_string(&tools)?;
    let count = text.matches("#[tool_core::tool").count();
    let mut note = |measure: &str, value: f64| {
        eprintln!("{measure}: {value}");
        set(&mut figures, "tool-core", measure, value);
    };
    note("tools", count as f64);
    for (mode, arguments) in [
        ("check", &["check"][..]),
        ("debug", &["build"]),
        ("release", &["build", "--release"]),
    ] {
        note(mode, rounded(leaf.compile_anew(arguments, &text)?, 3));
    }

    let counts = built("counts", "bfcl", &[("BFCL_TOOLS", &tools)])?;
    let times = built("times", "bfcl", &[("BFCL_TOOLS", &tools)])?;
    let list = output(Command::new(&counts).args(["print", "mcp"]))?;
    note("list mcp, bytes", list.len() as f64);
    for case in CASES {
        if is_available() {
            let instructions = counted(&counts, case, 2)?;
            note(&format!("{case}, instructions"), instructions.round());
        }
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push(time(&times, "bfcl", case)?);
        }
        rounds.sort_by(f64::total_cmp);
        note(&format!("{case}, nanoseconds"), rounds[ROUNDS / 2]);
    }
    save("bfcl", &figures)
}

/// Runs the script and returns the file of tools that it writes.
fn emit(folder: &Path, out: &Path) -> Result<PathBuf> {
    let out = out.join("emitted");
    let entries: Vec<_> =
        std::fs::read_dir(folder.join("data/bfcl"))?.collect::<std::io::Result<_>>()?;
    let mut data: Vec<_> = entries.iter().map(std::fs::DirEntry::path).collect();
    data.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    data.sort();
    let said = output(
        Command::new("python3")
            .arg(folder.join("tools/bfcl.py"))
            .arg("emit")
            .arg(&out)
            .arg(home().join("../tool-core"))
            .args(data),
    )?;
    eprint!("{said}");
    Ok(out.join("src/tools.rs"))
}
