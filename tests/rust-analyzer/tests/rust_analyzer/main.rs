//! What rust-analyzer shows of tools, compared with committed snapshots, and that it finds no errors in the tests and examples.
//!
//! In `fixture/*.rs`, a comment such as `//  ^ hover, rename` asks about the token above its mark. `fixture/unfinished.rs` has
//! pieces of code as one types them, each with the cursor as `$0`. `BLESS=1` rewrites the snapshots beside them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::{Value, json};

use self::client::Client;

mod client;
mod costs;

/// The version that wrote the snapshots: others word hovers differently.
const PINNED: &str = "rust-analyzer 1.95.";

/// Returns the folder with the sources of the standard library. These tests start rust-analyzer, so they run only on demand.
fn sources() -> Option<PathBuf> {
    let Some(sources) = env::var_os("TOOL_CORE_RUST_ANALYZER") else {
        println!("skipped: TOOL_CORE_RUST_ANALYZER is not set; `.ci/run rust-analyzer` sets it");
        return None;
    };
    let version = Command::new("rust-analyzer").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    if !version
        .as_ref()
        .is_ok_and(|version| version.starts_with(PINNED))
    {
        println!("skipped: the snapshots are those of {PINNED}, and this is {version:?}");
        return None;
    }
    Some(sources.into())
}

#[test]
fn editors_show_what_the_snapshots_have() {
    let Some(sources) = sources() else { return };
    let project = project();
    let mut client = Client::open(&project, &["Cargo.toml"], &sources);
    let mut changed = Vec::new();
    for file in ["lib.rs", "types.rs", "toolset.rs"] {
        let text = fs::read_to_string(fixture().join(file)).expect("a file of the fixture");
        compare(
            file,
            &answers(&mut client, &format!("src/{file}"), &text),
            &mut changed,
        );
    }
    let file = "unfinished.rs";
    let text = fs::read_to_string(fixture().join(file)).expect("a file of the fixture");
    compare(file, &unfinished(&mut client, &text), &mut changed);
    let pieces = TEMPLATES.map(|name| sources_in(&project.join(name).join("src"), &project));
    let mut pieces = pieces.concat();
    pieces.retain(|file| {
        Path::new(file)
            .extension()
            .is_some_and(|ending| ending == "rs")
    });
    changed.extend(errors_in(&mut client, &project, &pieces));
    assert!(
        changed.is_empty(),
        "to accept this, run `BLESS=1 .ci/run rust-analyzer`\n{}",
        changed.join("\n")
    );
}

/// Packages with a module in the folder of another package, which rust-analyzer does not load there: it resolves no name of
/// that module.
const WITH_MODULES_OF_OTHERS: [&str; 7] = [
    "examples/cookbook",
    "examples/tutorial",
    "tests/edition-2024",
    "tests/http",
    "tests/otel",
    "tests/properties",
    "tests/strict",
];

/// Returns whether a diagnostic comes from what rust-analyzer does not do, with and without our macros.
fn is_of_the_editor(file: &str, one: &Value) -> bool {
    let message = text_of(&one["message"]);
    match text_of(&one["code"]) {
        // A module in the folder of another package.
        "E0583" => message.contains("can't find module file: ../"),
        "E0432" | "E0425" => WITH_MODULES_OF_OTHERS
            .iter()
            .any(|package| file.starts_with(package)),
        // It loads only files of Rust.
        "macro-error" => message.contains("failed to load file `stub.txt`"),
        _ => false,
    }
}

/// The examples, the recipes and the tests have tools and types of each shape.
#[test]
fn examples_and_tests_have_no_diagnostics() {
    let Some(sources) = sources() else { return };
    let manifests = ["Cargo.toml", "examples/cookbook/Cargo.toml"];
    let mut client = Client::open(&root(), &manifests, &sources);
    let files = Command::new("git")
        .args(["ls-files", "examples/*.rs", "tests/*.rs"])
        .current_dir(root())
        .output()
        .expect("git");
    let files = String::from_utf8(files.stdout).expect("paths");
    // Code that is wrong on purpose, workspaces of their own, and a test of the positions that rustc gives to tokens.
    let other = [
        "/ui",
        "fixture",
        "/constrained-",
        "/loom",
        "/wasm",
        "/macro-spans",
    ];
    let files = files.lines().map(str::to_owned);
    let files: Vec<_> = files
        .filter(|file| !other.iter().any(|part| file.contains(part)))
        .collect();
    let wrong = errors_in(&mut client, &root(), &files);
    println!("{} files, {} errors", files.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.concat());
}

/// Returns the errors that rust-analyzer itself finds in files of a folder.
fn errors_in(client: &mut Client, folder: &Path, files: &[String]) -> Vec<String> {
    let documents = files
        .iter()
        .map(|file| json!({"textDocument": {"uri": client.uri(file)}}));
    let reports = client.requests("textDocument/diagnostic", documents.collect());
    let mut errors = Vec::new();
    for (file, report) in files.iter().zip(reports) {
        let text = fs::read_to_string(folder.join(file)).expect("a file");
        let lines: Vec<_> = text.lines().collect();
        let found = list(&report["items"]).filter(|one| one["severity"] == 1);
        let found = found.filter(|one| !is_of_the_editor(file, one));
        errors.extend(found.map(|one| format!("{file}: {}", diagnostic(one, &lines).1)));
    }
    errors
}

#[test]
fn the_picture_in_the_guide_is_a_snapshot() {
    let snapshot = fs::read_to_string(fixture().join("lib.md")).expect("a snapshot");
    let hover = snapshot
        .split("## hover: `find_trains` in `pub async fn")
        .nth(1)
        .expect("a hover");
    let hover = hover.split("\n## ").next().unwrap_or_default();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tool-core/src/guide/editor.svg");
    let drawn = draw(hover.lines().filter_map(|line| line.strip_prefix('>')));
    if env::var_os("BLESS").is_some() {
        fs::write(&path, &drawn).expect("a writable folder");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        committed, drawn,
        "the picture is old; run this test with BLESS=1"
    );
}

/// Draws the Markdown of a hover. No line is empty, because Markdown ends HTML there.
fn draw<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    let (mut rows, mut top, mut is_code) = (String::new(), 12, false);
    for line in lines.map(|line| line.strip_prefix(' ').unwrap_or(line)) {
        match line {
            "" => top += 4,
            "---" => {
                let _ = writeln!(rows, "<path class=\"tc-l\" d=\"M0 {top}.5h720\"/>");
                top += 4;
            }
            _ if line.starts_with("```") => is_code = !is_code,
            _ => {
                top += 20;
                let class = if is_code { "tc-c" } else { "tc-t" };
                let text = line.trim_start_matches(['#', '*']).replace('`', "");
                let text = text
                    .replace('&', "&amp;")
                    .replace('<', "&lt;")
                    .replace('>', "&gt;");
                let _ = writeln!(
                    rows,
                    "<text class=\"{class}\" x=\"16\" y=\"{top}\" xml:space=\"preserve\">{text}</text>"
                );
            }
        }
    }
    let height = top + 16;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 {height}\" width=\"720\" height=\"{height}\" \
         style=\"max-width:100%;height:auto\" role=\"img\" aria-label=\"The hover over the name of a tool\">\n\
         <style>\n\
         .tc-b{{fill:#f6f8fa;stroke:#d0d7de}}.tc-l{{stroke:#d0d7de}}.tc-t{{fill:#57606a;font:13px system-ui,sans-serif}}\n\
         .tc-c{{fill:#1f2328;font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}}\n\
         @media (prefers-color-scheme:dark){{.tc-b{{fill:#161b22;stroke:#30363d}}.tc-l{{stroke:#30363d}}.tc-t{{fill:#9198a1}}\
         .tc-c{{fill:#e6edf3}}}}\n\
         </style>\n\
         <rect class=\"tc-b\" x=\"0.5\" y=\"0.5\" width=\"719\" height=\"{}\" rx=\"8\"/>\n{rows}</svg>\n",
        height - 1
    )
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository")
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixture")
}

/// The packages that templates use, and their folders.
const PACKAGES: [(&str, &str); 4] = [
    ("tool-agent", "crates/tool-agent"),
    ("tool-core", "tool-core"),
    ("tool-docs", "crates/tool-docs"),
    ("tool-mcp", "crates/tool-mcp"),
];
const TEMPLATES: [&str; 4] = ["agent", "server", "service", "tools"];

/// Returns the files of a folder, from another one.
fn sources_in(folder: &Path, from: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("a file").path());
    let paths = paths.map(|path| {
        path.strip_prefix(from)
            .expect("inside")
            .display()
            .to_string()
    });
    paths.collect()
}

/// Writes a project of the files of the fixture, and one of each template beside it.
fn project() -> PathBuf {
    let root = root();
    let project = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-analyzer");
    fs::create_dir_all(project.join("src")).expect("a writable folder");
    for file in ["lib.rs", "types.rs", "toolset.rs"] {
        fs::copy(fixture().join(file), project.join("src").join(file))
            .expect("a file of the fixture");
    }
    fs::write(project.join("src/unfinished.rs"), "").expect("a writable folder");
    let manifest = format!(
        "[package]\nname = \"trains\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\nmembers = {TEMPLATES:?}\n\n\
         [dependencies]\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\n\
         tool-core = {{ path = \"{}\", features = [\"regex\"] }}\n\
         tool-dialects = {{ path = \"{}\" }}\n",
        root.join("tool-core").display(),
        root.join("crates/tool-dialects").display(),
    );
    fs::write(project.join("Cargo.toml"), manifest).expect("a writable folder");
    for template in TEMPLATES {
        let (from, to) = (
            root.join("templates").join(template),
            project.join(template),
        );
        fs::create_dir_all(to.join("src")).expect("a writable folder");
        for file in sources_in(&from.join("src"), &from.join("src")) {
            fs::copy(from.join("src").join(&file), to.join("src").join(&file)).expect("a file");
        }
        let manifest = fs::read_to_string(from.join("Cargo.toml")).expect("a manifest");
        let mut manifest = manifest.replace("{{project-name}}", template);
        for (package, folder) in PACKAGES {
            let path = format!(
                "{package} = {{ path = \"{}\", version =",
                root.join(folder).display()
            );
            manifest = manifest.replace(&format!("{package} = {{ version ="), &path);
        }
        fs::write(to.join("Cargo.toml"), manifest).expect("a writable folder");
    }
    // The versions that the workspace uses, so that nothing is downloaded.
    fs::copy(root.join("Cargo.lock"), project.join("Cargo.lock")).expect("a writable folder");
    project
}

/// Compares with the snapshot of a file, or rewrites it.
fn compare(file: &str, found: &str, changed: &mut Vec<String>) {
    let path = fixture().join(file).with_extension("md");
    if fs::read_to_string(&path).ok().as_deref() == Some(found) {
        return;
    }
    if env::var_os("BLESS").is_some() {
        fs::write(path, found).expect("a writable folder");
    } else {
        changed.push(format!("{}:\n{found}", path.display()));
    }
}

/// Returns the answers to the questions in a file, its outline and its diagnostics.
fn answers(client: &mut Client, file: &str, text: &str) -> String {
    client.show(file, text);
    let lines: Vec<_> = text.lines().collect();
    let mut answers = format!("# {file}\n");
    let mut above = 0;
    for (at, line) in lines.iter().enumerate() {
        let words = line.trim_start().strip_prefix("//").map(str::trim_start);
        let Some(words) = words.and_then(|words| words.strip_prefix('^')) else {
            above = at;
            continue;
        };
        let column = line.find('^').expect("it has a mark");
        let token = token(lines[above], column);
        for question in words.trim().split(", ") {
            let answer = answer(client, file, question, (above, column));
            let _ = write!(
                answers,
                "\n## {question}: `{token}` in `{}`\n\n{answer}\n",
                lines[above].trim()
            );
        }
    }
    let document = json!({"textDocument": {"uri": client.uri(file)}});
    let symbols = client.request("textDocument/documentSymbol", document.clone());
    let _ = write!(answers, "\n## outline\n\n{}", outline(&symbols, 0));
    let hints = client.request(
        "textDocument/inlayHint",
        json!({"textDocument": {"uri": client.uri(file)}, "range": range((0, 0), (lines.len(), 0))}),
    );
    let _ = write!(answers, "\n## hints\n\n{}", hints_of(&hints, &lines));
    let tokens = highlights(client, file, text);
    client.show(file, &without_ours(text));
    let plain = highlights(client, file, text);
    client.show(file, text);
    let added = tokens.difference(&plain);
    let added: String = added.map(|(_, _, token)| format!("- {token}\n")).collect();
    let _ = write!(
        answers,
        "\n## highlights that the same code without our macros lacks\n\n{added}"
    );
    let runnables = client.request("experimental/runnables", document);
    let labels = list(&runnables).map(|one| format!("- {}\n", text_of(&one["label"])));
    let labels: String = labels.filter(|label| !label.contains("cargo")).collect();
    let _ = write!(answers, "\n## lenses\n\n{labels}");
    let _ = write!(
        answers,
        "\n## diagnostics\n\n{}",
        diagnostics(client, file, &lines)
    );
    answers
}

fn answer(client: &mut Client, file: &str, question: &str, at: (usize, usize)) -> String {
    match question {
        "hover" => {
            let hover = client.at("hover", file, at, &json!({}));
            let text = hover["contents"]["value"].as_str().unwrap_or("nothing");
            // Blank lines would end a quote.
            let lines = text
                .trim()
                .lines()
                .map(|line| format!("> {line}").trim_end().to_owned());
            let lines: Vec<_> = lines.collect();
            format!(
                "{} characters\n\n{}",
                text.trim().chars().count(),
                lines.join("\n")
            )
        }
        "definition" => {
            let found = client.at("definition", file, at, &json!({}));
            places(client, &found)
        }
        "references" => {
            let context = json!({"context": {"includeDeclaration": true}});
            let found = client.at("references", file, at, &context);
            places(client, &found)
        }
        "rename" => {
            let edits = client.at("rename", file, at, &json!({"newName": "renamed"}));
            let mut found = Vec::new();
            for document in list(&edits["documentChanges"]) {
                for edit in list(&document["edits"]) {
                    found.push(
                        json!({"uri": document["textDocument"]["uri"], "range": edit["range"]}),
                    );
                }
            }
            places(client, &found.into())
        }
        "expansion" => {
            let (line, column) = at;
            let uri = client.uri(file);
            let at = json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": column}});
            let expansion = client.request("rust-analyzer/expandMacro", at);
            format!("```rust\n{}\n```", text_of(&expansion["expansion"]).trim())
        }
        other => panic!("unknown question {other}"),
    }
}

/// The word at a column.
fn token(line: &str, column: usize) -> String {
    let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
    let before: Vec<_> = line[..column].chars().rev().take_while(is_word).collect();
    let after = line[column..].chars().take_while(is_word);
    before.into_iter().rev().chain(after).collect()
}

/// A list of files, lines and the texts there.
fn places(client: &Client, found: &Value) -> String {
    let mut places: Vec<_> = list(found).map(|place| place_of(client, place)).collect();
    places.sort();
    if places.is_empty() {
        return "- nothing".to_owned();
    }
    places
        .into_iter()
        .map(|(_, _, place)| place)
        .collect::<Vec<_>>()
        .join("\n")
}

fn place_of(client: &Client, place: &Value) -> (String, u64, String) {
    let uri = place.get("targetUri").unwrap_or(&place["uri"]);
    let range = place.get("targetSelectionRange").unwrap_or(&place["range"]);
    let path = text_of(uri).strip_prefix("file://").expect("a file");
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = range["start"]["line"].as_u64().expect("a number");
    let text = text
        .lines()
        .nth(usize::try_from(line).expect("small"))
        .unwrap_or_default();
    let own = text_of(uri).strip_prefix(&client.uri(""));
    // Lines of other files change.
    let title = match own {
        Some(own) => format!("{own}:{}", line + 1),
        None => path.rsplit('/').next().unwrap_or_default().to_owned(),
    };
    (
        uri.to_string(),
        line,
        format!("- {title}: `{}`", text.trim()),
    )
}

fn outline(symbols: &Value, depth: usize) -> String {
    let mut lines = String::new();
    for symbol in list(symbols) {
        let _ = writeln!(
            lines,
            "{}- {}",
            "  ".repeat(depth),
            text_of(&symbol["name"])
        );
        lines += &outline(&symbol["children"], depth + 1);
    }
    lines
}

/// Writes spaces for our attributes and the derive, so that every other token stays where it is.
fn without_ours(text: &str) -> String {
    let mut rest = text
        .replace(", ToolType", "          ")
        .replace("ToolType)", "        )");
    let mut plain = String::new();
    while let Some(at) = ["#[tool", "#[param"]
        .iter()
        .filter_map(|head| rest.find(head))
        .min()
    {
        let end = at + rest[at..].find(']').expect("an attribute") + 1;
        plain += &rest[..at];
        plain += &" ".repeat(end - at);
        rest = rest.split_off(end);
    }
    plain + &rest
}

/// Returns the highlighted tokens of a file, outside of our attributes: line, column, and text with kind.
fn highlights(client: &mut Client, file: &str, text: &str) -> BTreeSet<(u64, u64, String)> {
    let document = json!({"textDocument": {"uri": client.uri(file)}});
    let report = client.request("textDocument/semanticTokens/full", document);
    let plain = without_ours(text);
    let lines: Vec<_> = text.lines().zip(plain.lines()).collect();
    let numbers: Vec<_> = list(&report["data"]).filter_map(Value::as_u64).collect();
    let (mut line, mut column) = (0, 0);
    let mut tokens = BTreeSet::new();
    for token in numbers.chunks(5) {
        let [lines_on, columns_on, length, kind, _] = *token else {
            panic!("{token:?}")
        };
        column = if lines_on == 0 {
            column + columns_on
        } else {
            columns_on
        };
        line += lines_on;
        let index = |number| usize::try_from(number).expect("small");
        let place = index(column)..index(column + length);
        let (written, plain) = lines[index(line)];
        if written[place.clone()] == plain[place.clone()] {
            let kind = text_of(&client.highlights[index(kind)]);
            let token = format!("`{}` in `{}`: {kind}", &written[place], written.trim());
            tokens.insert((line, column, token));
        }
    }
    tokens
}

fn hints_of(hints: &Value, lines: &[&str]) -> String {
    let mut texts: Vec<_> = list(hints).map(|hint| hint_of(hint, lines)).collect();
    texts.sort();
    texts.into_iter().map(|(_, text)| text).collect()
}

fn hint_of(hint: &Value, lines: &[&str]) -> ((u64, u64), String) {
    let label: String = match hint["label"].as_str() {
        Some(text) => text.to_owned(),
        None => list(&hint["label"])
            .map(|part| text_of(&part["value"]))
            .collect(),
    };
    let number = |key: &str| hint["position"][key].as_u64().expect("a number");
    let (line, column) = (number("line"), number("character"));
    let text = lines[usize::try_from(line).expect("small")].trim();
    ((line, column), format!("- `{label}` in `{text}`\n"))
}

fn diagnostics(client: &mut Client, file: &str, lines: &[&str]) -> String {
    let document = json!({"textDocument": {"uri": client.uri(file)}});
    let report = client.request("textDocument/diagnostic", document);
    let mut texts: Vec<_> = list(&report["items"])
        .map(|one| diagnostic(one, lines))
        .collect();
    texts.sort();
    if texts.is_empty() {
        return "none\n".to_owned();
    }
    texts.into_iter().map(|(_, text)| text).collect()
}

fn diagnostic(one: &Value, lines: &[&str]) -> (u64, String) {
    let line = one["range"]["start"]["line"].as_u64().expect("a number");
    let text = lines[usize::try_from(line).expect("small")].trim();
    let message = text_of(&one["message"]).replace('\n', " ");
    (
        line,
        format!("- {} in `{text}`: {message}\n", text_of(&one["code"])),
    )
}

/// The answers to each piece of unfinished code: completions at the cursor, and diagnostics.
fn unfinished(client: &mut Client, text: &str) -> String {
    let file = "src/unfinished.rs";
    let mut answers = "# Unfinished code\n".to_owned();
    let (head, pieces) = text.split_once("//- ").expect("a piece");
    for piece in pieces.split("//- ") {
        let (title, code) = piece.split_once('\n').expect("code");
        let code = code.trim();
        let (before, after) = code.split_once("$0").expect("a cursor");
        let text = format!("{head}{before}{after}\n");
        client.show(file, &text);
        let lines: Vec<_> = text.lines().collect();
        let typed = format!("{head}{before}");
        let line = typed.matches('\n').count();
        let column = typed.len() - typed.rfind('\n').map_or(0, |at| at + 1);
        let found = completions(client, file, (line, column), &typed);
        let shown = diagnostics(client, file, &lines);
        let _ = write!(
            answers,
            "\n## {title}\n\n```rust\n{code}\n```\n\n{found}\nDiagnostics:\n\n{shown}"
        );
    }
    answers
}

/// What an editor offers: the items that begin with what is typed, at most 30.
fn completions(client: &mut Client, file: &str, at: (usize, usize), typed: &str) -> String {
    let list_of = client.at("completion", file, at, &json!({}));
    let prefix = typed
        .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
        .unwrap_or_default();
    let mut items: Vec<_> = list(&list_of["items"]).cloned().collect();
    items.retain(|item| text_of(&item["label"]).starts_with(prefix));
    items.sort_by_key(|item| {
        [
            text_of(&item["sortText"]).to_owned(),
            text_of(&item["label"]).to_owned(),
        ]
    });
    if items.len() > 30 {
        return format!("{} completions\n", items.len());
    }
    let mut texts = String::new();
    for item in items {
        let label = text_of(&item["label"]).to_owned();
        let item = client.request("completionItem/resolve", item);
        let documentation = item["documentation"]["value"].as_str().unwrap_or_default();
        let first = documentation.lines().next().unwrap_or_default();
        let _ = writeln!(texts, "- {label}: {first}");
    }
    if texts.is_empty() {
        "no completions\n".to_owned()
    } else {
        texts
    }
}

fn range((line, column): (usize, usize), (end_line, end_column): (usize, usize)) -> Value {
    json!({
        "start": {"line": line, "character": column},
        "end": {"line": end_line, "character": end_column},
    })
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
