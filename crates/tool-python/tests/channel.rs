//! Calls from the code to the host, and messages that a hostile process can send instead.

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use common::{limits, policy, sandbox};
use tool_python::{EndedBy, HostCall, Inputs, Limits, NoTools, Outcome, Sandbox, Tools};

/// Answers each call with a closure.
struct Host<F>(&'static [&'static str], F);

impl<F: Fn(HostCall) + Sync> Tools for Host<F> {
    fn names(&self) -> Vec<String> {
        self.0.iter().map(|&name| name.to_owned()).collect()
    }

    fn call(&self, call: HostCall) {
        self.1(call);
    }
}

fn run(sandbox: &Sandbox, code: &str, tools: &dyn Tools) -> Outcome {
    sandbox.run(code, &Inputs::new(), tools, &limits()).unwrap()
}

fn text(outcome: &Outcome) -> &str {
    assert_eq!(outcome.ended_by, EndedBy::Finished, "{outcome:?}");
    outcome.result.as_ref().map_or("null", |value| value.text())
}

/// Returns the arguments.
fn echo(call: HostCall) {
    let arguments = call.arguments().to_owned();
    call.answer(&arguments);
}

#[test]
fn calls_carry_exact_values_both_ways() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let code = "
value = {'n': 2 ** 200, 'f': 0.1, 't': 'ü\\n\"\\u2028', 'l': [None, True, []], 'd': {'': -0.0}}
echo(**value) == value and str(echo(**value)['d']['']) == '-0.0'";
    let outcome = run(&sandbox, code, &Host(&["echo"], echo));
    assert_eq!((text(&outcome), outcome.calls), ("true", 2));
}

#[test]
fn arguments_without_an_exact_form_are_rejected_inside() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let code = "
said = []
for value in (float('nan'), float('inf'), {1: 2}, {3}, b'', '\\ud800', object):
    try:
        echo(value=value)
    except TypeError as error:
        said.append(str(error))
len(said)";
    let outcome = run(&sandbox, code, &Host(&["echo"], echo));
    assert_eq!((text(&outcome), outcome.calls), ("7", 0));
}

#[test]
fn a_failed_call_raises_its_message() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let code = "
said = []
for tool in (fails, lies, silent):
    try:
        tool()
    except ToolError as error:
        said.append(str(error))
said";
    let tools = Host(&["fails", "lies", "silent"], |call: HostCall| {
        match call.name() {
            "fails" => call.fail("no \"such\" train"),
            "lies" => call.answer("{not json"),
            _ => drop(call),
        }
    });
    let outcome = run(&sandbox, code, &tools);
    assert_eq!(
        text(&outcome),
        r#"["no \"such\" train","the tool returned invalid JSON","the tool returned no result"]"#
    );
}

#[test]
fn calls_run_side_by_side_in_gather_and_in_threads() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    // Each answer waits until all calls of its group have arrived.
    let waiting = Mutex::new(Vec::new());
    let tools = Host(&["meet"], |call: HostCall| {
        let mut waiting = waiting.lock().unwrap();
        waiting.push(call);
        if waiting.len() == 8 {
            // Answers in another order.
            for call in waiting.drain(..).rev() {
                echo(call);
            }
        }
    });
    let code = "
import asyncio
async def main():
    return await asyncio.gather(*[meet.start(n=n) for n in range(8)])
[answer['n'] for answer in await main()]";
    assert_eq!(text(&run(&sandbox, code, &tools)), "[0,1,2,3,4,5,6,7]");
    let code = "
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    answers = list(pool.map(lambda n: meet(n=n)['n'], range(8)))
answers";
    assert_eq!(text(&run(&sandbox, code, &tools)), "[0,1,2,3,4,5,6,7]");
    let code = "
import asyncio
async def main():
    loop = asyncio.get_running_loop()
    calls = [meet.start(n=n) for n in range(4)] + [asyncio.to_thread(meet, n=n) for n in range(4, 8)]
    return [answer['n'] for answer in await asyncio.gather(*calls)]
await main()";
    assert_eq!(text(&run(&sandbox, code, &tools)), "[0,1,2,3,4,5,6,7]");
}

/// Keeps calls until the limit is reached or no further call comes, and then answers one of them.
struct Full {
    calls: Mutex<Vec<HostCall>>,
    most: AtomicUsize,
}

impl Full {
    fn new() -> Full {
        Full {
            calls: Mutex::default(),
            most: AtomicUsize::new(0),
        }
    }

    /// Answers the calls, one after another.
    fn serve(&self, is_done: &AtomicBool) {
        while !is_done.load(Ordering::SeqCst) {
            let last = self.calls.lock().unwrap().pop();
            match last {
                Some(call) => echo(call),
                None => thread::yield_now(),
            }
        }
    }
}

impl Tools for Full {
    fn names(&self) -> Vec<String> {
        vec!["echo".to_owned()]
    }

    fn call(&self, call: HostCall) {
        let mut calls = self.calls.lock().unwrap();
        calls.push(call);
        self.most.fetch_max(calls.len(), Ordering::SeqCst);
    }
}

/// The code may send its calls one by one, in an event loop, or all in one write with arbitrary splits.
#[test]
fn never_more_calls_than_the_limit_wait_for_answers() {
    let Some(sandbox) = sandbox(policy().pool(1)) else {
        return;
    };
    let gathered = "
import asyncio
answers = await asyncio.gather(*[echo.start(n='x' * (n % 7 * 400)) for n in range(500)])
len(answers)";
    let written = "
import os, stat
fd = next(n for n in range(3, 100) if stat.S_ISSOCK(os.fstat(n).st_mode))
sent = b''
for n in range(500):
    call = b'{\"call\":%d,\"name\":\"echo\",\"arguments\":{\"x\":\"%s\"}}' % (n + 1, b'x' * (n % 7 * 10))
    sent += len(call).to_bytes(4, 'little') + call
while sent:
    sent = sent[os.write(fd, sent[:SIZE]):]
answers = 0
while answers < 500:
    length = int.from_bytes(os.read(fd, 4), 'little')
    while length: length -= len(os.read(fd, length))
    answers += 1
answers";
    let sizes = [7, 1_000, 1_000_000].map(|size| written.replace("SIZE", &size.to_string()));
    for parallel in [1, 2, 5, 64] {
        for code in sizes.iter().map(String::as_str).chain([gathered]) {
            let host = Full::new();
            let is_done = AtomicBool::new(false);
            let limits = Limits {
                parallel,
                ..limits()
            };
            let outcome = thread::scope(|scope| {
                scope.spawn(|| host.serve(&is_done));
                let outcome = sandbox.run(code, &Inputs::new(), &host, &limits);
                is_done.store(true, Ordering::SeqCst);
                outcome.unwrap()
            });
            assert_eq!((text(&outcome), outcome.calls), ("500", 500));
            let most = host.most.load(Ordering::SeqCst);
            assert!(most <= parallel, "{most} of {parallel}");
        }
    }
}

/// The host handles only as many as the limit allows, and no call waits for a process that is gone.
#[test]
fn calls_without_an_answer_do_not_hold_back_the_end() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let code = "
import os, stat
fd = next(n for n in range(3, 100) if stat.S_ISSOCK(os.fstat(n).st_mode))
for n in range(100):
    call = b'{\"call\":%d,\"name\":\"echo\",\"arguments\":{}}' % n
    os.write(fd, len(call).to_bytes(4, 'little') + call)
'the end'";
    let host = Full::new();
    let limits = Limits {
        parallel: 10,
        ..limits()
    };
    let outcome = sandbox.run(code, &Inputs::new(), &host, &limits).unwrap();
    assert_eq!((text(&outcome), outcome.calls), ("\"the end\"", 10));
}

#[test]
fn a_held_call_stops_the_clock() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    thread::scope(|scope| {
        let (sender, calls) = std::sync::mpsc::channel::<HostCall>();
        scope.spawn(move || {
            for call in calls {
                thread::sleep(Duration::from_millis(900));
                echo(call);
            }
        });
        let tools = Host(&["approve"], move |mut call: HostCall| {
            call.hold();
            sender.send(call).unwrap();
        });
        let short = Limits {
            time: Duration::from_secs(1),
            ..limits()
        };
        let outcome = sandbox
            .run("approve(n=1)['n']", &Inputs::new(), &tools, &short)
            .unwrap();
        assert_eq!(text(&outcome), "1");
        drop(tools);
    });
}

#[test]
fn the_prelude_defines_functions_in_the_same_namespace() {
    struct Typed;
    impl Tools for Typed {
        fn prelude(&self) -> String {
            "def add(a: int, b: int) -> int:\n    return call_tool('math.add', a=a, b=b)['a'] + b"
                .to_owned()
        }
        fn call(&self, call: HostCall) {
            assert_eq!(call.name(), "math.add");
            echo(call);
        }
    }
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    assert_eq!(text(&run(&sandbox, "add(1, b=2)", &Typed)), "3");
}

/// Never answers calls of `slow`.
struct Slow(Mutex<Vec<HostCall>>);
impl Tools for Slow {
    fn call(&self, call: HostCall) {
        match call.name() {
            "slow" => self.0.lock().unwrap().push(call),
            _ => call.fail("no such tool"),
        }
    }
}

#[test]
fn hostile_messages_end_the_run_and_never_the_host() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    // Finds the channel, which is the only socket.
    let channel = "
import os, stat
fd = next(n for n in range(100) if n > 2 and stat.S_ISSOCK(os.fstat(n).st_mode))
def frame(data):
    os.write(fd, len(data).to_bytes(4, 'little') + data)
";
    let slow = Slow(Mutex::default());
    let few = Limits {
        calls: 100,
        message: 100_000,
        time: Duration::from_secs(3),
        ..limits()
    };
    for (what, code, expected) in [
        (
            "garbage",
            "frame(b'garbage')",
            "a message that is not valid",
        ),
        ("empty", "frame(b'')", "a message that is not valid"),
        (
            "empty object called",
            "frame(b'{\"call\":1}')",
            "a message that is not valid",
        ),
        (
            "unknown field",
            "frame(b'{\"end\":null,\"more\":1}')",
            "a message that is not valid",
        ),
        (
            "two ends",
            "frame(b'{\"exit\":1,\"text\":\"x\"}')",
            "a message that is not valid",
        ),
        (
            "arguments",
            "frame(b'{\"call\":1,\"name\":\"x\",\"arguments\":[]}')",
            "a message that is not valid",
        ),
        (
            "one number twice",
            "frame(b'{\"call\":1,\"name\":\"slow\",\"arguments\":{}}')\nframe(b'{\"call\":1,\"name\":\"slow\",\"arguments\":{}}')\nwhile True: pass",
            "two calls with one number",
        ),
        (
            "a call and its end in one",
            "frame(b'{\"call\":1,\"name\":\"x\",\"arguments\":{},\"cancel\":1}')",
            "a message that is not valid",
        ),
        (
            "ends calls that nobody made",
            "for n in range(10000): frame(b'{\"cancel\":%d}' % n)\nframe(b'garbage')",
            "a message that is not valid",
        ),
        (
            "not UTF-8",
            "frame(b'{\"text\":\"\\xff\"}')",
            "a message that is not valid",
        ),
        (
            "NaN",
            "frame(b'{\"call\":1,\"name\":\"x\",\"arguments\":{\"a\":NaN}}')",
            "a message that is not valid",
        ),
        (
            "negative",
            "frame(b'{\"call\":-1,\"name\":\"x\",\"arguments\":{}}')",
            "a message that is not valid",
        ),
        (
            "giant",
            "os.write(fd, b'\\xff\\xff\\xff\\xff')",
            "a message of 4294967295 bytes",
        ),
        (
            "over the limit",
            "frame(b'x' * 100001)",
            "a message of 100001 bytes",
        ),
        (
            "closed",
            "os.close(fd)\nimport time\ntime.sleep(100)",
            "closed its channel",
        ),
        (
            "never reads",
            "while True: frame(b'{\"call\":1,\"name\":\"x\",\"arguments\":{}}')",
            "too many calls",
        ),
        (
            "half",
            "os.write(fd, b'\\x10\\x00\\x00\\x00{')\nimport time\ntime.sleep(100)",
            "too long",
        ),
        ("silence", "import time\ntime.sleep(100)", "too long"),
    ] {
        let outcome = sandbox
            .run(&format!("{channel}{code}"), &Inputs::new(), &slow, &few)
            .unwrap();
        let ended_by = outcome.ended_by.to_string();
        assert!(ended_by.contains(expected), "{what}: {outcome:?}");
    }
    // Deep nesting needs no stack in the host, because arguments stay text.
    let deep = format!(
        "{channel}frame(b'{{\"call\":1,\"name\":\"x\",\"arguments\":{{\"a\":' + b'[' * 40000 + b']' * 40000 + b'}}}}')"
    );
    let outcome = sandbox.run(&deep, &Inputs::new(), &NoTools, &few).unwrap();
    assert_eq!((outcome.ended_by, outcome.calls), (EndedBy::Finished, 1));
    // A forged end is final: the host reads nothing after it.
    let forged = format!("{channel}frame(b'{{\"value\":1}}')\nwhile True: pass");
    let outcome = sandbox
        .run(&forged, &Inputs::new(), &NoTools, &few)
        .unwrap();
    assert_eq!(text(&outcome), "1");
}

#[test]
fn a_call_answered_after_the_end_is_ignored() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let kept = Mutex::new(Vec::new());
    let code = "
import threading, time
threading.Thread(target=lambda: late(), daemon=True).start()
while not echo(): pass";
    let tools = Host(&["late", "echo"], |call: HostCall| {
        let mut kept = kept.lock().unwrap();
        if call.name() == "late" {
            kept.push(call);
        } else {
            call.answer(if kept.is_empty() { "false" } else { "true" });
        }
    });
    text(&run(&sandbox, code, &tools));
    for call in kept.lock().unwrap().drain(..) {
        call.answer("1");
    }
}
