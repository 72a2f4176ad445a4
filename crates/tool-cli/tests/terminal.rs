//! The commands at a terminal, at the width of a desk and of a phone.

#![cfg(target_os = "linux")]

mod support;

use support::screen;

/// Compares a screen with its snapshot.
#[track_caller]
fn check(name: &str, columns: usize, flags: &[&str], answers: &[(&str, &str)]) {
    let Some(shown) = screen(columns, flags, answers) else {
        eprintln!("skipped: `script` is missing");
        return;
    };
    let trimmed: Vec<_> = shown.lines().map(str::trim_end).collect();
    let shown = format!("{}\n", trimmed.join("\n"));
    let path = format!("{}/tests/screens/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("TOOL_CORE_UPDATE").is_some() {
        std::fs::write(&path, &shown).expect("a file");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        shown, expected,
        "{path} differs; TOOL_CORE_UPDATE=1 rewrites it"
    );
}

#[test]
fn lists() {
    check("list-80", 80, &["list"], &[]);
    check("list-40", 40, &["list"], &[]);
}

#[test]
fn help_of_a_tool() {
    check("show-80", 80, &["show", "find_trains"], &[]);
    check("help-40", 40, &["call", "get_forecast", "--help"], &[]);
    // These features add commands.
    if cfg!(not(any(feature = "eval", feature = "mcp", feature = "web"))) {
        check("help-80", 80, &["--help"], &[]);
    }
}

#[test]
fn results() {
    let trains = [
        "call",
        "find_trains",
        "--to",
        "Porto",
        "--departure.not-before",
        "08:00",
        "--departure.not-after",
        "9:00",
    ];
    check("table-80", 80, &trains, &[]);
    check("table-20", 20, &trains, &[]);
    check(
        "wrong-40",
        40,
        &["call", "get_forecast", "--days", "300"],
        &[],
    );
}

#[test]
fn a_hold_is_a_question() {
    let delete = ["call", "delete_note", "--id", "7"];
    check("allowed-80", 80, &delete, &[("[y/N] ", "y")]);
    check("denied-80", 80, &delete, &[("[y/N] ", "n")]);
}

#[test]
fn a_tool_asks_the_person() {
    let reserve = ["call", "reserve_seat"];
    let row = ("row: ", "seven");
    let answers = [row, (row.0, ""), (row.0, "7"), ("window: ", "y")];
    check("asked-80", 80, &reserve, &answers);
    check(
        "asked-40",
        40,
        &reserve,
        &[("row: ", "31"), ("window: ", "no")],
    );
    // Control-D ends the input.
    check("declined-80", 80, &reserve, &[("row: ", "\u{4}")]);
    // Control-C cancels the call, although its question has no answer.
    if let Some(shown) = screen(80, &reserve, &[("row: ", "\u{3}")]) {
        assert!(shown.contains("reserve_seat was cancelled"), "{shown}");
        assert!(shown.ends_with("exit code 130\n"), "{shown}");
    }
}

/// The text of a page without the marks of a comment.
fn uncommented(page: &str) -> String {
    page.replace("\n//! ", "\n").replace("\n//!\n", "\n\n")
}

/// The pages show the same program, each in its words: its code, and what it writes.
#[test]
fn pages_show_a_program_and_what_it_writes() {
    let code = include_str!("../examples/forecast.rs");
    let (_, program) = code.split_once('\n').unwrap();
    let (docs, _) = program.split_once("///\n").unwrap();
    let (_, function) = program.split_once("#[tool").unwrap();
    let parts = [docs, function.split_once("\n}\n").unwrap().0];
    for (page, prompt, runs) in [
        (include_str!("../../../README.md"), "$ cargo run -- ", 2),
        (include_str!("../README.md"), "$ app ", 3),
        (&uncommented(include_str!("../src/lib.rs")), "$ app ", 3),
    ] {
        assert!(parts.iter().all(|part| page.contains(part)), "{page}");
        let (_, session) = page.split_once("```text\n").unwrap();
        let (session, _) = session.split_once("```").unwrap();
        let shown: Vec<_> = session.split(prompt).skip(1).collect();
        assert_eq!(shown.len(), runs, "{session}");
        for shown in shown {
            let (flags, shown) = shown.split_once('\n').unwrap();
            let flags: Vec<_> = flags.split(' ').collect();
            let Some(screen) = support::screen_of(&support::forecast(), 80, &flags, &[]) else {
                return eprintln!("skipped: there is no `script`");
            };
            let (screen, _) = screen.split_once("exit code").unwrap();
            assert_eq!(screen, shown, "{flags:?}");
        }
    }
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(&format!("```rust,ignore\n{program}```")));
}
