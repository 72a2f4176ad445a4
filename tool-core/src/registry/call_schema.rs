//! [`Registry::call_schema`]: what a call is, for engines that constrain what a model writes.

use super::Registry;
use crate::ordered_json::Json;
use crate::ordered_json::keywords::Keyword;
use crate::provider::wire::Deferral;

const DEFINITIONS: &str = "#/$defs/";

impl Registry {
    /// Returns the JSON Schema of one call of these tools: an object with the `name` of a tool and its `arguments`.
    ///
    /// Engines for constrained decoding make a model write what follows it: `response_format` or `json_schema` of llama.cpp,
    /// vLLM and `SGLang`, Outlines, or llguidance. So even a small model writes a call of a tool that exists, with arguments of
    /// the right types. Read it with [`Prompted`](https://docs.rs/tool-dialects/latest/tool_dialects/struct.Prompted.html);
    /// `CallFormat::grammar` there writes a grammar with what stands around a call.
    ///
    /// Engines do not know every keyword, so the registry checks the call as any other.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![add]).build()?;
    /// let schema = registry.call_schema();
    /// let name = schema.pointer("/anyOf/0/properties/name").unwrap();
    /// assert_eq!(name.to_string(), r#"{"const":"add"}"#);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn call_schema(&self) -> Json {
        self.call_schema_with("arguments")
    }

    /// Returns [`call_schema`](Registry::call_schema) with another key for the arguments, such as `parameters` for Llama.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![add]).build()?;
    /// let schema = registry.call_schema_with("parameters");
    /// assert!(schema.pointer("/anyOf/0/properties/parameters/properties/a").is_some());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn call_schema_with(&self, key: &str) -> Json {
        let snapshot = self.0.snapshot();
        let (mut calls, mut definitions) = (Vec::new(), Vec::new());
        for tool in &*self.sent_tools(Deferral::Emulated, &snapshot) {
            // Two tools may define the same name.
            let own = calls.len();
            let place = format!("{DEFINITIONS}{own}.");
            let Ok(schema) = Json::parse(tool.portable_json()) else {
                continue;
            };
            let mut arguments = moved(&schema, &place);
            if let Json::Object(members) = &mut arguments
                && let Some(at) = members.iter().position(|(key, _)| key == "$defs")
                && let Json::Object(moved) = members.remove(at).1
            {
                let moved = moved.into_iter();
                definitions.extend(moved.map(|(name, schema)| (format!("{own}.{name}"), schema)));
            }
            let name = Json::object([("const", Some(Json::from(&*tool.name)))]);
            let properties = Json::object([("name", Some(name)), (key, Some(arguments))]);
            calls.push(Json::object([
                ("type", Some("object".into())),
                ("properties", Some(properties)),
                (
                    "required",
                    Some(["name", key].map(Json::from).into_iter().collect()),
                ),
                ("additionalProperties", Some(Json::Boolean(false))),
            ]));
        }
        if calls.is_empty() {
            return Json::object([("not", Some(Json::Object(Vec::new())))]);
        }
        let definitions = (!definitions.is_empty()).then_some(Json::Object(definitions));
        Json::object([("anyOf", Some(Json::Array(calls))), ("$defs", definitions)])
    }
}

/// Returns a schema whose definitions are at another place.
fn moved(schema: &Json, place: &str) -> Json {
    let members = schema.members().iter();
    let members = members.map(|(key, value)| {
        let value = match (&**key, value) {
            ("$ref", Json::String(to)) => Json::String(to.replacen(DEFINITIONS, place, 1)),
            (name, value) => match Keyword::of(name) {
                Some(keyword) => {
                    keyword.map(value, &mut |schema| moved(schema, place), &str::to_owned)
                }
                None => value.clone(),
            },
        };
        (key.clone(), value)
    });
    match schema {
        Json::Object(_) => Json::Object(members.collect()),
        other => other.clone(),
    }
}
