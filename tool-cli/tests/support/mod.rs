//! Runs the example `desk` as a user does.

// No test file uses all of it.
#![allow(dead_code)]

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) log: String,
}

/// Returns the program, which cargo builds before the tests.
pub(crate) fn program() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let folder = test
        .parent()
        .and_then(|deps| deps.parent())
        .expect("a target folder");
    folder
        .join("examples")
        .join(format!("desk{}", std::env::consts::EXE_SUFFIX))
}

/// Runs the program in a pipe, and waits for its end.
pub(crate) fn desk(flags: &[&str], input: &str) -> Ran {
    desk_in(&std::env::temp_dir(), flags, input)
}

/// Runs the program in a folder.
pub(crate) fn desk_in(folder: &std::path::Path, flags: &[&str], input: &str) -> Ran {
    let mut child = Command::new(program())
        .args(flags)
        .current_dir(folder)
        .env("NOTES", "Water the plants.\nCall Ada.")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the example is built");
    // A program that rejects its flags closes its input early.
    let _ = child
        .stdin
        .take()
        .expect("piped")
        .write_all(input.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ran {
        code: output.status.code(),
        out: text(output.stdout),
        log: text(output.stderr),
    }
}

/// Runs the program in a terminal of a width, and types the answer. Returns the screen, or `None` if the system lacks `script`.
#[cfg(target_os = "linux")]
pub(crate) fn screen(columns: usize, flags: &[&str], answer: &str) -> Option<String> {
    let words = flags
        .iter()
        .map(|flag| format!(" '{flag}'"))
        .collect::<String>();
    let line = format!(
        "stty cols {columns}; {}{words}; echo \"exit code $?\"",
        program().display()
    );
    let mut child = Command::new("script")
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .env("NO_COLOR", "1")
        .env("NOTES", "Water the plants.\nCall Ada.")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    // Kept open: its end would end the program's input.
    let mut input = child.stdin.take().expect("piped");
    let mut out = child.stdout.take().expect("piped");
    let (mut shown, mut chunk) = (Vec::new(), [0; 4096]);
    let mut is_answered = answer.is_empty();
    loop {
        let read = out.read(&mut chunk).expect("a pipe");
        if read == 0 {
            break;
        }
        shown.extend(&chunk[..read]);
        if !is_answered && String::from_utf8_lossy(&shown).contains("[y/N]") {
            is_answered = true;
            input.write_all(answer.as_bytes()).expect("a pipe");
        }
    }
    child.wait().expect("it ends");
    let shown = String::from_utf8(shown).expect("text");
    Some(shown.replace("\r\n", "\n"))
}
