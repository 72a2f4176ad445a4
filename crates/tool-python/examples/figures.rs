//! Measures the cost of the sandbox.
//!
//! ```sh
//! cargo run --release --package tool-python --example figures
//! ```

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tool_python::{EndedBy, HostCall, Inputs, Limits, NoTools, Policy, Sandbox, Tools, User};

struct Echo;

impl Tools for Echo {
    fn names(&self) -> Vec<String> {
        vec!["echo".to_owned()]
    }

    fn call(&self, call: HostCall) {
        call.answer("1");
    }
}

fn show(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{what:<50} median {:>7.2} ms, least {:>7.2} ms",
        ms(times[times.len() / 2]),
        ms(times[0])
    );
}

fn timed(runs: u32, mut run: impl FnMut()) -> Vec<Duration> {
    (0..runs)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let python = PathBuf::from(
        std::env::args()
            .nth(1)
            .unwrap_or_else(|| "/usr/bin/python3".to_owned()),
    );
    let policy = || {
        let policy = Policy::new().python(&python);
        let root = std::fs::read_to_string("/proc/self/status")
            .unwrap_or_default()
            .contains("Uid:\t0\t");
        if root {
            policy.user(User {
                uid: 65534,
                gid: 65534,
            })
        } else {
            policy
        }
    };
    let bare = |arguments: &[&str]| {
        timed(60, || {
            let mut command = Command::new(&python);
            let status = command
                .args(arguments)
                .env_clear()
                .stdout(Stdio::null())
                .status();
            assert!(status.is_ok_and(|status| status.success()));
        })
    };
    bare(&["-I", "-c", "0"]);
    show(
        "bare start to end (`python -I -c 0`)",
        bare(&["-I", "-c", "0"]),
    );
    show(
        "the same without `site` (`-S`)",
        bare(&["-I", "-S", "-c", "0"]),
    );

    let limits = Limits {
        calls: u64::MAX,
        ..Limits::default()
    };
    let inputs = Inputs::new();
    let run = |sandbox: &Sandbox| {
        let outcome = sandbox.run("1 + 1", &inputs, &NoTools, &limits).unwrap();
        assert_eq!(outcome.ended_by, EndedBy::Finished);
    };
    let fresh = Sandbox::new(policy())?;
    println!("Python {}", fresh.version());
    show(
        "start, lock, code to result, end, clean up",
        timed(60, || run(&fresh)),
    );

    let pooled = Sandbox::new(policy().pool(1))?;
    let times = (0..40)
        .flat_map(|_| {
            std::thread::sleep(Duration::from_millis(150));
            timed(1, || run(&pooled))
        })
        .collect();
    show("the same from a pool", times);

    let count = 20_000_u32;
    let code = format!(
        "import time\nstart = time.perf_counter()\nfor _ in range({count}): echo(a=1)\ntime.perf_counter() - start"
    );
    let outcome = fresh.run(&code, &inputs, &Echo, &limits)?;
    let seconds = outcome.result.ok_or("no result")?.text().parse::<f64>()?;
    println!(
        "{:<50} mean   {:>7.1} µs",
        "one call to the host",
        seconds * 1e6 / f64::from(count)
    );

    // From the decision to stop until `run` returns. It reaps the process and deletes the folder first.
    let kills = (0..40)
        .map(|_| {
            let stop = tool_python::Stop::new();
            let limits = Limits {
                stop: Some(stop.clone()),
                ..Limits::default()
            };
            std::thread::scope(|scope| {
                let run = scope.spawn(|| {
                    let outcome = pooled
                        .run("while True: pass", &inputs, &NoTools, &limits)
                        .unwrap();
                    (Instant::now(), outcome.ended_by)
                });
                std::thread::sleep(Duration::from_millis(80));
                let start = Instant::now();
                stop.stop();
                let (end, ended_by) = run.join().unwrap();
                assert_eq!(ended_by, EndedBy::Stopped);
                end - start
            })
        })
        .collect();
    show("stop to reaped", kills);
    Ok(())
}
