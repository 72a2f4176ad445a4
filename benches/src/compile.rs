//! What a tool costs to build: CPU seconds of rustc for a crate of 200 or 1,000 tools, less those
//! for the same functions alone.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use generate::{Contender, build, source};

use crate::Result;
use crate::cargo::{cargo, home, output, target};
use crate::figures::{load, save, set};

/// The crate whose compilation is timed.
const LEAF: &str = "leaf";
/// Where the timing compiler writes to.
const LOG: &str = "REPORT_COMPILE_LOG";

pub const COUNTS: &[usize] = &[200, 1000];
pub const MODES: &[(&str, &[&str])] = &[
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

/// When cargo runs this program as its compiler: does what cargo asks, and notes the CPU time if
/// it was the leaf.
pub fn as_compiler() -> Option<ExitCode> {
    let log = std::env::var_os(LOG)?;
    let mut arguments = std::env::args_os().skip(1);
    let compiler = arguments.next()?;
    let arguments: Vec<_> = arguments.collect();
    let is_leaf = arguments
        .windows(2)
        .any(|pair| pair[0] == "--crate-name" && pair[1] == LEAF);
    let status = Command::new(compiler).args(&arguments).status().ok()?;
    if is_leaf {
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(log)
            .ok()?;
        writeln!(file, "{}", seconds_of_children()).ok()?;
    }
    Some(ExitCode::from(u8::try_from(status.code()?).ok()?))
}

/// User and system time of the processes that this one waited for.
pub fn seconds_of_children() -> f64 {
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    // SAFETY: all zeroes is a valid value, and `getrusage` writes to nothing else.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

pub fn measure() -> Result<()> {
    let wanted = std::env::var("CONTENDERS").unwrap_or_default();
    let counts = std::env::var("COUNTS").unwrap_or_default();
    let mut figures = load("compile")?;
    for &count in COUNTS {
        if !counts.is_empty() && !counts.split(',').any(|c| c == count.to_string()) {
            continue;
        }
        for contender in compiled() {
            if !wanted.is_empty() && !wanted.split(',').any(|name| name == contender.name()) {
                continue;
            }
            let leaf = Leaf::new(contender, "lib")?;
            for (mode, arguments) in MODES {
                leaf.write("lib", "")?;
                leaf.compile(arguments, false)?;
                leaf.write("lib", &source(contender, &build(count, None)))?;
                let seconds = leaf.compile(arguments, false)?;
                eprintln!("{} {count} {mode}: {seconds:.2} s", contender.name());
                set(
                    &mut figures,
                    contender.name(),
                    &format!("{mode} {count}"),
                    seconds,
                );
            }
            let mut functions = build(count, None);
            leaf.write("lib", &source(contender, &functions))?;
            leaf.compile(&["build"], true)?;
            functions[count / 2].doc += " It was touched.";
            leaf.write("lib", &source(contender, &functions))?;
            let seconds = leaf.compile(&["build"], true)?;
            eprintln!("{} {count} incremental: {seconds:.2} s", contender.name());
            set(
                &mut figures,
                contender.name(),
                &format!("incremental {count}"),
                seconds,
            );
            save("compile", &figures)?;
        }
    }
    Ok(())
}

/// A generated package that depends on one contender.
pub struct Leaf {
    folder: PathBuf,
}

impl Leaf {
    pub fn new(contender: Contender, kind: &str) -> Result<Leaf> {
        let folder = target()
            .join("generated")
            .join(format!("{}-{kind}", contender.name()));
        std::fs::create_dir_all(folder.join("src"))?;
        let leaf = Leaf { folder };
        let manifest = manifest(contender)?;
        write(&leaf.folder.join("Cargo.toml"), &manifest)?;
        write(
            &leaf.folder.join("Cargo.lock"),
            &std::fs::read_to_string(home().join("Cargo.lock"))?,
        )?;
        Ok(leaf)
    }

    /// Writes `src/lib.rs` or `src/main.rs`.
    pub fn write(&self, file: &str, text: &str) -> Result<()> {
        write(&self.folder.join("src").join(format!("{file}.rs")), text)
    }

    pub fn cargo(&self) -> Command {
        let mut cargo = cargo();
        cargo
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", target().join("compile"));
        cargo
    }

    /// The CPU seconds of the leaf.
    fn compile(&self, arguments: &[&str], is_incremental: bool) -> Result<f64> {
        let log = target().join("compile.log");
        let _ = std::fs::remove_file(&log);
        output(
            self.cargo()
                .args(arguments)
                .arg("--quiet")
                .env("CARGO_INCREMENTAL", if is_incremental { "1" } else { "0" })
                .env("RUSTC_WORKSPACE_WRAPPER", std::env::current_exe()?)
                .env(LOG, &log),
        )?;
        let log = std::fs::read_to_string(&log)?;
        Ok(log
            .lines()
            .filter_map(|line| line.parse::<f64>().ok())
            .sum())
    }
}

/// Its dependencies as this workspace has them.
fn manifest(contender: Contender) -> Result<String> {
    let ours = std::fs::read_to_string(home().join("Cargo.toml"))?;
    let mut manifest = String::from(
        "[workspace]\n\n[package]\nname = \"leaf\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [profile.release]\nstrip = true\n\n[dependencies]\n",
    );
    let needed = ["serde", "serde_json"].into_iter();
    for name in needed.chain(contender.dependencies().iter().copied()) {
        let line = ours
            .lines()
            .find(|line| {
                line.strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with(" = "))
            })
            .ok_or_else(|| format!("{name} is no workspace dependency"))?;
        let root = home().parent().ok_or("a parent")?.display().to_string();
        manifest += &line.replace("\"../", &format!("\"{root}/"));
        manifest.push('\n');
    }
    Ok(manifest)
}

/// Leaves a file alone that says the same already.
fn write(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|now| now == text) {
        return Ok(());
    }
    Ok(std::fs::write(path, text)?)
}
