//! Runs the programs as a user does, for tests.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

/// The outcome of a run.
#[derive(Debug)]
pub struct Ran {
    /// The exit code.
    pub code: Option<i32>,
    /// The standard output.
    pub out: String,
    /// The standard error.
    pub log: String,
}

/// Runs a program with these flags and this standard input, and waits for its end.
///
/// # Panics
///
/// Panics if the program can't be run, or if its output is not UTF-8.
pub fn run(program: &str, flags: &[&str], input: &str) -> Ran {
    run_command(command(program).args(flags), input)
}

/// Runs a command with this standard input, and waits for its end.
///
/// # Panics
///
/// Panics if the command can't be run, or if its output is not UTF-8.
pub fn run_command(command: &mut Command, input: &str) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cargo builds the examples before the tests");
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

/// Runs a program in a terminal without colours. Types `early` immediately, and `answer` when the question
/// appears. Returns the output of the terminal, or `None` if the system lacks `script`.
///
/// # Panics
///
/// Panics if the program can't be run, or if its output is not UTF-8.
pub fn run_at_terminal(program: &str, early: &str, question: &str, answer: &str) -> Option<String> {
    let program = command(program);
    let line = program.get_program().to_str().expect("text");
    run_line_at_terminal(line, early, &[(question, answer)])
}

/// Runs a line of `sh` in a terminal like [`run_at_terminal`], which the command `script` opens. Types each answer when its
/// question appears after the one before, and Enter after it unless it ends with a control character.
///
/// # Panics
///
/// Panics if the output is not UTF-8.
pub fn run_line_at_terminal(line: &str, early: &str, answers: &[(&str, &str)]) -> Option<String> {
    let mut child = Command::new("script")
        .args(["--quiet", "--return", "--command", line, "/dev/null"])
        .env("NO_COLOR", "1")
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    // Kept open: its end would end the program's input.
    let mut input = child.stdin.take().expect("piped");
    let mut out = child.stdout.take().expect("piped");
    input.write_all(early.as_bytes()).expect("a pipe");
    let mut shown = Vec::new();
    let mut chunk = [0; 4096];
    let mut answers = answers.iter();
    let mut next = answers.next();
    // What was shown up to the last question.
    let mut seen = 0;
    loop {
        let read = out.read(&mut chunk).expect("a pipe");
        if read == 0 {
            break;
        }
        shown.extend(&chunk[..read]);
        while let Some((question, answer)) = next {
            let shown = String::from_utf8_lossy(&shown);
            let Some(found) = shown[seen..].find(question) else {
                break;
            };
            seen += found + question.len();
            next = answers.next();
            let enter = if answer.ends_with(char::is_control) {
                ""
            } else {
                "\n"
            };
            // Fails if the program ended without reading it.
            let _ = input.write_all(format!("{answer}{enter}").as_bytes());
        }
    }
    child.wait().expect("it ends");
    drop(input);
    Some(String::from_utf8(shown).expect("text"))
}

/// Returns the command that starts a program.
///
/// # Panics
///
/// Panics if the path of the test is unknown.
pub fn command(program: &str) -> Command {
    // Tests run from `target/<profile>/deps`, next to `examples`.
    let mut path = std::env::current_exe().expect("a test is a file");
    path.pop();
    path.pop();
    path.push("examples");
    path.push(program);
    Command::new(path.with_extension(std::env::consts::EXE_EXTENSION))
}

/// Checks that a program exits with 0 if its output is closed early, as by `head`.
///
/// # Panics
///
/// Panics if the exit code is another.
pub fn assert_closed_early(program: &str) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = command(program);
    let output = command.stdin(Stdio::null()).stdout(writer).output();
    let output = output.expect("cargo builds the examples before the tests");
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{program}: {log}");
}

/// Checks that a program rejects bad input with exit code 2 and a message that contains `said`.
///
/// # Panics
///
/// Panics if the exit code or the message is another, or if the program panicked.
pub fn assert_rejected(program: &str, flags: &[&str], input: &str, said: &str) {
    let ran = run(program, flags, input);
    assert_eq!(ran.code, Some(2), "{flags:?}: {}", ran.log);
    assert!(ran.log.contains(said), "{flags:?} says only: {}", ran.log);
    assert!(!ran.log.contains("panicked"), "{}", ran.log);
}
