//! OpenAI: chat completions, responses, and the strict mode of both.

use crate::provider::rules::Kind::{Advice, Compile, Emit, Registry, Runtime};
use crate::provider::rules::{Met, Rule, Source, Value, rule, source};

const API: Source = source(
    "openai/openai-openapi@f85dbe2, openapi.json 2.3.0",
    "2026-08-21",
);
const GUIDE: Source = source(
    "developers.openai.com, guides \"Structured outputs\" and \"Function calling\"",
    "2026",
);
const PYDANTIC_AI: Source = source("pydantic_ai 2.68.0, profiles/openai.py", "2026-11");

pub(crate) const TOOLS_MAX: Rule = rule(
    "openai.tools_max",
    Registry,
    "at most so many tools in a request",
    Value::Number(128),
    source(
        "zed-industries/zed#42393, anomalyco/opencode#4909",
        "2025-11-29",
    ),
    Met::By("`rules::broken`"),
);
pub(crate) const CLOSED: Rule = rule(
    "openai.strict.additionalProperties",
    Compile,
    "every object is closed, so there are no maps with free keys",
    Value::None,
    GUIDE,
    Met::By("the compile-time check of each parameter; the strict dialects close the rest"),
);
pub(crate) const REQUIRED: Rule = rule(
    "openai.strict.required",
    Compile,
    "every key is required; what may be left out is a union with `null`",
    Value::None,
    GUIDE,
    Met::By("the strict dialects; the compile-time check refuses maps with the keys of an enum"),
);
pub(crate) const TYPES: Rule = rule(
    "openai.strict.types",
    Compile,
    "every schema has a type that it knows, so nothing may hold any JSON value",
    Value::Names(&[
        "string", "number", "boolean", "integer", "object", "array", "enum", "anyOf",
    ]),
    GUIDE,
    Met::By("the compile-time check of each parameter"),
);
pub(crate) const STRING_KEYWORDS: Rule = rule(
    "openai.strict.string_keywords",
    Compile,
    "the keywords of strings",
    Value::Names(&["pattern", "format"]),
    GUIDE,
    Met::By("the strict dialects, which put other keywords into words"),
);
pub(crate) const FORMATS: Rule = rule(
    "openai.strict.formats",
    Compile,
    "the formats of strings",
    Value::Names(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    GUIDE,
    Met::By("the strict dialects, which put other formats into words"),
);
pub(crate) const NUMBER_KEYWORDS: Rule = rule(
    "openai.strict.number_keywords",
    Compile,
    "the keywords of numbers",
    Value::Names(&[
        "multipleOf",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
    ]),
    GUIDE,
    Met::By("the strict dialects"),
);
pub(crate) const ARRAY_KEYWORDS: Rule = rule(
    "openai.strict.array_keywords",
    Compile,
    "the keywords of arrays",
    Value::Names(&["items", "minItems", "maxItems"]),
    GUIDE,
    Met::By("the strict dialects, which put `uniqueItems` and the order of a tuple into words"),
);
pub(crate) const CONSTANTS: Rule = rule(
    "openai.strict.constants",
    Emit,
    "a constant is taken, and its characters are counted",
    Value::Names(&["const"]),
    GUIDE,
    Met::By("the strict dialects, which write tags so"),
);
pub(crate) const MAX_PROPERTIES: Rule = rule(
    "openai.strict.max_properties_total",
    Compile,
    "at most so many keys in all objects of a tool",
    Value::Number(5000),
    GUIDE,
    Met::By("the compile-time check of each tool"),
);
pub(crate) const MAX_NESTING: Rule = rule(
    "openai.strict.max_nesting",
    Compile,
    "objects and arrays nest at most so deep",
    Value::Number(10),
    GUIDE,
    Met::By("the compile-time check of each parameter"),
);
pub(crate) const MAX_STRINGS: Rule = rule(
    "openai.strict.max_string_total",
    Compile,
    "at most so many characters in all keys, names of definitions and values of enums of a tool",
    Value::Number(120_000),
    GUIDE,
    Met::By("the compile-time check of each tool"),
);
pub(crate) const MAX_ENUM_VALUES: Rule = rule(
    "openai.strict.max_enum_values_total",
    Compile,
    "at most so many values in all enums of a tool",
    Value::Number(1000),
    GUIDE,
    Met::By("the compile-time check of each tool"),
);
pub(crate) const MAX_ENUM_STRINGS: Rule = rule(
    "openai.strict.max_enum_string_len_when_gt_250",
    Compile,
    "at most so many characters in one enum of more than 250 values",
    Value::Number(15_000),
    GUIDE,
    Met::By("the compile-time check of each parameter"),
);

/// From how many values on [`MAX_ENUM_STRINGS`] counts.
pub(crate) const LARGE_ENUM: usize = 250;

pub(crate) const RULES: &[Rule] = &[
    rule(
        "openai.chat.wire_shape",
        Emit,
        "the function stands under the key `function`, its schema under `parameters`",
        Value::Names(&["name", "description", "parameters", "strict"]),
        API,
        Met::By("`OpenAiChat`"),
    ),
    rule(
        "openai.chat.name_regex",
        Compile,
        "the name of a function",
        Value::Pattern("^[a-zA-Z0-9_-]{1,64}$"),
        API,
        Met::By("`portable.tool_name`, which is tighter"),
    ),
    rule(
        "openai.responses.wire_shape",
        Emit,
        "the function stands beside its type, its schema under `parameters`",
        Value::Names(&["name", "description", "parameters", "strict"]),
        API,
        Met::By("`OpenAiResponses`"),
    ),
    rule(
        "openai.responses.name_regex",
        Compile,
        "the name of a function",
        Value::Pattern("^[a-zA-Z0-9_-]{1,128}$"),
        API,
        Met::By("`portable.tool_name`, which is tighter"),
    ),
    rule(
        "openai.responses.strict_default",
        Emit,
        "without `strict` the API makes a schema strict where it can",
        Value::None,
        source(
            "openai/openai-openapi@f85dbe2, FunctionToolParam; vercel/ai#15889, \
             langchain-ai/langchain#39309",
            "2026-08-21",
        ),
        Met::By("`OpenAiResponses`, which always writes it"),
    ),
    rule(
        "openai.chat.strict_default",
        Emit,
        "without `strict` a function is not strict",
        Value::None,
        API,
        Met::By("`OpenAiChat`, which writes it only when it is on"),
    ),
    rule(
        "openai.parameters_absent",
        Emit,
        "a function may come without `parameters`",
        Value::None,
        API,
        Met::By("`OpenAiChat` and `OpenAiResponses`, which write an empty object in any case"),
    ),
    rule(
        "openai.object_needs_properties",
        Emit,
        "an object has `properties`, and be they none",
        Value::None,
        source(
            "openai/openai-agents-python#449, mark3labs/mcphost#88",
            "2026-05",
        ),
        Met::By("the schema's text; the strict dialects"),
    ),
    rule(
        "openai.array_needs_items",
        Compile,
        "an array has `items`",
        Value::None,
        PYDANTIC_AI,
        Met::By("the schema tree, in which an array can't be without; the strict dialects"),
    ),
    rule(
        "openai.root_type",
        Compile,
        "the arguments are an object and no union",
        Value::None,
        GUIDE,
        Met::By("`#[tool]`, which makes nothing else"),
    ),
    rule(
        "openai.description_max",
        Advice,
        "descriptions of more than so many characters were refused for a while",
        Value::Number(1024),
        source(
            "getsentry/sentry-mcp#106, OpenHands/OpenHands#7167; lifted: run-llama/llama_index#18784",
            "2025-05",
        ),
        Met::Waived("reported as lifted, and in no document"),
    ),
    TOOLS_MAX,
    CLOSED,
    REQUIRED,
    TYPES,
    STRING_KEYWORDS,
    FORMATS,
    NUMBER_KEYWORDS,
    ARRAY_KEYWORDS,
    CONSTANTS,
    rule(
        "openai.strict.unsupported_keywords",
        Compile,
        "keywords that are refused",
        Value::Names(&[
            "allOf",
            "not",
            "dependentRequired",
            "dependentSchemas",
            "if",
            "then",
            "else",
        ]),
        GUIDE,
        Met::By("the schema tree, which has none of them"),
    ),
    rule(
        "openai.strict.unsupported_keywords_observed",
        Compile,
        "keywords that are refused, though no document says so",
        Value::Names(&[
            "oneOf",
            "default",
            "minLength",
            "maxLength",
            "patternProperties",
            "unevaluatedProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
            "unevaluatedItems",
            "contains",
            "minContains",
            "maxContains",
            "uniqueItems",
        ]),
        source(
            "pydantic_ai 2.68.0, profiles/openai.py; BuilderIO/agent-native#3045, \
             openai/openai-agents-python#1884, dotnet/extensions#6196, livekit/agents#1987",
            "2026-11",
        ),
        Met::By("the strict dialects, which put them and patterns with lookaround into words"),
    ),
    rule(
        "openai.strict.finetuned_unsupported",
        Advice,
        "keywords that fine-tuned models refuse",
        Value::Names(&[
            "minLength",
            "maxLength",
            "pattern",
            "format",
            "minimum",
            "maximum",
            "multipleOf",
            "patternProperties",
            "minItems",
            "maxItems",
        ]),
        GUIDE,
        Met::Waived("a request does not say whether its model is fine-tuned"),
    ),
    rule(
        "openai.strict.ref",
        Compile,
        "a reference stands alone, without other keywords",
        Value::None,
        source(
            "developers.openai.com, guide \"Structured outputs\"; camel-ai/camel#3001, \
             virattt/dexter#280",
            "2026",
        ),
        Met::By("the strict dialects, which write a union of one around it"),
    ),
    MAX_PROPERTIES,
    MAX_NESTING,
    MAX_STRINGS,
    MAX_ENUM_VALUES,
    MAX_ENUM_STRINGS,
    rule(
        "openai.strict.anyof_identical_first_key",
        Advice,
        "the objects of a union had to begin with unlike keys; tags are taken by now",
        Value::None,
        source("openai/openai-python#2193", "2025-03"),
        Met::By("the strict dialects, which begin with the tag, or with a key of its own"),
    ),
    rule(
        "openai.strict.output_key_order",
        Emit,
        "a model fills the keys in the order of the schema",
        Value::None,
        GUIDE,
        Met::By("the schema's text and the dialects, which keep the order of the source"),
    ),
    rule(
        "openai.tool_output_max_chars",
        Runtime,
        "at most so many characters in a result",
        Value::Number(10_485_760),
        API,
        Met::Waived("cutting a result is up to the application"),
    ),
    rule(
        "openai.call_id_max",
        Runtime,
        "at most so many characters in the id of a call",
        Value::Number(64),
        API,
        Met::By("the dialects, which repeat the id that came"),
    ),
];
