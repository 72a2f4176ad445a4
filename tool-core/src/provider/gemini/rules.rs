//! Gemini, under `parameters` and under `parametersJsonSchema`.

use crate::provider::rules::Kind::{Compile, Emit, Registry};
use crate::provider::rules::{Met, Rule, Source, Value, rule, source};

const SDK: Source = source("google-genai 3.4.0 (Python), types.py", "2026-11");

pub(crate) const SCHEMA_FIELDS: Rule = rule(
    "gemini.parameters.schema_fields",
    Emit,
    "the fields of the subset of OpenAPI; an unknown one is an error",
    Value::Names(&[
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "items",
        "minItems",
        "maxItems",
        "enum",
        "properties",
        "propertyOrdering",
        "required",
        "minProperties",
        "maxProperties",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
    ]),
    source(
        "google-genai 3.4.0 (Python), types.py; adolfousier/opencrabs#99",
        "2026-11",
    ),
    Met::By("`Gemini::open_api`, which puts what is not listed into words"),
);
pub(crate) const STRING_FORMATS: Rule = rule(
    "gemini.parameters.string_formats",
    Emit,
    "the formats of strings",
    Value::Names(&["enum", "date-time"]),
    source(
        "google-gemini/gemini-cli#3178, enechange/collmbo#195",
        "2025-07",
    ),
    Met::By("`Gemini::open_api`, which puts other formats into words"),
);
pub(crate) const KEYWORDS: Rule = rule(
    "gemini.parametersJsonSchema.keywords",
    Compile,
    "the keywords that are read; others are passed over",
    Value::Names(&[
        "$defs",
        "$ref",
        "type",
        "title",
        "description",
        "enum",
        "format",
        "minimum",
        "maximum",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "anyOf",
        "properties",
        "required",
        "additionalProperties",
        "propertyOrdering",
    ]),
    source(
        "UnitVectorY-Labs/jsonschemaprofiles@57d66e1, docs/GEMINI.md; google-genai 3.4.0 \
         (Python), `response_json_schema`",
        "2026-11",
    ),
    Met::By("`Gemini`, which puts other keywords into words"),
);
pub(crate) const RECURSION: Rule = rule(
    "gemini.parametersJsonSchema.recursion",
    Compile,
    "a recursive type refers to itself only inside of what may be left out",
    Value::None,
    source(
        "google-genai 3.4.0 (Python), `response_json_schema`",
        "2026-11",
    ),
    Met::By("the compile-time check of each parameter"),
);
pub(crate) const TOOLS_MAX: Rule = rule(
    "gemini.tools_max",
    Registry,
    "at most so many functions (an older reference says 64); ten to twenty are advised",
    Value::Number(128),
    source(
        "cloud.google.com, Vertex AI, \"Function calling\"",
        "2025-09",
    ),
    Met::By("`rules::broken`"),
);

pub(crate) const RULES: &[Rule] = &[
    rule(
        "gemini.wire_shape",
        Emit,
        "the schema stands under `parameters` or under `parametersJsonSchema`, never both",
        Value::Names(&["name", "description", "parameters", "parametersJsonSchema"]),
        SDK,
        Met::By("`Gemini`"),
    ),
    rule(
        "gemini.name_regex",
        Compile,
        "the name of a function",
        Value::Pattern("^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$"),
        SDK,
        Met::By("`portable.tool_name`, which is tighter"),
    ),
    rule(
        "gemini.param_name_regex",
        Compile,
        "the name of a parameter",
        Value::Pattern("^[a-zA-Z_][a-zA-Z0-9_]{0,63}$"),
        SDK,
        Met::By("`portable.param_name`; `Gemini` writes a map with other keys as an open object"),
    ),
    SCHEMA_FIELDS,
    rule(
        "gemini.parameters.enum_values",
        Compile,
        "the values of an enum are strings",
        Value::None,
        source(
            "google-genai 3.4.0 (Python), types.py; NousResearch/hermes-agent#15082",
            "2026-04",
        ),
        Met::By("the schema tree, whose enums are lists of strings"),
    ),
    STRING_FORMATS,
    rule(
        "gemini.parameters.properties_only_on_object",
        Compile,
        "`properties` and `required` stand on objects alone",
        Value::None,
        source("anomalyco/opencode#11888", "2026-02"),
        Met::By("the schema tree, whose objects alone have members"),
    ),
    rule(
        "gemini.parameters.no_params",
        Emit,
        "a function without parameters has no schema",
        Value::None,
        SDK,
        Met::By("`Gemini`"),
    ),
    KEYWORDS,
    RECURSION,
    TOOLS_MAX,
    rule(
        "gemini.mode_VALIDATED",
        Emit,
        "a mode of the request holds calls to the schema, without another schema",
        Value::None,
        SDK,
        Met::Waived("it stands in the request's `toolConfig`, which the application writes"),
    ),
];
