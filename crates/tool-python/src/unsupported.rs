//! On other systems, every operation returns an error.

use std::path::Path;

use crate::{Error, Inputs, Limits, Outcome, Policy, Report, Tools};

pub(crate) fn probe() -> Report {
    Report {
        supported: false,
        landlock_abi: 0,
        seccomp: false,
    }
}

/// Without locks, another process may use the folder.
#[cfg(feature = "extend")]
pub(crate) fn lock_alone(_: &std::fs::File) -> bool {
    false
}

#[cfg(feature = "extend")]
pub(crate) fn lock_shared(_: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}

#[derive(Clone)]
pub(crate) enum Sandbox {}

impl Sandbox {
    pub(crate) fn new(_: Policy) -> Result<Sandbox, Error> {
        Err(Error::Unsupported(std::env::consts::OS))
    }

    pub(crate) fn version(&self) -> &str {
        match *self {}
    }

    pub(crate) fn run(
        &self,
        _: &str,
        _: &Inputs,
        _: &dyn Tools,
        _: &Limits,
    ) -> Result<Outcome, Error> {
        match *self {}
    }
}

#[derive(Debug)]
pub(crate) enum RunFolder {}

impl RunFolder {
    pub(crate) fn read(&self, _: &Path, _: u64) -> std::io::Result<Vec<u8>> {
        match *self {}
    }
}
