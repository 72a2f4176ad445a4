//! [`Notes`]: what is told of a schema in words.

use crate::provider::reshape::JsonWriter;
use crate::provider::reshape::style::Style;
use crate::schema::messages::{expected, text};
use crate::schema::{
    ArrayRule, Bound, IntegerRange, Kind, Lengths, MapRule, NumberRange, Property, Schema,
    StringRule, Text,
};

/// The description of a schema, and what its keywords can't say.
#[derive(Default)]
pub(crate) struct Notes {
    description: &'static str,
    /// The meaning of each value of an enum.
    meanings: &'static str,
    words: Vec<String>,
    /// A default that a keyword says.
    default: &'static str,
}

impl Notes {
    /// Of a schema by itself.
    pub(crate) fn of(schema: &Schema, style: &Style) -> Notes {
        Notes {
            description: schema.description(),
            meanings: meanings(schema),
            words: words(schema, style),
            default: "",
        }
    }

    /// Of a schema as a member of an object.
    pub(crate) fn member(property: &Property, style: &Style) -> Notes {
        let mut all = Notes::of(property.schema, style);
        all.description = property.description();
        match property.default {
            "" => {}
            default if style.takes("default") => all.default = default,
            default if style.requires_all => {
                all.words
                    .push(format!("null means the default, {default}."));
            }
            default => all.words.push(format!("Default: {default}.")),
        }
        if !property.example.is_empty() {
            all.words
                .push(format!("For example: {}.", property.example));
        }
        all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.say("") && self.meanings.is_empty()
    }

    /// Whether they say this and nothing else.
    pub(crate) fn say(&self, description: &str) -> bool {
        self.description == description && self.words.is_empty() && self.default.is_empty()
    }

    /// Writes them as members of the schema.
    pub(crate) fn write(&self, out: &mut JsonWriter) {
        let words = self.words.join(" ");
        let parts = [self.description, self.meanings, &words];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        if !parts.is_empty() {
            out.word("description").string(&parts.join("\n"));
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

/// What a schema demands beyond what its keywords say.
fn words(schema: &Schema, style: &Style) -> Vec<String> {
    match schema.kind {
        Kind::Nullable(inner) => words(inner, style),
        Kind::Integer(range) => must_be(integer(range, style)),
        Kind::Number(range) => must_be(number(range, style)),
        Kind::String(rule) => must_be(string(rule, style)),
        Kind::Array(rule) => array(rule, style),
        Kind::Tuple(schemas) if !style.takes("prefixItems") => vec![tuple(schemas)],
        Kind::Map(rule) => map(rule, style),
        _ => Vec::new(),
    }
}

fn in_words(schema: &Schema) -> String {
    text(|words| expected(words, schema))
}

fn must_be(rest: Option<Kind>) -> Vec<String> {
    let sentence = |kind| format!("Must be {}.", in_words(&Schema::of(kind)));
    rest.map(sentence).into_iter().collect()
}

fn integer(range: IntegerRange, style: &Style) -> Option<Kind> {
    let rest = IntegerRange {
        shows_minimum: range.shows_minimum && !style.takes("minimum"),
        shows_maximum: range.shows_maximum && !style.takes("maximum"),
        multiple_of: match style.takes("multipleOf") {
            true => 0,
            false => range.multiple_of,
        },
        ..range
    };
    let is_any = !rest.shows_minimum && !rest.shows_maximum && rest.multiple_of == 0;
    (!is_any).then_some(Kind::Integer(rest))
}

fn number(range: NumberRange, style: &Style) -> Option<Kind> {
    let untaken = |bound: Option<Bound>, inclusive, exclusive| {
        bound.filter(|bound| match bound.is_exclusive {
            true => !style.takes(exclusive),
            false => !style.takes(inclusive),
        })
    };
    let rest = NumberRange {
        minimum: untaken(range.minimum, "minimum", "exclusiveMinimum"),
        maximum: untaken(range.maximum, "maximum", "exclusiveMaximum"),
        multiple_of: untaken(range.multiple_of, "multipleOf", "multipleOf"),
        ..range
    };
    let ends = [rest.minimum, rest.maximum, rest.multiple_of];
    let is_any = ends.iter().all(Option::is_none);
    (!is_any).then_some(Kind::Number(rest))
}

fn string(rule: StringRule, style: &Style) -> Option<Kind> {
    let mut rest = StringRule {
        lengths: untaken(rule.lengths, style, "minLength", "maxLength"),
        ..rule
    };
    if style.takes_pattern(rule.pattern.as_str()) {
        rest.pattern = Text::EMPTY;
    }
    if style.takes_format(rule.format) {
        rest.format = "";
    }
    let is_any = rest.lengths.is_any() && rest.pattern.is_empty() && rest.format.is_empty();
    (!is_any).then_some(Kind::String(rest))
}

fn array(rule: ArrayRule, style: &Style) -> Vec<String> {
    let lengths = untaken(rule.lengths, style, "minItems", "maxItems");
    let mut words =
        must_be((!lengths.is_any()).then_some(Kind::Array(ArrayRule { lengths, ..rule })));
    if rule.is_unique && !style.takes("uniqueItems") {
        words.push("No item may occur twice.".into());
    }
    words
}

fn tuple(schemas: &[&'static Schema]) -> String {
    let items = schemas.iter().map(|schema| in_words(schema));
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

fn map(rule: MapRule, style: &Style) -> Vec<String> {
    let lengths = untaken(rule.lengths, style, "minProperties", "maxProperties");
    let mut words = must_be((!lengths.is_any()).then_some(Kind::Map(MapRule { lengths, ..rule })));
    let is_told = match rule.keys.kind {
        Kind::Enum(keys) => style.takes_keys(keys),
        Kind::String(keys) => keys.lengths.is_any(),
        _ => false,
    };
    if !is_told {
        words.push(format!("Each key must be {}.", in_words(rule.keys)));
    }
    words
}

/// The lengths that no keyword says.
fn untaken(lengths: Lengths, style: &Style, minimum: &str, maximum: &str) -> Lengths {
    Lengths {
        minimum: match style.takes_length(minimum, lengths.minimum) {
            true => 0,
            false => lengths.minimum,
        },
        maximum: match style.takes_length(maximum, lengths.maximum) {
            true => usize::MAX,
            false => lengths.maximum,
        },
    }
}
