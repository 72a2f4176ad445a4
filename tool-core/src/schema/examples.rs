//! Checks literals of the source against a schema while compiling: example calls of a tool, defaults,
//! and examples of single values.
//!
//! A literal must be valid by the schema that models and providers read, so the deliberate exceptions
//! of a call do not apply: an enum value in another case, an alias, or `null` for an absent property is
//! rejected. Patterns, formats and the code of a type cannot be computed in a constant:
//! `testing::check(…).examples()` tries those.
//!
//! The macro parses the literal. Constants only compare it with the schema.

use super::const_check::{
    ANY, ARRAY, BOOLEAN, NULL, NUMBER, OBJECT, STRING, contains, json_type, same,
};
use super::const_string::ConstString;
use super::flat::nth;
use super::numbers::Decimal;
use super::references::find;
use super::validate::{Path, is_key};
use super::{Direction, Kind, Lengths, Property, Schema, Strings};

/// The maximum number of violations that an error lists, and of enum values and keys that a violation
/// lists.
const LISTED: usize = 12;
/// The most bytes of the example that a violation repeats.
const SHOWN: usize = 40;

/// A JSON value in the source.
#[derive(Clone, Copy, Debug)]
pub enum Literal {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A number, as it is written and as a float.
    Number(&'static str, f64),
    /// A string and its number of characters.
    String(&'static str, usize),
    /// An array and its JSON text.
    Array(&'static str, &'static [Literal]),
    /// An object without duplicate keys, and its JSON text.
    Object(&'static str, &'static [(&'static str, Literal)]),
}

/// The violations, one a line.
type Lines = ConstString<2048>;

/// Checks that the default or the example of a parameter or a field matches its schema. The macro checks
/// patterns, since it sees both.
///
/// # Panics
///
/// Panics with all violations if it does not match. In a constant that is a compile error.
#[track_caller]
pub const fn fits(schema: &Schema, key: &str, what: &str, literal: &Literal) {
    if Walk::over(*schema, literal, 1).violations == 0 {
        return;
    }
    let mut line: ConstString<2560> = ConstString::new("`");
    line.push(key);
    line.push("`: this ");
    line.push(what);
    Walk::over(*schema, literal, 0).reject(line);
}

/// Checks an example call of a tool.
///
/// # Panics
///
/// Panics with all violations if the schema of the parameters rejects it. In a constant that is a
/// compile error. The types of a generic toolset are known only where it is used:
///
/// ```compile_fail,E0080
/// use tool_core::{Registry, tool, toolset};
///
/// struct Home<T>(T);
///
/// #[toolset]
/// impl<T> Home<T> {
///     /// Sets the light.
///     #[tool(example = r#"{"on": "yes"}"#)]
///     fn light(&self, on: bool) -> bool {
///         on
///     }
/// }
///
/// let _ = Registry::builder().toolset("home", Home(3));
/// ```
#[track_caller]
pub const fn check(tool: &str, parameters: &'static [Property], example: &Literal) {
    let walk = Walk::over(Schema::object(parameters), example, 0);
    if walk.violations == 0 {
        return;
    }
    let mut line: ConstString<2560> = ConstString::new("this example of `");
    line.push(tool);
    line.push("`");
    walk.reject(line);
}

/// Returns the number of violations of arguments, and `true` unless a pattern, a format or a type's own
/// code may still reject them, as far as the schema tells.
pub const fn verdict(parameters: &'static [Property], arguments: &Literal) -> (usize, bool) {
    let walk = Walk::over(Schema::object(parameters), arguments, 1);
    (walk.violations, walk.is_decided)
}

/// The state of the search.
struct Walk {
    /// The whole schema, where references lead.
    root: Schema,
    lines: Lines,
    violations: usize,
    /// The number of attempts at members of unions around the value. Their violations are only
    /// counted.
    attempts: usize,
    is_decided: bool,
}

impl Walk {
    const fn over(root: Schema, literal: &Literal, attempts: usize) -> Walk {
        let mut walk = Walk {
            root,
            lines: ConstString::EMPTY,
            violations: 0,
            attempts,
            is_decided: true,
        };
        walk.value(&root, literal, &Path::ROOT);
        walk
    }

    /// Stops the build with the violations. `line` is the start of the message.
    #[track_caller]
    const fn reject(&self, mut line: ConstString<2560>) -> ! {
        line.push(" does not match the schema:");
        line.push(match self.violations {
            1 => self.lines.as_str().split_at("\n-".len()).1,
            _ => self.lines.as_str(),
        });
        if self.violations > LISTED {
            line.push("\n- and ");
            line.number(self.violations - LISTED);
            line.push(" more");
        }
        panic!("{}", line.as_str());
    }

    /// Counts a violation. Returns `true` if it is to be written.
    const fn report(&mut self, path: &Path<'_>) -> bool {
        self.violations += 1;
        if self.attempts > 0 || self.violations > LISTED {
            return false;
        }
        self.lines.push("\n- ");
        path.push_to(&mut self.lines);
        if !path.is_root() {
            self.lines.push(": ");
        }
        true
    }

    const fn mismatch(&mut self, schema: &Schema, got: &Literal, path: &Path<'_>) {
        if self.report(path) {
            self.lines.push("expected ");
            push_expected(schema, &mut self.lines);
            self.lines.push(", got ");
            push_short(got, &mut self.lines);
        }
    }

    const fn value(&mut self, schema: &Schema, value: &Literal, path: &Path<'_>) {
        self.is_decided &= schema.decode_check.is_none();
        let is_valid = match (&schema.kind, value) {
            (Kind::Any, _)
            | (Kind::Null | Kind::Nullable(_), Literal::Null)
            | (Kind::Boolean, Literal::Boolean(_)) => true,
            (Kind::Nullable(inner), _) => return self.value(inner, value, path),
            (Kind::Integer(range), Literal::Number(json, _)) => {
                let Some(number) = Decimal::parse(json).whole() else {
                    return self.mismatch(schema, value, path);
                };
                // Beyond 128 bits the type decides.
                self.is_decided &= number != i128::MIN && number != i128::MAX;
                let violated = range.violated(number);
                let mut at = 0;
                while at < 2 {
                    if let Some((keyword, limit)) = violated[at]
                        && self.report_limit(value, keyword.relation, "", path)
                    {
                        self.lines.integer(limit);
                    }
                    at += 1;
                }
                true
            }
            (Kind::Number(range), Literal::Number(json, number)) => {
                if *number > range.magnitude || *number < -range.magnitude {
                    self.report_limit(value, "out of", "range", path);
                }
                let violated = range.violated(*number, json);
                let mut at = 0;
                while at < 2 {
                    if let Some((keyword, limit)) = violated[at] {
                        self.report_limit(value, keyword.relation, limit.json, path);
                    }
                    at += 1;
                }
                true
            }
            (Kind::String(rule), Literal::String(_, length)) => {
                self.is_decided &= rule.pattern.is_empty() && rule.format.is_empty();
                rule.lengths.accepts(*length)
            }
            (Kind::Enum(strings), Literal::String(text, _)) => contains(strings.values, text),
            (Kind::Array(rule), Literal::Array(_, items)) => {
                let mut at = 0;
                while at < items.len() {
                    self.value(rule.items, &items[at], &path.index(at));
                    at += 1;
                }
                if rule.is_unique {
                    // Two spellings may be one value of a type.
                    self.is_decided &= is_compared_as_json(rule.items);
                    self.unique(items, path);
                }
                rule.lengths.accepts(items.len())
            }
            (Kind::Tuple(schemas), Literal::Array(_, items)) => {
                let mut at = 0;
                while at < items.len() && at < schemas.len() {
                    self.value(schemas[at], &items[at], &path.index(at));
                    at += 1;
                }
                items.len() == schemas.len()
            }
            (Kind::Map(_) | Kind::Object(_), Literal::Object(_, members)) => {
                self.members(schema, members, path);
                match &schema.kind {
                    Kind::Map(rule) => {
                        self.is_decided &= is_compared_as_json(rule.keys);
                        rule.lengths.accepts(members.len())
                    }
                    _ => true,
                }
            }
            (Kind::AnyOf(schemas), _) => return self.union(schema, schemas, value, path),
            (Kind::Reference(reference), _) => {
                // A constant can't call the function of the reference.
                let root = self.root;
                match find(&root, reference.name, Direction::Arguments) {
                    Some(target) => return self.value(target, value, path),
                    None => self.is_decided = false,
                }
                true
            }
            _ => false,
        };
        if !is_valid {
            self.mismatch(schema, value, path);
        }
    }

    /// Reports a number up to the limit that it violates.
    const fn report_limit(
        &mut self,
        got: &Literal,
        relation: &str,
        limit: &str,
        path: &Path<'_>,
    ) -> bool {
        let is_written = self.report(path);
        if is_written {
            push_short(got, &mut self.lines);
            self.lines.push(" is ");
            self.lines.push(relation);
            self.lines.push(" ");
            self.lines.push(limit);
        }
        is_written
    }

    /// Reports an item that equals an earlier one.
    const fn unique(&mut self, items: &[Literal], path: &Path<'_>) {
        let mut at = 1;
        while at < items.len() {
            let mut earlier = 0;
            while earlier < at {
                if is_equal(&items[earlier], &items[at]) {
                    if self.report(path) {
                        self.lines.push("contains ");
                        push_short(&items[at], &mut self.lines);
                        self.lines.push(" twice; write it once");
                    }
                    return;
                }
                earlier += 1;
            }
            at += 1;
        }
    }

    const fn members(&mut self, schema: &Schema, members: &[(&str, Literal)], path: &Path<'_>) {
        let mut at = 0;
        while at < members.len() {
            let (key, value) = &members[at];
            let path = path.key(key);
            if let Some((schema, _)) = lookup(schema, key) {
                self.value(schema, value, &path);
            } else if self.report(&path) {
                self.lines.push("unknown; ");
                push_keys(schema, &mut self.lines);
            }
            at += 1;
        }
        let mut place = 0;
        while let Some(property) = nth(schema.properties(), place) {
            let name = property.name();
            let is_missing = property.is_required() && member(members, name).is_none();
            if is_missing && self.report(&path.key(name)) {
                self.lines.push("missing; expected ");
                push_expected(property.schema, &mut self.lines);
            }
            place += 1;
        }
    }

    const fn union(
        &mut self,
        schema: &Schema,
        schemas: &[&'static Schema],
        value: &Literal,
        path: &Path<'_>,
    ) {
        let (violations, is_decided) = (self.violations, self.is_decided);
        let mut at = 0;
        while at < schemas.len() {
            self.attempts += 1;
            self.value(schemas[at], value, path);
            self.attempts -= 1;
            if self.violations == violations {
                return;
            }
            (self.violations, self.is_decided) = (violations, is_decided);
            at += 1;
        }
        match closest(schemas, value) {
            Some(member) => self.value(member, value, path),
            None => self.mismatch(schema, value, path),
        }
    }
}

/// Returns the schema of a key as the schema's JSON text shows it, and `true` unless it is the schema of
/// all keys that are not known.
const fn lookup(schema: &Schema, key: &str) -> Option<(&'static Schema, bool)> {
    if let Kind::Map(rule) = schema.kind {
        return match rule.keys.kind {
            Kind::Enum(keys) if contains(keys.values, key) => Some((rule.values, true)),
            Kind::Enum(_) => None,
            _ if is_key(rule.keys, key) => Some((rule.values, false)),
            _ => None,
        };
    }
    let properties = schema.properties();
    let mut others = None;
    let mut at = 0;
    while at < properties.len() {
        let property = &properties[at];
        at += 1;
        let found = match property.schema.kind {
            Kind::Object(_) | Kind::Map(_) if property.is_flat() => lookup(property.schema, key),
            // The definition of a union.
            _ if property.is_flat() => None,
            _ if same(property.name(), key) => Some((property.schema, true)),
            _ => None,
        };
        match found {
            Some((_, true)) => return found,
            Some(_) => others = found,
            None => {}
        }
    }
    others
}

/// Returns the value under a key.
const fn member<'m>(members: &'m [(&str, Literal)], key: &str) -> Option<&'m Literal> {
    let mut at = 0;
    while at < members.len() {
        if same(members[at].0, key) {
            return Some(&members[at].1);
        }
        at += 1;
    }
    None
}

/// Returns the member of a union that a value is most likely meant to match: the one with its tag, or
/// the only one of its JSON type.
const fn closest(schemas: &[&'static Schema], value: &Literal) -> Option<&'static Schema> {
    let value_type = match value {
        Literal::Null => NULL,
        Literal::Boolean(_) => BOOLEAN,
        Literal::Number(..) => NUMBER,
        Literal::String(..) => STRING,
        Literal::Array(..) => ARRAY,
        Literal::Object(..) => OBJECT,
    };
    let (mut only, mut count) = (None, 0);
    let mut at = 0;
    while at < schemas.len() {
        let schema = schemas[at];
        if let (Kind::Object(properties), Literal::Object(_, members)) = (&schema.kind, value)
            && let Some((name, tag)) = tag(properties)
            && let Some(Literal::String(value, _)) = member(members, name.name())
            && contains(tag.values, value)
        {
            return Some(schema);
        }
        let schema_type = json_type(schema);
        if schema_type == value_type || schema_type == ANY {
            only = Some(schema);
            count += 1;
        }
        at += 1;
    }
    if count == 1 { only } else { None }
}

/// Returns the tag of a variant.
const fn tag(properties: &[Property]) -> Option<(&Property, Strings)> {
    let mut place = 0;
    while let Some(property) = nth(properties, place) {
        if let Kind::Enum(strings) = property.schema.kind
            && strings.is_tag
        {
            return Some((property, strings));
        }
        place += 1;
    }
    None
}

/// Returns `true` if values are equal for their type exactly if they are equal as JSON.
const fn is_compared_as_json(schema: &Schema) -> bool {
    schema.decode_check.is_none()
        && match schema.kind {
            Kind::String(rule) => rule.format.is_empty(),
            kind => matches!(kind, Kind::Boolean | Kind::Integer(_) | Kind::Enum(_)),
        }
}

/// Compares two values: numbers by value, objects in any order of their keys.
const fn is_equal(left: &Literal, right: &Literal) -> bool {
    match (left, right) {
        (Literal::Null, Literal::Null) => true,
        (Literal::Boolean(left), Literal::Boolean(right)) => *left == *right,
        (Literal::Number(left, _), Literal::Number(right, _)) => {
            Decimal::parse(left).is_same(&Decimal::parse(right))
        }
        (Literal::String(left, _), Literal::String(right, _)) => same(left, right),
        (Literal::Array(_, left), Literal::Array(_, right)) => {
            let mut at = 0;
            while at < left.len() && at < right.len() && is_equal(&left[at], &right[at]) {
                at += 1;
            }
            at == left.len() && at == right.len()
        }
        (Literal::Object(_, left), Literal::Object(_, right)) => {
            let mut at = 0;
            while at < left.len()
                && let Some(other) = member(right, left[at].0)
                && is_equal(&left[at].1, other)
            {
                at += 1;
            }
            at == left.len() && at == right.len()
        }
        _ => false,
    }
}

// Wording, as `messages` has it for calls.

/// Appends what a schema expects, to follow "expected".
const fn push_expected(schema: &Schema, line: &mut Lines) {
    let (what, lengths, unit) = match schema.kind {
        Kind::Any => ("any JSON value", Lengths::ANY, ""),
        Kind::Null => ("null", Lengths::ANY, ""),
        Kind::Boolean => ("true or false", Lengths::ANY, ""),
        Kind::Integer(_) => ("an integer", Lengths::ANY, ""),
        Kind::Number(_) => ("a number", Lengths::ANY, ""),
        Kind::String(rule) => ("a string", rule.lengths, "character"),
        Kind::Array(rule) => ("an array", rule.lengths, "item"),
        Kind::Tuple(items) => ("an array", Lengths::exactly(items.len()), "item"),
        Kind::Map(rule) => ("an object", rule.lengths, "member"),
        Kind::Object(_) => ("an object", Lengths::ANY, ""),
        Kind::Reference(reference) => (reference.name, Lengths::ANY, ""),
        Kind::Enum(_) | Kind::AnyOf(_) | Kind::Nullable(_) => ("", Lengths::ANY, ""),
    };
    line.push(what);
    match schema.kind {
        Kind::Integer(range) => {
            let least = shown(range.shows_minimum, range.minimum);
            let most = shown(range.shows_maximum, range.maximum);
            push_range(least, most, " from ", line);
        }
        Kind::String(rule) if !rule.format.is_empty() => {
            line.push(" in ");
            line.push(rule.format);
            line.push(" format");
        }
        Kind::Enum(strings) => {
            let mut at = 0;
            while at < strings.values.len() {
                push_item(strings.values[at].json(), at, strings.values.len(), line);
                at += 1;
            }
        }
        Kind::Object(properties) => {
            if let Some((property, tag)) = tag(properties) {
                line.push(" with ");
                push_item(property.name_json(), 0, 1, line);
                line.push(": ");
                push_item(tag.values[0].json(), 0, 1, line);
            }
        }
        Kind::AnyOf(schemas) => {
            let mut at = 0;
            while at < schemas.len() && at < LISTED {
                line.push(if at > 0 { " or " } else { "" });
                push_expected(schemas[at], line);
                at += 1;
            }
        }
        Kind::Nullable(inner) => {
            push_expected(inner, line);
            line.push(" or null");
        }
        _ => {}
    }
    let least = shown(lengths.minimum > 0, lengths.minimum as i128);
    let most = shown(lengths.maximum < usize::MAX, lengths.maximum as i128);
    if let Some(last) = push_range(least, most, " of ", line) {
        line.push(" ");
        line.push(unit);
        line.push(if last == 1 { "" } else { "s" });
    }
}

const fn shown(is_shown: bool, limit: i128) -> Option<i128> {
    if is_shown { Some(limit) } else { None }
}

/// Appends the ends of a range; both of them after `between`. Returns the last number.
const fn push_range(
    least: Option<i128>,
    most: Option<i128>,
    between: &str,
    line: &mut Lines,
) -> Option<i128> {
    let (before, first, end) = match (least, most) {
        (None, None) => return None,
        (Some(least), Some(most)) if least == most => (" of exactly ", None, most),
        (Some(_), Some(most)) => (between, least, most),
        (Some(least), None) => (" of at least ", None, least),
        (None, Some(most)) => (" of at most ", None, most),
    };
    line.push(before);
    if let Some(first) = first {
        line.integer(first);
        line.push(" to ");
    }
    line.integer(end);
    Some(end)
}

/// Appends an item of a list such as `"a", "b" or "c"`, whose length is `count`.
const fn push_item(text: &str, at: usize, count: usize, line: &mut Lines) {
    line.push(match at {
        0 => "",
        LISTED => return line.push(", …"),
        _ if at > LISTED => return,
        _ if at + 1 == count => " or ",
        _ => ", ",
    });
    line.push("\"");
    line.push(text);
    line.push("\"");
}

/// Appends the accepted keys of an object.
const fn push_keys(schema: &Schema, line: &mut Lines) {
    if let Kind::Map(rule) = schema.kind {
        line.push("a key must be ");
        return push_expected(rule.keys, line);
    }
    let mut place = 0;
    while let Some(property) = nth(schema.properties(), place) {
        line.push(if place == 0 { "the keys are " } else { "" });
        push_item(property.name_json(), place, usize::MAX, line);
        place += 1;
    }
    line.push(if place == 0 { "there are no keys" } else { "" });
}

/// Appends the start of a literal as JSON.
const fn push_short(literal: &Literal, line: &mut Lines) {
    let (quote, text) = match literal {
        Literal::Null => ("", "null"),
        Literal::Boolean(true) => ("", "true"),
        Literal::Boolean(false) => ("", "false"),
        Literal::String(text, _) => ("\"", *text),
        Literal::Number(json, _) | Literal::Array(json, _) | Literal::Object(json, _) => {
            ("", *json)
        }
    };
    let start: ConstString<SHOWN> = ConstString::new(text);
    line.push(quote);
    line.push(start.as_str());
    line.push(if text.len() > SHOWN { "…" } else { quote });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_equal_as_json() {
        const ONE: Literal = Literal::Number("1", 1.0);
        const ALSO_ONE: Literal = Literal::Number("1.0", 1.0);
        const TEXT: Literal = Literal::String("1", 1);
        const TEXTS: Literal = Literal::Array("", &[TEXT]);
        const LEFT: Literal = Literal::Object("", &[("a", ONE), ("b", TEXTS)]);
        const RIGHT: Literal = Literal::Object("", &[("b", TEXTS), ("a", ALSO_ONE)]);
        const FEWER: Literal = Literal::Object("", &[("a", ONE)]);
        for (left, right, expected) in [
            (LEFT, RIGHT, true),
            (LEFT, FEWER, false),
            (FEWER, LEFT, false),
            (ONE, TEXT, false),
            (TEXTS, Literal::Array("", &[TEXT, TEXT]), false),
            (Literal::Null, Literal::Null, true),
        ] {
            assert_eq!(is_equal(&left, &right), expected, "{left:?} {right:?}");
        }
    }
}
