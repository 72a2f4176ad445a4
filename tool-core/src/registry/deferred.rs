//! The tools `search_tools` and `call_tool`, which find and call deferred tools for providers that can't.
//!
//! They are not among the tools of a snapshot. A call of `call_tool` is replaced by a call of the tool that
//! it names, before anything else sees it.

use serde::de::IgnoredAny;

use crate::args::{ArgumentError, Input};
use crate::call::CALL_TOOL;
use crate::call::context::CallContext;
use crate::decode::{BySerde, Slot};
use crate::provider::entry::write_head;
use crate::provider::writer::JsonWriter;
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
