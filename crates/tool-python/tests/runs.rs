//! The outcomes of runs.

mod common;

use std::path::Path;
use std::time::Duration;

use common::{limits, policy, run, sandbox};
use tool_python::{
    EndedBy, Error, Inputs, Layer, Limits, NoTools, Policy, Sandbox, Stop, User, Value,
};

#[test]
fn a_run_returns_the_value_of_the_last_line_and_what_was_printed() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let inputs = Inputs::new().json("rows", "[3, 1, 2]").unwrap();
    let code = "import sys\nprint('one')\nprint('two', file=sys.stderr)\nsorted(rows)";
    let outcome = sandbox.run(code, &inputs, &NoTools, &limits()).unwrap();
    assert_eq!(outcome.ended_by, EndedBy::Finished);
    assert_eq!((&*outcome.stdout, &*outcome.stderr), ("one\n", "two\n"));
    assert_eq!(outcome.result.unwrap().text(), "[1,2,3]");
}

/// The process doesn't exit like a normal Python, which would flush them.
#[test]
fn what_is_left_in_buffers_is_written_at_the_end() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let code = "
import io, sys
sys.stdout.write('out')
sys.stderr.write('err')
f = open('text', 'w')
f.write('1')
g = open('bytes', 'wb')
g.write(b'22')
kept = io.TextIOWrapper(io.BufferedWriter(io.FileIO('nested', 'w')))
kept.write('333')
sys.stdout = io.StringIO()";
    for end in ["", "\nraise SystemExit(0)"] {
        let outcome = run(&sandbox, &format!("{code}{end}"));
        assert_eq!((&*outcome.stdout, &*outcome.stderr), ("out", "err"));
        let sizes: Vec<_> = outcome.files.iter().map(|file| file.bytes).collect();
        assert_eq!(sizes, [2, 3, 1], "{:?}", outcome.files);
    }
}

#[test]
fn values_are_exact_json_or_text() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let json = |code: &str| match run(&sandbox, code).result {
        Some(Value::Json(json)) => json.get().to_owned(),
        other => panic!("{code}: {other:?}"),
    };
    assert_eq!(json("2 ** 100"), "1267650600228229401496703205376");
    assert_eq!(json("0.1"), "0.1");
    assert_eq!(json("-0.0"), "-0.0");
    assert_eq!(
        json(r#"{"a": (1, True, None), "ü\n\"": []}"#),
        r#"{"a":[1,true,null],"ü\n\"":[]}"#
    );
    let text = |code: &str| match run(&sandbox, code).result {
        Some(Value::Text(text)) => text,
        other => panic!("{code}: {other:?}"),
    };
    assert_eq!(text("[float('nan')]"), "[nan]");
    assert_eq!(text("float('inf')"), "inf");
    assert_eq!(text("{1: 2}"), "{1: 2}");
    assert_eq!(text("'\\ud800'"), "'\\ud800'");
    assert_eq!(text("{3}"), "{3}");
    assert!(run(&sandbox, "x = 1").result.is_none());
    assert!(run(&sandbox, "None").result.is_none());
}

#[test]
fn inputs_are_exact() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let inputs = Inputs::new()
        .json(
            "x",
            r#"[123456789012345678901234567890, 1.5, "\u00fc", {"a": null}]"#,
        )
        .unwrap();
    let code = "x == [123456789012345678901234567890, 1.5, 'ü', {'a': None}]";
    let outcome = sandbox.run(code, &inputs, &NoTools, &limits()).unwrap();
    assert_eq!(outcome.result.unwrap().text(), "true");
    assert!(Inputs::new().json("x", "NaN").is_err());
    // Too large for a float, so it would become infinite.
    let inputs = Inputs::new().json("x", "1e999").unwrap();
    assert!(
        sandbox
            .run("x", &inputs, &NoTools, &limits())
            .is_ok_and(|outcome| !outcome.is_finished())
    );
}

#[test]
fn an_exception_has_a_traceback_with_the_lines_of_the_code() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let EndedBy::Raised(exception) =
        run(&sandbox, "def half(x):\n    return 1 / x\nhalf(0)").ended_by
    else {
        panic!()
    };
    assert_eq!(
        (&*exception.kind, &*exception.message),
        ("ZeroDivisionError", "division by zero")
    );
    assert!(
        exception.traceback.contains("return 1 / x"),
        "{}",
        exception.traceback
    );
    assert!(
        !exception.traceback.contains("<string>"),
        "{}",
        exception.traceback
    );
    let EndedBy::Raised(exception) = run(&sandbox, "x = = 1").ended_by else {
        panic!()
    };
    assert_eq!(exception.kind, "SyntaxError");
}

#[test]
fn await_works_at_the_top() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let code = "import asyncio\nasync def f(x):\n    await asyncio.sleep(0)\n    return x\nawait asyncio.gather(f(1), f(2))";
    let outcome = run(&sandbox, code);
    assert_eq!(
        outcome.result.map(|value| value.text().to_owned()),
        Some("[1,2]".to_owned()),
        "{}",
        outcome.ended_by
    );
}

#[test]
fn exits_and_crashes_are_named() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    assert_eq!(
        run(&sandbox, "raise SystemExit(3)").ended_by,
        EndedBy::Exit(3)
    );
    assert_eq!(run(&sandbox, "exit()").ended_by, EndedBy::Exit(0));
    assert_eq!(
        run(&sandbox, "import os\nos._exit(4)").ended_by,
        EndedBy::Exit(4)
    );
    assert_eq!(
        run(&sandbox, "import os\nos.abort()").ended_by,
        EndedBy::Signal(6)
    );
    assert_eq!(
        run(&sandbox, "import ctypes\nctypes.string_at(0)").ended_by,
        EndedBy::Signal(11)
    );
}

/// The kernel ends the first thread before the others. Meanwhile it looks as if only that one had ended.
#[test]
fn leaving_while_threads_run_is_an_exit() {
    let Some(sandbox) = sandbox(policy().pool(2)) else {
        return;
    };
    let code = "
import os, threading, time
for n in range(40): threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
time.sleep(0.02 * WAIT)
LEAVE";
    for wait in 0..10 {
        for (leave, expected) in [
            ("os._exit(3)", EndedBy::Exit(3)),
            (
                "threading.Thread(target=os._exit, args=(4,)).start(); time.sleep(100)",
                EndedBy::Exit(4),
            ),
            ("1", EndedBy::Finished),
        ] {
            let wait = format!("{}", f64::from(wait) / 5.0);
            let code = code.replace("WAIT", &wait).replace("LEAVE", leave);
            assert_eq!(run(&sandbox, &code).ended_by, expected, "{leave}");
        }
    }
}

#[test]
fn files_are_listed_read_and_deleted() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let code = "import os\nos.mkdir('b')\nf = open('b/two.txt', 'w')\nf.write('22')\nopen('one', 'w').write('1')\nos.getcwd()";
    let outcome = run(&sandbox, code);
    let files = outcome
        .files
        .iter()
        .map(|file| (file.path.to_str().unwrap(), file.bytes))
        .collect::<Vec<_>>();
    assert_eq!(files, [("b/two.txt", 2), ("one", 1)]);
    assert_eq!(outcome.read("b/two.txt", 100).unwrap(), b"22");
    assert!(outcome.read("b/two.txt", 1).is_err());
    assert!(outcome.read("../../etc/passwd", 1 << 20).is_err());
    let folder = outcome
        .result
        .as_ref()
        .unwrap()
        .text()
        .trim_matches('"')
        .to_owned();
    assert!(Path::new(&folder).is_dir());
    drop(outcome);
    assert!(!Path::new(&folder).exists());
}

#[test]
fn the_run_folder_is_deleted_whatever_is_in_it() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let code = "
import os
top = os.getcwd()
os.mkdir('locked', 0)
os.mkdir('deep')
for n in range(200):
    os.mkdir('d' * 100)
    os.mkdir('0')
    os.chdir('d' * 100)
top";
    let limits = Limits {
        files: 1_000_000,
        ..limits()
    };
    let outcome = sandbox
        .run(code, &Inputs::new(), &NoTools, &limits)
        .unwrap();
    let folder = outcome
        .result
        .as_ref()
        .map(|value| value.text().trim_matches('"').to_owned());
    drop(outcome);
    // The deep nesting may have ended the run before the code returned.
    assert!(folder.is_none_or(|folder| !Path::new(&folder).exists()));
}

#[test]
fn each_run_has_a_process_and_a_folder_to_itself() {
    let Some(sandbox) = sandbox(policy().pool(2)) else {
        return;
    };
    let code =
        "import os, random\nopen('x', 'x').write('1')\n[os.getpid(), os.getcwd(), random.random()]";
    let outcomes = (0..6).map(|_| run(&sandbox, code)).collect::<Vec<_>>();
    for (at, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.ended_by, EndedBy::Finished);
        for other in &outcomes[..at] {
            assert_ne!(
                outcome.result.as_ref().unwrap().text(),
                other.result.as_ref().unwrap().text()
            );
        }
    }
    // Leftovers of one run would fail the exclusive creation in the next.
    drop(outcomes);
}

#[test]
fn limits_end_a_run_and_keep_what_it_printed() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let short = |limits| {
        sandbox
            .run(
                "print('before')\nwhile True: pass",
                &Inputs::new(),
                &NoTools,
                &limits,
            )
            .unwrap()
    };
    let outcome = short(Limits {
        time: Duration::from_millis(300),
        ..limits()
    });
    assert_eq!(
        (outcome.ended_by, &*outcome.stdout),
        (EndedBy::Time, "before\n")
    );
    let outcome = short(Limits {
        cpu: Duration::from_millis(300),
        ..limits()
    });
    assert_eq!(
        (outcome.ended_by, &*outcome.stdout),
        (EndedBy::Cpu, "before\n")
    );
    let small = Limits {
        output: 1_000,
        ..limits()
    };
    let outcome = sandbox
        .run(
            "while True: print('x' * 99)",
            &Inputs::new(),
            &NoTools,
            &small,
        )
        .unwrap();
    assert_eq!(
        (outcome.ended_by, outcome.stdout.len()),
        (EndedBy::Output, 1_000)
    );
    let outcome = sandbox
        .run("print('x' * 2000)", &Inputs::new(), &NoTools, &small)
        .unwrap();
    assert_eq!(
        (outcome.ended_by, outcome.stdout.len()),
        (EndedBy::Output, 1_000)
    );
}

#[test]
fn a_run_is_stopped_from_elsewhere() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let stop = Stop::new();
    let limits = Limits {
        stop: Some(stop.clone()),
        ..limits()
    };
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            sandbox
                .run("while True: pass", &Inputs::new(), &NoTools, &limits)
                .unwrap()
        });
        stop.stop();
        assert_eq!(run.join().unwrap().ended_by, EndedBy::Stopped);
    });
}

#[test]
fn a_missing_layer_is_refused_by_name_and_accepted_only_in_the_code() {
    let full = Sandbox::probe();
    if !full.complete() {
        return;
    }
    for (layer, name) in [(Layer::Landlock, "Landlock"), (Layer::Seccomp, "seccomp")] {
        let kernel = full.without(layer);
        let refused = Sandbox::new(policy().kernel(kernel)).unwrap_err();
        assert!(matches!(refused, Error::Missing { layer: found, .. } if found == layer));
        assert!(refused.to_string().contains(name), "{refused}");
        let weaker = Sandbox::new(policy().kernel(kernel).allow_weaker(layer)).unwrap();
        assert_eq!(run(&weaker, "1 + 1").result.unwrap().text(), "2");
    }
}

#[test]
fn root_needs_a_user_and_a_user_needs_root() {
    let policy = Policy::new().python(common::python());
    if common::is_root() {
        assert!(matches!(Sandbox::new(policy.clone()), Err(Error::Root)));
        let root = Sandbox::new(policy.user(User { uid: 0, gid: 0 }));
        assert!(root.unwrap_err().to_string().contains("can't be root"));
    } else {
        assert!(
            Sandbox::new(policy.user(common::NOBODY))
                .unwrap_err()
                .to_string()
                .contains("as root")
        );
    }
}

#[test]
fn an_interpreter_that_cannot_be_used_is_an_error() {
    let error = |path: &str| Sandbox::new(policy().python(path)).unwrap_err().to_string();
    assert!(error("/nonexistent/python").contains("can't be started"));
    let unlike = error("/bin/true");
    assert!(unlike.contains("`/bin/true` can't be used"), "{unlike}");
}

#[test]
fn too_little_memory_is_an_error() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let small = Limits {
        memory: 64 << 20,
        ..limits()
    };
    assert!(
        sandbox
            .run("1", &Inputs::new(), &NoTools, &small)
            .unwrap_err()
            .to_string()
            .contains("201326592")
    );
}
