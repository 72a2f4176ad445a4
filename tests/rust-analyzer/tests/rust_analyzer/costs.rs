//! What tools cost in an editor, beside functions without a macro and beside rmcp.

use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs};

use generate::{Contender, build, source};
use serde_json::json;

use crate::client::Client;
use crate::{list, root, text_of};

const TOOLS: usize = 200;
const KEYS: usize = 20;
const LAST: &str = "String::from(\"stored\")";

/// Prints a table; no time is judged.
#[test]
fn editors_take_this_long_with_200_tools() {
    let Some(sources) = crate::sources() else {
        return;
    };
    if env::var_os("TOOL_CORE_EDITOR_COSTS").is_none() {
        println!("skipped: TOOL_CORE_EDITOR_COSTS is not set");
        return;
    }
    println!(
        "| {TOOLS} functions | s to ready | s to the first completion | CPU s until then | ms from a key to its completion |"
    );
    println!("|---|---:|---:|---:|---:|");
    for contender in [Contender::Bare, Contender::ToolCore, Contender::Rmcp] {
        let text = source(contender, &build(TOOLS, Some(4)));
        let project = project(contender, &text);
        // The first one builds the macros.
        drop(Client::open(&project, &["Cargo.toml"], &sources));
        let start = Instant::now();
        let mut client = Client::open(&project, &["Cargo.toml"], &sources);
        let ready = start.elapsed();
        let at = text.match_indices(LAST).nth(TOOLS / 2).expect("a body").0;
        let mut times = Vec::new();
        let mut cpu = None;
        for key in 0..=KEYS {
            let typed = format!("{}let t{key} = String::new(); t{key}.l", &text[..at]);
            let line = typed.matches('\n').count();
            let column = typed.len() - typed.rfind('\n').map_or(0, |at| at + 1);
            let start = Instant::now();
            client.show("src/lib.rs", &format!("{typed}; {}", &text[at..]));
            let found = client.at("completion", "src/lib.rs", (line, column), &json!({}));
            times.push(start.elapsed());
            cpu = cpu.or_else(|| client.cpu_time());
            let mut labels = list(&found["items"]).map(|item| text_of(&item["label"]));
            assert!(labels.any(|label| label.starts_with("len")), "{found}");
        }
        let first = times.remove(0);
        times.sort();
        println!(
            "| {} | {:.1} | {:.1} | {} | {} |",
            contender.name(),
            ready.as_secs_f64(),
            first.as_secs_f64(),
            cpu.map_or_else(String::new, |cpu| format!("{:.1}", cpu.as_secs_f64())),
            times[KEYS / 2].as_millis(),
        );
    }
}

/// Writes a project with the dependencies that the benchmarks have.
fn project(contender: Contender, text: &str) -> PathBuf {
    let benches = root().join("benches");
    let project = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("editor-costs")
        .join(contender.name());
    let known = fs::read_to_string(benches.join("Cargo.toml")).expect("a manifest");
    let used = ["serde", "serde_json"];
    let used = used.iter().chain(contender.dependencies());
    let lines = used.map(|name| {
        let head = format!("{name} = ");
        let line = known.lines().find(|line| line.starts_with(&head));
        line.expect("a dependency")
            .replace("../", &format!("{}/", root().display()))
    });
    let dependencies = lines.collect::<Vec<_>>().join("\n");
    let manifest = format!(
        "[package]\nname = \"costs\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{dependencies}\n"
    );
    fs::create_dir_all(project.join("src")).expect("a writable folder");
    fs::write(project.join("Cargo.toml"), manifest).expect("a writable folder");
    fs::write(project.join("src/lib.rs"), text).expect("a writable folder");
    fs::copy(benches.join("Cargo.lock"), project.join("Cargo.lock")).expect("a writable folder");
    project
}
