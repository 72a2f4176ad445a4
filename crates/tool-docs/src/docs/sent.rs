//! The form of each tool for each provider: its text, its size, its rewritten parts, and the message for a wrong call.
//!
//! A page has it as one compressed JSON text, because the texts of providers are alike and few readers look at all of them.

use tool_core::__docs::{rendered, rendered_alone};
use tool_core::dialect::write::JsonWriter;
use tool_core::schema::Json;
use tool_core::{ToolCall, ToolErrorKind};

use super::page::{Page, Section};
use super::{Docs, quote};

/// Stand for the schema and for the quoted description of a tool in the texts of providers. JSON has no such characters.
const SCHEMA: char = '\u{1}';
const PROMPT: char = '\u{2}';

/// Stands for the reference in an error, which differs from call to call.
const REFERENCE: &str = "\u{b7}\u{b7}\u{b7}\u{b7}\u{b7}\u{b7}";

/// The most bytes of the data of a page that is compared with another.
const MAX_DATA: usize = 1 << 28;

pub(super) struct Sent {
    /// The forms of all tools for each provider.
    pub(super) providers: Vec<Provider>,
    json: String,
}

pub(super) struct Provider {
    pub(super) name: &'static str,
    pub(super) bytes: usize,
    pub(super) tokens: Option<usize>,
}

impl Sent {
    pub(super) fn of(docs: &Docs, page: &Page<'_>) -> Sent {
        let providers = tool_dialects::all().map(|known| {
            let all = rendered(&docs.registry, known.dialect);
            Provider {
                name: known.title,
                bytes: all.as_str().len(),
                tokens: tokens(docs, all.as_str()),
            }
        });
        let providers: Vec<_> = providers.collect();
        let mut out = JsonWriter::new();
        out.object(|out| {
            out.key("providers").array(|out| {
                for all in &providers {
                    out.string(all.name);
                }
            });
            out.key("tools").object(|out| {
                for section in page.sections() {
                    out.key(&section.anchor)
                        .object(|out| write_tool(docs, section, out));
                }
            });
        });
        Sent {
            providers,
            json: out.into_string(),
        }
    }

    pub(super) fn compressed(&self) -> Vec<u8> {
        miniz_oxide::deflate::compress_to_vec(self.json.as_bytes(), 6)
    }
}

/// Returns the text that [`Sent::compressed`] was made of.
pub(super) fn inflate(bytes: &[u8]) -> Option<String> {
    let text = miniz_oxide::inflate::decompress_to_vec_with_limit(bytes, MAX_DATA).ok()?;
    String::from_utf8(text).ok()
}

fn tokens(docs: &Docs, text: &str) -> Option<usize> {
    #[cfg(feature = "tokens")]
    if docs.has_tokens {
        return Some(tiktoken_rs::o200k_base_singleton().count_ordinary(text));
    }
    let _ = (docs, text);
    None
}

fn write_tool(docs: &Docs, section: &Section<'_>, out: &mut JsonWriter) {
    let tool = section.tool;
    let (schema, prompt) = (tool.portable_json(), quote(&tool.prompt()));
    out.key("name").string(&tool.name);
    out.key("schema").string(schema);
    out.key("prompt").string(&prompt);
    if let Some((arguments, words)) = wrong_call(docs, section) {
        out.key("wrong").array(|out| {
            out.string(&arguments).string(&words);
        });
    }
    let own = Json::parse(schema).expect("a tool's schema is valid JSON");
    out.key("sent").array(|out| {
        for known in tool_dialects::all() {
            let rendered = rendered_alone(tool, known.dialect);
            let text = rendered.as_str();
            let short = text.replace(schema, SCHEMA.encode_utf8(&mut [0; 4]));
            let short = short.replace(&prompt, PROMPT.encode_utf8(&mut [0; 4]));
            let mut notes: Vec<_> = rendered
                .rejected()
                .iter()
                .map(|rejected| rejected.message.clone())
                .collect();
            if notes.is_empty() && !short.contains(SCHEMA) {
                notes = rewrites(&own, text);
            }
            out.array(|out| {
                out.string(&short).raw(&text.len().to_string());
                match tokens(docs, text) {
                    Some(count) => out.raw(&count.to_string()),
                    None => out.raw("null"),
                };
                for note in &notes {
                    out.string(note);
                }
            });
        }
    });
}

/// Returns the arguments of a call that the tool rejects, and the message for the model.
fn wrong_call(docs: &Docs, section: &Section<'_>) -> Option<(String, String)> {
    let example = section.examples.as_ref().ok()?.first()?;
    let properties = section.schema.get_members("properties");
    let mut members = example.members().to_vec();
    let required = section.schema.get_items("required");
    let is_required = |key: &str| required.iter().any(|name| name.as_str() == Some(key));
    // Of several, one is missing.
    if members.len() > 1
        && let Some(at) = members.iter().rposition(|(key, _)| is_required(key))
    {
        members.remove(at);
    }
    if let Some((key, value)) = members.first_mut() {
        let property = properties.iter().find(|(name, _)| name == key);
        let is_text = property.is_some_and(|(_, schema)| {
            schema.get_str("type") == Some("string") && schema.get("enum").is_none()
        });
        *value = if is_text {
            Json::Array(Vec::new())
        } else {
            Json::from("anything")
        };
    }
    members.push(("unknown".to_owned(), Json::from(true)));
    let arguments = Json::Object(members).to_string();
    let call = ToolCall::new("call_1", &*section.tool.name, &*arguments);
    let error = docs.registry.validate(&call).err()?;
    let is_wrong = error.kind() == ToolErrorKind::InvalidArguments;
    is_wrong.then(|| (arguments, error.message().replace(error.id(), REFERENCE)))
}

/// Returns the differences between the schema of a tool and the form for a provider.
fn rewrites(own: &Json, text: &str) -> Vec<String> {
    let Ok(text) = Json::parse(text) else {
        return Vec::new();
    };
    let mut notes = Vec::new();
    match sent_schema(&text) {
        Some(sent) => compare("", own, sent, &mut notes),
        None => notes.push("sent without a schema".to_owned()),
    }
    notes
}

/// Finds the schema of the arguments in the JSON of a tool.
fn sent_schema(json: &Json) -> Option<&Json> {
    const KEYS: [&str; 5] = [
        "parameters",
        "input_schema",
        "inputSchema",
        "parametersJsonSchema",
        "parameters_json_schema",
    ];
    if let Some(found) = KEYS.into_iter().find_map(|key| json.get(key)) {
        return Some(found.get("json").unwrap_or(found));
    }
    let mut inner = json
        .members()
        .iter()
        .map(|(_, value)| value)
        .chain(json.items());
    inner.find_map(sent_schema)
}

/// Adds the differences between two schemas at a place.
fn compare(place: &str, own: &Json, sent: &Json, notes: &mut Vec<String>) {
    let at = |text: String| match place {
        "" => text,
        place => format!("`{place}`: {text}"),
    };
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for (key, value) in own.members() {
        match (sent.get(key), &**key) {
            (Some(other), _) if other == value => {}
            (Some(other), "properties" | "$defs" | "patternProperties") => {
                for (name, value) in value.members() {
                    match other.get(name) {
                        Some(other) => {
                            compare(&super::rows::join(place, name), value, other, notes);
                        }
                        None => notes.push(at(format!("without `{name}`"))),
                    }
                }
            }
            (Some(other @ Json::Object(_)), "items" | "additionalProperties") => {
                compare(&format!("{place}[]"), value, other, notes);
            }
            (Some(other), "anyOf") if other.items().len() == value.items().len() => {
                for (at, (value, other)) in value.items().iter().zip(other.items()).enumerate() {
                    compare(&format!("{place} ({})", at + 1), value, other, notes);
                }
            }
            (Some(Json::String(other)), "description") => {
                let before = value.as_str().unwrap_or_default();
                notes.push(at(match other.strip_prefix(before) {
                    Some(more) => format!("the description goes on: {}", more.trim()),
                    None => format!("the description is: {other}"),
                }));
            }
            (Some(other), "required") => {
                let more = other
                    .items()
                    .iter()
                    .filter(|name| !value.items().contains(name));
                let more: Vec<_> = more
                    .filter_map(Json::as_str)
                    .map(|name| format!("`{name}`"))
                    .collect();
                notes.push(at(format!("{} must be given", more.join(", "))));
            }
            (Some(other), key) => notes.push(at(format!("`{key}` is `{other}`, not `{value}`"))),
            (None, key) => removed.push(format!("`{key}`")),
        }
    }
    for (key, value) in sent.members() {
        match (own.get(key), value) {
            (Some(_), _) => {}
            (None, Json::String(text)) if key == "description" => {
                notes.push(at(format!("a description: {text}")));
            }
            (None, value) => added.push(format!("`{key}`: `{value}`")),
        }
    }
    if !removed.is_empty() {
        notes.push(at(format!("without {}", removed.join(", "))));
    }
    if !added.is_empty() {
        notes.push(at(format!("with {}", added.join(", "))));
    }
}
