//! The tools `search_tools` and `call_tool`, which find and call deferred tools for providers that can't.
//!
//! They are not among the tools of a snapshot. A call of `call_tool` is replaced by a call of the tool that
//! it names, before anything else sees it.

use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::snapshot::Snapshot;
use crate::args::{ArgumentError, Input};
use crate::call::context::CallContext;
use crate::call::{Arguments, CALL_TOOL, ToolCall};
use crate::decode::{BySerde, Slot};
use crate::provider::dialect::JsonWriter;
use crate::provider::entry::write_head;
use crate::schema::messages::bare_name;
use crate::schema::{Property, Schema, Text};
use crate::spec::Location;
use crate::tool::{Invoke, StaticSpec, SyncResult, Tool, ToolEntry};

const SEARCH_TOOLS: &str = "search_tools";

/// The names that a registry with deferred tools can't have. The last three are names of the providers'
/// own search.
pub(super) const RESERVED: [&str; 5] = [
    SEARCH_TOOLS,
    CALL_TOOL,
    "tool_search",
    "tool_search_tool_bm25",
    "tool_search_tool_regex",
];

/// Searches for more tools by what they do. Returns the name, the description and the parameters of those
/// that match best. Call them with `call_tool`.
#[crate::tool(unlinked, read_only, idempotent)]
fn search_tools(
    /// Words for what the tool should do.
    query: &str,
    #[param(range = 1..=20, default = 5)] limit: u8,
    call: &CallContext,
) -> String {
    call.search_deferred(query, limit.into())
}

/// The handler of `call_tool`. A call reaches it only if its arguments are not a name and an object.
struct CallTool;

impl Tool for CallTool {
    const SOURCE: StaticSpec = StaticSpec {
        name: CALL_TOOL,
        description: "Calls a tool that `search_tools` found.",
        // The check of provider rules would reject the object with any keys. Strict dialects send this tool
        // as not strict.
        parameters: &[
            Property::new(
                Text::new("name"),
                &Schema::STRING.describe(Text::new("The name of the tool.")),
            ),
            Property::new(
                Text::new("arguments"),
                // They may be meant for a tool with secrets whose name is misspelled.
                &Schema::map(&Schema::ANY).secret().describe(Text::new(
                    "The arguments, as the parameters of the tool say.",
                )),
            )
            .optional(),
        ],
        invoke: Invoke::Sync(reject),
        ..StaticSpec::EMPTY
    };
    const LOCATION: Location = crate::__private::location(module_path!());
}

/// Reports what is wrong with the arguments of `call_tool`.
fn reject(input: &Input) -> SyncResult {
    let mut name = Slot::<String>(None);
    let mut arguments = Slot::<BySerde<IgnoredAny>>(None);
    input.read(&mut [&mut name, &mut arguments])?;
    // A string that `inner` rejects is invalid by the schema, too.
    Err(ArgumentError::Malformed("`name` could not be read".into()))
}

/// Returns the tools that stand in for deferred ones.
pub(super) fn entries() -> [ToolEntry; 2] {
    [ToolEntry::of::<search_tools>(), ToolEntry::of::<CallTool>()]
}

pub(super) fn is_call_tool(tool: &ToolEntry) -> bool {
    tool.is_same(&ToolEntry::of::<CallTool>())
}

/// Returns the tool that a call runs, if it is one of [`entries`] or a deferred one, or if a lenient registry has it
/// under the name without what is around it. The call becomes one of that tool.
#[cold]
pub(super) fn resolve(
    snapshot: &Snapshot,
    call: &mut ToolCall,
    is_lenient: bool,
) -> Option<ToolEntry> {
    if let Some(tool) = resolve_named(snapshot, call) {
        return Some(tool);
    }
    let bare = bare_name(&call.name);
    if !is_lenient || bare == call.name {
        return None;
    }
    let bare = bare.to_owned();
    let written = std::mem::replace(&mut call.name, bare);
    let tool = snapshot.get(&call.name).cloned();
    let Some(tool) = tool.or_else(|| resolve_named(snapshot, call)) else {
        call.name = written;
        return None;
    };
    call.origin.get_or_insert_default().written_name = Some(written);
    Some(tool)
}

/// Returns the tool of a call of `call_tool`, or one that is built in.
fn resolve_named(snapshot: &Snapshot, call: &mut ToolCall) -> Option<ToolEntry> {
    if call.name == CALL_TOOL
        && snapshot.has_deferred()
        && !call.is_truncated
        && let Some((name, arguments)) = inner(&call.arguments)
    {
        call.name = name;
        call.arguments = arguments;
        call.is_wrapped = true;
        return snapshot.get(&call.name).cloned();
    }
    snapshot.built_in(&call.name)
}

/// Returns the name and the arguments in the arguments of `call_tool`, if they have their form.
fn inner(arguments: &Arguments) -> Option<(String, Arguments)> {
    match arguments {
        Arguments::Text(text) => {
            let Wrapped { name, arguments } = serde_json::from_str(text).ok()?;
            let text = arguments.map_or("{}", RawValue::get);
            let arguments = match text.as_bytes().first()? {
                b'{' | b'n' => Arguments::from(text),
                b'"' => Arguments::Text(serde_json::from_str(text).ok()?),
                _ => return None,
            };
            Some((name, arguments))
        }
        Arguments::Json(Value::Object(members)) => {
            let is_known = |key: &String| key == "name" || key == "arguments";
            let name = members.get("name")?.as_str()?;
            let arguments = members.get("arguments").unwrap_or(&Value::Null);
            let is_wrong = arguments.is_array() || arguments.is_number() || arguments.is_boolean();
            if is_wrong || !members.keys().all(is_known) {
                return None;
            }
            Some((name.to_owned(), Arguments::from(arguments.clone())))
        }
        Arguments::Json(_) | Arguments::Freeform(_) => None,
    }
}

/// The arguments of `call_tool`. Models often write the inner arguments as a string.
struct Wrapped<'a> {
    name: String,
    arguments: Option<&'a RawValue>,
}

impl<'de> Deserialize<'de> for Wrapped<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Wrapped<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name and arguments")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Wrapped<'de>, M::Error> {
                let (mut name, mut arguments) = (None, None);
                while let Some(key) = map.next_key::<String>()? {
                    match &*key {
                        "name" if name.is_none() => name = Some(map.next_value()?),
                        "arguments" if arguments.is_none() => arguments = Some(map.next_value()?),
                        _ => return Err(M::Error::custom("an unknown or duplicate key")),
                    }
                }
                let name = name.ok_or_else(|| M::Error::missing_field("name"))?;
                Ok(Wrapped { name, arguments })
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// Returns the text of a search's result.
pub(super) fn found(tools: &[&ToolEntry]) -> String {
    if tools.is_empty() {
        return "No tool matches these words. Search with other words.".into();
    }
    let mut out = JsonWriter::new();
    out.array(|out| {
        for tool in tools {
            out.object(|out| {
                write_head(tool, out);
                out.key("parameters").raw(tool.portable_json());
            });
        }
    });
    out.into_string()
}
