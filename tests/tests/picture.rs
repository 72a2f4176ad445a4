//! The picture of the README: a function, what the model gets, a wrong call, and what the model reads. It is
//! drawn from a real tool; `BLESS=1` writes it.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use tool_core::{Registry, Tool, ToolCall, ToolType, tool, tools};

#[derive(ToolType)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[derive(Serialize, ToolType)]
struct Forecast {
    high: f64,
}

const SOURCE: &str = include_str!("picture.rs");

// Shown from here …
/// Weather forecast for a city.
#[tool(read_only)]
fn get_forecast(
    /// City and country.
    city: &str,
    days: Option<u8>,
    unit: Unit,
) -> Forecast
// … to here.
{
    let high = match unit {
        Unit::Celsius => 21.5,
        Unit::Fahrenheit => 70.7,
    };
    let days = f64::from(days.unwrap_or(0));
    Forecast {
        high: if city.is_empty() { 0.0 } else { high + days },
    }
}

/// The schema, broken into lines.
const SCHEMA: &[&str] = &[
    r#"{"type":"object","properties":{"#,
    r#"  "city":{"type":"string","description":"City and country."},"#,
    r#"  "days":{"type":"integer","minimum":0,"maximum":255},"#,
    r#"  "unit":{"type":"string","enum":["celsius","fahrenheit"]}},"#,
    r#" "required":["city","unit"],"additionalProperties":false}"#,
];

const CALL: &str = r#"{"contry":"Portugal","days":300}"#;

/// The size of a character and a line, in pixels.
const CHARACTER: usize = 8;
const LINE: usize = 20;

struct Panel {
    title: &'static str,
    lines: Vec<String>,
}

impl Panel {
    fn height(&self) -> usize {
        self.lines.len() * LINE + 56
    }
}

fn panels() -> Vec<Panel> {
    let shown = SOURCE.split("// Shown from here …\n").nth(1).unwrap();
    let shown = shown.split("\n// … to here.").next().unwrap();
    let schema: String = SCHEMA.iter().map(|line| line.trim_start()).collect();
    assert_eq!(schema, get_forecast::SPEC.parameters_json());

    let registry = Registry::builder()
        .tools(tools![get_forecast])
        .build()
        .unwrap();
    let result = registry.call_blocking(ToolCall::new("call_1", "get_forecast", CALL));
    let (start, rest) = result.content().split_once("[ref ").unwrap();
    let read = format!("{start}[ref 7K3QZ9{}", &rest[6..]);
    assert_eq!(result.error().unwrap().violations().len(), 4);

    let lines = |text: &str| text.lines().map(str::to_owned).collect();
    vec![
        Panel {
            title: "you write",
            lines: lines(shown),
        },
        Panel {
            title: "the model gets",
            lines: SCHEMA.iter().map(ToString::to_string).collect(),
        },
        Panel {
            title: "it makes mistakes",
            lines: lines(CALL),
        },
        Panel {
            title: "and reads all of them",
            lines: lines(&read),
        },
    ]
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Writes panels in columns of this many pixels. No line is empty, because Markdown ends HTML there.
fn draw(panels: &[Panel], columns: usize, width: usize) -> String {
    let rows: Vec<_> = panels.chunks(columns).collect();
    let height = |row: &&[Panel]| row.iter().map(Panel::height).max().unwrap() + 16;
    let all: usize = rows.iter().map(height).sum::<usize>() - 16;
    let total = columns * (width + 16) - 16;
    let mut out = format!(
        "<svg class=\"tc-{columns}\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {total} {all}\" width=\"{total}\" height=\"{all}\" \
         role=\"img\" aria-label=\"From a function to what the model reads\">\n\
         <style>\n\
         .tc-b{{fill:#f6f8fa;stroke:#d0d7de}}.tc-t{{fill:#57606a;font:600 13px system-ui,sans-serif}}\n\
         .tc-c{{fill:#1f2328;font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}}\n\
         .tc-d{{fill:#57606a}}.tc-a{{fill:#8250df}}.tc-e{{fill:#b42318}}\n\
         @media (prefers-color-scheme:dark){{.tc-b{{fill:#161b22;stroke:#30363d}}.tc-t,.tc-d{{fill:#9198a1}}\
         .tc-c{{fill:#e6edf3}}.tc-a{{fill:#d2a8ff}}.tc-e{{fill:#ff7b72}}}}\n\
         </style>\n"
    );
    let mut top = 0;
    for row in &rows {
        for (column, panel) in row.iter().enumerate() {
            let (left, height) = (column * (width + 16), height(row) - 16);
            writeln!(
                out,
                "<rect class=\"tc-b\" x=\"{}.5\" y=\"{top}.5\" width=\"{}\" height=\"{}\" rx=\"8\"/>",
                left,
                width - 1,
                height - 1
            )
            .unwrap();
            writeln!(
                out,
                "<text class=\"tc-t\" x=\"{}\" y=\"{}\">{}</text>",
                left + 16,
                top + 26,
                panel.title
            )
            .unwrap();
            for (at, line) in panel.lines.iter().enumerate() {
                assert!(line.chars().count() * CHARACTER + 32 <= width, "{line}");
                let class = match line.trim_start().chars().next() {
                    Some('/') => "tc-c tc-d",
                    Some('#') => "tc-c tc-a",
                    Some('-') => "tc-c tc-e",
                    _ => "tc-c",
                };
                writeln!(
                    out,
                    "<text class=\"{class}\" x=\"{}\" y=\"{}\" xml:space=\"preserve\">{}</text>",
                    left + 16,
                    top + 52 + at * LINE,
                    escaped(line)
                )
                .unwrap();
            }
        }
        top += height(row);
    }
    out.push_str("</svg>\n");
    out
}

/// The others are drawn by `tests/pages/run pictures`, and by the test of the tutorial.
#[test]
fn pictures_are_small_and_shown() {
    let pages = ["README.md", "examples/README.md"].map(|page| {
        let path = tests::root().join(page);
        std::fs::read_to_string(path).unwrap()
    });
    let pictures = tests::files(&tests::root().join("examples/pictures"));
    assert!(pictures.len() > 2);
    for path in pictures {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() < 150_000, "{name}");
        let link = format!("pictures/{name})");
        assert!(pages.iter().any(|page| page.contains(&link)), "{name}");
    }
}

#[test]
fn the_picture_of_the_readme_shows_a_real_tool() {
    let panels = panels();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tool-core/src/guide");
    for (name, columns) in [("call-wide.svg", 2), ("call-narrow.svg", 1)] {
        let drawn = draw(&panels, columns, 532);
        let path = folder.join(name);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &drawn).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            committed, drawn,
            "{name} is old; run this test with BLESS=1"
        );
    }
}
