//! xAI, Cohere, Mistral and Amazon Bedrock.

use crate::provider::rules::Kind::{Advice, Compile, Emit, Registry, Runtime};
use crate::provider::rules::{Met, Rule, Source, Value, rule, source};

const XAI: Source = source("docs.x.ai, \"Structured Outputs\"", "2026");
const COHERE: Source = source(
    "docs.cohere.com, \"Parameter types for tool use\" (v2)",
    "2026",
);
const BOTOCORE: Source = source(
    "botocore 1.43, data/bedrock-runtime/2023-09-30/service-2.json",
    "2026-11",
);

pub(crate) const XAI_SUPPORTED: Rule = rule(
    "xai.supported",
    Compile,
    "references lead nowhere back: no recursive types",
    Value::Names(&[
        "string", "number", "integer", "boolean", "null", "enum", "const", "array", "object",
        "anyOf", "$ref", "$defs",
    ]),
    XAI,
    Met::By("the compile-time check of each parameter"),
);
pub(crate) const XAI_REJECTED: Rule = rule(
    "xai.rejected",
    Compile,
    "no enum or union without members, no schema that is only `true` or `false`",
    Value::Names(&["minContains", "maxContains", "items as an array"]),
    XAI,
    Met::By("the compile-time check of each parameter, for all providers; the schema tree"),
);
pub(crate) const XAI_FORMATS: Rule = rule(
    "xai.formats",
    Compile,
    "the formats of strings that are enforced",
    Value::Names(&[
        "date",
        "time",
        "date-time",
        "email",
        "uuid",
        "ipv4",
        "ipv6",
        "uri",
    ]),
    XAI,
    Met::By("`XAi`, which puts other formats into words"),
);
pub(crate) const XAI_KEYWORDS: Rule = rule(
    "xai.keywords",
    Emit,
    "the keywords that are enforced",
    Value::Names(&[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "pattern",
        "format",
        "const",
        "prefixItems",
        "additionalProperties",
    ]),
    XAI,
    Met::By("`XAi`, which puts other keywords into words"),
);
pub(crate) const COHERE_REQUIRED: Rule = rule(
    "cohere.strict.min_required_params_per_tool",
    Compile,
    "at least so many required parameters in each tool",
    Value::Number(1),
    COHERE,
    Met::By("the compile-time check of each tool"),
);
pub(crate) const COHERE_FIELDS: Rule = rule(
    "cohere.strict.max_fields_total",
    Registry,
    "at most so many fields in all tools together",
    Value::Number(200),
    COHERE,
    Met::By("the compile-time check for one tool alone; `rules::broken` for all"),
);
pub(crate) const BEDROCK_TOOLS_MIN: Rule = rule(
    "bedrock.tools_min",
    Registry,
    "at least so many tools, or no `toolConfig` at all",
    Value::Number(1),
    BOTOCORE,
    Met::By("`rules::broken`"),
);

pub(crate) const RULES: &[Rule] = &[
    rule(
        "xai.strict",
        Emit,
        "every tool is strict, whether it says so or not",
        Value::None,
        XAI,
        Met::By("`XAi`, which leaves `strict` out"),
    ),
    rule(
        "xai.additionalProperties_default",
        Emit,
        "an object is closed unless it says otherwise",
        Value::None,
        XAI,
        Met::By("`XAi`, which says it of every map"),
    ),
    XAI_SUPPORTED,
    XAI_REJECTED,
    rule(
        "xai.limits",
        Advice,
        "lengths of strings are enforced up to 2,048, of arrays up to 256, of objects up to 64",
        Value::Names(&[
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties",
        ]),
        XAI,
        Met::Waived("greater ones are taken too; the registry checks every call"),
    ),
    XAI_FORMATS,
    XAI_KEYWORDS,
    rule(
        "xai.pattern",
        Emit,
        "a pattern fits the whole string, and has no lookaround, boundaries, properties or modes",
        Value::None,
        XAI,
        Met::By("`XAi`, which puts other patterns into words"),
    ),
    rule(
        "cohere.strict",
        Emit,
        "the request is strict, not a tool: a tool's `strict` is refused",
        Value::None,
        source(
            "docs.cohere.com, \"Parameter types for tool use\" (v2); dynamiq's node for Cohere",
            "2026",
        ),
        Met::By("`Cohere`, which never writes it; `strict_tools` is up to the application"),
    ),
    COHERE_REQUIRED,
    COHERE_FIELDS,
    rule(
        "mistral.name",
        Compile,
        "the name of a function has letters, digits, `_` or `-` alone, 64 at most",
        Value::Pattern("^[a-zA-Z0-9_-]{1,64}$"),
        source(
            "mistral-rouille 1.1.4, from Mistral's API description",
            "2025",
        ),
        Met::By("`portable.tool_name`, which is tighter"),
    ),
    rule(
        "mistral.wire_shape",
        Emit,
        "the function stands under the key `function`, and `parameters` must be there",
        Value::Names(&["name", "description", "parameters", "strict"]),
        source(
            "mistralai 3.7.0 (Python), client/models/function.py",
            "2026-11",
        ),
        Met::By("`Mistral`"),
    ),
    rule(
        "mistral.tool_call_id",
        Runtime,
        "the id of a call is nine letters or digits when it is repeated",
        Value::Pattern("^[a-zA-Z0-9]{9}$"),
        source(
            "mistral-common, anomalyco/opencode#1680, pydantic_ai 2.68.0",
            "2026-11",
        ),
        Met::By("`Mistral`, which repeats the id that came"),
    ),
    rule(
        "bedrock.wire_shape",
        Emit,
        "the tool stands under the key `toolSpec`, its schema under `inputSchema.json`",
        Value::Names(&["name", "description", "inputSchema", "strict"]),
        BOTOCORE,
        Met::By("`Bedrock`"),
    ),
    rule(
        "bedrock.name_regex",
        Compile,
        "the name of a tool",
        Value::Pattern("^[a-zA-Z0-9_-]{1,64}$"),
        BOTOCORE,
        Met::By("`portable.tool_name`, which is tighter"),
    ),
    rule(
        "bedrock.description_min",
        Compile,
        "a description is not empty",
        Value::Number(1),
        BOTOCORE,
        Met::By("`#[tool]`, which wants one"),
    ),
    rule(
        "bedrock.root_type",
        Compile,
        "the arguments are an object",
        Value::None,
        BOTOCORE,
        Met::By("`#[tool]`, which makes nothing else"),
    ),
    rule(
        "bedrock.tool_use_id_regex",
        Runtime,
        "the id of a call",
        Value::Pattern("^[a-zA-Z0-9_.:-]{1,64}$"),
        BOTOCORE,
        Met::By("`Bedrock`, which repeats the id that came"),
    ),
    rule(
        "bedrock.tool_result_status",
        Emit,
        "whether a call went well",
        Value::Names(&["success", "error"]),
        BOTOCORE,
        Met::By("`Bedrock`, which marks errors; not every model knows the key"),
    ),
    BEDROCK_TOOLS_MIN,
    rule(
        "bedrock.nova.refs",
        Emit,
        "no references",
        Value::None,
        source("pydantic_ai 2.68.0, profiles/amazon.py", "2026-11"),
        Met::By("the schema tree, which is inlined but for recursive types"),
    ),
];
