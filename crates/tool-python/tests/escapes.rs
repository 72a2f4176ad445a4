//! Attempts to escape, listed in `escapes/attempts.txt`, as root with another user and as the same user.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::TcpListener;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::{policy, sandbox};
use tool_python::{EndedBy, HostCall, Inputs, Layer, Limits, Outcome, Sandbox, Stop, Tools};

const ATTEMPTS: &str = include_str!("escapes/attempts.txt");
const PRELUDE: &str = include_str!("escapes/prelude.py");
const SECRET: &str = "THE SECRET";

struct Attempt {
    name: &'static str,
    layer: &'static str,
    evidence: &'static str,
    code: &'static str,
}

fn attempts() -> Vec<Attempt> {
    let mut attempts = Vec::new();
    for part in ATTEMPTS.split("\n=== ").skip(1) {
        let (head, code) = part.split_once('\n').expect("a line of code");
        let fields = head.split(" | ").collect::<Vec<_>>();
        let [name, layer, evidence] = fields[..] else {
            panic!("{head}")
        };
        attempts.push(Attempt {
            name,
            layer,
            evidence,
            code,
        });
    }
    attempts
}

/// The targets of the attempts.
struct Target {
    folder: PathBuf,
    server: TcpListener,
    socket: UnixListener,
    /// Stays open on exec, like files opened by C libraries.
    _inherited: fs::File,
    prelude: String,
}

impl Target {
    fn new(name: &str, sibling: &(u64, String)) -> Target {
        let folder =
            std::env::temp_dir().join(format!("tool-python-outside-{}-{name}", std::process::id()));
        fs::DirBuilder::new().mode(0o777).create(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        let secret = folder.join("secret");
        fs::write(&secret, SECRET).unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o666)).unwrap();
        fs::create_dir(folder.join("empty")).unwrap();
        fs::set_permissions(folder.join("empty"), fs::Permissions::from_mode(0o777)).unwrap();
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = UnixListener::bind(folder.join("socket")).unwrap();
        fs::set_permissions(folder.join("socket"), fs::Permissions::from_mode(0o777)).unwrap();
        socket.set_nonblocking(true).unwrap();
        server.set_nonblocking(true).unwrap();
        let file = fs::File::open(&secret).unwrap();
        // A descriptor with a high number, which nothing else here has.
        let inherited = rustix::io::fcntl_dupfd_cloexec(&file, 300).unwrap();
        rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::empty()).unwrap();
        let prelude = format!(
            "OUTSIDE = {:?}\nSECRET = OUTSIDE + '/secret'\nHOST = {}\nSIBLING = {}\nSIBLING_FOLDER = {:?}\nPORT = {}\n\
             INHERITED = {}\n{PRELUDE}",
            folder.to_str().unwrap(),
            std::process::id(),
            sibling.0,
            sibling.1,
            server.local_addr().unwrap().port(),
            inherited.as_raw_fd(),
        );
        Target {
            folder,
            server,
            socket,
            _inherited: inherited.into(),
            prelude,
        }
    }

    /// Describes what an attempt changed outside.
    fn damage(&self) -> Option<String> {
        let mut names = fs::read_dir(&self.folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect::<Vec<_>>();
        names.sort();
        if names != ["empty", "secret", "socket"] {
            return Some(format!("files outside are {names:?}"));
        }
        let secret = self.folder.join("secret");
        if fs::read_to_string(&secret).ok().as_deref() != Some(SECRET) {
            return Some("the secret was changed".to_owned());
        }
        let data = fs::metadata(&secret).unwrap();
        if data.permissions().mode() & 0o7777 != 0o666 {
            return Some("the mode of the secret was changed".to_owned());
        }
        if self.server.accept().is_ok() || self.socket.accept().is_ok() {
            return Some("it connected to a server".to_owned());
        }
        None
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

struct Prelude<'a>(&'a str);

impl Tools for Prelude<'_> {
    fn prelude(&self) -> String {
        self.0.to_owned()
    }

    fn call(&self, call: HostCall) {
        call.fail("no such tool");
    }
}

/// Small limits. Only an attempt that should reach a time limit gets a short one.
fn limits(attempt: &Attempt) -> Limits {
    let runs_out = attempt.evidence.contains("Time");
    let time = if runs_out {
        Duration::from_millis(800)
    } else {
        Duration::from_secs(60)
    };
    Limits {
        time,
        cpu: time,
        memory: 200 << 20,
        output: 10_000,
        disk: 8 << 20,
        files: 100,
        threads: 16,
        calls: 1_000,
        ..Limits::default()
    }
}

/// Returns an error unless the outcome shows the expected evidence.
fn stopped(attempt: &Attempt, outcome: &Outcome) -> Result<(), String> {
    let result = outcome.result.as_ref().map_or("", |value| value.text());
    let all = [
        result,
        &outcome.stdout,
        &outcome.stderr,
        &outcome.ended_by.to_string(),
    ]
    .concat();
    if all.contains(SECRET) {
        return Err("it read the secret".to_owned());
    }
    let (kind, rest) = attempt
        .evidence
        .split_once(' ')
        .unwrap_or((attempt.evidence, ""));
    let found = match (kind, &outcome.ended_by) {
        ("held", EndedBy::Finished) => result == "\"held\"",
        ("raises", EndedBy::Raised(exception)) => exception.kind == rest,
        ("signal", EndedBy::Signal(signal)) => rest == signal.to_string(),
        ("ends", ended_by) => {
            let ended_by = format!("{ended_by:?}");
            let name = ended_by.split('(').next();
            rest.split(' ').any(|limit| Some(limit) == name)
        }
        (_, EndedBy::Raised(exception)) => attempt.evidence.split(' ').any(|name| {
            exception
                .message
                .starts_with(&format!("[Errno {}]", number(name)))
        }),
        _ => false,
    };
    if found {
        Ok(())
    } else {
        Err(format!(
            "{:?}, result {result:?}, stderr {:?}",
            outcome.ended_by, outcome.stderr
        ))
    }
}

fn number(name: &str) -> i32 {
    let known = BTreeMap::from([
        ("EPERM", 1),
        ("ENOENT", 2),
        ("ENXIO", 6),
        ("EBADF", 9),
        ("ENOMEM", 12),
        ("EACCES", 13),
        ("EBUSY", 16),
        ("EXDEV", 18),
        ("EMFILE", 24),
        ("EFBIG", 27),
        ("ENOSYS", 38),
    ]);
    known
        .get(name)
        .copied()
        .unwrap_or_else(|| panic!("unknown evidence {name}"))
}

/// Calls `with` while another run of the sandbox is waiting, and passes its process and folder.
fn beside_another_run<T>(sandbox: &Sandbox, with: impl FnOnce(&(u64, String)) -> T) -> T {
    struct Sibling(Mutex<mpsc::Sender<(u64, String)>>);
    impl Tools for Sibling {
        fn call(&self, call: HostCall) {
            #[derive(serde::Deserialize)]
            struct Arguments {
                pid: u64,
                folder: String,
            }
            let Arguments { pid, folder } = serde_json::from_str(call.arguments()).unwrap();
            self.0.lock().unwrap().send((pid, folder)).unwrap();
            call.answer("null");
        }
    }
    let stop = Stop::new();
    let limits = Limits {
        time: Duration::from_secs(600),
        stop: Some(stop.clone()),
        ..Limits::default()
    };
    let (sender, started) = mpsc::channel();
    thread::scope(|scope| {
        let run = scope.spawn(|| {
            let code = "import os, time\ncall_tool('x', pid=os.getpid(), folder=os.getcwd())\ntime.sleep(1000)";
            sandbox.run(code, &Inputs::new(), &Sibling(Mutex::new(sender)), &limits).unwrap()
        });
        let result = with(&started.recv().unwrap());
        stop.stop();
        assert_eq!(
            run.join().unwrap().ended_by,
            EndedBy::Stopped,
            "an attempt ended another run"
        );
        result
    })
}

#[test]
fn every_attempt_to_escape_is_stopped() {
    let Some(sandbox) = sandbox(policy().pool(3)) else {
        return;
    };
    let attempts = attempts();
    assert!(attempts.len() >= 200, "{} attempts", attempts.len());
    let next = Mutex::new(attempts.iter());
    let escaped = Mutex::new(Vec::new());
    beside_another_run(&sandbox, |sibling| {
        thread::scope(|scope| {
            for worker in 0..4 {
                let (next, escaped, sandbox) = (&next, &escaped, &sandbox);
                scope.spawn(move || {
                    let target = Target::new(&worker.to_string(), sibling);
                    loop {
                        let attempt = next.lock().unwrap().next();
                        let Some(attempt) = attempt else { break };
                        let outcome = sandbox
                            .run(
                                attempt.code,
                                &Inputs::new(),
                                &Prelude(&target.prelude),
                                &limits(attempt),
                            )
                            .unwrap();
                        let result =
                            stopped(attempt, &outcome).and(target.damage().map_or(Ok(()), Err));
                        if let Err(what) = result {
                            escaped
                                .lock()
                                .unwrap()
                                .push(format!("{} ({}): {what}", attempt.name, attempt.layer));
                        }
                    }
                });
            }
        });
    });
    let escaped = escaped.into_inner().unwrap();
    assert!(
        escaped.is_empty(),
        "{} of {}:\n{}",
        escaped.len(),
        attempts.len(),
        escaped.join("\n")
    );
}

/// The list would prove nothing if the attempts failed for other reasons, so they must succeed without the sandbox.
#[test]
fn without_a_layer_what_it_stops_succeeds() {
    let full = Sandbox::probe();
    if !full.complete() {
        eprintln!("skipped: {full}");
        return;
    }
    for (layer, names) in [
        (
            Layer::Landlock,
            &[
                "read a file outside",
                "list the root",
                "create a file outside",
                "truncate a file outside by path",
            ][..],
        ),
        (
            Layer::Seccomp,
            &[
                "connect to a server on this machine",
                "start a program with subprocess",
                "send a descriptor",
            ][..],
        ),
    ] {
        let weaker =
            Sandbox::new(policy().kernel(full.without(layer)).allow_weaker(layer)).unwrap();
        for name in names {
            let attempts = attempts();
            let attempt = attempts
                .iter()
                .find(|attempt| attempt.name == *name)
                .unwrap();
            let target = Target::new(&format!("weaker-{layer:?}"), &(1, String::new()));
            let outcome = weaker
                .run(
                    attempt.code,
                    &Inputs::new(),
                    &Prelude(&target.prelude),
                    &limits(attempt),
                )
                .unwrap();
            let result = stopped(attempt, &outcome).and(target.damage().map_or(Ok(()), Err));
            assert!(
                result.is_err(),
                "{name} fails without {layer:?}: {:?}",
                outcome.ended_by
            );
        }
    }
}

/// Copies a program by another one. If this program wrote the file itself, a process started by another test could
/// inherit the open file, and then it can't be started.
fn install(from: &Path, to: &Path) {
    let status = Command::new("install")
        .args(["-m", "755"])
        .args([from, to])
        .status();
    assert!(status.unwrap().success(), "{}", to.display());
}

/// As root, runs the tests of this file again as another user, whose files and processes the code then shares.
#[test]
fn every_attempt_is_stopped_for_a_host_that_is_not_root() {
    if !common::is_root() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("tool-python-test-{}", std::process::id()));
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let copy = folder.join("escapes");
    install(&std::env::current_exe().unwrap(), &copy);
    let mut command = Command::new(&copy);
    command
        .args([
            "--exact",
            "every_attempt_to_escape_is_stopped",
            "without_a_layer_what_it_stops_succeeds",
        ])
        .uid(common::NOBODY.uid)
        .gid(common::NOBODY.gid)
        .current_dir("/");
    let output = loop {
        match command.output() {
            // A process started by another test has the copy open until it runs its own program.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => thread::yield_now(),
            output => break output.unwrap(),
        }
    };
    fs::remove_dir_all(&folder).unwrap();
    std::io::stderr().write_all(&output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("2 passed"));
}

/// Not a test, but the host that `root_without_a_capability_gets_no_sandbox` starts.
#[test]
fn a_host_without_capabilities() {
    if std::env::var_os("TOOL_PYTHON_CAPABILITIES").is_none() {
        return;
    }
    match Sandbox::new(policy()) {
        Ok(sandbox) => println!("\nran {:?}", common::run(&sandbox, "1 + 1").ended_by),
        Err(error) => println!("\nrefused {error}"),
    }
}

/// Docker withholds `CAP_SYS_PTRACE`, without which the files of a process can't be seen.
#[test]
fn root_without_a_capability_gets_no_sandbox() {
    if !common::is_root() || sandbox(policy()).is_none() {
        return;
    }
    let host = |capabilities: &str| {
        let output = Command::new("setpriv")
            .arg(format!("--bounding-set={capabilities}"))
            .arg(format!("--inh-caps={capabilities}"))
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "a_host_without_capabilities", "--nocapture"])
            .env("TOOL_PYTHON_CAPABILITIES", "1")
            .output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let needed = [
        "chown",
        "dac_override",
        "fowner",
        "kill",
        "setgid",
        "setuid",
        "setpcap",
        "sys_ptrace",
    ];
    let without = |missing: &str| {
        let kept = needed.iter().filter(|name| **name != missing);
        kept.fold("-all".to_owned(), |all, name| format!("{all},+{name}"))
    };
    let said = match host(&without("none")) {
        Ok(said) => said,
        Err(error) => {
            eprintln!("skipped: setpriv: {error}");
            return;
        }
    };
    assert!(said.contains("\nran Finished"), "{said}");
    for missing in needed {
        let said = host(&without(missing)).unwrap();
        let name = format!("CAP_{}", missing.to_ascii_uppercase());
        assert!(
            said.contains(&format!(
                "\nrefused this program runs as root without {name}: "
            )),
            "{missing}: {said}"
        );
    }
}

/// Not a test, but the host that `a_run_dies_with_its_host` kills.
#[test]
fn a_host_to_kill() {
    if std::env::var_os("TOOL_PYTHON_HOST").is_none() {
        return;
    }
    let sandbox = Sandbox::new(policy()).unwrap();
    beside_another_run(&sandbox, |sibling| {
        println!("\npid {}", sibling.0);
        thread::sleep(Duration::from_secs(600));
    });
}

#[test]
fn a_run_dies_with_its_host() {
    if sandbox(policy()).is_none() {
        return;
    }
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_host_to_kill", "--nocapture"])
        .env("TOOL_PYTHON_HOST", "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(host.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    let pid = lines
        .find_map(|line| line.strip_prefix("pid ").map(str::to_owned))
        .unwrap();
    // Its folder stays, because nobody is left to delete it.
    let folder = fs::read_link(format!("/proc/{pid}/cwd")).unwrap();
    // The folder is still in use.
    sandbox(policy()).unwrap();
    assert!(folder.exists());
    host.kill().unwrap();
    host.wait().unwrap();
    let is_there = || {
        fs::read_to_string(format!("/proc/{pid}/stat"))
            .is_ok_and(|stat| !stat.contains(") Z ") && !stat.contains(") X "))
    };
    for _ in 0..1_000 {
        if !is_there() {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert!(!is_there());
    // Nobody has it locked any more, so the next sandbox deletes it.
    sandbox(policy()).unwrap();
    assert!(!folder.exists());
}

/// `PR_SET_PDEATHSIG` follows the thread that starts a process.
#[test]
fn a_pool_outlives_the_thread_that_created_it() {
    let create = || {
        let sandbox = sandbox(policy().pool(1))?;
        common::run(&sandbox, "1");
        Some(sandbox)
    };
    if let Some(sandbox) = thread::spawn(create).join().unwrap() {
        for _ in 0..3 {
            assert_eq!(common::run(&sandbox, "1").ended_by, EndedBy::Finished);
        }
    }
}

/// The host doesn't trust the interpreter's own report of the lock.
#[test]
fn an_interpreter_that_only_claims_to_be_locked_gets_no_code() {
    if sandbox(policy()).is_none() {
        return;
    }
    let path = std::env::temp_dir().join(format!("tool-python-liar-{}", std::process::id()));
    let claim = |said: &str| {
        let length = format!("\\{:03o}\\000\\000\\000", said.len());
        let script = format!(
            "#!/bin/sh\nif [ $# = 6 ]; then printf 'version 3.11.0\\nimplementation cpython\\nexecutable {}\\nboot 00\\n\
             ctypes yes\\n'; else printf '{length}{said}' >&0; exec sleep 100; fi\n",
            path.display(),
        );
        let draft = path.with_extension("sh");
        fs::write(&draft, script).unwrap();
        install(&draft, &path);
        fs::remove_file(&draft).unwrap();
        let error = Sandbox::new(policy().python(&path)).unwrap_err();
        fs::remove_file(&path).unwrap();
        error.to_string()
    };
    let error = claim("locked landlock landlock seccomp");
    assert!(
        error.contains("the lock is incomplete: NoNewPrivs is `0`, not `1`"),
        "{error}"
    );
    let error = claim("locked seccomp");
    assert!(error.contains("incomplete lock"), "{error}");
    let error = claim("failed landlock_restrict_self: nope");
    assert!(error.contains("could not lock itself"), "{error}");
}

#[test]
fn nothing_is_left_when_a_sandbox_is_dropped() {
    let folder = std::env::temp_dir().join(format!("tool-python-left-{}", std::process::id()));
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    if let Some(sandbox) = sandbox(policy().pool(2).folder(&folder)) {
        common::run(&sandbox, "open('x', 'w').write('y')");
        drop(sandbox);
        // The background thread that fills the pool notices that the sandbox is gone.
        let is_empty = |folder: &Path| fs::read_dir(folder).unwrap().next().is_none();
        for _ in 0..1_000 {
            if is_empty(&folder) {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        assert!(is_empty(&folder));
    }
    fs::remove_dir_all(&folder).unwrap();
}
