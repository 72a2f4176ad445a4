//! The Model Context Protocol.

use crate::provider::rules::Kind::{Compile, Emit, Registry, Runtime};
use crate::provider::rules::{Met, Rule, Source, Value, rule, source};

const TOOLS: Source = source(
    "modelcontextprotocol@b0f60ba5, specification 2026-07-28, server/tools",
    "2026-07-28",
);
const SCHEMA: Source = source(
    "modelcontextprotocol@b0f60ba5, schema/2026-07-28/schema.json",
    "2026-07-28",
);

pub(crate) const RULES: &[Rule] = &[
    rule(
        "mcp.2025-06-18.tool_fields",
        Emit,
        "the fields of a tool",
        Value::Names(&[
            "name",
            "title",
            "description",
            "inputSchema",
            "outputSchema",
            "annotations",
            "_meta",
        ]),
        source(
            "modelcontextprotocol@b0f60ba5, specification 2025-06-18, server/tools",
            "2025-06-18",
        ),
        Met::By("`Mcp`"),
    ),
    rule(
        "mcp.2025-11-25.tool_fields_added",
        Emit,
        "further fields of a tool",
        Value::Names(&["icons", "execution"]),
        source(
            "modelcontextprotocol@b0f60ba5, specification 2025-11-25, server/tools",
            "2025-11-25",
        ),
        Met::Waived("both are optional, and a tool says nothing of them"),
    ),
    rule(
        "mcp.2026-07-28.tool_fields_changed",
        Emit,
        "results say their type, and structured ones may be of any JSON type",
        Value::None,
        TOOLS,
        Met::By("`Mcp`"),
    ),
    rule(
        "mcp.name_regex",
        Compile,
        "the name of a tool, unique in a server",
        Value::Pattern("^[A-Za-z0-9_.-]{1,128}$"),
        TOOLS,
        Met::By("`portable.tool_name`, which is tighter; `Registry`, which refuses duplicates"),
    ),
    rule(
        "mcp.input_schema_root",
        Compile,
        "the arguments are an object",
        Value::None,
        SCHEMA,
        Met::By("`#[tool]`, which makes nothing else"),
    ),
    rule(
        "mcp.dialect_default",
        Emit,
        "a schema without `$schema` is one of draft 2020-12",
        Value::None,
        source(TOOLS.name, "2025-11-25"),
        Met::By("the schema's text, which is one"),
    ),
    rule(
        "mcp.no_params_schema",
        Emit,
        "a tool without parameters has a closed object",
        Value::None,
        source(TOOLS.name, "2025-11-25"),
        Met::By("the schema's text"),
    ),
    rule(
        "mcp.annotations",
        Emit,
        "hints of what a tool does, each with its default",
        Value::Names(&[
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
            "title",
        ]),
        SCHEMA,
        Met::By("`Mcp`, which writes those that were said; `#[tool]` refuses contradictions"),
    ),
    rule(
        "mcp.error_channel",
        Runtime,
        "failures are results that the model reads, an unknown tool is an error of the protocol",
        Value::None,
        source(TOOLS.name, "2025-11-25"),
        Met::By("`Mcp`"),
    ),
    rule(
        "mcp.x_mcp_header",
        Compile,
        "the header of a parameter is a token, unlike any other, on a scalar that is always there",
        Value::None,
        TOOLS,
        Met::Waived("a tool names no headers: `x-mcp-header` is never written"),
    ),
    rule(
        "mcp.tools_list_order",
        Registry,
        "the tools come in the same order every time",
        Value::None,
        TOOLS,
        Met::By("`Registry`, which sorts them by name"),
    ),
    rule(
        "mcp.output_schema",
        Runtime,
        "a structured result follows the output schema, and is told as text too",
        Value::None,
        TOOLS,
        Met::By("`Mcp`, which promises no schema that a result could break"),
    ),
];
