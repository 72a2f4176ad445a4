//! Builds what is measured. Contenders are built one at a time, so that the features that one of
//! them
//! enables on a shared dependency do not affect the others.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use generate::Contender;

use crate::Result;

/// Returns the folder of this workspace.
pub fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the target folder.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => std::path::absolute(folder).expect("a folder"),
        None => home().join("target"),
    }
}

pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(home())
        .env("CARGO_TARGET_DIR", target())
        .env_remove("RUSTFLAGS");
    command
}

/// Runs a command and returns its standard output. Returns an error if it fails.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::piped()).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}\n{said}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns `true` if this contender is to be measured: all are, or those that `CONTENDERS` lists.
pub fn is_wanted(contender: Contender) -> bool {
    let wanted = std::env::var("CONTENDERS").unwrap_or_default();
    wanted.is_empty() || wanted.split(',').any(|name| name == contender.name())
}

/// Returns every contender that can be called.
pub fn callable() -> impl Iterator<Item = Contender> {
    Contender::ALL
        .into_iter()
        .filter(|&contender| contender != Contender::Bare)
}

/// Builds the program `<kind>-<contender>` for release.
pub fn program(kind: &str, contender: Contender) -> Result<PathBuf> {
    built(kind, contender.name(), &[])
}

/// Builds the program `<kind>-<name>` of the package `with-<name>` for release, with these
/// environment variables.
pub fn built(kind: &str, name: &str, variables: &[(&str, &Path)]) -> Result<PathBuf> {
    let package = format!("with-{name}");
    let name = format!("{kind}-{name}");
    let mut cargo = cargo();
    cargo.args(["build", "--release", "--quiet"]);
    cargo.args(["--package", &package, "--bin", &name]);
    cargo.envs(variables.iter().copied());
    // Without criterion, dependencies that a contender shares with it would be built twice. CI
    // builds only
    // one program of a contender and avoids criterion.
    let has_times = !["with-cli", "with-dynamic", "with-journals"].contains(&&*package);
    if name != "counts-tool-core" && has_times {
        cargo.args(["--features", "time"]);
    }
    output(&mut cargo)?;
    Ok(target().join("release").join(name))
}

/// Returns the cases of a contender, as listed by its program.
pub fn cases(counts: &Path) -> Result<Vec<String>> {
    let said = output(Command::new(counts).arg("cases"))?;
    Ok(said.lines().map(str::to_owned).collect())
}
