//! The tutorial of `tool-core` quotes this project, and shows what its programs print.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::path::Path;

use tool_core::{Registry, tools};
use tool_docs::lock::Lock;

#[path = "../../src/program.rs"]
#[allow(dead_code, unreachable_pub, missing_docs)]
mod program;

const GUIDE: &str = include_str!("../../../tool-core/src/guide/tutorial.md");

/// Returns the blocks of a language, each with the text before it.
fn blocks(language: &str) -> Vec<(&'static str, &'static str)> {
    let mut rest = GUIDE;
    let mut blocks = Vec::new();
    while let Some((before, after)) = rest.split_once("```") {
        let (block, after) = after.split_once("\n```").unwrap();
        let (own, code) = block.split_once('\n').unwrap();
        if own == language {
            blocks.push((before, code));
        }
        rest = after;
    }
    blocks
}

/// Returns what an item of a file is called, so that a later block of the guide can replace it.
fn name(item: &str) -> &str {
    let is_head = |line: &&str| !line.starts_with(['/', '#']);
    match item.lines().find(is_head).unwrap_or_default() {
        head if head.starts_with("use std") => "std",
        head if head.starts_with("use ") => "use",
        head => head,
    }
}

/// Returns the parts of a file between blank lines outside of braces.
fn items(code: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    for line in code.trim_end().lines() {
        let is_between = items.last().is_some_and(|item| {
            let last = item.lines().last().unwrap_or_default();
            !last.is_empty() && (!last.starts_with([' ', '}']) || last == "}")
        });
        if line.is_empty() && is_between {
            items.push(String::new());
        } else {
            let item = items.last_mut().unwrap();
            *item += line;
            *item += "\n";
        }
    }
    items
}

#[test]
fn the_tutorial_quotes_this_project() {
    let mut files: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (before, code) in blocks("rust") {
        let mut words = before.rsplit('`');
        let name_of_file = |word: &&str| word.starts_with("src/") || word.starts_with("tests/");
        let file = files.entry(words.find(name_of_file).unwrap()).or_default();
        for item in items(code) {
            match file.iter_mut().find(|own| name(own) == name(&item)) {
                Some(own) => *own = item,
                None => file.push(item),
            }
        }
    }
    let quoted: Vec<_> = files.keys().copied().collect();
    assert_eq!(
        quoted,
        [
            "src/bin/ask.rs",
            "src/bin/book.rs",
            "src/lib.rs",
            "src/main.rs",
            "tests/tools.rs"
        ]
    );
    for (path, quoted) in files {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let own = std::fs::read_to_string(own).unwrap();
        assert_eq!(quoted.join("\n"), own, "{path}");
    }
}

/// Replaces what differs in each run, and where the programs are.
fn stable(shown: &str) -> String {
    let shown = shown.replace("\r\n", "\n");
    let shown = shown.replace(
        env!("CARGO_BIN_EXE_trips"),
        "/home/ada/trips/target/debug/trips",
    );
    let mut parts: Vec<_> = shown.split("[ref ").map(str::to_owned).collect();
    for part in &mut parts[1..] {
        part.replace_range(..6, "······");
    }
    parts.join("[ref ")
}

/// Draws a session at a terminal. The commands and what is wrong stand out.
fn draw(session: &str) -> String {
    let height = 40 + 20 * session.lines().count();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 {height}\" width=\"640\" height=\"{height}\" role=\"img\" \
         aria-label=\"Three commands at a terminal\">\n<style>rect{{fill:#f6f8fa;stroke:#d0d7de}}text{{fill:#1f2328;white-space:pre;\
         font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}}.run{{fill:#0550ae;font-weight:600}}\
         .wrong{{fill:#b42318}}@media(prefers-color-scheme:dark){{rect{{fill:#161b22;stroke:#30363d}}text{{fill:#e6edf3}}\
         .run{{fill:#79c0ff}}.wrong{{fill:#ff7b72}}}}</style>\n\
         <rect x=\"0.5\" y=\"0.5\" width=\"639\" height=\"{}\" rx=\"8\"/>\n",
        height - 1
    );
    for (line, y) in session.lines().zip((34..).step_by(20)) {
        assert!(line.len() < 72, "{line} is too wide for the picture");
        let class = match line.split(' ').next() {
            Some("$") => " class=\"run\"",
            Some("error:") => " class=\"wrong\"",
            _ if line.starts_with("  --") => " class=\"wrong\"",
            _ => "",
        };
        let line = line.replace('&', "&amp;").replace('<', "&lt;");
        svg += &format!("<text{class} x=\"18\" y=\"{y}\" xml:space=\"preserve\">{line}</text>\n");
    }
    svg + "</svg>\n"
}

/// Returns the commands of the guide, each with what it prints.
fn sessions() -> Vec<&'static str> {
    let blocks = blocks("text").into_iter().map(|(_, block)| block);
    blocks.filter(|block| block.starts_with('$')).collect()
}

#[test]
fn the_tutorial_shows_what_a_changed_tool_is_told() {
    let one = Registry::builder().tools(tools![trips::get_forecast]);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tools.lock.json");
    let lock = Lock::new(&one.build().unwrap()).to_string();
    std::fs::write(&path, lock).unwrap();
    let all = trips::tools().build().unwrap();
    let failures = tool_docs::testing::check(&all).lock(&path).failures();
    let said = failures[0].replace(path.to_str().unwrap(), "tools.lock.json");
    assert!(GUIDE.contains(&format!("```text\n{said}\n```")), "{said}");
}

#[test]
fn the_picture_of_a_terminal_shows_the_tutorial() {
    let sessions = sessions();
    let drawn = draw(&[0, 1, 3].map(|at| sessions[at]).join("\n\n"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pictures/terminal.svg");
    if std::env::var_os("TOOL_CORE_UPDATE").is_some() {
        std::fs::write(&path, &drawn).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(committed, drawn, "TOOL_CORE_UPDATE=1 draws it again");
}

#[test]
fn the_tutorial_shows_what_is_printed() {
    let sessions = sessions();
    assert_eq!(sessions.len(), 6);
    for session in sessions {
        let (command, shown) = session.split_once('\n').unwrap();
        let flags = command.strip_prefix("$ cargo run ").unwrap();
        let line = match flags.split_once(' ').unwrap() {
            ("--", flags) => format!("{} {flags}", env!("CARGO_BIN_EXE_trips")),
            ("--bin", "ask") => env!("CARGO_BIN_EXE_ask").to_owned(),
            ("--bin", "book") => env!("CARGO_BIN_EXE_book").to_owned(),
            _ => panic!("{command}"),
        };
        let line = format!("stty cols 80; {line}");
        let Some(screen) = program::run_line_at_terminal(&line, "", &[("[y/N] ", "y")]) else {
            return eprintln!("skipped: there is no `script`");
        };
        assert_eq!(stable(&screen).trim_end(), stable(shown), "{command}");
    }
}
