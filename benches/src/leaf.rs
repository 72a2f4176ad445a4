//! A generated package, and a compiler that notes what compiling it took.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use generate::Contender;

use crate::Result;
use crate::cargo::{cargo, home, output, target};

/// The crate whose compilation is timed.
const LEAF: &str = "leaf";
/// Where the timing compiler writes to.
const LOG: &str = "REPORT_COMPILE_LOG";
/// How often a build is repeated, and after how many seconds of them no more.
const REPEATS: usize = 5;
const ENOUGH: f64 = 12.0;

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

/// A package that depends on one contender.
pub struct Leaf {
    folder: PathBuf,
    target: PathBuf,
}

impl Leaf {
    /// With what this workspace gives the contender.
    pub fn new(contender: Contender, kind: &str) -> Result<Leaf> {
        let mut dependencies = String::new();
        for name in needed(contender) {
            dependencies += &workspace_dependency(name)?;
        }
        Leaf::with(&format!("{}-{kind}", contender.name()), "", &dependencies)
    }

    /// With these lines in its manifest, before its dependencies and as its dependencies.
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

    /// The same with a target folder of its own.
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

    /// The CPU seconds of compiling the leaf: without what it depends on, and whatever else is in
    /// its package.
    pub fn compile(&self, arguments: &[&str], is_incremental: bool) -> Result<f64> {
        let log = target().join("compile.log");
        // When there is nothing to do, nobody writes one.
        std::fs::write(&log, "")?;
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

    /// The CPU seconds that the tools of this text take, with everything else built before.
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

/// What a build takes: the median of an odd number of them, of fewer where they take long.
pub fn median(mut build: impl FnMut() -> Result<f64>) -> Result<f64> {
    let mut all = Vec::new();
    while all.len() < REPEATS && (all.len() % 2 == 0 || all.iter().sum::<f64>() < ENOUGH) {
        all.push(build()?);
    }
    all.sort_unstable_by(f64::total_cmp);
    Ok(all[all.len() / 2])
}

/// What a crate needs that has its functions made tools by a contender.
pub fn needed(contender: Contender) -> impl Iterator<Item = &'static str> {
    let needed = ["serde", "serde_json"].into_iter();
    needed.chain(contender.dependencies().iter().copied())
}

/// A dependency as this workspace has it: a line of a manifest.
pub fn workspace_dependency(name: &str) -> Result<String> {
    let ours = std::fs::read_to_string(home().join("Cargo.toml"))?;
    let line = ours
        .lines()
        .find(|line| {
            line.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with(" = "))
        })
        .ok_or_else(|| format!("{name} is no workspace dependency"))?;
    let here = home().display();
    let line = line.replace("path = \"", &format!("path = \"{here}/"));
    Ok(line + "\n")
}

/// Leaves a file alone that says the same already.
fn write(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|now| now == text) {
        return Ok(());
    }
    Ok(std::fs::write(path, text)?)
}
