//! Builds what is measured. Contenders are built one at a time, so that the features which one of
//! them asks of a shared dependency are not turned on for the others.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use generate::Contender;

use crate::Result;

/// The folder of this workspace.
pub fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of what is built.
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

/// Runs a command that must succeed and gives its standard output.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::piped()).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}\n{said}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Whether to measure this one: all, or those that `CONTENDERS` names.
pub fn is_wanted(contender: Contender) -> bool {
    let wanted = std::env::var("CONTENDERS").unwrap_or_default();
    wanted.is_empty() || wanted.split(',').any(|name| name == contender.name())
}

/// Everyone who can be called.
pub fn callable() -> impl Iterator<Item = Contender> {
    Contender::ALL
        .into_iter()
        .filter(|&contender| contender != Contender::Bare)
}

/// The program `<kind>-<contender>`, built for release.
pub fn program(kind: &str, contender: Contender) -> Result<PathBuf> {
    built(kind, contender.name(), &[])
}

/// The program `<kind>-<name>` of the package `with-<name>`, built for release with these
/// variables.
pub fn built(kind: &str, name: &str, variables: &[(&str, &Path)]) -> Result<PathBuf> {
    let package = format!("with-{name}");
    let name = format!("{kind}-{name}");
    let mut cargo = cargo();
    cargo.args(["build", "--release", "--quiet"]);
    cargo.args(["--package", &package, "--bin", &name]);
    cargo.envs(variables.iter().copied());
    // Built without criterion, what a contender shares with it would be built twice. What CI builds
    // does without.
    if name != "counts-tool-core" {
        cargo.args(["--features", "time"]);
    }
    output(&mut cargo)?;
    Ok(target().join("release").join(name))
}

/// The cases of a contender, as its program tells them.
pub fn cases(counts: &Path) -> Result<Vec<String>> {
    let said = output(Command::new(counts).arg("cases"))?;
    Ok(said.lines().map(str::to_owned).collect())
}
