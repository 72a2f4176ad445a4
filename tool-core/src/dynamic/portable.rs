//! Writes any JSON Schema in the keywords that every provider accepts outside its strict mode.
//!
//! The result is what models are told, and calls are validated against the original. So it may
//! accept more, and says in descriptions what it can't express otherwise. References are inlined,
//! except in recursive schemas.

use std::collections::{HashMap, HashSet};

use super::keys::decoded;
use super::repair::Repairs;
use crate::ordered_json::{Json, pointer_below};

/// The maximum nesting of a written schema, references included.
const MAX_DEPTH: usize = 32;
/// The maximum number of schemas to write with inlined references. Beyond, references are kept.
const MAX_INLINED: usize = 1500;
/// The maximum number of schemas to write.
const MAX_NODES: usize = 20_000;
/// The maximum size of a definition that is inlined all the same.
const MAX_SMALL: usize = 4;
/// The maximum bytes of a keyword that a description repeats.
const MAX_REST: usize = 300;

/// The formats that JSON Schema defines.
const FORMATS: [&str; 19] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

/// Returns `true` for a format that `schemars` gives numbers, which is not one of JSON Schema.
fn is_number_format(format: &str) -> bool {
    let bits = format.trim_start_matches('u').strip_prefix("int");
    bits.is_some_and(|bits| bits.bytes().all(|byte| byte.is_ascii_digit()))
        || matches!(format, "float" | "double")
}

/// Constraints of one type that are copied.
pub(super) const CONSTRAINTS: [(&str, &str); 12] = [
    ("minimum", "number"),
    ("maximum", "number"),
    ("exclusiveMinimum", "number"),
    ("exclusiveMaximum", "number"),
    ("multipleOf", "number"),
    ("minLength", "string"),
    ("maxLength", "string"),
    ("pattern", "string"),
    ("format", "string"),
    ("minItems", "array"),
    ("maxItems", "array"),
    ("uniqueItems", "array"),
];

/// Returns the schema of a tool's arguments that models are given.
pub(super) fn portable(schema: &Json, repairs: &mut Repairs) -> Json {
    let mut inlined = Repairs(repairs.0.clone());
    let (written, is_complete) = read(schema, false, &mut inlined);
    if is_complete {
        *repairs = inlined;
        return written;
    }
    read(schema, true, repairs).0
}

/// Returns the schema, and `false` if a limit was reached.
fn read(schema: &Json, keeps_references: bool, repairs: &mut Repairs) -> (Json, bool) {
    let mut reader = Reader::new(schema, keeps_references, repairs);
    let root = reader.root();
    let is_complete = reader.left > 0;
    let mut written = write(&root);
    if !reader.definitions.is_empty()
        && let Json::Object(members) = &mut written
    {
        let definitions = reader.definitions.iter();
        let definitions = definitions.map(|(name, node)| (name.clone(), write(node)));
        members.push(("$defs".into(), Json::Object(definitions.collect())));
    }
    (written, is_complete)
}

/// A schema that was read without losing a constraint.
#[cfg(feature = "schemars")]
pub(super) struct Document {
    pub(super) root: Node,
    pub(super) definitions: Vec<(String, Node)>,
}

/// Reads a schema without losing a constraint, unless it is too large.
#[cfg(feature = "schemars")]
pub(super) fn exact(schema: &Json) -> Document {
    let mut document = None;
    for keeps_references in [false, true] {
        let mut repairs = Repairs::default();
        let mut reader = Reader::new(schema, keeps_references, &mut repairs);
        reader.is_exact = true;
        reader.names.insert(schema, "#".into());
        reader.open.push((schema, false));
        let root = reader.node(schema, "", 0);
        let is_complete = reader.left > 0;
        document = Some(Document {
            root,
            definitions: reader.definitions,
        });
        if is_complete {
            break;
        }
    }
    document.expect("the loop runs")
}

/// A schema in the few parts that can be written.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// Set if no value is valid.
    pub(super) never: bool,
    /// Set if parts that were merged exclude each other.
    pub(super) is_contradictory: bool,
    /// `None` for any type.
    pub(super) types: Option<Vec<String>>,
    title: String,
    pub(super) description: String,
    /// What no keyword expresses.
    pub(super) sentences: Vec<String>,
    pub(super) values: Option<Vec<Json>>,
    /// Constraints of numbers, strings and arrays, and the default.
    pub(super) keywords: Vec<(String, Json)>,
    pub(super) properties: Vec<(String, Node)>,
    pub(super) required: Vec<String>,
    /// The values of keys that match a pattern; empty unless read exactly.
    pub(super) patterns: Vec<(String, Node)>,
    pub(super) others: Others,
    pub(super) prefix: Vec<Node>,
    pub(super) items: Option<Box<Node>>,
    pub(super) any_of: Vec<Node>,
    /// The pointer of a definition.
    pub(super) reference: Option<String>,
    /// Keywords as they were written; empty unless read exactly.
    pub(super) rest: Vec<(String, Json)>,
}

/// The values of keys that are not listed.
#[derive(Clone, Debug, Default)]
pub(super) enum Others {
    #[default]
    Unsaid,
    Open,
    Closed,
    Like(Box<Node>),
}

struct Reader<'s, 'r> {
    root: &'s Json,
    /// Set to inline small definitions only.
    keeps_references: bool,
    /// Set to lose no constraint.
    is_exact: bool,
    repairs: &'r mut Repairs,
    /// The schemas that may still be written.
    left: usize,
    /// The targets of references that are being read, and `true` for those that are used inside.
    open: Vec<(*const Json, bool)>,
    /// The pointers of definitions.
    names: HashMap<*const Json, String>,
    definitions: Vec<(String, Node)>,
}

impl<'s, 'r> Reader<'s, 'r> {
    fn new(root: &'s Json, keeps_references: bool, repairs: &'r mut Repairs) -> Reader<'s, 'r> {
        Reader {
            root,
            keeps_references,
            is_exact: false,
            repairs,
            left: if keeps_references {
                MAX_NODES
            } else {
                MAX_INLINED
            },
            open: Vec::new(),
            names: HashMap::new(),
            definitions: Vec::new(),
        }
    }

    /// Reads the schema of the arguments: an object, without a union.
    fn root(&mut self) -> Node {
        let schema = self.root;
        self.names.insert(schema, "#".into());
        self.open.push((schema, false));
        let mut node = self.parts(schema, "", 0);
        self.open.pop();
        for _ in 0..4 {
            node = self.inlined(node);
            let members = std::mem::take(&mut node.any_of).into_iter();
            node.any_of = members.map(|member| self.inlined(member)).collect();
            node = without_union(node);
        }
        node.reference = None;
        node.any_of.clear();
        node.values = None;
        let is_object = |types: &Vec<String>| types.len() == 1 && types[0] == "object";
        if !node.types.as_ref().is_some_and(is_object) {
            node.types = Some(vec!["object".into()]);
        }
        node.never = false;
        node
    }

    fn node(&mut self, schema: &'s Json, place: &str, depth: usize) -> Node {
        let node = self.parts(schema, place, depth);
        self.distributed(node, place)
    }

    /// Reads a schema. The members of a union do not contain what is next to it.
    fn parts(&mut self, schema: &'s Json, place: &str, depth: usize) -> Node {
        let mut node = Node::default();
        let members = match schema {
            Json::Boolean(false) => {
                node.never = true;
                return node;
            }
            Json::Object(members) => members,
            _ => return node,
        };
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || depth > MAX_DEPTH {
            self.repairs
                .rewritten(place, "it is too large for models, and left open");
            return node;
        }
        let mut rest = Vec::new();
        let mut in_place: Vec<Node> = Vec::new();
        let mut unions: Vec<Vec<Node>> = Vec::new();
        for (keyword, value) in members {
            let at = pointer_below(place, keyword);
            match (&**keyword, value) {
                ("type", Json::String(name)) => node.types = Some(vec![name.clone()]),
                ("type", Json::Array(names)) => {
                    let names = names.iter().filter_map(Json::as_str);
                    node.types = Some(names.map(str::to_owned).collect());
                }
                ("title", Json::String(text)) => node.title.clone_from(text),
                ("description", Json::String(text)) => node.description.clone_from(text),
                ("enum", Json::Array(values)) => node.values = Some(values.clone()),
                ("const", value) => node.values = Some(vec![value.clone()]),
                ("default", value) => node.keywords.push(("default".into(), value.clone())),
                ("examples", value) if self.is_exact => {
                    node.keywords.push(("examples".into(), value.clone()));
                }
                ("example", value) => node.say_short("For example: ", value, "."),
                ("examples", Json::Array(values)) => {
                    if let [first, ..] = &values[..] {
                        node.say_short("For example: ", first, ".");
                    }
                }
                // A flag of draft 4, which applies to the other keyword.
                ("exclusiveMinimum" | "exclusiveMaximum", Json::Boolean(_)) => {}
                ("minimum" | "maximum", Json::Number(_)) => {
                    let exclusive = match &**keyword {
                        "minimum" => "exclusiveMinimum",
                        _ => "exclusiveMaximum",
                    };
                    let is_exclusive = schema.get(exclusive) == Some(&Json::Boolean(true));
                    let name = if is_exclusive { exclusive } else { keyword };
                    node.keywords.push((name.into(), value.clone()));
                }
                // The address of either version, for `schemars`.
                ("format", Json::String(format)) if self.is_exact && format == "ip" => {
                    unions.push(["ipv4", "ipv6"].map(Node::of_format).into());
                }
                ("format", Json::String(format))
                    if !(FORMATS.contains(&&**format)
                        || self.is_exact && is_number_format(format)) =>
                {
                    node.sentences.push(format!("Format: {format}."));
                }
                ("minProperties" | "maxProperties", Json::Number(_)) => {
                    node.keywords.push((keyword.clone(), value.clone()));
                }
                (name, Json::Number(_) | Json::String(_) | Json::Boolean(_))
                    if CONSTRAINTS.iter().any(|(other, _)| *other == name) =>
                {
                    node.keywords.push((keyword.clone(), value.clone()));
                }
                ("properties", Json::Object(properties)) => {
                    for (key, schema) in properties {
                        if self.left == 0 {
                            break;
                        }
                        let inner = self.node(schema, &pointer_below(&at, key), depth + 1);
                        node.properties.push((key.clone(), inner));
                    }
                }
                ("required", Json::Array(keys)) => {
                    let keys = keys.iter().filter_map(Json::as_str);
                    node.required = keys.map(str::to_owned).collect();
                }
                ("additionalProperties" | "unevaluatedProperties", value) => {
                    node.others = match value {
                        Json::Boolean(true) => Others::Open,
                        Json::Boolean(false) => Others::Closed,
                        Json::Object(members) if members.is_empty() => Others::Open,
                        schema => Others::Like(Box::new(self.node(schema, &at, depth + 1))),
                    };
                }
                ("items" | "prefixItems", Json::Array(schemas)) => {
                    for (index, schema) in schemas.iter().enumerate() {
                        let inner =
                            self.node(schema, &pointer_below(&at, &index.to_string()), depth + 1);
                        node.prefix.push(inner);
                    }
                }
                ("items", schema) => {
                    node.items = Some(Box::new(self.node(schema, &at, depth + 1)));
                }
                ("additionalItems", schema)
                    if matches!(schema_items(members), Some(Json::Array(_))) =>
                {
                    node.items = Some(Box::new(self.node(schema, &at, depth + 1)));
                }
                ("allOf", Json::Array(schemas)) => {
                    for (index, schema) in schemas.iter().enumerate() {
                        let at = pointer_below(&at, &index.to_string());
                        in_place.push(self.parts(schema, &at, depth + 1));
                    }
                    self.repairs.rewritten(&at, "`allOf` became one schema");
                }
                ("anyOf" | "oneOf", Json::Array(schemas)) => {
                    let schemas = schemas.iter().enumerate();
                    let schemas = schemas.map(|(index, schema)| {
                        self.node(schema, &pointer_below(&at, &index.to_string()), depth + 1)
                    });
                    unions.push(schemas.collect());
                    if keyword == "oneOf" {
                        self.repairs.rewritten(&at, "`oneOf` became `anyOf`");
                    }
                }
                ("$ref" | "$dynamicRef" | "$recursiveRef", Json::String(reference)) => {
                    in_place.push(self.target(reference, &at, depth + 1));
                }
                ("patternProperties", Json::Object(patterns)) if self.is_exact => {
                    for (pattern, schema) in patterns {
                        let inner = self.node(schema, &pointer_below(&at, pattern), depth + 1);
                        node.patterns.push((pattern.clone(), inner));
                    }
                }
                (
                    "patternProperties" | "propertyNames" | "dependentRequired"
                    | "dependentSchemas" | "dependencies" | "not" | "if" | "then" | "else"
                    | "contains" | "minContains" | "maxContains" | "unevaluatedItems"
                    | "contentEncoding" | "contentMediaType",
                    _,
                ) => rest.push((keyword.clone(), value.clone())),
                _ => {}
            }
        }
        if let Some((_, patterns)) = rest
            .iter()
            .find(|(keyword, _)| keyword == "patternProperties")
        {
            // An object that is closed apart from them accepts other keys.
            if !patterns.members().is_empty() && !matches!(node.others, Others::Like(_)) {
                node.others = Others::Open;
            }
        }
        if self.is_exact {
            // The places of references are not kept.
            rest.retain(|(_, value)| !value.to_string().contains("\"$ref\""));
            node.rest = rest;
        } else if !rest.is_empty() {
            let json = Json::Object(rest).to_string();
            let text = format!("Must also match the JSON Schema {json}.");
            if json.len() <= MAX_REST {
                node.sentences.push(text);
                self.repairs.rewritten(
                    place,
                    "the description says what few providers accept as keywords",
                );
            } else {
                self.repairs
                    .rewritten(place, "models are not told what few providers accept");
            }
        }
        // A reference can't have anything next to it.
        let is_alone = in_place.len() == 1 && unions.is_empty() && node.is_open();
        for other in in_place {
            let mut other = if is_alone { other } else { self.inlined(other) };
            if self.is_exact && !node.description.is_empty() {
                other.description.clear();
            }
            node = merged(node, other);
        }
        for union in unions {
            let union: Vec<Node> = union.into_iter().filter(|node| !node.never).collect();
            if union.is_empty() {
                node.never = true;
            }
            if node.any_of.is_empty() {
                node.any_of = union;
            } else if self.is_exact {
                node.any_of = self.product(&node.any_of, &union);
            }
        }
        self.infer_type(&mut node, place);
        node
    }

    /// Gives a schema without a type the type that its keywords imply.
    fn infer_type(&mut self, node: &mut Node, place: &str) {
        if node.types.is_some() || node.reference.is_some() || !node.any_of.is_empty() {
            return;
        }
        let by_keyword = |(keyword, _): &(String, Json)| {
            let found = CONSTRAINTS.iter().find(|(name, _)| name == keyword);
            found.map(|(_, name)| *name)
        };
        let structure = if !node.properties.is_empty()
            || matches!(node.others, Others::Closed | Others::Like(_))
        {
            Some("object")
        } else if node.items.is_some() || !node.prefix.is_empty() {
            Some("array")
        } else if node.values.is_none() {
            let mut kinds = node.keywords.iter().filter_map(by_keyword);
            let first = kinds.next();
            first.filter(|first| kinds.all(|other| other == *first))
        } else {
            None
        };
        if let Some(name) = structure {
            node.types = Some(vec![name.into()]);
            self.repairs
                .rewritten(place, &format!("the missing type became `{name}`"));
        }
    }

    /// Reads the target of a reference, or refers to it if it is recursive.
    fn target(&mut self, reference: &str, place: &str, depth: usize) -> Node {
        let Some(target) = find(self.root, reference) else {
            return Node::default();
        };
        let pointer: *const Json = target;
        let refer = |name: &str| Node {
            reference: Some(if name == "#" {
                "#".into()
            } else {
                format!("#/$defs/{name}")
            }),
            ..Node::default()
        };
        if let Some(open) = self.open.iter_mut().find(|(other, _)| *other == pointer) {
            open.1 = true;
            let name = self.name(pointer, reference);
            return refer(&name);
        }
        let is_defined = |name: &String, all: &[(String, Node)]| {
            name == "#" || all.iter().any(|(other, _)| other == name)
        };
        if let Some(name) = self
            .names
            .get(&pointer)
            .filter(|name| is_defined(name, &self.definitions))
        {
            return refer(name);
        }
        self.open.push((pointer, false));
        let node = self.node(target, place, depth);
        let is_recursive = self.open.pop().is_some_and(|(_, is_used)| is_used);
        let is_kept = self.keeps_references && node.size() > MAX_SMALL;
        if !is_recursive && !is_kept {
            return node;
        }
        let name = self.name(pointer, reference);
        // A reference that leads only to itself accepts any value.
        let itself = refer(&name);
        if node.reference == itself.reference {
            return Node::default();
        }
        self.definitions.push((name, node));
        itself
    }

    /// Replaces a reference by what it leads to, unless that is still being read.
    fn inlined(&self, mut node: Node) -> Node {
        let found = node.reference.as_deref().and_then(|reference| {
            let name = reference.rsplit('/').next()?;
            self.definitions.iter().find(|(other, _)| other == name)
        });
        match found {
            Some((_, definition)) => {
                node.reference = None;
                merged(node, definition.clone())
            }
            None => node,
        }
    }

    /// Returns the name of a definition.
    fn name(&mut self, pointer: *const Json, reference: &str) -> String {
        if let Some(name) = self.names.get(&pointer) {
            return name.clone();
        }
        let last = reference.rsplit(['/', '#']).next().unwrap_or_default();
        let mut name: String = last
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        if name.is_empty() {
            name = "Part".into();
        }
        name.truncate(40);
        let base = name.clone();
        for number in 2.. {
            if self.names.values().all(|other| *other != name) {
                break;
            }
            name = format!("{base}{number}");
        }
        self.names.insert(pointer, name.clone());
        name
    }

    /// Returns a union of what members of both unions accept.
    fn product(&mut self, one: &[Node], two: &[Node]) -> Vec<Node> {
        let size = one.iter().chain(two).map(Node::size).sum::<usize>();
        self.left = self.left.saturating_sub(size * one.len().max(two.len()));
        if self.left == 0 {
            return one.to_vec();
        }
        let pairs = one
            .iter()
            .flat_map(|first| two.iter().map(move |second| (first, second)));
        let pairs = pairs.map(|(first, second)| {
            merged(self.inlined(first.clone()), self.inlined(second.clone()))
        });
        pairs.collect()
    }

    /// Moves what is next to a union into its members.
    fn distributed(&mut self, mut node: Node, place: &str) -> Node {
        if node.any_of.is_empty() {
            return node;
        }
        let union = std::mem::take(&mut node.any_of);
        if node.is_open() {
            node.any_of = union;
            return node;
        }
        if !self.is_exact && union.iter().all(Node::is_thin) {
            node.say_required(&union);
            return node;
        }
        let size = node.size();
        if size * union.len() > self.left {
            self.repairs
                .rewritten(place, "the union is too large for models, and left out");
            return node;
        }
        self.left -= size * union.len();
        let mut shared = std::mem::take(&mut node);
        node.title = std::mem::take(&mut shared.title);
        node.description = std::mem::take(&mut shared.description);
        node.sentences = std::mem::take(&mut shared.sentences);
        let is_default = |(keyword, _): &(String, Json)| keyword == "default";
        node.keywords = shared
            .keywords
            .iter()
            .filter(|pair| is_default(pair))
            .cloned()
            .collect();
        shared.keywords.retain(|pair| !is_default(pair));
        let union = union.into_iter().map(|member| {
            let member = merged(self.inlined(member), shared.clone());
            self.distributed(member, place)
        });
        node.any_of = union.collect();
        node
    }
}

fn schema_items(members: &[(String, Json)]) -> Option<&Json> {
    let found = members.iter().find(|(key, _)| key == "items");
    found.map(|(_, value)| value)
}

impl Node {
    fn of_format(format: &str) -> Node {
        Node {
            keywords: vec![("format".into(), Json::from(format))],
            ..Node::default()
        }
    }

    /// Returns the value of a constraint or of the default.
    pub(super) fn keyword(&self, name: &str) -> Option<&Json> {
        let found = self.keywords.iter().find(|(keyword, _)| keyword == name);
        found.map(|(_, value)| value)
    }

    /// Returns the description, followed by sentences.
    pub(super) fn text(&self, sentences: &[String]) -> String {
        let first = match &*self.description {
            "" => &*self.title,
            description => description,
        };
        let mut text = first.trim().to_owned();
        for sentence in sentences {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(sentence);
        }
        text
    }

    fn say_short(&mut self, start: &str, value: &Json, end: &str) {
        let json = value.to_string();
        if json.len() <= MAX_REST {
            self.sentences.push(format!("{start}{json}{end}"));
        }
    }

    /// Returns `true` if a schema has annotations only.
    pub(super) fn is_open(&self) -> bool {
        !self.never
            && self.types.is_none()
            && self.values.is_none()
            && self
                .keywords
                .iter()
                .all(|(keyword, _)| keyword == "default")
            && self.properties.is_empty()
            && self.required.is_empty()
            && self.patterns.is_empty()
            && self.rest.is_empty()
            && matches!(self.others, Others::Unsaid)
            && self.prefix.is_empty()
            && self.items.is_none()
            && self.reference.is_none()
    }

    /// Returns `true` if a schema only says which keys are required.
    fn is_thin(&self) -> bool {
        let has_properties = self.properties.iter().any(|(_, node)| !node.is_open());
        let is_object = |types: &Vec<String>| types.iter().all(|name| name == "object");
        let rest = Node {
            required: Vec::new(),
            properties: Vec::new(),
            types: self.types.clone().filter(|types| !is_object(types)),
            ..self.clone()
        };
        rest.is_open() && rest.any_of.is_empty() && !has_properties
    }

    /// Says which keys the members of a union require.
    fn say_required(&mut self, union: &[Node]) {
        let listed = union.iter().filter(|member| !member.required.is_empty());
        let listed: Vec<_> = listed
            .map(|member| {
                let keys: Vec<_> = member
                    .required
                    .iter()
                    .map(|key| format!("\"{key}\""))
                    .collect();
                keys.join(" and ")
            })
            .collect();
        if listed.len() == union.len() {
            self.sentences
                .push(format!("Requires {}.", listed.join(", or ")));
        }
    }

    fn size(&self) -> usize {
        let boxed = |node: &Option<Box<Node>>| node.as_ref().map_or(0, |node| node.size());
        let others = match &self.others {
            Others::Like(node) => node.size(),
            _ => 0,
        };
        let properties = self.properties.iter().map(|(_, node)| node.size());
        let lists = self.prefix.iter().chain(&self.any_of).map(Node::size);
        1 + others + boxed(&self.items) + properties.sum::<usize>() + lists.sum::<usize>()
    }
}

/// Returns a schema for what both accept, or more.
pub(super) fn merged(mut node: Node, other: Node) -> Node {
    node.never |= other.never;
    node.is_contradictory |= other.is_contradictory;
    node.types = match (node.types, other.types) {
        (Some(one), Some(two)) => {
            let has = |name: &String| {
                two.contains(name) || name == "integer" && two.iter().any(|other| other == "number")
            };
            let mut both: Vec<String> = one.iter().filter(|name| has(name)).cloned().collect();
            if both.is_empty() && one.iter().any(|name| name == "number") {
                both = two.into_iter().filter(|name| name == "integer").collect();
            }
            node.is_contradictory |= both.is_empty();
            Some(if both.is_empty() { one } else { both })
        }
        (one, two) => one.or(two),
    };
    if node.title.is_empty() {
        node.title = other.title;
    }
    if node.description.is_empty() {
        node.description = other.description;
    } else if !other.description.is_empty() && other.description != node.description {
        node.sentences.insert(0, other.description);
    }
    for sentence in other.sentences {
        if !node.sentences.contains(&sentence) {
            node.sentences.push(sentence);
        }
    }
    node.values = match (node.values, other.values) {
        (Some(one), Some(two)) => {
            let both: Vec<_> = one
                .iter()
                .filter(|value| two.contains(value))
                .cloned()
                .collect();
            node.is_contradictory |= both.is_empty();
            Some(if both.is_empty() { one } else { both })
        }
        (one, two) => one.or(two),
    };
    for (keyword, value) in other.keywords {
        if node.keywords.iter().all(|(name, _)| *name != keyword) {
            node.keywords.push((keyword, value));
        }
    }
    for (key, schema) in other.properties {
        match node.properties.iter_mut().find(|(name, _)| *name == key) {
            Some((_, first)) => *first = merged(std::mem::take(first), schema),
            None => node.properties.push((key, schema)),
        }
    }
    for key in other.required {
        if !node.required.contains(&key) {
            node.required.push(key);
        }
    }
    node.patterns.extend(other.patterns);
    node.rest.extend(other.rest);
    node.others = match (node.others, other.others) {
        (Others::Closed, _) | (_, Others::Closed) => Others::Closed,
        (Others::Unsaid, others) => others,
        (Others::Open, others @ Others::Like(_)) => others,
        (others, _) => others,
    };
    if node.prefix.is_empty() {
        node.prefix = other.prefix;
    }
    node.items = match (node.items, other.items) {
        (Some(one), Some(two)) => Some(Box::new(merged(*one, *two))),
        (one, two) => one.or(two),
    };
    if node.any_of.is_empty() {
        node.any_of = other.any_of;
    }
    node.reference = node.reference.or(other.reference);
    node
}

/// Merges the members of a union of objects into one object that accepts them all.
fn without_union(mut node: Node) -> Node {
    let union = std::mem::take(&mut node.any_of);
    let is_object = |member: &Node| {
        member
            .types
            .as_ref()
            .is_none_or(|types| types.iter().any(|name| name == "object"))
    };
    let union: Vec<Node> = union.into_iter().filter(is_object).collect();
    if union.is_empty() {
        return node;
    }
    if union.len() > 1 {
        node.say_required(&union);
    }
    let required = union[0].required.iter();
    let required = required.filter(|key| union.iter().all(|member| member.required.contains(key)));
    for key in required {
        if !node.required.contains(key) {
            node.required.push(key.clone());
        }
    }
    let is_closed = union
        .iter()
        .all(|member| matches!(member.others, Others::Closed));
    if is_closed && matches!(node.others, Others::Unsaid) {
        node.others = Others::Closed;
    }
    let mut all: Vec<(String, Node)> = Vec::new();
    for member in union {
        for (key, schema) in member.properties {
            match all.iter_mut().find(|(name, _)| *name == key) {
                Some((_, first)) => *first = either(std::mem::take(first), schema),
                None => all.push((key, schema)),
            }
        }
        for sentence in [member.description].into_iter().chain(member.sentences) {
            if !sentence.is_empty() && !node.sentences.contains(&sentence) {
                node.sentences.push(sentence);
            }
        }
        node.any_of.extend(member.any_of);
    }
    let all = Node {
        properties: all,
        ..Node::default()
    };
    merged(node, all)
}

/// Returns a schema for what either accepts.
fn either(one: Node, two: Node) -> Node {
    if let (Some(first), Some(second)) = (&one.values, &two.values) {
        let mut values = first.clone();
        values.extend(
            second
                .iter()
                .filter(|value| !first.contains(value))
                .cloned(),
        );
        let mut node = one;
        node.values = Some(values);
        return node;
    }
    let written = write(&two).to_string();
    if write(&one).to_string() == written {
        return one;
    }
    let mut node = one;
    let is_plain_union = !node.any_of.is_empty()
        && Node {
            any_of: Vec::new(),
            ..node.clone()
        }
        .is_open();
    if !is_plain_union {
        node = Node {
            any_of: vec![node],
            ..Node::default()
        };
    }
    if node
        .any_of
        .iter()
        .all(|member| write(member).to_string() != written)
    {
        node.any_of.push(two);
    }
    node
}

/// Writes a schema.
fn write(node: &Node) -> Json {
    let mut out = Vec::new();
    let mut sentences = node.sentences.clone();
    if node.never {
        sentences.push("No value is accepted here; leave it out.".into());
    }
    if let Some(reference) = &node.reference {
        write_reference(node, reference, &mut out);
    } else if !node.any_of.is_empty() {
        out.push((
            "anyOf".into(),
            Json::Array(node.any_of.iter().map(write).collect()),
        ));
    } else if let Some(values) = &node.values {
        write_values(node, values, &mut sentences, &mut out);
    } else {
        match node.types.as_deref() {
            None | Some([]) => {}
            Some([name]) => {
                out.push(("type".into(), Json::from(&**name)));
                write_type(node, name, &mut out);
            }
            Some([name, null] | [null, name]) if null == "null" && is_scalar(name) => {
                let names = [Json::from(&**name), Json::from("null")];
                out.push(("type".into(), Json::Array(names.into())));
                write_type(node, name, &mut out);
            }
            Some(names) => {
                let members = names.iter().map(|name| {
                    let mut member = vec![("type".to_owned(), Json::from(&**name))];
                    write_type(node, name, &mut member);
                    Json::Object(member)
                });
                out.push(("anyOf".into(), Json::Array(members.collect())));
            }
        }
    }
    let description = node.text(&sentences);
    if !description.is_empty() {
        out.push(("description".into(), Json::String(description)));
    }
    if let Some(default) = node.keyword("default") {
        out.push(("default".into(), default.clone()));
    }
    Json::Object(out)
}

/// Writes a reference, which must stand alone.
fn write_reference(node: &Node, reference: &str, out: &mut Vec<(String, Json)>) {
    let member = ("$ref".to_owned(), Json::from(reference));
    let has_default = node.keyword("default").is_some();
    let has_text =
        !node.description.is_empty() || !node.title.is_empty() || !node.sentences.is_empty();
    if has_text || has_default || node.never {
        out.push((
            "anyOf".into(),
            Json::Array(vec![Json::Object(vec![member])]),
        ));
    } else {
        out.push(member);
    }
}

fn is_scalar(name: &str) -> bool {
    matches!(name, "string" | "number" | "integer" | "boolean")
}

/// Writes the keywords of one type.
fn write_type(node: &Node, name: &str, out: &mut Vec<(String, Json)>) {
    match name {
        "object" => write_object(node, out),
        "array" => write_array(node, out),
        _ => {}
    }
    let group = if name == "integer" { "number" } else { name };
    for (keyword, value) in &node.keywords {
        let is_own = CONSTRAINTS
            .iter()
            .any(|(other, kind)| other == keyword && *kind == group)
            || name == "object" && keyword.ends_with("Properties");
        if is_own {
            out.push((keyword.clone(), value.clone()));
        }
    }
}

fn write_object(node: &Node, out: &mut Vec<(String, Json)>) {
    let mut properties: Vec<(String, Json)> = node
        .properties
        .iter()
        .filter(|(_, schema)| !schema.never)
        .map(|(key, schema)| (key.clone(), write_property(key, schema)))
        .collect();
    let mut names: HashSet<&String> = node.properties.iter().map(|(key, _)| key).collect();
    let never = node.properties.iter().filter(|(_, schema)| schema.never);
    let mut done: HashSet<&String> = never.map(|(key, _)| key).collect();
    let mut required: Vec<&String> = Vec::new();
    for key in &node.required {
        if done.insert(key) {
            required.push(key);
            if names.insert(key) {
                properties.push((key.clone(), Json::Object(Vec::new())));
            }
        }
    }
    out.push(("properties".into(), Json::Object(properties)));
    if !required.is_empty() {
        let required = required.into_iter().map(|key| Json::from(&**key));
        out.push(("required".into(), Json::Array(required.collect())));
    }
    let others = match &node.others {
        Others::Unsaid => return,
        Others::Open => Json::Boolean(true),
        Others::Closed => Json::Boolean(false),
        Others::Like(schema) if schema.never => Json::Boolean(false),
        Others::Like(schema) => match write(schema) {
            Json::Object(members) if members.is_empty() => Json::Boolean(true),
            schema => schema,
        },
    };
    out.push(("additionalProperties".into(), others));
}

/// Writes a property. A title that repeats its key says nothing.
fn write_property(key: &str, node: &Node) -> Json {
    let letters = |text: &str| -> String {
        let letters = text.chars().filter(|character| character.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    if !node.title.is_empty() && letters(key) == letters(&node.title) {
        return write(&Node {
            title: String::new(),
            ..node.clone()
        });
    }
    write(node)
}

fn write_array(node: &Node, out: &mut Vec<(String, Json)>) {
    let items = node.items.as_deref();
    let prefix: Vec<_> = node.prefix.iter().map(write).collect();
    if prefix.is_empty() {
        let items = items
            .filter(|items| !items.never)
            .map_or(Json::Object(Vec::new()), write);
        out.push(("items".into(), items));
        return;
    }
    let mut distinct: Vec<Json> = Vec::new();
    let rest = items.filter(|items| !items.never).map(write);
    for item in prefix.iter().cloned().chain(rest) {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    let items = match &distinct[..] {
        [only] => only.clone(),
        _ => Json::Object(vec![("anyOf".into(), Json::Array(distinct))]),
    };
    let is_closed = node.items.as_ref().is_some_and(|items| items.never);
    let has_maximum = node.keyword("maxItems").is_some();
    let count = prefix.len();
    out.push(("prefixItems".into(), Json::Array(prefix)));
    out.push(("items".into(), items));
    if is_closed && !has_maximum {
        out.push(("maxItems".into(), Json::Number(count.to_string())));
    }
}

/// Writes the listed values, those of each type apart.
fn write_values(
    node: &Node,
    values: &[Json],
    sentences: &mut Vec<String>,
    out: &mut Vec<(String, Json)>,
) {
    let accepts = |name: &str| {
        node.types.as_ref().is_none_or(|types| {
            types
                .iter()
                .any(|other| other == name || name == "integer" && other == "number")
        })
    };
    let mut groups: Vec<(&str, Vec<Json>)> = Vec::new();
    let mut complex = Vec::new();
    for value in values {
        let name = type_of(value);
        if !accepts(name) {
            continue;
        }
        if matches!(value, Json::Array(_) | Json::Object(_)) {
            complex.push(value.to_string());
        }
        match groups.iter_mut().find(|(other, _)| *other == name) {
            Some((_, values)) if values.contains(value) => {}
            Some((_, values)) => values.push(value.clone()),
            None => groups.push((name, vec![value.clone()])),
        }
    }
    if values.is_empty() || groups.is_empty() {
        sentences.push("No value is accepted here; leave it out.".into());
    }
    let listed = complex.join(" or ");
    if !complex.is_empty() && listed.len() <= MAX_REST {
        let other = if groups.len() > 1 {
            "An object or array must be"
        } else {
            "Must be"
        };
        sentences.push(format!("{other} {listed}."));
    }
    let write_group = |(name, values): (&str, Vec<Json>)| {
        let mut out = vec![("type".to_owned(), Json::from(name))];
        match name {
            "array" => out.push(("items".into(), Json::Object(Vec::new()))),
            "object" => out.push(("properties".into(), Json::Object(Vec::new()))),
            "null" => {}
            _ => out.push(("enum".into(), Json::Array(values))),
        }
        out
    };
    if groups.len() == 1 {
        out.extend(groups.into_iter().flat_map(write_group));
    } else if groups.len() > 1 {
        let groups = groups
            .into_iter()
            .map(|group| Json::Object(write_group(group)));
        out.push(("anyOf".into(), Json::Array(groups.collect())));
    }
}

fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Boolean(_) => "boolean",
        Json::Number(text) if text.contains(['.', 'e', 'E']) => "number",
        Json::Number(_) => "integer",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// Finds the schema of a reference: by its place, its anchor or its address.
fn find<'s>(root: &'s Json, reference: &str) -> Option<&'s Json> {
    let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let base = match address {
        "" => root,
        address => having(root, &|schema| {
            let id = schema.get_str("$id").or(schema.get_str("id"));
            id.is_some_and(|id| id.trim_end_matches('#').ends_with(address))
        })?,
    };
    match fragment {
        "" => Some(base),
        pointer if pointer.starts_with('/') => {
            let mut value = base;
            for step in pointer.split('/').skip(1) {
                value = value.child(&decoded(step))?;
            }
            Some(value)
        }
        anchor => having(base, &|schema| {
            let is = |key, prefix: &str| {
                schema
                    .get_str(key)
                    .and_then(|text| text.strip_prefix(prefix))
                    == Some(anchor)
            };
            is("$anchor", "") || is("$dynamicAnchor", "") || is("$id", "#") || is("id", "#")
        }),
    }
}

/// Returns the first object that fulfils a condition.
fn having<'s>(value: &'s Json, condition: &impl Fn(&Json) -> bool) -> Option<&'s Json> {
    match value {
        Json::Object(_) if condition(value) => Some(value),
        Json::Object(members) => members
            .iter()
            .find_map(|(_, value)| having(value, condition)),
        Json::Array(items) => items.iter().find_map(|value| having(value, condition)),
        _ => None,
    }
}
