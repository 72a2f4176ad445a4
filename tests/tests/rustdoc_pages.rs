//! The section that rustdoc shows on the page of a tool's function.
//!
//! Runs rustdoc on the package `rustdoc-fixture`, with warnings as errors, and reads the pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use tool_core::{ToolEntry, tools};

/// Returns the folder of the pages, generated once, and rustdoc's output for docs with a mistake.
///
/// The runs are sequential: each run of cargo removes the earlier pages.
static PAGES: LazyLock<(PathBuf, String)> = LazyLock::new(|| {
    let (folder, broken) = document(&["--features", "broken-link"]);
    assert!(folder.is_none(), "{broken}");
    let (folder, output) = document(&[]);
    (folder.unwrap_or_else(|| panic!("{output}")), broken)
});

/// Returns the folder of the pages, if there is one, and rustdoc's output.
fn document(arguments: &[&str]) -> (Option<PathBuf>, String) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    let output = Command::new(env!("CARGO"))
        .args(["doc", "--package", "rustdoc-fixture", "--no-deps"])
        .args(["--offline", "--quiet", "--color=never"])
        .args(arguments)
        .env("RUSTDOCFLAGS", "--deny warnings")
        .env("CARGO_TARGET_DIR", &target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let words = String::from_utf8_lossy(&output.stderr).replace('\\', "/");
    let folder = output
        .status
        .success()
        .then(|| target.join("doc/rustdoc_fixture"));
    (folder, words)
}

/// Returns the page of a function.
fn page(function: &str) -> String {
    let path = PAGES.0.join(format!("fn.{function}.html"));
    fs::read_to_string(path).expect("rustdoc wrote it")
}

/// Returns the cells of the table on a page, row by row, as HTML.
fn rows(page: &str) -> Vec<Vec<String>> {
    let body = page.split_once("<tbody>").expect("a table").1;
    let body = body.split_once("</tbody>").expect("its end").0;
    let rows = body.split("<tr>").skip(1).map(|row| {
        let cells = row.split("<td>").skip(1);
        let cells = cells.map(|cell| cell.split("</td>").next().unwrap_or_default().to_owned());
        cells.collect()
    });
    rows.collect()
}

/// Returns the text of the code block in this language.
fn block(page: &str, language: &str) -> Option<String> {
    let (_, section) = page.split_once("id=\"as-a-tool\"")?;
    let (_, block) = section.split_once(&format!("<pre class=\"language-{language}\"><code>"))?;
    let (text, _) = block.split_once("</code>")?;
    let text = [
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (entity, mark)| {
        text.replace(entity, mark)
    });
    Some(text.trim_end().to_owned())
}

#[test]
fn the_table_lists_every_argument() {
    let page = page("forecast");
    let rows = rows(&page);
    let cells: Vec<Vec<&str>> = rows
        .iter()
        .map(|row| row.iter().map(String::as_str).collect())
        .collect();
    assert_eq!(
        cells[0][..3],
        ["<code>city</code>", "<code>&amp;str</code>", ""],
        "{rows:?}"
    );
    for part in [
        "<code>Lisbon | Porto</code>: see [Unit], [<code>Unit</code>] or [no such thing].",
        "Names | of &lt;i&gt;places&lt;/i&gt; at https://example.org/a_b, <em>all</em> of them; \
         a ` and [that].",
    ] {
        assert!(
            cells[0][3].contains(part),
            "{part} is not in {}",
            cells[0][3]
        );
    }
    let days = [
        "<code>days</code>",
        "<code>u8</code>",
        "optional, 1 to 14, default <code>3</code>",
        "",
    ];
    assert_eq!(cells[1], days);
    let unit = ["<code>unit</code>", "<code>Unit</code>", "", ""];
    assert_eq!(cells[2], unit);
    let place = [
        "<code>place</code>",
        "<code>Option&lt;Box&lt;(f64, f64)&gt;&gt;</code>",
        "optional",
        "",
    ];
    assert_eq!(cells[3], place);
    let languages = [
        "<code>in</code>",
        "<code>Vec&lt;String&gt;</code>",
        "length 1 to 5",
        "On one line.",
    ];
    assert_eq!(cells[4], languages);
}

#[test]
fn the_text_for_the_model_is_shown_verbatim() {
    let page = page("forecast");
    let [tool] = tools![rustdoc_fixture::forecast];
    assert_eq!(block(&page, "text").as_deref(), Some(&*tool.prompt()));
    for part in [
        "The model calls it <code>get-forecast</code>; its title is “Rain &amp; [shine]”. \
         It is read-only, not destructive.",
        "<summary>What the model reads</summary>",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn the_schema_on_the_page_is_that_of_the_tool() {
    let tools = tools![
        rustdoc_fixture::known,
        rustdoc_fixture::constrained,
        rustdoc_fixture::nothing,
        rustdoc_fixture::keyed,
    ];
    for tool in tools {
        let page = page(&tool.name);
        let shown = block(&page, "json").expect("every type is known");
        assert_eq!(without_space(&shown), tool.parameters_json());
    }
}

/// Removes whitespace outside of JSON strings.
fn without_space(json: &str) -> String {
    let mut in_string = false;
    let mut is_escaped = false;
    let keeps = |character: &char| {
        in_string ^= *character == '"' && !is_escaped;
        is_escaped = *character == '\\' && !is_escaped;
        in_string || !character.is_ascii_whitespace()
    };
    json.chars().filter(keeps).collect()
}

#[test]
fn a_schema_is_omitted_if_type_names_do_not_reveal_it() {
    for name in ["forecast", "written", "conditional"] {
        assert_eq!(block(&page(name), "json"), None, "{name}");
    }
}

#[test]
fn constraints_are_described() {
    let rows = rows(&page("constrained"));
    let shown: Vec<_> = rows.iter().map(|row| [&*row[1], &row[2]]).collect();
    let code = |text: &str| format!("<code>{text}</code>");
    let days = format!(
        "optional, 1 to 14, a multiple of 7, default {}, such as {}",
        code("7"),
        code("14")
    );
    let word = format!(
        "length 2 to 8, matches {}, such as {}",
        code("^[a|b]+\\.$"),
        code("\"ab.\"")
    );
    let mail = format!("optional, format {}", code("email"));
    let list = code("Vec&lt;u8&gt;");
    assert_eq!(
        shown,
        [
            [&*code("u8"), &days],
            [&code("i64"), "at least 5"],
            [&code("Option&lt;u32&gt;"), "optional, at most 5"],
            [&code("f64"), "at least 0.5, below 1, a multiple of 0.25"],
            [&code("&amp;str"), &word],
            [&code("Option&lt;String&gt;"), &mail],
            [&list, "length at most 3, unique items"],
            [&code("String"), "length 3"],
        ]
    );
    let rows = self::rows(&page("written"));
    let shown: Vec<_> = rows.iter().map(|row| [&*row[1], &row[2]]).collect();
    assert_eq!(
        shown,
        [
            [&*code(r#"{"type":["integer","null"]}"#), "optional"],
            [&code(r#"{"type":"string","enum":["a","b"]}"#), ""],
        ]
    );
}

#[test]
fn a_parameter_that_is_not_compiled_has_no_row() {
    let rows = rows(&page("conditional"));
    let names: Vec<_> = rows.iter().map(|row| &*row[0]).collect();
    assert_eq!(names, ["<code>there</code>", "<code>always</code>"]);
}

#[test]
fn the_section_adds_no_doc_test() {
    let pages = ["forecast", "known", "constrained", "nothing", "keyed"];
    for page in pages.map(page) {
        assert!(page.contains("As a tool"));
        assert!(!page.contains("rust-example-rendered"), "{page}");
    }
    let nothing = page("nothing");
    let words = "The model calls it <code>nothing</code>. It is idempotent, open world. It takes no arguments.";
    assert!(nothing.contains(words), "{nothing}");
}

#[test]
fn a_page_can_be_left_unchanged() {
    let page = page("plain");
    assert!(page.contains("A page without the section."));
    assert!(!page.contains("As a tool"));
    let _: [ToolEntry; 1] = tools![rustdoc_fixture::plain];
}

#[test]
fn a_warning_about_the_users_docs_keeps_its_place() {
    let words = &PAGES.1;
    assert_eq!(words.matches("unresolved link").count(), 1, "{words}");
    let source = include_str!("../rustdoc-fixture/src/lib.rs");
    let line = source.lines().position(|line| line == "/// See [nowhere].");
    let place = format!(
        "rustdoc-fixture/src/lib.rs:{}:10",
        line.expect("it is there") + 1
    );
    assert!(words.contains(&place), "{words}");
}
