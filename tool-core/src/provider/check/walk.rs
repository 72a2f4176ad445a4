//! [`Walk`]: one pass over a tree that counts and judges.

use crate::provider::check::case_collisions::has_case_collision;
use crate::provider::check::fault::{self, Fault};
use crate::provider::check::place::{Place, Step};
use crate::provider::openai::rules as openai;
use crate::provider::rules::{Target, Targets};
use crate::schema::const_string::ConstString;
use crate::schema::stats::SchemaStats;
use crate::schema::{Kind, MapRule, NumberRange, Property, Schema, StringRule, Strings};

/// The first broken rule of a tree, and where it is broken.
pub(crate) struct Breach {
    fault: &'static Fault,
    /// From the parameter on.
    path: ConstString<192>,
}

impl Breach {
    /// "parameter `a.b[]`: … (rule …); do …"
    pub(crate) const fn write<const N: usize>(
        &self,
        parameter: &Property,
        line: &mut ConstString<N>,
    ) {
        line.push("parameter `");
        line.push(parameter.name());
        line.push(self.path.as_str());
        line.push("`: ");
        self.fault.write(line);
    }
}

pub(crate) struct Walk {
    targets: Targets,
    pub(crate) stats: SchemaStats,
    pub(crate) breach: Option<Breach>,
}

impl Walk {
    pub(crate) const fn new(targets: Targets) -> Walk {
        Walk {
            targets,
            stats: SchemaStats::NONE,
            breach: None,
        }
    }

    const fn report(&mut self, fault: &'static Fault, place: &Place<'_>) {
        if self.breach.is_none() {
            let mut path = ConstString::EMPTY;
            place.write(&mut path);
            self.breach = Some(Breach { fault, path });
        }
    }

    const fn report_for(&mut self, target: Target, fault: &'static Fault, place: &Place<'_>) {
        if self.targets.has(target) {
            self.report(fault, place);
        }
    }

    /// A member of an object, or the members that stand in its place.
    const fn property(&mut self, property: &Property, place: &Place<'_>) {
        match property.schema.kind {
            Kind::Object(inner) if property.flat => return self.properties(inner, place),
            Kind::Map(rule) if property.flat => return self.map(rule, place),
            _ => {}
        }
        let mut place = place.below(Step::Key(property.name()));
        self.key(property.name(), &place);
        self.stats.keys += 1;
        self.stats.optional += !property.required as usize;
        place.may_end |= !property.required;
        self.schema(property.schema, &place);
    }

    const fn properties(&mut self, properties: &[Property], place: &Place<'_>) {
        let mut at = 0;
        while at < properties.len() && self.breach.is_none() {
            self.property(&properties[at], place);
            at += 1;
        }
    }

    pub(crate) const fn schema(&mut self, schema: &Schema, place: &Place<'_>) {
        if schema.name.is_empty() {
            return self.kind(schema, place);
        }
        let mut place = *place;
        place.may_end = false;
        self.kind(schema, &place);
    }

    const fn kind(&mut self, schema: &Schema, place: &Place<'_>) {
        match schema.kind {
            Kind::Any => {
                self.report_for(Target::OpenAiStrict, &fault::OPENAI_ANY, place);
                self.report_for(Target::AnthropicStrict, &fault::ANTHROPIC_ANY, place);
            }
            Kind::Null | Kind::Boolean | Kind::Integer(_) | Kind::Number(_) | Kind::String(_) => {}
            Kind::Enum(strings) => self.strings(strings, place),
            Kind::Array(rule) => {
                let place = self.level(place);
                self.schema(rule.items, &place.below(Step::Item));
            }
            Kind::Tuple(schemas) => {
                let place = self.level(place);
                let mut is_union = false;
                let mut at = 0;
                while at < schemas.len() && self.breach.is_none() {
                    is_union |= !is_same_scalar(schemas[0], schemas[at]);
                    self.schema(schemas[at], &place.below(Step::Item));
                    at += 1;
                }
                // Where tuples are written as arrays, an item may be any of them.
                self.stats.unions += (is_union && schemas.len() > 1) as usize;
            }
            Kind::Map(rule) => self.map(rule, place),
            Kind::Object(properties) => {
                let place = self.level(place);
                self.properties(properties, &place);
            }
            Kind::AnyOf(schemas) => {
                if schemas.is_empty() {
                    self.report(&fault::EMPTY, place);
                }
                self.stats.unions += 1;
                let mut at = 0;
                while at < schemas.len() && self.breach.is_none() {
                    self.schema(schemas[at], &place.below(Step::Variant(at)));
                    at += 1;
                }
            }
            Kind::Nullable(inner) => {
                self.stats.unions += 1;
                self.schema(inner, place);
            }
            Kind::Reference(reference) => {
                self.stats.characters += reference.name.len();
                self.report_for(Target::AnthropicStrict, &fault::ANTHROPIC_RECURSION, place);
                self.report_for(Target::XAi, &fault::XAI_RECURSION, place);
                if !place.may_end {
                    self.report_for(Target::Gemini, &fault::GEMINI_RECURSION, place);
                }
            }
        }
    }

    /// The place inside of an object or an array.
    const fn level<'p>(&mut self, place: &Place<'p>) -> Place<'p> {
        if place.depth >= openai::MAX_NESTING.value.number() {
            self.report_for(Target::OpenAiStrict, &fault::OPENAI_DEPTH, place);
        }
        let mut inside = *place;
        inside.depth += 1;
        inside
    }

    const fn map(&mut self, rule: MapRule, place: &Place<'_>) {
        let Kind::Enum(keys) = rule.keys.kind else {
            self.report_for(Target::OpenAiStrict, &fault::OPENAI_MAP, place);
            self.report_for(Target::AnthropicStrict, &fault::ANTHROPIC_MAP, place);
            let place = self.level(place);
            return self.schema(rule.values, &place.below(Step::Value));
        };
        self.report_for(Target::OpenAiStrict, &fault::OPENAI_ENUM_MAP, place);
        let place = self.level(place);
        let mut at = 0;
        while at < keys.values.len() && self.breach.is_none() {
            let key = keys.values[at].as_str();
            let mut place = place.below(Step::Key(key));
            if !is_key(key, Grammar::Anthropic) {
                self.report_for(Target::AnthropicStrict, &fault::ANTHROPIC_KEY, &place);
            }
            self.stats.keys += 1;
            self.stats.optional += 1;
            self.stats.characters += count(key);
            place.may_end = true;
            self.schema(rule.values, &place);
            at += 1;
        }
    }

    const fn key(&mut self, key: &str, place: &Place<'_>) {
        if !is_key(key, Grammar::Portable) {
            self.report(&fault::KEY, place);
        }
        // A key that is one has no other characters than bytes.
        self.stats.characters += key.len();
    }

    const fn strings(&mut self, strings: Strings, place: &Place<'_>) {
        let values = strings.values;
        let mut characters = 0;
        let mut at = 0;
        while at < values.len() {
            characters += count(values[at].as_str());
            at += 1;
        }
        self.stats.characters += characters;
        if strings.is_tag {
            return;
        }
        self.stats.values += values.len();
        if values.is_empty() {
            self.report(&fault::EMPTY, place);
        }
        if has_case_collision(strings) {
            self.report(&fault::CASE_COLLISION, place);
        }
        if values.len() > openai::LARGE_ENUM && characters > openai::MAX_ENUM_STRINGS.value.number()
        {
            self.report_for(Target::OpenAiStrict, &fault::OPENAI_ENUM, place);
        }
    }
}

/// Whether two schemas are one scalar, written alike.
const fn is_same_scalar(left: &Schema, right: &Schema) -> bool {
    let is_told = !left.description.is_empty()
        || !right.description.is_empty()
        || !left.notes.is_empty()
        || !right.notes.is_empty();
    if is_told {
        return false;
    }
    match (&left.kind, &right.kind) {
        (Kind::Boolean, Kind::Boolean) => true,
        (Kind::Integer(left), Kind::Integer(right)) => {
            left.minimum == right.minimum
                && left.maximum == right.maximum
                && left.multiple_of == right.multiple_of
        }
        (Kind::Number(left), Kind::Number(right)) => is_free(left) && is_free(right),
        (Kind::String(left), Kind::String(right)) => is_any(left) && is_any(right),
        _ => false,
    }
}

const fn is_free(range: &NumberRange) -> bool {
    range.minimum.is_none() && range.maximum.is_none() && range.multiple_of.is_none()
}

const fn is_any(rule: &StringRule) -> bool {
    rule.lengths.is_any() && rule.pattern.is_empty() && rule.format.is_empty()
}

#[derive(Clone, Copy)]
enum Grammar {
    Portable,
    Anthropic,
}

/// Whether a key has the characters of a grammar alone, from 1 to 64 of them.
const fn is_key(key: &str, grammar: Grammar) -> bool {
    let bytes = key.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let is_fine = match (bytes[at], grammar) {
            (b'a'..=b'z' | b'A'..=b'Z' | b'_', _) => true,
            (b'0'..=b'9', Grammar::Portable) => at > 0,
            (b'0'..=b'9' | b'.' | b'-', Grammar::Anthropic) => true,
            _ => false,
        };
        if !is_fine {
            return false;
        }
        at += 1;
    }
    !bytes.is_empty() && bytes.len() <= 64
}

/// How many characters a text has.
const fn count(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut count, mut at) = (0, 0);
    while at < bytes.len() {
        // A byte that begins a character.
        count += (bytes[at] & 0xC0 != 0x80) as usize;
        at += 1;
    }
    count
}
