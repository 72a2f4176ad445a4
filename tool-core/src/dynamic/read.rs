//! Reads any JSON Schema into [`Node`]s, for models.
//!
//! The written schema uses only keywords that every provider accepts outside its strict mode. Models read
//! it, but calls are validated against the original. So it may accept more, and its descriptions state the
//! rest. References are inlined, except in recursive schemas.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use indexmap::IndexMap;

use super::node::{Document, Form, MAX_REST, Node, Others, merged, without_union};
use super::references::References;
use super::repair::Repairs;
use super::write::document;
use crate::ordered_json::keywords::{Keyword, Step, Told};
use crate::ordered_json::{Json, pointer_below};

/// The maximum nesting of a written schema, references included.
const MAX_DEPTH: usize = 32;
/// The maximum number of schemas to write with inlined references. Beyond, references are kept.
const MAX_INLINED: usize = 1500;
/// The maximum number of schemas to write.
const MAX_NODES: usize = 20_000;
/// The maximum size of a definition that is inlined all the same.
const MAX_SMALL: usize = 4;
/// The bytes of definitions that may be written more than once. Beyond, references are kept.
const MAX_REPEATED: usize = 1 << 18;

/// The formats that JSON Schema defines.
const FORMATS: &str = "\
    date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri \
    uri-reference iri iri-reference uuid uri-template json-pointer relative-json-pointer regex";

/// Returns `true` for a format that `schemars` gives numbers, which is not one of JSON Schema.
fn is_number_format(format: &str) -> bool {
    let bits = format.trim_start_matches('u').strip_prefix("int");
    bits.is_some_and(|bits| bits.bytes().all(|byte| byte.is_ascii_digit()))
        || matches!(format, "float" | "double")
}

/// Returns the schema of a tool's arguments that models are given.
pub(super) fn portable(schema: &Json, repairs: &mut Repairs) -> Json {
    document(&read(schema, false, repairs), Form::Portable)
}

/// Reads a schema without losing a constraint, unless it is too large.
#[cfg(feature = "schemars1")]
pub(super) fn exact(schema: &Json) -> Document {
    read(schema, true, &mut Repairs::default())
}

/// Reads a schema with inlined references, or if it is too large for that, with references.
fn read(schema: &Json, is_exact: bool, repairs: &mut Repairs) -> Document {
    let before = repairs.0.len();
    let (document, is_complete) = attempt(Reader::new(schema, false, is_exact, repairs));
    if is_complete {
        return document;
    }
    repairs.0.truncate(before);
    attempt(Reader::new(schema, true, is_exact, repairs)).0
}

/// Returns the schema, and `false` if a limit was reached.
fn attempt(mut reader: Reader<'_, '_>) -> (Document, bool) {
    let root = reader.root();
    let document = Document {
        root,
        definitions: reader.definitions,
    };
    (document, reader.left > 0)
}

struct Reader<'s, 'r> {
    references: References<'s>,
    /// Set to inline small definitions only.
    keeps_references: bool,
    /// Set to lose no constraint.
    is_exact: bool,
    repairs: &'r mut Repairs,
    /// The schemas that may still be written.
    left: usize,
    /// The bytes that may still be written again.
    repeated: usize,
    /// The bytes of the targets of references that were read.
    lengths: HashMap<*const Json, usize>,
    /// The targets of references that are being read; `true` for targets that are used inside.
    open: Vec<(*const Json, bool)>,
    /// The pointers of definitions.
    names: HashMap<*const Json, String>,
    /// The names of definitions, each with the last number that was added to it.
    numbers: HashMap<String, usize>,
    definitions: IndexMap<String, Node>,
    /// The bytes of the definitions, by name.
    written: HashMap<String, usize>,
}

impl<'s, 'r> Reader<'s, 'r> {
    fn new(
        root: &'s Json,
        keeps_references: bool,
        is_exact: bool,
        repairs: &'r mut Repairs,
    ) -> Reader<'s, 'r> {
        Reader {
            references: References::new(root),
            keeps_references,
            is_exact,
            repairs,
            left: if keeps_references {
                MAX_NODES
            } else {
                MAX_INLINED
            },
            repeated: MAX_REPEATED,
            lengths: HashMap::new(),
            open: Vec::new(),
            names: HashMap::new(),
            numbers: HashMap::new(),
            definitions: IndexMap::new(),
            written: HashMap::new(),
        }
    }

    /// Reads the whole schema. Unless it is read exactly, it becomes an object without a union.
    fn root(&mut self) -> Node {
        let schema = self.references.root;
        self.names.insert(schema, "#".into());
        self.open.push((schema, false));
        if self.is_exact {
            return self.node(schema, "", 0);
        }
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
            let row = Keyword::of(keyword);
            match (&**keyword, value) {
                ("type", Json::String(name)) => node.types = Some(vec![name.clone()]),
                ("type", Json::Array(names)) => {
                    let names = names.iter().filter_map(Json::as_str);
                    node.types = Some(names.map(str::to_owned).collect());
                }
                ("title", Json::String(text)) => node.title.clone_from(text),
                ("description", Json::String(text)) => node.description.clone_from(text),
                ("enum", Json::Array(values)) => {
                    node.values = Some(values.iter().cloned().collect());
                }
                ("const", value) => node.values = Some([value.clone()].into()),
                ("default", value) => node.keywords.push(("default".into(), value.clone())),
                ("examples", value) if self.is_exact => {
                    node.keywords.push(("examples".into(), value.clone()));
                }
                ("example", value) => node.say(keyword, value),
                ("examples", values) => {
                    if let [first, ..] = values.items() {
                        node.say(keyword, first);
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
                    if !(FORMATS.split(' ').any(|known| known == format)
                        || self.is_exact && is_number_format(format)) =>
                {
                    node.sentences.insert(format!("Format: {format}."));
                }
                ("properties", value) => {
                    node.properties = self.named(row, value, &at, depth).into_iter().collect();
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
                ("items" | "prefixItems", Json::Array(_)) => {
                    node.prefix.extend(self.inner(row, value, &at, depth));
                }
                ("items", schema) => {
                    node.items = Some(Box::new(self.node(schema, &at, depth + 1)));
                }
                ("additionalItems", value)
                    if matches!(schema.get("items"), Some(Json::Array(_))) =>
                {
                    node.items = Some(Box::new(self.node(value, &at, depth + 1)));
                }
                ("allOf", Json::Array(schemas)) => {
                    for (index, schema) in schemas.iter().enumerate() {
                        in_place.push(self.parts(schema, &format!("{at}/{index}"), depth + 1));
                    }
                    self.repairs.rewritten(&at, "`allOf` became one schema");
                }
                ("anyOf" | "oneOf", Json::Array(_)) => {
                    unions.push(self.inner(row, value, &at, depth));
                    if keyword == "oneOf" {
                        self.repairs.rewritten(&at, "`oneOf` became `anyOf`");
                    }
                }
                ("$ref" | "$dynamicRef" | "$recursiveRef", Json::String(reference)) => {
                    in_place.push(self.target(reference, &at, depth + 1));
                }
                ("patternProperties", value) if self.is_exact => {
                    node.patterns = self.named(row, value, &at, depth);
                }
                _ => match row.map(|row| (row.told, row.restricts)) {
                    Some((Told::Quoted, _)) => rest.push((keyword.clone(), value.clone())),
                    Some((Told::Copied | Told::Sentence(_), restricts))
                        if !restricts.is_empty()
                            && matches!(
                                value,
                                Json::Number(_) | Json::String(_) | Json::Boolean(true)
                            ) =>
                    {
                        node.keywords.push((keyword.clone(), value.clone()));
                    }
                    _ => {}
                },
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
                node.sentences.insert(text);
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

    /// Reads the schemas of a keyword.
    fn inner(
        &mut self,
        keyword: Option<&Keyword>,
        value: &'s Json,
        place: &str,
        depth: usize,
    ) -> Vec<Node> {
        let schemas = keyword.into_iter().flat_map(|row| row.schemas(value));
        let nodes = schemas.map(|(step, schema)| self.node(schema, &step.below(place), depth + 1));
        nodes.collect()
    }

    /// Reads the schemas of a keyword with their keys.
    fn named(
        &mut self,
        keyword: Option<&Keyword>,
        value: &'s Json,
        place: &str,
        depth: usize,
    ) -> Vec<(String, Node)> {
        let mut all = Vec::new();
        for (step, schema) in keyword.into_iter().flat_map(|row| row.schemas(value)) {
            if let (Step::Key(key), true) = (step, self.left > 0) {
                let node = self.node(schema, &step.below(place), depth + 1);
                all.push((key.to_owned(), node));
            }
        }
        all
    }

    /// Gives a schema without a type the type that its keywords imply.
    fn infer_type(&mut self, node: &mut Node, place: &str) {
        if node.types.is_some() || node.reference.is_some() || !node.any_of.is_empty() {
            return;
        }
        let by_keyword = |(keyword, _): &(String, Json)| {
            let restricts = Keyword::of(keyword).map(|row| row.restricts);
            restricts.filter(|name| !name.is_empty())
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
        let Some(target) = self.references.find(reference) else {
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
        let is_defined = |name: &&String| *name == "#" || self.definitions.contains_key(*name);
        if let Some(name) = self.names.get(&pointer).filter(is_defined) {
            return refer(name);
        }
        let length = match self.lengths.entry(pointer) {
            Entry::Occupied(length) => {
                self.repeated = self.repeated.saturating_sub(*length.get());
                *length.get()
            }
            Entry::Vacant(length) => *length.insert(target.to_string().len()),
        };
        let is_long = self.repeated == 0;
        if is_long && !self.keeps_references {
            self.left = 0;
        }
        self.open.push((pointer, false));
        let node = self.node(target, place, depth);
        let is_recursive = self.open.pop().is_some_and(|(_, is_used)| is_used);
        let is_kept = self.keeps_references && (is_long || node.size() > MAX_SMALL);
        if !is_recursive && !is_kept {
            return node;
        }
        let name = self.name(pointer, reference);
        // A reference that leads only to itself accepts any value.
        let itself = refer(&name);
        if node.reference == itself.reference {
            return Node::default();
        }
        self.written.insert(name.clone(), length);
        self.definitions.insert(name, node);
        itself
    }

    /// Replaces a reference by its target, unless the target is still being read. Beyond the limit for
    /// repeated definitions, the reference becomes any value.
    fn inlined(&mut self, mut node: Node) -> Node {
        let name = node.reference.as_deref();
        let Some(name) = name.and_then(|reference| reference.rsplit('/').next()) else {
            return node;
        };
        let (Some(definition), Some(length)) = (self.definitions.get(name), self.written.get(name))
        else {
            return node;
        };
        node.reference = None;
        match self.repeated.checked_sub(*length) {
            Some(left) => {
                self.repeated = left;
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
        while self.numbers.contains_key(&name) {
            let number = self.numbers.entry(base.clone()).or_default();
            *number += 1;
            name = format!("{base}{number}");
        }
        self.numbers.insert(name.clone(), 1);
        self.names.insert(pointer, name.clone());
        name
    }

    /// Returns a union of the values that members of both unions accept.
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
