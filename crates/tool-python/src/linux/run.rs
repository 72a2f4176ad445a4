//! One run: sends the code, answers its calls, and enforces the limits from outside.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::mem;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::process::{PidfdFlags, Resource, pidfd_open};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::launch::{Process, frame_length, lowered};
use crate::host::Answers;
use crate::{EndedBy, Error, Exception, HostCall, Inputs, Limits, Outcome, Tools, Value, lock};

/// Interval between measurements of disk, threads and processor time.
const TICK: Duration = Duration::from_millis(20);
/// Maximum number of bytes in answers that the code has not read.
const UNREAD: usize = 64 << 20;
/// Time limit for a process to end after closing its channel.
const LEAVE: Duration = Duration::from_millis(200);

/// The first message to the code.
#[derive(Serialize)]
struct Order<'a> {
    code: &'a str,
    prelude: String,
    tools: Vec<String>,
    inputs: Variables<'a>,
    limits: [(u8, u64); 3],
    /// Maximum number of bytes of a message to the host.
    message: usize,
}

// The same on every architecture, from `asm-generic/resource.h`.
const RLIMIT_CPU: u8 = 0;
const RLIMIT_FSIZE: u8 = 1;
const RLIMIT_AS: u8 = 9;

struct Variables<'a>(&'a Inputs);

impl Serialize for Variables<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.values.iter().map(|(name, value)| (name, value)))
    }
}

/// A message from the code, which is not trusted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    call: Option<u64>,
    /// The number of a call that the code no longer waits for.
    cancel: Option<u64>,
    name: Option<String>,
    arguments: Option<Box<RawValue>>,
    value: Option<Box<RawValue>>,
    text: Option<String>,
    raised: Option<Exception>,
    exit: Option<u8>,
    #[serde(default)]
    end: Option<()>,
}

/// Answers that wait until the run's thread writes them.
struct Outbox {
    state: Mutex<State>,
    wake: OwnedFd,
}

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    /// The numbers of the calls without an answer; `true` if cancelled.
    pending: HashMap<u64, bool>,
    held: usize,
}

impl Outbox {
    fn wake(&self) {
        // Fails if the counter is full. Then the thread wakes anyway.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }
}

impl Answers for Outbox {
    fn answer(&self, id: u64, answer: Result<&str, &str>) {
        let mut text = String::new();
        match answer {
            Ok(json) => write!(text, "{{\"id\":{id},\"value\":{json}}}"),
            Err(message) => {
                let message = serde_json::to_string(message).expect("strings serialize");
                write!(text, "{{\"id\":{id},\"error\":{message}}}")
            }
        }
        .expect("writing to a string succeeds");
        let mut state = lock(&self.state);
        // The protocol has 32-bit lengths.
        if text.len() > UNREAD {
            text = format!("{{\"id\":{id},\"error\":\"the result is too long\"}}");
        }
        state.bytes.extend(frame_length(text.len()));
        state.bytes.extend(text.as_bytes());
        state.pending.remove(&id);
        drop(state);
        self.wake();
    }

    fn hold(&self, held: bool) {
        let mut state = lock(&self.state);
        state.held = if held {
            state.held + 1
        } else {
            state.held.saturating_sub(1)
        };
        drop(state);
        self.wake();
    }
}

struct Run<'a> {
    process: Process,
    limits: &'a Limits,
    tools: &'a dyn Tools,
    outbox: Arc<Outbox>,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
    stdout: Output,
    stderr: Output,
    calls: u64,
    result: Option<Value>,
    /// Set while a call that was read has to wait until another one is answered.
    is_blocked: bool,
    /// The failed measurement for which the process was killed.
    unmeasured: Option<String>,
}

#[derive(Default)]
struct Output {
    bytes: Vec<u8>,
    closed: bool,
}

pub(super) fn run(
    process: Process,
    code: &str,
    inputs: &Inputs,
    tools: &dyn Tools,
    limits: &Limits,
    refill: &dyn Fn(),
) -> Result<Outcome, Error> {
    let unblocked = process.channel.set_nonblocking(true);
    unblocked.map_err(Error::named("the channel to Python"))?;
    let output = || Error::named("the output of Python");
    rustix::io::ioctl_fionbio(&process.stdout, true).map_err(output())?;
    rustix::io::ioctl_fionbio(&process.stderr, true).map_err(output())?;
    // In seconds, above the measured limit, which should be met first.
    let cpu = limits.cpu.as_secs().saturating_add(2);
    // Keeps a lower limit of this program.
    let rlimits = [
        (RLIMIT_CPU, lowered(Resource::Cpu, cpu)),
        (RLIMIT_FSIZE, lowered(Resource::Fsize, limits.disk)),
        (RLIMIT_AS, lowered(Resource::As, limits.memory)),
    ];
    let order = Order {
        code,
        prelude: tools.prelude(),
        tools: tools.names(),
        inputs: Variables(inputs),
        limits: rlimits,
        message: limits.message,
    };
    let order = serde_json::to_vec(&order).map_err(|error| Error::Policy(error.to_string()))?;
    if order.len() > u32::MAX as usize {
        return Err(Error::Policy(
            "the code and its inputs are longer than 4 GiB".to_owned(),
        ));
    }
    let mut outgoing = frame_length(order.len()).to_vec();
    outgoing.extend(order);
    let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
    let wake = wake.map_err(Error::named("an `eventfd`"))?;
    let outbox = Arc::new(Outbox {
        state: Mutex::default(),
        wake,
    });
    let run = Run {
        process,
        limits,
        tools,
        outbox,
        outgoing,
        incoming: Vec::new(),
        stdout: Output::default(),
        stderr: Output::default(),
        calls: 0,
        result: None,
        is_blocked: false,
        unmeasured: None,
    };
    run.drive(refill)
}

impl Run<'_> {
    fn drive(mut self, refill: &dyn Fn()) -> Result<Outcome, Error> {
        let pidfd = pidfd_open(self.process.pid, PidfdFlags::empty());
        let pidfd = pidfd.map_err(Error::named("the `pidfd` of Python"))?;
        let outbox = Arc::clone(&self.outbox);
        let wake: Arc<dyn Fn() + Send + Sync> = Arc::new(move || outbox.wake());
        if let Some(stop) = &self.limits.stop {
            stop.wakes(&wake);
        }
        let ended_by = self.watch(&pidfd, refill)?;
        let _ = self.process.child.kill();
        let status = self.process.child.wait();
        let status = status.map_err(Error::named("the exit status of Python"))?;
        let unmeasured = self.unmeasured.take();
        let ended_by = ended_by.unwrap_or_else(|| match (status.signal(), status.code()) {
            (Some(signal), _) if signal == libc::SIGXCPU => EndedBy::Cpu,
            (Some(signal), _) => match unmeasured {
                // A process that ended by itself has another status.
                Some(problem) if signal == libc::SIGKILL => EndedBy::Unmeasured(problem),
                _ => EndedBy::Signal(signal),
            },
            (None, code) => {
                EndedBy::Exit(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
            }
        });
        // Output from before the end is still in the pipes.
        let fits = self.read_outputs();
        let ended_by = if fits || !matches!(ended_by, EndedBy::Finished) {
            ended_by
        } else {
            EndedBy::Output
        };
        refill();
        let folder = self
            .process
            .folder
            .take()
            .expect("a process has a folder until here");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let files = folder.files(self.limits.files);
        Ok(Outcome {
            result: self.result,
            stdout: text(self.stdout.bytes),
            stderr: text(self.stderr.bytes),
            files,
            calls: self.calls,
            limit: self.limits.met(&ended_by),
            ended_by,
            folder,
        })
    }

    /// Serves the process until it ends or has to be ended. Returns `None` if it ended by itself.
    fn watch(&mut self, pidfd: &OwnedFd, refill: &dyn Fn()) -> Result<Option<EndedBy>, Error> {
        let mut left = self.limits.time;
        let mut last = Instant::now();
        let mut next_tick = last + TICK;
        let mut closed: Option<Instant> = None;
        let mut is_refilled = false;
        loop {
            if self
                .limits
                .stop
                .as_ref()
                .is_some_and(crate::Stop::is_stopped)
            {
                return Ok(Some(EndedBy::Stopped));
            }
            // Each answer makes room for a call that was read before.
            if let Err(ended_by) = self.handle_incoming(false) {
                return Ok(Some(ended_by));
            }
            let held = {
                let mut state = lock(&self.outbox.state);
                self.outgoing.append(&mut state.bytes);
                state.held > 0
            };
            if self.outgoing.len() > UNREAD + (8 << 20) + self.limits.message {
                return Ok(Some(EndedBy::Channel(
                    "it doesn't read its answers".to_owned(),
                )));
            }
            if closed.is_none() {
                self.write()?;
            }
            let now = Instant::now();
            if !held {
                left = left.saturating_sub(now - last);
            }
            last = now;
            if left.is_zero() {
                return Ok(Some(EndedBy::Time));
            }
            if closed.is_some_and(|closed| now - closed > LEAVE) {
                return Ok(Some(EndedBy::Channel("it closed its channel".to_owned())));
            }
            if now >= next_tick {
                // Not at the beginning, because a start occupies a processor for longer than most runs.
                if !mem::replace(&mut is_refilled, true) {
                    refill();
                }
                if let Some(ended_by) = self.measure() {
                    return Ok(Some(ended_by));
                }
                next_tick = Instant::now() + TICK;
            }

            let mut wants = PollFlags::empty();
            if closed.is_none() {
                wants.set(PollFlags::IN, !self.is_blocked);
                wants.set(PollFlags::OUT, !self.outgoing.is_empty());
            }
            let (has_message, has_output, has_ended) = {
                let mut fds = vec![
                    PollFd::new(pidfd, PollFlags::IN),
                    PollFd::new(&self.outbox.wake, PollFlags::IN),
                ];
                let mut channel = None;
                if !wants.is_empty() {
                    channel = Some(fds.len());
                    fds.push(PollFd::new(&self.process.channel, wants));
                }
                let outputs = fds.len();
                if !self.stdout.closed {
                    fds.push(PollFd::from_borrowed_fd(
                        self.process.stdout.as_fd(),
                        PollFlags::IN,
                    ));
                }
                if !self.stderr.closed {
                    fds.push(PollFd::from_borrowed_fd(
                        self.process.stderr.as_fd(),
                        PollFlags::IN,
                    ));
                }
                let wait = left.min(next_tick.saturating_duration_since(now));
                let wait = Timespec {
                    tv_sec: wait.as_secs().cast_signed(),
                    tv_nsec: wait.subsec_nanos().into(),
                };
                match poll(&mut fds, Some(&wait)) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(Error::named("waiting for Python")(error)),
                }
                let ready = |at: usize| !fds[at].revents().is_empty();
                let message =
                    channel.is_some_and(|at| !(fds[at].revents() - PollFlags::OUT).is_empty());
                if ready(1) {
                    let _ = rustix::io::read(&self.outbox.wake, &mut [0; 8]);
                }
                (message, (outputs..fds.len()).any(ready), ready(0))
            };
            if has_output && !self.read_outputs() {
                return Ok(Some(EndedBy::Output));
            }
            let mut is_open = true;
            if has_message || has_ended {
                match self.read_messages(has_ended) {
                    Ok(open) => is_open = open,
                    Err(ended_by) => return Ok(Some(ended_by)),
                }
            }
            if has_ended {
                // Everything that it sent before its end was read.
                return Ok(None);
            }
            if !is_open && closed.is_none() {
                closed = Some(Instant::now());
            }
        }
    }

    fn write(&mut self) -> Result<(), Error> {
        while !self.outgoing.is_empty() {
            match self.process.channel.write(&self.outgoing) {
                Ok(written) => drop(self.outgoing.drain(..written)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The process closed its end, which the next read will show.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
                    ) =>
                {
                    self.outgoing.clear();
                }
                Err(error) => return Err(Error::named("the channel to Python")(error)),
            }
        }
        Ok(())
    }

    /// Reads and handles messages. Returns `false` at the end of the channel, and an error if the run ends.
    fn read_messages(&mut self, has_ended: bool) -> Result<bool, EndedBy> {
        let mut chunk = [0; 1 << 14];
        // A process that sends without pause must not delay the checks of the limits.
        for _ in 0..64 {
            if self.handle_incoming(has_ended)? {
                return Ok(true);
            }
            match self.process.channel.read(&mut chunk) {
                Ok(0) => return Ok(false),
                Ok(read) => self.incoming.extend(&chunk[..read]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Ok(false),
            }
        }
        self.handle_incoming(has_ended)?;
        Ok(true)
    }

    /// Handles messages that were read, up to the limit on unanswered calls. Returns `true` if the next call has to
    /// wait. If the process `has_ended`, drops further calls, because nobody waits for them.
    fn handle_incoming(&mut self, has_ended: bool) -> Result<bool, EndedBy> {
        let parallel = self.limits.parallel;
        let is_full = |outbox: &Outbox| lock(&outbox.state).pending.len() >= parallel;
        if self.is_blocked && is_full(&self.outbox) && !has_ended {
            return Ok(true);
        }
        self.is_blocked = false;
        let mut at = 0;
        while let Some(length) = self.incoming.get(at..at + 4) {
            let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
            if length > self.limits.message {
                return Err(EndedBy::Channel(format!("a message of {length} bytes")));
            }
            let Some(text) = self.incoming.get(at + 4..at + 4 + length) else {
                break;
            };
            let message = serde_json::from_slice::<Message>(text)
                .map_err(|_| EndedBy::Channel("a message that is not valid".to_owned()))?;
            let must_wait = message.call.is_some() && is_full(&self.outbox);
            if must_wait && !has_ended {
                self.incoming.drain(..at);
                self.is_blocked = true;
                return Ok(true);
            }
            at += 4 + length;
            if !must_wait {
                self.handle(message)?;
            }
        }
        self.incoming.drain(..at);
        Ok(false)
    }

    /// Handles one message. An `Err` ends the run, even a successful one.
    fn handle(&mut self, message: Message) -> Result<(), EndedBy> {
        match message {
            Message {
                call: Some(id),
                cancel: None,
                name: Some(name),
                arguments: Some(arguments),
                value: None,
                text: None,
                raised: None,
                exit: None,
                end: None,
            } if arguments.get().starts_with('{') => {
                if self.calls >= self.limits.calls {
                    return Err(EndedBy::Calls);
                }
                self.calls += 1;
                let old = lock(&self.outbox.state).pending.insert(id, false);
                if old.is_some() {
                    return Err(EndedBy::Channel("two calls with one number".to_owned()));
                }
                let answers: Arc<dyn Answers> = self.outbox.clone();
                self.tools.call(HostCall {
                    id,
                    name,
                    arguments,
                    answers: Some(answers),
                    held: false,
                });
                Ok(())
            }
            Message {
                call: None,
                cancel: Some(id),
                name: None,
                arguments: None,
                value: None,
                text: None,
                raised: None,
                exit: None,
                end: None,
            } => {
                // A call is cancelled once, and only before its answer.
                let is_new = match lock(&self.outbox.state).pending.get_mut(&id) {
                    Some(is_cancelled) => !mem::replace(is_cancelled, true),
                    None => false,
                };
                if is_new {
                    self.tools.cancel(id);
                }
                Ok(())
            }
            Message {
                call: None,
                cancel: None,
                name: None,
                arguments: None,
                value,
                text,
                raised,
                exit,
                end: None,
            } => {
                match (value, text, raised, exit) {
                    (Some(value), None, None, None) => self.result = Some(Value::Json(value)),
                    (None, Some(text), None, None) => self.result = Some(Value::Text(text)),
                    (None, None, Some(exception), None) => return Err(EndedBy::Raised(exception)),
                    (None, None, None, Some(status)) => return Err(EndedBy::Exit(status)),
                    (None, None, None, None) => {}
                    _ => return Err(EndedBy::Channel("a message that is not valid".to_owned())),
                }
                Err(EndedBy::Finished)
            }
            _ => Err(EndedBy::Channel("a message that is not valid".to_owned())),
        }
    }

    /// Reads the output of the code. Returns `false` if it exceeds the limit.
    fn read_outputs(&mut self) -> bool {
        let mut left = self
            .limits
            .output
            .saturating_sub(self.stdout.bytes.len() + self.stderr.bytes.len());
        read_output(&mut self.process.stdout, &mut self.stdout, &mut left)
            && read_output(&mut self.process.stderr, &mut self.stderr, &mut left)
    }

    /// Measures the resources that the kernel doesn't limit.
    fn measure(&mut self) -> Option<EndedBy> {
        let limits = self.limits;
        let usage = match self.process.measure(limits.files, limits.disk) {
            Ok(usage) => usage,
            // The process may be ending, or may be trying to avoid the measurement. Its status after the kill tells
            // them apart.
            Err(error) => {
                self.unmeasured.get_or_insert(error.to_string());
                let _ = self.process.child.kill();
                return None;
            }
        };
        if usage.cpu > limits.cpu {
            return Some(EndedBy::Cpu);
        }
        if usage.threads > limits.threads as u64 {
            return Some(EndedBy::Threads);
        }
        if usage.files > limits.files || usage.is_too_deep {
            return Some(EndedBy::Files);
        }
        (usage.bytes > limits.disk).then_some(EndedBy::Disk)
    }
}

/// Reads the available output. Returns `false` if it is more than `left`.
fn read_output(pipe: &mut impl Read, output: &mut Output, left: &mut usize) -> bool {
    let mut chunk = [0; 1 << 14];
    while !output.closed {
        match pipe.read(&mut chunk) {
            Ok(0) => output.closed = true,
            Ok(read) => {
                let kept = read.min(*left);
                output.bytes.extend(&chunk[..kept]);
                *left -= kept;
                if kept < read {
                    return false;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(_) => output.closed = true,
        }
    }
    true
}
