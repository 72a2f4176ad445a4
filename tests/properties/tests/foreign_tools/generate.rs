//! Tools as strangers write them: hostile names and keys, and every keyword of JSON Schema.

use properties::random::Random;
use serde_json::{Map, Value, json};

const NAMES: [&str; 16] = [
    "get_weather",
    "files/read",
    "notion.search",
    "a b",
    "",
    "größe",
    "日本語",
    "9lives",
    "-x",
    "$run",
    "tool:call",
    "API-post-page",
    "x",
    "_",
    "🦀",
    "a\"b\\c\n",
];

const KEYS: [&str; 30] = [
    "city",
    "file-path",
    "$filter",
    "@type",
    "type",
    "a.b",
    "a-b",
    "a b",
    "",
    "größe",
    "x-y",
    "x_y",
    "9th",
    "items",
    "properties",
    "required",
    "$ref",
    "enum",
    "default",
    "日本",
    "語",
    "a/b",
    "a~b",
    "%41",
    "__proto__",
    "filter",
    "id",
    "title",
    "..",
    "const",
];

const DRAFTS: [&str; 6] = [
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-04/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/schema#",
];

/// Returns a tool as a `tools/list` result has it.
pub(crate) fn tool(random: &mut Random) -> Value {
    let mut name = (*random.pick(&NAMES)).to_owned();
    match random.below(8) {
        0 => name = name.repeat(80),
        1 => name.push_str(&format!(".{}", random.below(50))),
        _ => {}
    }
    let mut tool = json!({"name": name, "inputSchema": root(random)});
    if random.percent(60) {
        tool["description"] = random
            .pick(&["Does something.", "", " ", "\u{202e}x"])
            .to_string()
            .into();
    }
    if random.percent(30) {
        tool["title"] = "A title".into();
    }
    if random.percent(30) {
        tool["annotations"] = json!({"readOnlyHint": true, "title": "Hint", "other": 1});
    }
    if random.percent(30) {
        let name = *random.pick(&["object", "array", "string", "number", "null"]);
        tool["outputSchema"] = json!({"type": name});
    }
    tool
}

fn root(random: &mut Random) -> Value {
    let draft = random.below(12);
    let mut generator = Generator { random, draft };
    let mut schema = match generator.random.below(20) {
        0 => return json!(true),
        1 => json!({}),
        2 => json!({"anyOf": [generator.object(2), generator.object(2)]}),
        3 => json!({"$ref": "#/$defs/Node"}),
        4 => json!({"oneOf": [generator.object(1), generator.object(1)], "type": "object"}),
        5 => json!({"allOf": [generator.object(1), generator.object(1)]}),
        _ => generator.object(3),
    };
    if generator.random.percent(30) {
        schema["anyOf"] = json!([{"required": ["city"]}, {"required": ["a-b"]}]);
    }
    if generator.random.percent(10) {
        schema["$id"] = "https://example.com/tool.json".into();
    }
    let node = json!({
        "type": "object",
        "properties": {
            "child-node": {"$ref": "#/$defs/Node"},
            "list": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            "value": generator.schema(1),
        },
    });
    let leaf = generator.schema(2);
    schema["$defs"] = json!({
        "Node": node,
        "Leaf": leaf,
        "Loop": {"$ref": "#/$defs/Loop"},
        "Mutual": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Other"}]},
        "Other": {"type": "array", "items": {"$ref": "#/$defs/Mutual"}},
        "Anchored": {"$anchor": "here", "type": "string"},
        "title": {"type": "object", "properties": {"in-title": {"type": "integer"}}},
    });
    schema["definitions"] = json!({"Old": {"type": "string", "minLength": 1}});
    if let Some(draft) = DRAFTS.get(draft) {
        schema["$schema"] = (*draft).into();
    }
    schema
}

struct Generator<'r> {
    random: &'r mut Random,
    draft: usize,
}

impl Generator<'_> {
    fn key(&mut self) -> String {
        match self.random.below(20) {
            0 => "long-key".repeat(20),
            1 => format!("k{}", self.random.below(100)),
            _ => (*self.random.pick(&KEYS)).to_owned(),
        }
    }

    fn object(&mut self, depth: usize) -> Value {
        let mut schema = Map::new();
        if self.random.percent(85) {
            schema.insert("type".into(), "object".into());
        }
        let mut keys: Vec<String> = (0..self.random.below(5)).map(|_| self.key()).collect();
        let properties = keys.iter().map(|key| (key.clone(), self.schema(depth)));
        let properties: Map<_, _> = properties.collect::<Vec<_>>().into_iter().collect();
        schema.insert("properties".into(), properties.into());
        keys.sort();
        keys.dedup();
        keys.retain(|_| self.random.percent(50));
        if self.random.percent(5) {
            keys.push("not-in-properties".into());
        }
        if !keys.is_empty() {
            schema.insert("required".into(), json!(keys));
        }
        match self.random.below(8) {
            0 => schema.insert("additionalProperties".into(), self.schema(depth)),
            1 | 2 => schema.insert("additionalProperties".into(), false.into()),
            3 => schema.insert(
                "patternProperties".into(),
                json!({"^x-": self.schema(depth)}),
            ),
            4 => schema.insert("propertyNames".into(), json!({"maxLength": 200})),
            5 => schema.insert("dependentRequired".into(), json!({"a-b": ["city"]})),
            6 => schema.insert("minProperties".into(), 1.into()),
            _ => None,
        };
        schema.into()
    }

    fn schema(&mut self, depth: usize) -> Value {
        let Some(below) = depth.checked_sub(1) else {
            return self.leaf();
        };
        let mut schema = match self.random.below(22) {
            0 | 1 => self.object(below),
            2 => json!({"type": "array"}),
            3 => json!({"type": "array", "items": self.schema(below), "minItems": 1}),
            4 => json!({"oneOf": [self.leaf(), self.object(below)]}),
            5 => json!({"anyOf": [self.leaf(), self.schema(below), {"type": "null"}]}),
            6 => json!({"allOf": [self.object(below), self.object(below)]}),
            7 => json!({"type": ["string", "null"]}),
            8 => {
                json!({"type": ["object", "array", "string", "null"], "properties": {"z-z": self.schema(below)}})
            }
            9 => {
                let target = *self.random.pick(&[
                    "#/$defs/Node",
                    "#/$defs/Leaf",
                    "#/definitions/Old",
                    "#/$defs/Mutual",
                    "#here",
                    "#/$defs/title",
                    "#",
                    "#/$defs/Loop",
                    "#/$defs/missing",
                    "https://example.com/x",
                ]);
                json!({"$ref": target, "description": "A reference."})
            }
            10 => json!({"not": {"type": "string"}}),
            11 => {
                json!({"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": "integer"}})
            }
            12 => {
                json!({"items": [self.leaf(), self.leaf()], "additionalItems": false, "type": "array"})
            }
            13 => json!({"prefixItems": [self.leaf(), self.leaf()], "type": "array"}),
            14 => json!({"type": "array", "contains": self.leaf(), "uniqueItems": true}),
            15 => self.random.percent(80).into(),
            16 => json!({"type": "string", "nullable": true, "example": "x"}),
            17 => json!({"type": "object"}),
            _ => self.leaf(),
        };
        if schema.is_object() {
            match self.random.below(12) {
                0 => schema["title"] = "Some Title".into(),
                1 => schema["description"] = "Some text.".into(),
                2 => schema["examples"] = json!(["x"]),
                3 => schema["x-other"] = json!({"a": [1]}),
                4 => schema["$comment"] = "A comment.".into(),
                5 => schema["deprecated"] = true.into(),
                _ => {}
            }
        }
        schema
    }

    fn leaf(&mut self) -> Value {
        match self.random.below(20) {
            0 => json!({"type": "string"}),
            1 => json!({"type": "string", "minLength": 1, "maxLength": 40}),
            2 => {
                json!({"type": "string", "pattern": self.random.pick(&["^[a-z]+$", "^(?!x)a", "[", "\\d+"])})
            }
            3 => {
                json!({"type": "string", "format": self.random.pick(&["date", "uri", "int32", "email"])})
            }
            4 => json!({"type": "integer", "minimum": 1, "maximum": 10}),
            5 => json!({"type": "number", "multipleOf": 0.5}),
            6 if self.draft == 3 => {
                json!({"type": "number", "minimum": 1, "exclusiveMinimum": true})
            }
            6 => json!({"type": "number", "exclusiveMinimum": 1}),
            7 => json!({"type": "boolean", "default": false}),
            8 => json!({"enum": ["a", "b"]}),
            9 => json!({"enum": ["a", 1, null, true, 1.5]}),
            10 => json!({"const": "only"}),
            11 => json!({"const": 7}),
            12 => json!({"enum": [{"raw": 1}, [2]]}),
            13 => json!({}),
            14 => json!({"type": "null"}),
            15 => json!({"minLength": 2}),
            16 => json!({"enum": ["Celsius", "celsius"], "type": "string"}),
            17 if self.draft > 5 => {
                json!({"type": "integer", "minimum": 3, "exclusiveMinimum": true})
            }
            18 => json!({"type": self.random.pick(&["objekt", "any", "string"])}),
            19 => json!({"type": "integer", "required": true}),
            _ => json!({"type": "string", "default": {"a-b": 1}}),
        }
    }
}

/// Returns a value that a schema may accept. Check it with a validator.
pub(crate) fn value(schema: &Value, root: &Value, random: &mut Random, depth: usize) -> Value {
    let Some(members) = schema.as_object() else {
        return json!("anything");
    };
    if depth > 8 {
        return Value::Null;
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = if reference == "#here" {
            &root["$defs"]["Anchored"]
        } else {
            root.pointer(reference.trim_start_matches('#'))
                .unwrap_or(&Value::Null)
        };
        return value(target, root, random, depth + 1);
    }
    if let Some(value) = members.get("const") {
        return value.clone();
    }
    if let Some(Value::Array(values)) = members.get("enum").filter(|values| **values != json!([])) {
        return random.pick(values).clone();
    }
    let mut out = Value::Null;
    let merge = |out: &mut Value, other: Value| match (out, other) {
        (Value::Object(members), Value::Object(others)) => members.extend(others),
        (out, other) => *out = other,
    };
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(schemas)) = members.get(keyword) {
            let schema = random.pick(schemas).clone();
            merge(&mut out, value(&schema, root, random, depth + 1));
        }
    }
    if let Some(Value::Array(schemas)) = members.get("allOf") {
        for schema in schemas {
            merge(&mut out, value(schema, root, random, depth + 1));
        }
    }
    let name = match &schema["type"] {
        Value::String(name) => name.clone(),
        Value::Array(names) => random.pick(names).as_str().unwrap_or_default().to_owned(),
        _ if members.contains_key("properties") || members.contains_key("required") => {
            "object".into()
        }
        _ if !out.is_null() => return out,
        _ => "string".into(),
    };
    let other = match &*name {
        "object" => {
            let mut object = Map::new();
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
                let is_required = required.iter().any(|other| other == key);
                if is_required || depth < 4 && random.percent(60) {
                    object.insert(key.clone(), value(schema, root, random, depth + 1));
                }
            }
            for key in required.iter().filter_map(Value::as_str) {
                object.entry(key).or_insert("given".into());
            }
            if random.percent(10) && schema["additionalProperties"] != false {
                object.insert(
                    "x-more".into(),
                    value(&schema["additionalProperties"], root, random, depth + 1),
                );
            }
            Value::Object(object)
        }
        "array" => {
            let items = members.get("prefixItems").or(members.get("items"));
            match items {
                Some(Value::Array(schemas)) => schemas
                    .iter()
                    .map(|schema| value(schema, root, random, depth + 1))
                    .collect(),
                Some(schema) => {
                    let count = 1 + random.below(2);
                    (0..count)
                        .map(|_| value(schema, root, random, depth + 1))
                        .collect()
                }
                None => json!([value(&schema["contains"], root, random, depth + 1)]),
            }
        }
        "integer" => json!(schema["minimum"].as_i64().unwrap_or(2) + 1),
        "number" => json!(2.5),
        "boolean" => json!(random.percent(50)),
        "null" => Value::Null,
        _ => match schema["format"].as_str() {
            Some("date") => json!("2026-11-22"),
            Some("email") => json!("a@example.com"),
            Some("uri") => json!("https://example.com/"),
            _ => json!(random.pick(&["abc", "x", "12", "a"])),
        },
    };
    merge(&mut out, other);
    out
}
