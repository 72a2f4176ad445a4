//! Anthropic: messages, and strict tools.

use crate::provider::rules::Kind::{Advice, Compile, Emit, Registry};
use crate::provider::rules::{Met, Rule, Source, Value, rule, source};

const SDK: Source = source("anthropic 2.12.0 (Python), types", "2026-11");
const DEFINE: Source = source("platform.claude.com, \"Define tools\"", "2026");
const STRICT: Source = source("platform.claude.com, \"Structured outputs\"", "2026");

pub(crate) const PROPERTY_KEY: Rule = rule(
    "anthropic.property_key_regex",
    Compile,
    "a key has letters, digits, `_`, `.` or `-` alone; one other key refuses all tools",
    Value::Pattern("^[a-zA-Z0-9_.-]{1,64}$"),
    source(
        "anthropics/claude-code#79418, ComposioHQ/composio#3500, n8n-io/n8n#30590",
        "2026-07-20",
    ),
    Met::By("`portable.param_name`, which is tighter; the compile-time check for keys of maps"),
);
pub(crate) const SUPPORTED: Rule = rule(
    "anthropic.strict.supported",
    Compile,
    "every schema has a type that it knows, so nothing may hold any JSON value",
    Value::Names(&[
        "type", "enum", "const", "anyOf", "allOf", "$ref", "$defs", "default", "required",
    ]),
    STRICT,
    Met::By("the compile-time check of each parameter; `Anthropic::strict`"),
);
pub(crate) const FORMATS: Rule = rule(
    "anthropic.strict.formats",
    Compile,
    "the formats of strings",
    Value::Names(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    STRICT,
    Met::By("`Anthropic::strict`, which puts other formats into words"),
);
pub(crate) const UNSUPPORTED: Rule = rule(
    "anthropic.strict.unsupported",
    Compile,
    "no recursive types, no maps with free keys, no bounds of numbers, strings and arrays",
    Value::Names(&[
        "minimum",
        "maximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "maxItems",
        "uniqueItems",
        "additionalProperties",
    ]),
    STRICT,
    Met::By("the compile-time check of each parameter; `Anthropic::strict` puts bounds into words"),
);
pub(crate) const PATTERN: Rule = rule(
    "anthropic.strict.pattern",
    Compile,
    "patterns are simple: no lookaround, no backreferences, no word boundaries, no long repeats",
    Value::None,
    STRICT,
    Met::By("`Anthropic::strict`, which puts other patterns into words"),
);
pub(crate) const STRING_KEYWORDS: Rule = rule(
    "anthropic.strict.string_keywords",
    Emit,
    "the keywords of strings",
    Value::Names(&["pattern", "format"]),
    STRICT,
    Met::By("`Anthropic::strict`"),
);
pub(crate) const MAX_STRICT_TOOLS: Rule = rule(
    "anthropic.strict.max_strict_tools_per_request",
    Registry,
    "at most so many strict tools in a request",
    Value::Number(20),
    STRICT,
    Met::By("`rules::broken`"),
);
pub(crate) const MAX_OPTIONAL: Rule = rule(
    "anthropic.strict.max_optional_parameters_total",
    Registry,
    "at most so many parameters and fields that may be left out, in all strict tools together",
    Value::Number(24),
    source(
        "platform.claude.com, \"Structured outputs\"; pydantic_ai 2.68.0, \
         models/_anthropic_schema_limits.py",
        "2026",
    ),
    Met::By("the compile-time check for one tool alone; `rules::broken` for all"),
);
pub(crate) const MAX_UNIONS: Rule = rule(
    "anthropic.strict.max_union_parameters_total",
    Registry,
    "at most so many unions, in all strict tools together",
    Value::Number(16),
    STRICT,
    Met::By("the compile-time check for one tool alone; `rules::broken` for all"),
);
pub(crate) const ENUM_CASE: Rule = rule(
    "anthropic.strict.enum_case",
    Compile,
    "a value of an enum may come back in another case, so no two differ by case alone",
    Value::None,
    STRICT,
    Met::By("`#[derive(ToolType)]`; the compile-time check of each parameter"),
);

pub(crate) const RULES: &[Rule] = &[
    rule(
        "anthropic.wire_shape",
        Emit,
        "the schema stands under the key `input_schema`",
        Value::Names(&["name", "description", "input_schema", "strict"]),
        SDK,
        Met::By("`Anthropic`"),
    ),
    rule(
        "anthropic.name_regex",
        Compile,
        "the name of a tool",
        Value::Pattern("^[a-zA-Z0-9_-]{1,64}$"),
        DEFINE,
        Met::By("`portable.tool_name`, which is tighter"),
    ),
    rule(
        "anthropic.input_schema_root",
        Compile,
        "the arguments are an object",
        Value::None,
        SDK,
        Met::By("`#[tool]`, which makes nothing else"),
    ),
    rule(
        "anthropic.root_no_composition",
        Compile,
        "no union at the root: it refuses the whole request",
        Value::Names(&["oneOf", "allOf", "anyOf"]),
        source(
            "anthropics/claude-code#40075, anthropics/claude-code#44788, anomalyco/opencode#37916",
            "2026-07",
        ),
        Met::By("`#[tool]`, which makes an object"),
    ),
    PROPERTY_KEY,
    rule(
        "anthropic.description",
        Advice,
        "three or four sentences at least",
        Value::None,
        DEFINE,
        Met::Waived("how much is to be said of a tool is up to its author"),
    ),
    rule(
        "anthropic.input_examples",
        Compile,
        "an example is a value that the schema describes",
        Value::None,
        DEFINE,
        Met::By(
            "`#[param(example)]`, which is checked while compiling; `input_examples` is not written",
        ),
    ),
    rule(
        "anthropic.tool_result",
        Emit,
        "a result names the call, its content and whether it is an error",
        Value::Names(&["type", "tool_use_id", "content", "is_error"]),
        SDK,
        Met::By("`Anthropic`"),
    ),
    SUPPORTED,
    STRING_KEYWORDS,
    FORMATS,
    UNSUPPORTED,
    PATTERN,
    MAX_STRICT_TOOLS,
    MAX_OPTIONAL,
    MAX_UNIONS,
    rule(
        "anthropic.strict.grammar_size",
        Advice,
        "the grammar of all tools together is not too large, by a measure that is not told",
        Value::None,
        source(
            "anthropics/anthropic-sdk-typescript#885, anthropics/anthropic-sdk-python#1185",
            "2026-02",
        ),
        Met::Waived("the limit is not published"),
    ),
    ENUM_CASE,
    rule(
        "anthropic.strict.property_order",
        Emit,
        "a model fills the required keys first, each group in the order of the schema",
        Value::None,
        STRICT,
        Met::By("decoding, which takes the keys in any order"),
    ),
];
