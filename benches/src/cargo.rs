//! Builds what is measured. Contenders are built one at a time, so that the features which one of
//! them asks of a shared dependency are not turned on for the others.

use std::path::{Path, PathBuf};
use std::process::Command;

use generate::Contender;

use crate::Result;

/// The folder of this workspace.
pub fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of what is built.
pub fn target() -> PathBuf {
    home().join("target")
}

pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(home()).env_remove("RUSTFLAGS");
    command
}

/// Runs a command that must succeed and gives its standard output.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(std::process::Stdio::piped()).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}\n{said}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Everyone who can be called.
pub fn callable() -> impl Iterator<Item = Contender> {
    Contender::ALL
        .into_iter()
        .filter(|&contender| contender != Contender::Bare)
}

/// The program `<kind>-<contender>`, built for release.
pub fn program(kind: &str, contender: Contender) -> Result<PathBuf> {
    let name = format!("{kind}-{}", contender.name());
    let package = format!("with-{}", contender.name());
    output(cargo().args([
        "build",
        "--release",
        "--quiet",
        "--package",
        &package,
        "--bin",
        &name,
    ]))?;
    Ok(target().join("release").join(name))
}
