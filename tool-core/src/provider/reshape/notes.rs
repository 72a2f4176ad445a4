//! [`Notes`]: the description of a schema, and what no keyword of the subset expresses.

use crate::provider::subset::{RECURSIVE, Subset};
use crate::provider::writer::JsonWriter;
use crate::schema::messages::{expected, text};
use crate::schema::{ArrayRule, Kind, Lengths, MapRule, Property, Schema, StringRule, Text};

/// The annotations of a schema.
#[derive(Default)]
pub(crate) struct Notes {
    description: &'static str,
    /// The meaning of each value of an enum.
    meanings: &'static str,
    /// What the schema demands beyond its keywords.
    sentences: Vec<String>,
    /// A default, where there is a keyword for it.
    default: &'static str,
}

impl Notes {
    /// Returns the notes of a schema by itself.
    pub(crate) fn of(schema: &Schema, subset: &Subset) -> Notes {
        Notes {
            description: schema.description(),
            meanings: meanings(schema),
            sentences: sentences(schema, subset),
            default: "",
        }
    }

    /// Returns the notes of a property: its own description, and its default and example.
    pub(crate) fn member(property: &Property, subset: &Subset) -> Notes {
        Notes::as_member(property, property.schema, subset)
    }

    /// Returns the notes of a property with another schema.
    pub(crate) fn as_member(property: &Property, schema: &Schema, subset: &Subset) -> Notes {
        let mut all = Notes::of(schema, subset);
        all.description = property.description();
        match property.default_json() {
            None => {}
            Some(default) if subset.accepts("default") => all.default = default,
            Some(default) if subset.requires_all => {
                all.sentences
                    .push(format!("null means the default, {default}."));
            }
            Some(default) => all.sentences.push(format!("Default: {default}.")),
        }
        if let Some(example) = property.example_json() {
            all.sentences.push(format!("For example: {example}."));
        }
        all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.is_only("") && self.meanings.is_empty()
    }

    /// Returns `true` if there is this description and nothing else, meanings aside.
    pub(crate) fn is_only(&self, description: &str) -> bool {
        self.description == description && self.sentences.is_empty() && self.default.is_empty()
    }

    /// Returns the text of the description.
    pub(crate) fn text(&self) -> String {
        let sentences = self.sentences.join(" ");
        let parts = [self.description, self.meanings, &sentences];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("\n")
    }

    /// Writes `description` and `default`.
    pub(crate) fn write(&self, out: &mut JsonWriter) {
        let text = self.text();
        if !text.is_empty() {
            out.word("description").string(&text);
        }
        if !self.default.is_empty() {
            out.word("default").raw(self.default);
        }
    }
}

fn meanings(schema: &Schema) -> &'static str {
    match schema.kind {
        Kind::Nullable(inner) if schema.notes.is_empty() => meanings(inner),
        _ => schema.notes.as_str(),
    }
}

/// Returns what a schema demands beyond its keywords.
fn sentences(schema: &Schema, subset: &Subset) -> Vec<String> {
    match schema.kind {
        Kind::Nullable(inner) => sentences(inner, subset),
        Kind::Integer(range) => {
            let rest = range.without(|keyword| subset.accepts(keyword));
            let is_any = rest.limits().iter().all(Option::is_none);
            must_be((!is_any).then_some(Kind::Integer(rest)))
        }
        Kind::Number(range) => {
            let rest = range.without(|keyword| subset.accepts(keyword));
            must_be((!rest.is_any()).then_some(Kind::Number(rest)))
        }
        Kind::String(rule) => must_be(string(rule, subset)),
        Kind::Array(rule) => array(rule, subset),
        Kind::Tuple(schemas) if !subset.accepts("prefixItems") => vec![tuple(schemas)],
        Kind::Map(rule) => map(rule, subset),
        Kind::Reference(_) if !subset.has_recursion => vec![RECURSIVE.into()],
        _ => Vec::new(),
    }
}

/// Returns "an integer from 1 to 14".
fn phrase(schema: &Schema) -> String {
    text(|out| expected(out, schema))
}

fn must_be(rest: Option<Kind>) -> Vec<String> {
    let sentence = |kind| format!("Must be {}.", phrase(&Schema::of(kind)));
    rest.map(sentence).into_iter().collect()
}

fn string(rule: StringRule, subset: &Subset) -> Option<Kind> {
    let mut rest = StringRule {
        lengths: unexpressed(rule.lengths, subset, "minLength", "maxLength"),
        ..rule
    };
    if subset.accepts_pattern(rule.pattern.as_str()) {
        rest.pattern = Text::EMPTY;
    }
    if subset.accepts_format(rule.format) {
        rest.format = "";
    }
    (!rest.is_any()).then_some(Kind::String(rest))
}

fn array(rule: ArrayRule, subset: &Subset) -> Vec<String> {
    let lengths = unexpressed(rule.lengths, subset, "minItems", "maxItems");
    let mut sentences =
        must_be((!lengths.is_any()).then_some(Kind::Array(ArrayRule { lengths, ..rule })));
    if rule.is_unique && !subset.accepts("uniqueItems") {
        sentences.push("No item may occur twice.".into());
    }
    sentences
}

fn tuple(schemas: &[&'static Schema]) -> String {
    let items = schemas.iter().map(|schema| phrase(schema));
    let items: Vec<_> = items.collect();
    match &items[..] {
        [] => "Must be an empty array.".into(),
        [only] => format!("Must be an array of exactly 1 item: {only}."),
        items => format!(
            "Must be an array of exactly {} items: first {}.",
            items.len(),
            items.join(", then ")
        ),
    }
}

fn map(rule: MapRule, subset: &Subset) -> Vec<String> {
    let lengths = unexpressed(rule.lengths, subset, "minProperties", "maxProperties");
    let mut sentences =
        must_be((!lengths.is_any()).then_some(Kind::Map(MapRule { lengths, ..rule })));
    let is_expressed = match rule.keys.kind {
        Kind::Enum(keys) => subset.accepts_keys(keys),
        Kind::String(keys) => keys.lengths.is_any(),
        _ => false,
    };
    if !is_expressed {
        sentences.push(format!("Each key must be {}.", phrase(rule.keys)));
    }
    sentences
}

/// Returns the lengths that no keyword expresses.
fn unexpressed(lengths: Lengths, subset: &Subset, minimum: &str, maximum: &str) -> Lengths {
    Lengths {
        minimum: if subset.accepts_length(minimum, lengths.minimum) {
            0
        } else {
            lengths.minimum
        },
        maximum: if subset.accepts_length(maximum, lengths.maximum) {
            usize::MAX
        } else {
            lengths.maximum
        },
    }
}
