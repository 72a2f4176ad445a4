//! The sandbox on Linux.

mod disk;
mod filter;
mod launch;
mod measure;
mod run;
mod sys;

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::{Error, Inputs, Layer, Limits, Outcome, Policy, Report, Tools, lock};

pub(crate) use disk::RunFolder;
use filter::Filters;
use launch::Process;

/// Locks a folder while it is open. Returns `false` if others have locked it too.
#[cfg(feature = "extend")]
pub(crate) fn lock_alone(folder: &std::fs::File) -> bool {
    use rustix::fs::{FlockOperation, flock};
    flock(folder, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Locks a folder while it is open, shared with others.
#[cfg(feature = "extend")]
pub(crate) fn lock_shared(folder: &std::fs::File) -> std::io::Result<()> {
    use rustix::fs::{FlockOperation, flock};
    Ok(flock(folder, FlockOperation::LockShared)?)
}

pub(crate) fn probe() -> Report {
    Report {
        supported: true,
        landlock_abi: sys::landlock_abi(),
        seccomp: sys::seccomp_filters(),
    }
}

/// Values that all starts of a sandbox share.
pub(crate) struct Shared {
    policy: Policy,
    /// The layers in use.
    kernel: Report,
    interpreter: Interpreter,
    filters: Filters,
    /// Started interpreters that have not run any code.
    ready: Mutex<VecDeque<Process>>,
}

struct Interpreter {
    executable: PathBuf,
    version: String,
    /// `boot.py`, compiled by this version.
    boot: Vec<u8>,
    /// Paths that the interpreter must read.
    reads: Vec<PathBuf>,
}

#[derive(Clone)]
pub(crate) struct Sandbox(Arc<Shared>);

impl Sandbox {
    pub(crate) fn new(policy: Policy) -> Result<Sandbox, Error> {
        let found = probe();
        // A report in the policy can only remove layers.
        let kernel = policy.kernel.map_or(found, |report| Report {
            supported: report.supported,
            landlock_abi: found.landlock_abi.min(report.landlock_abi),
            seccomp: found.seccomp && report.seccomp,
        });
        let mut layers = kernel;
        for layer in [Layer::Landlock, Layer::Seccomp] {
            if let Some(found) = kernel.lacks(layer) {
                if !policy.weaker.contains(&layer) {
                    return Err(Error::Missing { layer, found });
                }
                layers = layers.without(layer);
            }
        }
        let root = rustix::process::geteuid().is_root();
        match policy.user {
            None if root => return Err(Error::Root),
            Some(user) if user.uid == 0 || user.gid == 0 => {
                return Err(Error::Policy(
                    "the user of the sandbox can't be root".to_owned(),
                ));
            }
            Some(_) if !root => {
                return Err(Error::Policy(
                    "only a host that runs as root can change the user".to_owned(),
                ));
            }
            _ => {}
        }
        if root {
            launch::check_capabilities()?;
        }
        let interpreter = Interpreter::find(&policy)?;
        let sandbox = Sandbox(Arc::new(Shared {
            policy,
            kernel: layers,
            interpreter,
            filters: Filters::new(),
            ready: Mutex::default(),
        }));
        RunFolder::remove_leftovers(&sandbox.0.policy);
        // The first start shows whether the user can read the interpreter, and whether the lock holds.
        let mut first = launch::start(&sandbox.0)?;
        first.make_ready(&sandbox.0)?;
        first.prove_measurable()?;
        if sandbox.0.policy.pool > 0 {
            lock(&sandbox.0.ready).push_back(first);
            for _ in 1..sandbox.0.policy.pool {
                launch::refill(&sandbox.0);
            }
        }
        Ok(sandbox)
    }

    pub(crate) fn version(&self) -> &str {
        &self.0.interpreter.version
    }

    pub(crate) fn run(
        &self,
        code: &str,
        inputs: &Inputs,
        tools: &dyn Tools,
        limits: &Limits,
    ) -> Result<Outcome, Error> {
        let refill = || launch::refill(&self.0);
        run::run(self.take()?, code, inputs, tools, limits, &refill)
    }

    /// Returns a locked interpreter, from the pool if possible.
    fn take(&self) -> Result<Process, Error> {
        loop {
            let pooled = lock(&self.0.ready).pop_front();
            let is_pooled = pooled.is_some();
            let mut process = match pooled {
                Some(process) => process,
                None => launch::start(&self.0)?,
            };
            match process.make_ready(&self.0) {
                Ok(()) => return Ok(process),
                // Something may have killed it while it was waiting.
                Err(_) if is_pooled => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Interpreter {
    /// Asks the interpreter for the paths of its library and packages. Runs only `describe.py`.
    fn find(policy: &Policy) -> Result<Interpreter, Error> {
        let python = policy.python.clone().unwrap_or_else(|| "python3".into());
        let output = Command::new(&python)
            .args([
                "-I",
                "-S",
                "-B",
                "-c",
                include_str!("linux/describe.py"),
                include_str!("linux/boot.py"),
            ])
            .stdin(std::process::Stdio::null())
            .output()
            .map_err(|error| {
                Error::Interpreter(format!("`{}` can't be started: {error}", python.display()))
            })?;
        let mut found = Interpreter {
            executable: PathBuf::new(),
            boot: Vec::new(),
            version: String::new(),
            reads: Vec::new(),
        };
        let (mut implementation, mut ctypes) = (String::new(), false);
        for line in output.stdout.split(|byte| *byte == b'\n') {
            let at = line
                .iter()
                .position(|byte| *byte == b' ')
                .unwrap_or(line.len());
            let value = line.get(at + 1..).unwrap_or_default();
            match &line[..at] {
                b"version" => found.version = String::from_utf8_lossy(value).into_owned(),
                b"implementation" => implementation = String::from_utf8_lossy(value).into_owned(),
                b"executable" => found.executable = OsStr::from_bytes(value).into(),
                b"boot" => found.boot = bytes_of_hex(value),
                b"ctypes" => ctypes = true,
                b"read" => found.reads.push(OsStr::from_bytes(value).into()),
                _ => {}
            }
        }
        let mut numbers = found
            .version
            .split('.')
            .map(|part| part.parse::<u32>().unwrap_or(0));
        let wrong = if !output.status.success() || implementation.is_empty() {
            Some(format!(
                "it failed: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            ))
        } else if implementation != "cpython" {
            Some(format!("it is {implementation}, not CPython"))
        } else if (numbers.next(), numbers.next()) < (Some(3), Some(11)) {
            Some(format!(
                "it is Python {}, and 3.11 is the oldest that works",
                found.version
            ))
        } else if !ctypes {
            Some("it was built without `ctypes`, which locks the process".to_owned())
        } else {
            None
        };
        match wrong {
            Some(what) => Err(Error::Interpreter(format!(
                "`{}` can't be used: {what}",
                python.display()
            ))),
            None => Ok(found),
        }
    }
}

/// Decodes hexadecimal digits.
fn bytes_of_hex(text: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
            .unwrap_or(0)
    };
    text.chunks_exact(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}
