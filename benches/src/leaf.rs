//! A generated package, and a compiler wrapper that logs the CPU time of compiling it.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use generate::Contender;

use crate::Result;
use crate::cargo::{cargo, home, output, target};
use crate::instructions::collected;

/// The crate whose compilation is timed.
const LEAF: &str = "leaf";
/// The variable with the log file of the compiler wrapper.
const LOG: &str = "REPORT_COMPILE_LOG";
/// The maximum number of builds to take a median of, and the seconds after which no more are
/// started.
const REPEATS: usize = 5;
const ENOUGH: f64 = 12.0;

/// Set if the compiler wrapper counts the instructions of the leaf instead of timing it.
const COUNTS: &str = "REPORT_COMPILE_COUNTS";

/// Acts as the compiler if cargo runs this program as `RUSTC_WORKSPACE_WRAPPER`: runs rustc, and
/// logs its
/// CPU time, or its instructions, if it compiles the leaf.
pub fn as_compiler() -> Option<ExitCode> {
    let log = std::env::var_os(LOG)?;
    let mut arguments = std::env::args_os().skip(1);
    let compiler = arguments.next()?;
    let arguments: Vec<_> = arguments.collect();
    let is_leaf = arguments
        .windows(2)
        .any(|pair| pair[0] == "--crate-name" && pair[1] == LEAF);
    let counts = std::env::var_os(COUNTS).filter(|_| is_leaf);
    let mut command = match &counts {
        Some(counted) => callgrind(&compiler, counted)?,
        None => Command::new(compiler),
    };
    let status = command.args(&arguments).status().ok()?;
    if is_leaf {
        let measured = match &counts {
            Some(counted) => collected(&std::fs::read_to_string(counted).ok()?)?,
            None => seconds_of_children(),
        };
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(log)
            .ok()?;
        writeln!(file, "{measured}").ok()?;
    }
    Some(ExitCode::from(u8::try_from(status.code()?).ok()?))
}

/// Returns rustc under callgrind, which writes its summary to a file. What rustup installs as rustc starts another program.
fn callgrind(compiler: &OsStr, summary: &OsStr) -> Option<Command> {
    let root = output(Command::new(compiler).arg("--print=sysroot")).ok()?;
    let mut log = OsString::from("--log-file=");
    log.push(summary);
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command
        .arg(log)
        .arg(Path::new(root.trim()).join("bin/rustc"));
    Some(command)
}

/// Returns user and system time of the finished child processes.
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

/// A package that depends on one contender.
pub struct Leaf {
    folder: PathBuf,
    target: PathBuf,
}

impl Leaf {
    /// Creates a package with the dependencies of a contender.
    pub fn new(contender: Contender, kind: &str) -> Result<Leaf> {
        let mut dependencies = String::new();
        for name in needed(contender) {
            dependencies += &workspace_dependency(name)?;
        }
        Leaf::with(&format!("{}-{kind}", contender.name()), "", &dependencies)
    }

    /// Creates a package with these lines in its manifest and these dependencies.
    pub fn with(name: &str, lines: &str, dependencies: &str) -> Result<Leaf> {
        let folder = target().join("generated").join(name);
        std::fs::create_dir_all(folder.join("src"))?;
        let leaf = Leaf {
            folder,
            target: target().join("compile"),
        };
        let manifest = format!(
            "[workspace]\n\n[package]\nname = \"leaf\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [profile.release]\nstrip = true\n\n{lines}[dependencies]\n{dependencies}"
        );
        write(&leaf.folder.join("Cargo.toml"), &manifest)?;
        let lock = std::fs::read_to_string(home().join("Cargo.lock"))?;
        write(&leaf.folder.join("Cargo.lock"), &lock)?;
        Ok(leaf)
    }

    /// Gives the package a separate target folder.
    pub fn apart(mut self) -> Leaf {
        self.target = self.folder.join("target");
        self
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Writes `src/<file>.rs`.
    pub fn write(&self, file: &str, text: &str) -> Result<()> {
        write(&self.folder.join("src").join(format!("{file}.rs")), text)
    }

    pub fn cargo(&self) -> Command {
        let mut cargo = cargo();
        cargo
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target);
        cargo
    }

    /// Returns the CPU seconds of compiling the leaf alone, without its dependencies.
    pub fn compile(&self, arguments: &[&str], is_incremental: bool) -> Result<f64> {
        self.measured(arguments, is_incremental, None)
    }

    /// Returns the instructions of compiling the leaf alone, incrementally.
    pub fn count(&self, arguments: &[&str]) -> Result<f64> {
        let summary = target().join("compile.callgrind");
        self.measured(arguments, true, Some(&summary))
    }

    fn measured(
        &self,
        arguments: &[&str],
        is_incremental: bool,
        summary: Option<&Path>,
    ) -> Result<f64> {
        let log = target().join("compile.log");
        // rustc does not run if there is nothing to do, and then writes no log.
        std::fs::write(&log, "")?;
        output(
            self.cargo()
                .args(arguments)
                .arg("--quiet")
                .env("CARGO_INCREMENTAL", if is_incremental { "1" } else { "0" })
                .env("RUSTC_WORKSPACE_WRAPPER", std::env::current_exe()?)
                .env(LOG, &log)
                .envs(summary.map(|summary| (COUNTS, summary))),
        )?;
        let log = std::fs::read_to_string(&log)?;
        Ok(log
            .lines()
            .filter_map(|line| line.parse::<f64>().ok())
            .sum())
    }

    /// Returns the CPU seconds of compiling this text, with all dependencies built.
    pub fn compile_anew(&self, arguments: &[&str], text: &str) -> Result<f64> {
        median(|| {
            self.write("lib", "")?;
            self.compile(arguments, false)?;
            self.write("lib", text)?;
            match self.compile(arguments, false)? {
                0.0 => Err(format!("nothing was compiled in {}", self.folder.display()).into()),
                seconds => Ok(seconds),
            }
        })
    }
}

/// Returns the median CPU seconds of an odd number of builds, of fewer if they take long.
pub fn median(mut build: impl FnMut() -> Result<f64>) -> Result<f64> {
    let mut all = Vec::new();
    while all.len() < REPEATS && (all.len() % 2 == 0 || all.iter().sum::<f64>() < ENOUGH) {
        all.push(build()?);
    }
    all.sort_unstable_by(f64::total_cmp);
    Ok(all[all.len() / 2])
}

/// Returns the names of all dependencies of a contender's generated crate.
pub fn needed(contender: Contender) -> impl Iterator<Item = &'static str> {
    let needed = ["serde", "serde_json"].into_iter();
    needed.chain(contender.dependencies().iter().copied())
}

/// Returns the manifest line of a workspace dependency.
pub fn workspace_dependency(name: &str) -> Result<String> {
    let ours = std::fs::read_to_string(home().join("Cargo.toml"))?;
    let line = ours
        .lines()
        .find(|line| {
            line.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with(" = "))
        })
        .ok_or_else(|| format!("{name} is not a workspace dependency"))?;
    let here = home().display();
    let line = line.replace("path = \"", &format!("path = \"{here}/"));
    Ok(line + "\n")
}

/// Writes a file, unless it has this text already.
fn write(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|now| now == text) {
        return Ok(());
    }
    Ok(std::fs::write(path, text)?)
}
