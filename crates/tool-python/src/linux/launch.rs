//! Starts interpreters and checks that they are locked.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::{Arc, OnceLock, Weak, mpsc};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::Shared;
use super::disk::{CACHE, RunFolder};
use super::measure::{Usage, measure};
use crate::{Error, Limits, lock};

/// On a slow disk, loading Python's library takes seconds the first time.
const START: Duration = Duration::from_secs(20);

/// Folders of shared libraries and their data. None contains private files.
const SYSTEM: &[&str] = &[
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/etc/ld.so.cache",
    "/usr/share/zoneinfo",
    "/usr/share/fonts",
    "/dev/zero",
    "/dev/urandom",
];

// From `linux/landlock.h`.
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
/// Write, read, list and remove files and folders; create regular files and folders; move them between folders;
/// truncate.
const WRITE: u64 =
    1 << 1 | READ_FILE | READ_DIR | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 13 | 1 << 14;
/// Number of file rights by ABI version.
const RIGHTS: [u32; 6] = [0, 13, 14, 15, 15, 16];

/// An interpreter that has not run any code. It is killed on drop.
pub(super) struct Process {
    pub(super) child: Child,
    pub(super) pid: Pid,
    pub(super) channel: UnixStream,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
    pub(super) folder: Option<RunFolder>,
    is_ready: bool,
}

/// Runs a closure on the thread that starts every interpreter of this program.
///
/// The kernel kills an interpreter when the *thread* that started it ends (`PR_SET_PDEATHSIG`), so this thread lives as
/// long as the program.
fn on_spawner(job: impl FnOnce() + Send + 'static) {
    type Job = Box<dyn FnOnce() + Send>;
    static SPAWNER: OnceLock<mpsc::Sender<Job>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (sender, jobs) = mpsc::channel::<Job>();
        thread::Builder::new()
            .name("tool-python".to_owned())
            .spawn(move || jobs.into_iter().for_each(|job| job()))
            .expect("a thread can be started");
        sender
    });
    spawner.send(Box::new(job)).expect("the spawner never ends");
}

/// Starts an interpreter without waiting until it is locked.
pub(super) fn start(shared: &Arc<Shared>) -> Result<Process, Error> {
    let (sender, started) = mpsc::sync_channel(1);
    let shared = Arc::clone(shared);
    on_spawner(move || {
        let _ = sender.send(spawn(&shared));
    });
    started
        .recv()
        .unwrap_or_else(|_| Err(Error::Start("starting Python panicked".to_owned())))
}

/// Adds an interpreter to the pool in the background, if there is room.
pub(super) fn refill(shared: &Arc<Shared>) {
    if shared.policy.pool == 0 {
        return;
    }
    let shared: Weak<Shared> = Arc::downgrade(shared);
    on_spawner(move || {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        if lock(&shared.ready).len() >= shared.policy.pool {
            return;
        }
        // If this fails, the next run starts its own interpreter and reports the error.
        if let Ok(process) = spawn(&shared) {
            lock(&shared.ready).push_back(process);
        }
    });
}

fn spawn(shared: &Shared) -> Result<Process, Error> {
    let failed = |error| {
        Error::Start(format!(
            "`{}` can't be started: {error}",
            shared.interpreter.executable.display()
        ))
    };
    let folder = RunFolder::create(&shared.policy)?;
    let (channel, theirs) = UnixStream::pair().map_err(Error::named("the channel to Python"))?;
    // Without user, groups or closures, std uses `posix_spawn`, which doesn't copy the page tables of this program. A
    // `fork` of a program with 1 GB takes 56 ms. The script changes the user itself.
    let mut child = Command::new(&shared.interpreter.executable)
        .arg0(&shared.interpreter.executable)
        .args([
            "-I",
            "-S",
            "-B",
            "-X",
            "utf8",
            "-c",
            include_str!("load.py"),
        ])
        .env_clear()
        .env("HOME", folder.path())
        .env("TMPDIR", folder.path())
        .env("MPLCONFIGDIR", folder.path().join(CACHE))
        .env("MPLBACKEND", "agg")
        .env("LANG", "C.UTF-8")
        .env("OPENSSL_CONF", "/dev/null")
        // In the address space, each thread of OpenBLAS maps 32 MB, and each arena of malloc 64 MB.
        .env("OPENBLAS_NUM_THREADS", "1")
        .env("OMP_NUM_THREADS", "1")
        .env("MALLOC_ARENA_MAX", "1")
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(Error::Start("Python started without its pipes".to_owned()));
    };
    let pid = Pid::from_child(&child);
    let mut process = Process {
        child,
        pid,
        channel,
        stdout,
        stderr,
        folder: Some(folder),
        is_ready: false,
    };
    process.limit()?;
    let orders = process.orders(shared);
    let sent = process.channel.write_all(&orders);
    sent.map_err(Error::named("Python does not take its orders"))?;
    Ok(process)
}

/// Returns the four bytes before a message, in either direction.
pub(super) fn frame_length(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes)
        .expect("messages are shorter than 4 GiB")
        .to_le_bytes()
}

/// Writes the fields that `boot.py` reads: their number, then the length and bytes of each.
fn fields(fields: &[Vec<u8>]) -> Vec<u8> {
    let mut text = frame_length(fields.len()).to_vec();
    for field in fields {
        text.extend(frame_length(field.len()));
        text.extend(field);
    }
    text
}

/// Returns a limit for a process, lowered to the limit of this process.
pub(super) fn lowered(resource: Resource, most: u64) -> u64 {
    let own = rustix::process::getrlimit(resource).maximum;
    own.unwrap_or(u64::MAX).min(most)
}

impl Process {
    /// Sets the limits that are the same for all runs, while the process still belongs to this user.
    fn limit(&self) -> Result<(), Error> {
        for (resource, most) in [
            (Resource::Core, 0),
            (Resource::Memlock, 0),
            (Resource::Msgqueue, 0),
            (Resource::Nofile, Limits::OPEN),
            (Resource::Sigpending, 1_024),
            (Resource::Stack, 8 << 20),
        ] {
            // Keeps a lower limit of this program.
            let most = lowered(resource, most);
            prlimit(
                Some(self.pid),
                resource,
                Rlimit {
                    current: Some(most),
                    maximum: Some(most),
                },
            )
            .map_err(|error| {
                Error::Start(format!("the limit {resource:?} can't be set: {error}"))
            })?;
        }
        Ok(())
    }

    fn orders(&self, shared: &Shared) -> Vec<u8> {
        let (capset, seccomp, prlimit) = if cfg!(target_arch = "aarch64") {
            (91, 277, 261)
        } else {
            (126, 317, 302)
        };
        let last_capability =
            fs::read_to_string("/proc/sys/kernel/cap_last_cap").unwrap_or_default();
        let abi = shared.kernel.landlock_abi;
        let handled = (1_u64 << RIGHTS[(abi as usize).min(RIGHTS.len() - 1)]) - 1;
        // Network: bind and connect TCP. Scope: abstract sockets, signals.
        let numbers = format!(
            "(444, {abi}, {handled}, 3, 3, {READ_FILE}, {READ_DIR}, {WRITE}, {seccomp}, {capset}, {prlimit}, {})",
            last_capability.trim().parse::<u32>().unwrap_or(40),
        );
        let mut reads = Vec::new();
        let system = SYSTEM.iter().map(Path::new);
        let all = shared
            .interpreter
            .reads
            .iter()
            .chain(&shared.policy.reads)
            .map(PathBuf::as_path);
        for path in system.chain(all) {
            if !reads.is_empty() {
                reads.push(0);
            }
            reads.extend(path.as_os_str().as_bytes());
        }
        let id = |id: Option<u32>| id.map(|id| id.to_string()).unwrap_or_default().into_bytes();
        let mut orders = vec![
            std::process::id().to_string().into_bytes(),
            id(shared.policy.user.map(|user| user.uid)),
            id(shared.policy.user.map(|user| user.gid)),
            self.folder().path().as_os_str().as_bytes().to_vec(),
            numbers.into_bytes(),
            reads,
        ];
        if shared.kernel.seccomp {
            orders.extend(shared.filters.of(self.child.id()));
        }
        let mut text = frame_length(shared.interpreter.boot.len()).to_vec();
        text.extend(&shared.interpreter.boot);
        text.extend(fields(&orders));
        text
    }

    pub(super) fn folder(&self) -> &RunFolder {
        self.folder.as_ref().expect("taken when the run ends")
    }

    /// Measures the resources that the process uses; see [`measure`].
    pub(super) fn measure(&self, most: usize, longest: u64) -> io::Result<Usage> {
        let proc = PathBuf::from(format!("/proc/{}", self.child.id()));
        measure(&proc, self.folder(), most, longest)
    }

    /// Returns an error if this program lacks the rights to measure a run.
    pub(super) fn prove_measurable(&self) -> Result<(), Error> {
        match self.measure(usize::MAX, 0) {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::Start(format!(
                "this program can't measure what Python uses, so no limit would hold: {error}"
            ))),
        }
    }

    /// Waits until the process reports its lock, and checks the lock from outside.
    pub(super) fn make_ready(&mut self, shared: &Shared) -> Result<(), Error> {
        if self.is_ready {
            return Ok(());
        }
        let limited = self.channel.set_read_timeout(Some(START));
        limited.map_err(Error::named("the channel to Python"))?;
        let mut length = [0; 4];
        let mut said = Vec::new();
        let read = self.channel.read_exact(&mut length).and_then(|()| {
            // Only the trusted script has run so far, and it sends short strings.
            said.resize((u32::from_le_bytes(length) as usize).min(1 << 16), 0);
            self.channel.read_exact(&mut said)
        });
        if let Err(error) = read {
            let what = match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => "took too long to start".to_owned(),
                _ => format!("ended before it was locked: {}", self.last_words()),
            };
            return Err(Error::Start(format!("Python {what}")));
        }
        let said = String::from_utf8_lossy(&said);
        if !said.starts_with("locked") {
            return Err(Error::Start(format!(
                "Python could not lock itself: {said}"
            )));
        }
        let layers =
            usize::from(shared.kernel.landlock_abi > 0) * 2 + usize::from(shared.kernel.seccomp);
        if said.split(' ').count() != 1 + layers {
            return Err(Error::Start(format!(
                "Python reports an incomplete lock: {said}"
            )));
        }
        check_status(self.child.id(), shared)?;
        self.is_ready = true;
        Ok(())
    }

    /// Returns the stderr of a failed start.
    fn last_words(&mut self) -> String {
        let _ = self.child.kill();
        let mut words = Vec::new();
        let _ = (&mut self.stderr).take(4_096).read_to_end(&mut words);
        String::from_utf8_lossy(&words).trim().to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The capabilities that root needs to run code as another user, from `linux/capability.h`. Docker grants all but the
/// last.
const CAPABILITIES: [(u32, &str); 8] = [
    // To give the run folder to the user, to empty it, and to open folders in it that the code has closed.
    (0, "CAP_CHOWN"),
    (1, "CAP_DAC_OVERRIDE"),
    (3, "CAP_FOWNER"),
    // To end the process.
    (5, "CAP_KILL"),
    // To change the user.
    (6, "CAP_SETGID"),
    (7, "CAP_SETUID"),
    // To drop capabilities that the process could gain.
    (8, "CAP_SETPCAP"),
    // To see the files that the process has open and mapped.
    (19, "CAP_SYS_PTRACE"),
];

/// Returns an error that names the missing capabilities, if this program runs as root.
pub(super) fn check_capabilities() -> Result<(), Error> {
    let own = status_of("self")?;
    let effective = u64::from_str_radix(&field(&own, "CapEff"), 16).unwrap_or(0);
    let missing: Vec<_> = CAPABILITIES
        .iter()
        .filter(|(number, _)| effective & 1 << number == 0)
        .map(|&(_, name)| name)
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(Error::Capabilities(missing))
    }
}

/// Returns a field of `/proc/PID/status`. Empty if it is missing.
fn field(status: &str, name: &str) -> String {
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let words = value.unwrap_or_default().split_whitespace();
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the kernel's status of a process.
fn status_of(pid: &str) -> Result<String, Error> {
    let path = format!("/proc/{pid}/status");
    fs::read_to_string(&path).map_err(Error::named(path))
}

/// Checks the kernel's status of the process.
fn check_status(pid: u32, shared: &Shared) -> Result<(), Error> {
    let text = status_of(&pid.to_string())?;
    let own = status_of("self")?;
    let mut expected = vec![("NoNewPrivs", "1".to_owned()), ("Threads", "1".to_owned())];
    for sets in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        expected.push((sets, format!("{:016x}", 0)));
    }
    if let Some(user) = shared.policy.user {
        let (uid, gid) = (user.uid, user.gid);
        expected.push(("Uid", format!("{uid} {uid} {uid} {uid}")));
        expected.push(("Gid", format!("{gid} {gid} {gid} {gid}")));
        expected.push(("Groups", String::new()));
        expected.push(("CapBnd", format!("{:016x}", 0)));
    }
    if shared.kernel.seccomp {
        expected.push(("Seccomp", "2".to_owned()));
        // Exists since Linux 5.9. The count includes filters inherited from this program.
        if let Ok(inherited) = field(&own, "Seccomp_filters").parse::<u32>() {
            expected.push(("Seccomp_filters", (inherited + 2).to_string()));
        }
    }
    for (name, value) in expected {
        let found = field(&text, name);
        if found != value {
            return Err(Error::Start(format!(
                "the lock is incomplete: {name} is `{found}`, not `{value}`"
            )));
        }
    }
    Ok(())
}
