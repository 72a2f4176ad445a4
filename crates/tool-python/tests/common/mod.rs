//! A sandbox for the tests, on any machine.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use tool_python::{Error, Inputs, Limits, NoTools, Outcome, Policy, Sandbox, User};

/// A user that nothing else here runs as.
pub(crate) const NOBODY: User = User {
    uid: 65534,
    gid: 65534,
};

pub(crate) fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status")
        .unwrap_or_default()
        .contains("Uid:\t0\t")
}

/// An interpreter that other users can read: `TOOL_PYTHON`, the system's, or the first in the `PATH`.
pub(crate) fn python() -> PathBuf {
    let system = Path::new("/usr/bin/python3");
    let usual = || {
        if system.exists() {
            system.to_owned()
        } else {
            "python3".into()
        }
    };
    std::env::var_os("TOOL_PYTHON").map_or_else(usual, PathBuf::from)
}

pub(crate) fn policy() -> Policy {
    let policy = Policy::new().python(python());
    if is_root() {
        policy.user(NOBODY)
    } else {
        policy
    }
}

/// Creates a sandbox. If the kernel lacks a layer, checks that the library reports it, and skips the test.
pub(crate) fn sandbox(policy: Policy) -> Option<Sandbox> {
    let report = Sandbox::probe();
    match Sandbox::new(policy) {
        Ok(sandbox) => {
            assert!(
                report.complete(),
                "created a sandbox without a layer: {report}"
            );
            Some(sandbox)
        }
        Err(error @ (Error::Missing { .. } | Error::Unsupported(_))) => {
            assert!(!report.complete(), "{error}");
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Short enough for a test, long enough for a slow machine.
pub(crate) fn limits() -> Limits {
    Limits {
        time: Duration::from_secs(30),
        cpu: Duration::from_secs(30),
        ..Limits::default()
    }
}

pub(crate) fn run(sandbox: &Sandbox, code: &str) -> Outcome {
    sandbox
        .run(code, &Inputs::new(), &NoTools, &limits())
        .unwrap()
}
