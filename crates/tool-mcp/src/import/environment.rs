//! The environment variables of a server that runs as a child process.

use std::ffi::{OsStr, OsString};
use std::process::Command;

/// The variables that a server inherits, as in the official SDKs for TypeScript and Python (`stdio`).
#[cfg(not(windows))]
pub(super) const INHERITED: &[&str] = &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// The variables that a server inherits, as in the official SDKs for TypeScript and Python (`stdio`).
#[cfg(windows)]
pub(super) const INHERITED: &[&str] = &[
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
];

/// The variables without which nothing runs: Windows programs can't open sockets without `SystemRoot`.
#[cfg(feature = "submodel")]
pub(super) const ESSENTIAL: &[&str] = if cfg!(windows) { &["SystemRoot"] } else { &[] };

/// The names of the variables that a command sets or removes itself.
#[derive(Default)]
pub(super) struct Environment {
    own: Vec<OsString>,
}

impl Environment {
    /// Lets a command inherit only some variables, besides the variables that it sets itself.
    pub(super) fn restrict(command: &mut Command, inherited: &[&str]) -> Environment {
        let variables: Vec<(OsString, Option<OsString>)> = command
            .get_envs()
            .map(|(name, value)| (name.to_owned(), value.map(OsStr::to_owned)))
            .collect();
        let environment = Environment {
            own: variables.iter().map(|(name, _)| name.clone()).collect(),
        };
        command.env_clear();
        for name in inherited {
            // Bash exports functions as values that start so.
            if let Some(value) = std::env::var_os(name)
                && !value.as_encoded_bytes().starts_with(b"()")
            {
                environment.inherit(command, OsStr::new(name), &value);
            }
        }
        for (name, value) in variables {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        environment
    }

    /// Sets a variable.
    pub(super) fn set(&mut self, command: &mut Command, name: &OsStr, value: &OsStr) {
        command.env(name, value);
        self.own.push(name.to_owned());
    }

    /// Lets the command inherit all variables of this process.
    pub(super) fn inherit_all(&self, command: &mut Command) {
        for (name, value) in std::env::vars_os() {
            self.inherit(command, &name, &value);
        }
    }

    fn inherit(&self, command: &mut Command, name: &OsStr, value: &OsStr) {
        let is_same = |own: &OsString| {
            if cfg!(windows) {
                own.eq_ignore_ascii_case(name)
            } else {
                own == name
            }
        };
        if !self.own.iter().any(is_same) {
            command.env(name, value);
        }
    }
}
