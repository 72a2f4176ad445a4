//! A tool that every provider accepts compiles with any provider feature, and works.

use serde::Deserialize;
use tool_core::dialect::Dialect;
use tool_core::{Registry, ToolCall, ToolType, tool};
use tool_dialects::{Anthropic, Gemini, GeminiInteractions, OpenAiChat, OpenAiResponses, XAi};

/// How to travel.
#[derive(Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Foot,
    Train,
}

#[derive(Deserialize, ToolType)]
struct Page<T> {
    items: Vec<T>,
    next: Option<u32>,
}

#[derive(Deserialize, ToolType)]
#[serde(tag = "kind")]
enum Stop {
    Station { name: String },
    Place { latitude: f64, longitude: f64 },
}

/// Plans a trip.
#[tool]
fn plan(
    /// Where from.
    from: &str,
    #[param(range = 1..=9, default = 1)] people: u8,
    mode: Option<Mode>,
    stops: Page<Stop>,
    #[param(length = ..=3)] notes: Vec<(String, bool)>,
    #[param(schema = r#"{"type":"string","enum":["a","b"]}"#)] class: String,
) -> String {
    let next = stops.next.unwrap_or_default();
    let stops = stops.items.iter().map(|stop| match stop {
        Stop::Station { name } => name.clone(),
        Stop::Place {
            latitude,
            longitude,
        } => format!("{latitude}/{longitude}"),
    });
    let mode = mode.map_or("", |mode| match mode {
        Mode::Foot => "on foot",
        Mode::Train => "by train",
    });
    let stops: Vec<_> = stops.collect();
    format!(
        "{people} {mode} from {from} via {} in {class}, {} notes, page {next}",
        stops.join(", "),
        notes.len()
    )
}

type Four<T> = Vec<Vec<Vec<Vec<T>>>>;

/// Uses the longest key and the deepest nesting that every provider accepts.
#[tool]
fn reach(
    a234567890123456789012345678901234567890123456789012345678901234: Four<u8>,
    deep: Four<Four<Vec<u8>>>,
) -> usize {
    a234567890123456789012345678901234567890123456789012345678901234.len() + deep.len()
}

#[test]
fn a_tool_that_every_provider_accepts_works() {
    let tools = Registry::linked().unwrap();
    assert_eq!(tools.len(), 2);
    let call = r#"{"from":"A","mode":"train","stops":{"items":[{"kind":"Station","name":"B"}]},
                   "notes":[],"class":"b"}"#;
    let result = tools.call_blocking(ToolCall::new("1", "plan", call));
    assert_eq!(
        result.content(),
        "1 by train from A via B in b, 0 notes, page 0"
    );
}

#[test]
fn strict_dialects_can_render_it() {
    let dialects: [&dyn Dialect; 6] = [
        &OpenAiChat::strict(),
        &OpenAiResponses::strict(),
        &Anthropic::strict(),
        &Gemini::default(),
        &GeminiInteractions::default(),
        &XAi::default(),
    ];
    for dialect in dialects {
        let rendered = Registry::linked().unwrap().render(dialect);
        assert_eq!(rendered.broken_rules(), [], "{rendered:?}");
    }
    // A tool without a strict form would be sent as written.
    for dialect in &dialects[..3] {
        let rendered = Registry::linked().unwrap().render(*dialect);
        let strict = rendered.as_str().matches(r#""strict":true"#);
        assert_eq!(strict.count(), 2, "{rendered:?}");
    }
}
