//! Catalogues of tools: their content, and escaping of texts.

mod browser;
mod dynamic;
mod escaping;
mod page;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_core::{Registry, ToolType, tool, tools};
use tool_docs::Docs;

/// A place.
#[derive(Deserialize, ToolType)]
struct Place {
    /// Degrees north.
    #[param(range = -90.0..=90.0)]
    latitude: f64,
    /// A name for people.
    #[serde(default)]
    name: Option<String>,
}

#[derive(Deserialize, ToolType)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Stop {
    Place(Place),
    /// Anywhere with a bed.
    Night {
        #[param(length = 1..=3)]
        beds: Vec<u8>,
    },
}

#[derive(Deserialize, ToolType)]
struct Tree {
    /// Any text.
    label: String,
    #[serde(default)]
    children: Vec<Tree>,
}

#[derive(Serialize, ToolType)]
struct Route {
    /// In kilometres.
    length: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    toll: Option<u32>,
}

/// Finds a way.
///
/// It may be long.
///
/// # When to use
/// The user asks for a way.
///
/// # Returns
/// The shortest.
#[tool(title = "Find a way", read_only, open_world = false)]
fn find_way(
    from: Place,
    /// Where to halt.
    stops: Vec<Stop>,
    #[param(range = 1..=9, default = 3)] ways: u8,
    #[param(pattern = "^[A-Z]+$", example = "ABC")] code: Option<&str>,
) -> Result<Route, String> {
    let _ = (from.latitude, from.name, ways, code);
    for stop in stops {
        match stop {
            Stop::Place(place) => drop(place.name),
            Stop::Night { beds } => drop(beds),
        }
    }
    Ok(Route {
        length: 1.0,
        toll: None,
    })
}

/// Plants a tree.
#[tool(destructive = false, idempotent)]
fn plant(tree: Tree) {
    let _ = (tree.label, tree.children);
}

/// Opens a door.
#[tool]
fn open_door(#[param(pattern = "^[0-9]{4}$")] code: &str, anything: Value) -> bool {
    let _ = anything;
    code.is_empty()
}

/// Waits.
#[tool]
fn wait() {}

fn registry() -> Registry {
    let registry = Registry::builder().tools(tools![find_way, plant, open_door, wait]);
    registry.build().expect("unique names")
}

#[test]
fn a_markdown_catalogue_describes_every_part_of_a_tool() {
    let text = Docs::new(&registry())
        .title("All")
        .introduction("First.\n\nSecond.")
        .to_markdown();
    for part in [
        "# All\n\nFirst.\n\nSecond.\n\n- [find_way](#",
        "- [find_way](#tool-find_way): Finds a way.\n",
        "## <a id=\"tool-find_way\"></a>find_way\n\n**Find a way**\n\n*read-only · closed world*\n",
        "\nFinds a way.\n\nIt may be long.\n\n**When to use**\n\nThe user asks for a way.\n",
        "| <code>from</code> | object | yes |  | A place. |\n",
        "| <code>from.latitude</code> | number | yes | -90 to 90 | Degrees north. |\n",
        "| <code>from.name</code> | string | no |  | A name for people. |\n",
        "| <code>stops</code> | array of one of 2 variants | yes |  | Where to halt. |\n",
        "| <code>stops\\[\\] (2 of 2)</code> | object |  |  | Anywhere with a bed. |\n",
        "| <code>stops\\[\\].kind</code> | \"night\" | yes |  |  |\n",
        "| <code>stops\\[\\].beds</code> | array of integer | yes | 1 to 3 items |  |\n",
        "| <code>ways</code> | integer | no | 1 to 9<br>default 3 |  |\n",
        "| <code>code</code> | string | no | pattern ^\\[A-Z\\]+\\$<br>for example \"ABC\" |  |\n",
        "\n**Returns**\n\nThe shortest.\n\n| Name | Type | Always present |",
        "| <code>length</code> | number | yes |  | In kilometres. |\n",
        "| <code>toll</code> | integer or null | no |",
        "\n**Tree**\n\n| Name | Type | Required |",
        "| <code>children</code> | array of Tree | no |",
        "Not available: \\`code\\` has a pattern; add an example.\n",
        "- OpenAI, strict: parameter \\`anything\\`: OpenAI's strict mode does not accept untyped values \
         (rule openai.strict.types)\n",
        "No parameters.\n",
        "<details>\n<summary>JSON Schema of the parameters</summary>\n\n```json\n{\n  \"type\": \"object\",",
    ] {
        assert!(text.contains(part), "{part}\n\nis missing in\n\n{text}");
    }
    assert!(text.contains(
        "```json\n{\n  \"from\": {\n    \"latitude\": 1\n  },\n  \"stops\": [\n    {\n      \
         \"kind\": \"place\",\n      \"latitude\": 1\n    }\n  ],\n  \"ways\": 3,\n  \"code\": \"ABC\"\n}\n```"
    ), "{text}");
}

#[test]
fn a_page_has_the_same_content_and_is_well_formed() {
    let html = Docs::new(&registry()).title("All").to_html();
    for part in [
        "<title>All</title>",
        "<summary><h2>find_way</h2> <em>Find a way</em> <b class=\"read-only\">read-only</b> <b class=\"closed\">closed world</b> \
         <span>Finds a way.</span></summary><div id=\"tool-find_way\"><div><p>It may be long.</p>",
        "<ul>\n<li>from <i>object</i> <em>required</em><p>A place.</p><ul>\n\
         <li>latitude <i>number · -90 to 90</i> <em>required</em><p>Degrees north.</p></li>\n",
        "<li>(2 of 2) <i>object</i><p>Anywhere with a bed.</p><ul>\n",
        "<li>children <i>array of <a href=\"#tool-plant-1\">Tree</a></i>",
        "<h4 id=\"tool-plant-1\"><code>Tree</code></h4>",
        "<th scope=\"row\">Anthropic, strict</th>",
        "default-src 'none'",
        "prefers-color-scheme: dark",
    ] {
        assert!(html.contains(part), "{part} is missing in {html}");
    }
    assert!(
        !html.contains(" src=") && !html.contains(" url("),
        "it loads something"
    );
    escaping::assert_balanced(&html);
}

#[test]
fn a_missing_or_stale_file_is_reported() {
    let folder = std::env::temp_dir().join(format!("tool-core-docs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable folder");
    for name in ["TOOLS.md", "tools.html"] {
        let path = folder.join(name);
        let docs = Docs::new(&registry());
        let missing = docs.check(&path).expect_err("there is none");
        assert!(missing.to_string().contains("does not exist"), "{missing}");
        let text = if name == "TOOLS.md" {
            docs.to_markdown()
        } else {
            docs.to_html()
        };
        std::fs::write(&path, text.replace('\n', "\r\n")).expect("a writable folder");
        docs.check(&path).expect("only the ends of lines differ");
        let stale = docs
            .title("Other")
            .check(&path)
            .expect_err("the title is another");
        assert!(stale.to_string().contains("is out of date"), "{stale}");
        assert!(stale.to_string().contains("Other"), "{stale}");
    }
    std::fs::remove_dir_all(&folder).expect("a removable folder");
}

/// Every catalogue is replaced, and no other file.
#[test]
fn only_a_catalogue_is_replaced() {
    let folder = std::env::temp_dir().join(format!("tool-core-write-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable folder");
    let hostile = "a *b*\n- [x](#tool-x): y\n\n```\n    code\n1. [U+202E] \u{5d0} {{#include x}}";
    let grouped = || {
        let group = Registry::builder().group("b *c*", tools![wait]);
        group.tools(tools![plant]).build().expect("unique names")
    };
    let write = |path: &std::path::Path, text: &str| {
        std::fs::write(path, text).expect("a writable folder");
    };
    for name in ["TOOLS.md", "tools.html"] {
        let path = folder.join(name);
        let new = Docs::new(&registry()).title("New");
        for old in [
            Docs::new(&registry()),
            Docs::new(&registry()).title(hostile).introduction(hostile),
            Docs::new(&Registry::new()).introduction(hostile),
            Docs::new(&grouped()).introduction("One.\n\nTwo, three: four."),
        ] {
            old.write(&path).unwrap_or_else(|error| panic!("{error}"));
            old.check(&path).expect("it was just written");
            new.write(&path).unwrap_or_else(|error| panic!("{error}"));
        }
        let ours = std::fs::read_to_string(&path).expect("it was written");
        let by_hand = [
            "mine".to_owned(),
            "# Mine\n".into(),
            "<!DOCTYPE html>\n<html>\n<head>\n</head>\n</html>\n".into(),
            // A file with a pasted catalogue.
            format!("# Mine\n\nSee [this](that.md).\n\n{ours}"),
            format!("# Mine\n\n## Part\n\n{ours}"),
            format!("{ours}\nMore of mine.\n"),
            // The other format.
            if name == "TOOLS.md" {
                new.to_html()
            } else {
                new.to_markdown()
            },
        ];
        for text in by_hand {
            write(&path, &text);
            for error in [new.write(&path), new.check(&path)].map(Result::unwrap_err) {
                let said = error.to_string();
                assert!(
                    said.contains("was not written by tool-docs"),
                    "{said}\n{text}"
                );
                assert!(said.contains("delete the file"), "{said}");
            }
            let kept = std::fs::read_to_string(&path).expect("it is still there");
            assert_eq!(kept, text);
        }
        write(&path, "\n");
        new.write(&path).expect("nothing is lost");
        // Text that is not UTF-8.
        std::fs::write(&path, [b'#', b' ', 0xff]).expect("a writable folder");
        new.write(&path).expect_err("it is not ours");
    }
    std::fs::remove_dir_all(&folder).expect("a removable folder");
}
