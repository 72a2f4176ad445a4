use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use crate::{EndedBy, Error, lock};

/// A layer of the sandbox that a kernel may lack.
///
/// ```
/// use tool_python::{Layer, Policy};
///
/// // Do this only if something else isolates the program, such as a virtual machine.
/// let policy = Policy::new().allow_weaker(Layer::Landlock);
/// # let _ = policy;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layer {
    /// Restricts access to files. Needs ABI 3 (Linux 6.2) for `truncate`.
    Landlock,
    /// Restricts system calls.
    Seccomp,
}

impl Layer {
    pub(crate) fn needs(self) -> &'static str {
        match self {
            Layer::Landlock => "Landlock, ABI 3 or later (Linux 6.2)",
            Layer::Seccomp => "seccomp filters",
        }
    }
}

/// The layers that a kernel supports. Returned by [`Sandbox::probe`](crate::Sandbox::probe).
///
/// ```
/// let report = tool_python::Sandbox::probe();
/// println!("{report}");
/// if !report.complete() {
///     println!("code from models can't be run here");
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// `true` on Linux on a supported architecture.
    pub supported: bool,
    /// Landlock's ABI version; 0 without Landlock.
    pub landlock_abi: u32,
    /// `true` if the kernel has seccomp filters.
    pub seccomp: bool,
}

impl Report {
    /// The first ABI of Landlock that covers `truncate`.
    const LANDLOCK_ABI: u32 = 3;

    pub(crate) fn lacks(self, layer: Layer) -> Option<String> {
        match layer {
            Layer::Landlock if self.landlock_abi == 0 => {
                Some("it has no Landlock, or it is switched off".to_owned())
            }
            Layer::Landlock if self.landlock_abi < Report::LANDLOCK_ABI => {
                Some(format!("it has ABI {}", self.landlock_abi))
            }
            Layer::Seccomp if !self.seccomp => {
                Some("it has no seccomp, or without filters".to_owned())
            }
            _ => None,
        }
    }

    /// Returns `true` if the kernel supports every layer.
    pub fn complete(&self) -> bool {
        let layers = [Layer::Landlock, Layer::Seccomp];
        self.supported && layers.iter().all(|&layer| self.lacks(layer).is_none())
    }

    /// Removes a layer from the report. Use it to test how your program behaves without the layer.
    ///
    /// ```
    /// use tool_python::{Error, Layer, Policy, Sandbox};
    ///
    /// let old = Sandbox::probe().without(Layer::Landlock);
    /// let refused = Sandbox::new(Policy::new().kernel(old));
    /// assert!(matches!(refused, Err(Error::Missing { layer: Layer::Landlock, .. } | Error::Unsupported(_))));
    /// ```
    pub fn without(mut self, layer: Layer) -> Report {
        match layer {
            Layer::Landlock => self.landlock_abi = 0,
            Layer::Seccomp => self.seccomp = false,
        }
        self
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.supported {
            return f.write_str("not Linux on x86_64 or aarch64");
        }
        match self.lacks(Layer::Landlock) {
            None => write!(f, "Landlock: ABI {}", self.landlock_abi)?,
            Some(found) => write!(f, "Landlock: missing ({found})")?,
        }
        f.write_str(if self.seccomp {
            "; seccomp: yes"
        } else {
            "; seccomp: missing"
        })
    }
}

/// The user to run code as, if the host runs as root.
///
/// ```
/// use tool_python::{Policy, User};
///
/// // For a container whose only user is root.
/// let policy = Policy::new().user(User { uid: 65534, gid: 65534 });
/// # let _ = policy;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// The id of the user, which must not be 0.
    pub uid: u32,
    /// The id of the only group, which must not be 0.
    pub gid: u32,
}

/// The rules of a sandbox. They name the interpreter, its user, and the files that it may read.
///
/// The code may read the interpreter's library and packages, the shared libraries of the system, and any paths added by
/// [`read`](Policy::read). It may write into its own run folder, which is deleted with the [`Outcome`](crate::Outcome).
///
/// ```
/// use tool_python::{Policy, User};
///
/// let policy = Policy::new()
///     .user(User { uid: 65534, gid: 65534 })
///     .read("/srv/reports")
///     .pool(2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Policy {
    pub(crate) python: Option<PathBuf>,
    pub(crate) user: Option<User>,
    pub(crate) reads: Vec<PathBuf>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) pool: usize,
    pub(crate) weaker: Vec<Layer>,
    pub(crate) kernel: Option<Report>,
}

impl Policy {
    /// Creates a policy for the `python3` on the `PATH`, without a pool.
    pub fn new() -> Policy {
        Policy::default()
    }

    /// Sets the interpreter, which must be `CPython` 3.11 or later. The interpreter and its library are trusted,
    /// because they run as the host's user until the lock is in place.
    pub fn python(mut self, path: impl Into<PathBuf>) -> Policy {
        self.python = Some(path.into());
        self
    }

    /// Sets the interpreter and packages to a virtual environment's.
    pub fn venv(self, folder: impl AsRef<Path>) -> Policy {
        self.python(folder.as_ref().join("bin/python"))
    }

    /// Sets the user to run the code as. Required if the host runs as root, otherwise an error.
    ///
    /// Choose a user that nothing else runs as.
    pub fn user(mut self, user: User) -> Policy {
        self.user = Some(user);
        self
    }

    /// Lets the code read a file, or a folder and everything in it.
    pub fn read(mut self, path: impl Into<PathBuf>) -> Policy {
        self.reads.push(path.into());
        self
    }

    /// Sets the folder in which run folders are created. The default is [`std::env::temp_dir`].
    pub fn folder(mut self, path: impl Into<PathBuf>) -> Policy {
        self.folder = Some(path.into());
        self
    }

    /// Keeps this number of interpreters started and locked, so runs start faster. Each runs one piece of code. The
    /// default is 0.
    pub fn pool(mut self, size: usize) -> Policy {
        self.pool = size;
        self
    }

    /// Accepts a kernel that lacks the layer. The layer is used where it exists.
    ///
    /// Without Landlock, the code can read and write every file of its user. Without seccomp, it reaches the network
    /// and other processes of its user. Either way, run only code that you trust.
    pub fn allow_weaker(mut self, layer: Layer) -> Policy {
        self.weaker.push(layer);
        self
    }

    /// Replaces the report of [`Sandbox::probe`](crate::Sandbox::probe), to test your program as on a kernel that lacks
    /// [a layer](Report::without). A layer that the report lacks is not used.
    pub fn kernel(mut self, report: Report) -> Policy {
        self.kernel = Some(report);
        self
    }
}

/// The limits of one run. Exceeding one ends the run; [`EndedBy`](crate::EndedBy) names it.
///
/// ```
/// use std::time::Duration;
/// use tool_python::Limits;
///
/// let limits = Limits { time: Duration::from_secs(2), memory: 256 << 20, ..Limits::default() };
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    /// Wall-clock time, counted from the start of the code. The clock stops while a call is
    /// [held](crate::HostCall::hold). Default: 10 s.
    pub time: Duration,
    /// Time on processors, rounded up to seconds. Default: 10 s.
    pub cpu: Duration,
    /// Address space in bytes. At least 192 MiB, because numpy's libraries map that much before they do anything. Code
    /// that allocates more gets a `MemoryError`. Default: 1 GiB.
    pub memory: u64,
    /// Bytes of stdout and stderr together. Default: 1 MiB.
    pub output: usize,
    /// Bytes on disk, including deleted files that are still open. Measured every 20 ms; a single file never exceeds
    /// it. Default: 64 MiB.
    pub disk: u64,
    /// Files and folders in the run folder. Default: 1,000.
    pub files: usize,
    /// Threads. Default: 64.
    pub threads: usize,
    /// Calls to the host. Default: 10,000.
    pub calls: u64,
    /// Unanswered calls to the host. Further calls of the code wait. Default: 64.
    pub parallel: usize,
    /// Bytes of one message from the code to the host, such as the arguments of a call or the result. Default: 8 MiB.
    pub message: usize,
    /// Ends the run from another thread.
    pub stop: Option<Stop>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            time: Duration::from_secs(10),
            cpu: Duration::from_secs(10),
            memory: 1 << 30,
            output: 1 << 20,
            disk: 64 << 20,
            files: 1_000,
            threads: 64,
            calls: 10_000,
            parallel: 64,
            message: 8 << 20,
            stop: None,
        }
    }
}

impl Limits {
    /// The smallest address space with which OpenBLAS starts one thread.
    const MEMORY: u64 = 192 << 20;
    /// Maximum number of open files.
    pub(crate) const OPEN: u64 = 128;

    /// Describes the limit that ended a run, with its value.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(crate) fn met(&self, ended_by: &EndedBy) -> Option<String> {
        Some(match ended_by {
            EndedBy::Time => format!("the limit is {:?}", self.time),
            EndedBy::Cpu => format!("the limit is {:?}", self.cpu),
            EndedBy::Output => format!("the limit is {} bytes", self.output),
            EndedBy::Disk => format!("the limit is {} bytes", self.disk),
            EndedBy::Files => format!("the limit is {} files", self.files),
            EndedBy::Threads => format!("the limit is {} threads", self.threads),
            EndedBy::Calls => format!("the limit is {} calls", self.calls),
            EndedBy::Raised(exception) => {
                let memory = || format!("the limit on memory is {} bytes", self.memory);
                let has = |what| exception.message.contains(what);
                match &*exception.kind {
                    "MemoryError" => memory(),
                    "OSError" if has("[Errno 12]") => memory(),
                    "OSError" if has("[Errno 27]") => {
                        format!("the limit on disk is {} bytes", self.disk)
                    }
                    "OSError" if has("[Errno 24]") => {
                        format!("the limit on open files is {}", Limits::OPEN)
                    }
                    "RuntimeError" if has("can't start new thread") => memory(),
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.memory < Limits::MEMORY {
            return Err(Error::Policy(format!(
                "`Limits::memory` is {} bytes; Python needs at least {}",
                self.memory,
                Limits::MEMORY
            )));
        }
        if self.parallel == 0 {
            return Err(Error::Policy(
                "`Limits::parallel` is 0; no call could be made".to_owned(),
            ));
        }
        if self.message > u32::MAX as usize {
            return Err(Error::Policy(
                "`Limits::message` does not fit into 32 bits".to_owned(),
            ));
        }
        Ok(())
    }
}

/// Ends runs from another thread. Clones share their state.
///
/// ```
/// let stop = tool_python::Stop::new();
/// let limits = tool_python::Limits { stop: Some(stop.clone()), ..Default::default() };
/// stop.stop(); // a run with these limits ends at once, as `EndedBy::Stopped`
/// assert!(stop.is_stopped());
/// ```
#[derive(Clone, Default)]
pub struct Stop(Arc<StopState>);

#[derive(Default)]
struct StopState {
    stopped: AtomicBool,
    #[cfg_attr(not(feature = "code-mode"), allow(dead_code))]
    parent: Option<Stop>,
    wakes: Mutex<Vec<Weak<dyn Fn() + Send + Sync>>>,
}

impl Stop {
    /// Creates one that is not stopped.
    pub fn new() -> Stop {
        Stop::default()
    }

    /// Ends all runs with this in their limits, including later ones.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::SeqCst);
        let wakes = std::mem::take(&mut *lock(&self.0.wakes));
        for wake in wakes.iter().filter_map(Weak::upgrade) {
            wake();
        }
    }

    /// Returns `true` once [`stop`](Stop::stop) was called.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::SeqCst)
            || self.0.parent.as_ref().is_some_and(Stop::is_stopped)
    }

    /// Creates one that is stopped along with this one.
    #[cfg(feature = "code-mode")]
    pub(crate) fn child(&self) -> Stop {
        Stop(Arc::new(StopState {
            parent: Some(self.clone()),
            ..StopState::default()
        }))
    }

    /// Calls `wake` on a stop, as long as the returned value lives.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(crate) fn wakes(&self, wake: &Arc<dyn Fn() + Send + Sync>) {
        if let Some(parent) = &self.0.parent {
            parent.wakes(wake);
        }
        let mut wakes = lock(&self.0.wakes);
        wakes.retain(|wake| wake.strong_count() > 0);
        wakes.push(Arc::downgrade(wake));
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(&self.is_stopped()).finish()
    }
}
