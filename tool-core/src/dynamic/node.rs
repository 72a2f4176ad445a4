//! [`Node`]: a schema in the few parts that can be written, and how two become one.

use std::collections::HashSet;

use indexmap::{IndexMap, IndexSet};

use crate::ordered_json::Json;
use crate::ordered_json::keywords::Keyword;

/// The maximum bytes of a keyword that a description repeats.
pub(super) const MAX_REST: usize = 300;

/// How a schema is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// In the keywords that every provider accepts. Descriptions say the rest.
    Portable,
    /// Without losing a constraint.
    #[cfg(feature = "schemars1")]
    Exact,
}

/// A schema that was read.
#[derive(Clone)]
pub(super) struct Document {
    pub(super) root: Node,
    pub(super) definitions: IndexMap<String, Node>,
}

#[cfg(feature = "schemars1")]
impl Document {
    /// Calls a function with each node, after those inside of it.
    pub(super) fn visit(&mut self, each: &mut dyn FnMut(&mut Node)) {
        let definitions = self.definitions.values_mut();
        for node in definitions.chain([&mut self.root]) {
            node.visit(each);
        }
    }
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
    pub(super) title: String,
    pub(super) description: String,
    /// Restrictions that no keyword expresses.
    pub(super) sentences: IndexSet<String>,
    pub(super) values: Option<IndexSet<Json>>,
    /// Constraints of numbers, strings and arrays, and the default.
    pub(super) keywords: Vec<(String, Json)>,
    pub(super) properties: IndexMap<String, Node>,
    pub(super) required: IndexSet<String>,
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

impl Node {
    pub(super) fn of_format(format: &str) -> Node {
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
    pub(super) fn text(&self, sentences: &IndexSet<String>) -> String {
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

    /// Says what a keyword would express, unless its value is long.
    pub(super) fn say(&mut self, keyword: &str, value: &Json) {
        if value.to_string().len() <= MAX_REST {
            let keyword = Keyword::of(keyword);
            self.sentences
                .extend(keyword.and_then(|keyword| keyword.sentence(value)));
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
    pub(super) fn is_thin(&self) -> bool {
        let has_properties = self.properties.iter().any(|(_, node)| !node.is_open());
        let is_object = |types: &Vec<String>| types.iter().all(|name| name == "object");
        let rest = Node {
            required: IndexSet::new(),
            properties: IndexMap::new(),
            types: self.types.clone().filter(|types| !is_object(types)),
            ..self.clone()
        };
        rest.is_open() && rest.any_of.is_empty() && !has_properties
    }

    /// Says which keys the members of a union require.
    pub(super) fn say_required(&mut self, union: &[Node]) {
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
                .insert(format!("Requires {}.", listed.join(", or ")));
        }
    }

    /// Calls a function with each node inside, and then with this one.
    #[cfg(feature = "schemars1")]
    pub(super) fn visit(&mut self, each: &mut dyn FnMut(&mut Node)) {
        let properties = self.properties.values_mut();
        let patterns = self.patterns.iter_mut().map(|(_, node)| node);
        let others = match &mut self.others {
            Others::Like(node) => Some(node),
            _ => None,
        };
        let boxed = self.items.iter_mut().chain(others).map(|node| &mut **node);
        let lists = self.prefix.iter_mut().chain(&mut self.any_of);
        for inner in properties.chain(patterns).chain(lists).chain(boxed) {
            inner.visit(each);
        }
        each(self);
    }

    pub(super) fn size(&self) -> usize {
        let boxed = |node: &Option<Box<Node>>| node.as_ref().map_or(0, |node| node.size());
        let others = match &self.others {
            Others::Like(node) => node.size(),
            _ => 0,
        };
        let properties = self.properties.values().map(Node::size);
        let lists = self.prefix.iter().chain(&self.any_of).map(Node::size);
        1 + others + boxed(&self.items) + properties.sum::<usize>() + lists.sum::<usize>()
    }
}

/// Returns a schema that accepts every value that both accept, and maybe more.
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
        node.sentences.insert(other.description);
    }
    node.sentences.extend(other.sentences);
    node.values = match (node.values, other.values) {
        (Some(one), Some(two)) => {
            let both: IndexSet<_> = one.intersection(&two).cloned().collect();
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
        let first = node.properties.entry(key).or_default();
        *first = merged(std::mem::take(first), schema);
    }
    node.required.extend(other.required);
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
pub(super) fn without_union(mut node: Node) -> Node {
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
    let required = required.filter(|key| union.iter().all(|member| member.required.contains(*key)));
    node.required.extend(required.cloned());
    let is_closed = union
        .iter()
        .all(|member| matches!(member.others, Others::Closed));
    if is_closed && matches!(node.others, Others::Unsaid) {
        node.others = Others::Closed;
    }
    let mut all: IndexMap<String, Either> = IndexMap::new();
    for member in union {
        for (key, schema) in member.properties {
            all.entry(key).or_default().add(schema);
        }
        let sentences = [member.description].into_iter().chain(member.sentences);
        let sentences = sentences.filter(|sentence| !sentence.is_empty());
        node.sentences.extend(sentences);
        node.any_of.extend(member.any_of);
    }
    let all = Node {
        properties: all.into_iter().map(|(key, all)| (key, all.node)).collect(),
        ..Node::default()
    };
    merged(node, all)
}

/// A schema of the values that one of several accepts.
#[derive(Default)]
struct Either {
    node: Node,
    /// The schemas in it, as they are written.
    written: HashSet<Json>,
}

impl Either {
    fn add(&mut self, other: Node) {
        let is_first = self.written.is_empty();
        let is_new = self.written.insert(Form::Portable.schema(&other));
        if is_first {
            if other.is_open() {
                let members = other.any_of.iter();
                self.written
                    .extend(members.map(|member| Form::Portable.schema(member)));
            }
            self.node = other;
        } else if let (Some(values), Some(others)) = (&mut self.node.values, &other.values) {
            values.extend(others.iter().cloned());
        } else if is_new {
            if self.node.any_of.is_empty() || !self.node.is_open() {
                self.node = Node {
                    any_of: vec![std::mem::take(&mut self.node)],
                    ..Node::default()
                };
            }
            self.node.any_of.push(other);
        }
    }
}
