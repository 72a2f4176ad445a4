//! Checks example calls against a tool's schema while compiling.
//!
//! An example must be valid by the schema that models and providers read, so the deliberate exceptions
//! of a call do not apply: an enum value in another case, an alias, or `null` for an absent property is
//! rejected. What a type's own code decides cannot be computed in a constant; then
//! [`Verdict::is_decided`] is `false`.
//!
//! The text is in the form that the macro writes: JSON without white space, without duplicate keys, and
//! with the escapes of `Text::json`, so that texts are compared byte by byte.

use super::check::same;
use super::const_string::ConstString;
use super::flatten::nth;
use super::references::find;
use super::{
    ArrayRule, Direction, IntegerRange, Kind, Lengths, MapRule, NumberRange, Property, Schema,
    StringRule, Strings, Text,
};

/// The most violations that an error lists.
const LISTED: usize = 12;
/// The most enum values and keys that a violation lists.
const NAMED: usize = 12;
/// The most bytes of the example that a violation repeats.
const SHOWN: usize = 40;

/// Checks an example call of a tool.
///
/// # Panics
///
/// Panics with all violations if the schema of the parameters rejects it. In a constant that is a
/// compile error.
pub const fn check(tool: &str, parameters: &'static [Property], json: &str) {
    let walk = walk(parameters, json);
    if walk.violations == 0 {
        return;
    }
    let mut line: ConstString<2560> = ConstString::new("this example of `");
    line.push(tool);
    line.push("` does not match its schema:");
    line.push(walk.lines.as_str());
    if walk.violations > LISTED {
        line.push("\n- and ");
        line.number(walk.violations - LISTED);
        line.push(" more");
    }
    panic!("{}", line.as_str());
}

/// Returns the examples. Panics like [`check`] if one is rejected: the types of a generic toolset are
/// known only where it is used.
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
pub const fn checked<T>(
    tool: &str,
    parameters: &'static [Property],
    texts: &[&str],
    examples: T,
) -> T {
    let mut at = 0;
    while at < texts.len() {
        check(tool, parameters, texts[at]);
        at += 1;
    }
    examples
}

/// The result of [`verdict`].
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// The number of violations.
    pub violations: usize,
    /// `true` unless a pattern, a format or a type's own code may still reject the arguments, as far as
    /// the schema tells.
    pub is_decided: bool,
}

/// Checks arguments in the form that the macro writes.
pub const fn verdict(parameters: &'static [Property], json: &str) -> Verdict {
    let walk = walk(parameters, json);
    Verdict {
        violations: walk.violations,
        is_decided: walk.is_decided,
    }
}

const fn walk<'j>(parameters: &'static [Property], json: &'j str) -> Walk<'j> {
    let mut walk = Walk {
        json,
        at: 0,
        parameters,
        lines: ConstString::EMPTY,
        violations: 0,
        attempts: 0,
        is_decided: true,
    };
    walk.object(parameters, &Path::ROOT);
    walk
}

/// A position in an example, and what was found so far.
struct Walk<'j> {
    json: &'j str,
    at: usize,
    parameters: &'static [Property],
    /// The violations, one a line.
    lines: ConstString<2048>,
    violations: usize,
    /// The number of attempts at members of unions around the position. Their violations are only
    /// counted.
    attempts: usize,
    is_decided: bool,
}

impl<'j> Walk<'j> {
    /// Returns the next byte, or 0 at the end.
    const fn byte(&self) -> u8 {
        byte(self.json, self.at)
    }

    /// Skips the value and returns its text.
    const fn skip(&mut self) -> &'j str {
        let start = self.at;
        self.at = end_of(self.json, start);
        slice(self.json, start, self.at)
    }

    /// Skips a comma.
    const fn next(&mut self) {
        if self.byte() == b',' {
            self.at += 1;
        }
    }

    /// Skips a key and its colon, and returns the key.
    const fn key(&mut self) -> &'j str {
        let start = self.at + 1;
        let end = end_of_string(self.json, self.at);
        self.at = end + 1;
        slice(self.json, start, end - 1)
    }

    /// Counts a violation. Returns `true` if it is to be written.
    const fn report(&mut self, path: &Path<'_>) -> bool {
        self.violations += 1;
        if self.attempts > 0 || self.violations > LISTED {
            return false;
        }
        self.lines.push("\n- ");
        path.write(&mut self.lines);
        if path.parent.is_some() {
            self.lines.push(": ");
        }
        true
    }

    const fn mismatch(&mut self, schema: &Schema, path: &Path<'_>) {
        let got = self.skip();
        self.report_mismatch(schema, got, path);
    }

    const fn report_mismatch(&mut self, schema: &Schema, got: &str, path: &Path<'_>) {
        if self.report(path) {
            self.lines.push("expected ");
            write_expected(schema, &mut self.lines);
            self.lines.push(", got ");
            write_short(got, &mut self.lines);
        }
    }

    const fn value(&mut self, schema: &Schema, path: &Path<'_>) {
        if schema.decode_check.is_some() {
            self.is_decided = false;
        }
        match (&schema.kind, self.byte()) {
            (Kind::Any, _)
            | (Kind::Null | Kind::Nullable(_), b'n')
            | (Kind::Boolean, b't' | b'f') => {
                self.skip();
            }
            (Kind::Nullable(inner), _) => self.value(inner, path),
            (Kind::Integer(range), b'-' | b'0'..=b'9') => self.integer(schema, range, path),
            (Kind::Number(range), b'-' | b'0'..=b'9') => self.number(range, path),
            (Kind::String(rule), b'"') => self.string(schema, rule, path),
            (Kind::Enum(strings), b'"') => {
                let text = self.skip();
                if !contains(strings, slice(text, 1, text.len() - 1)) {
                    self.report_mismatch(schema, text, path);
                }
            }
            (Kind::Array(rule), b'[') => self.array(schema, rule, path),
            (Kind::Tuple(items), b'[') => {
                let start = self.at;
                let count = self.items(None, items, path);
                if count != items.len() {
                    let got = slice(self.json, start, self.at);
                    self.report_mismatch(schema, got, path);
                }
            }
            (Kind::Map(rule), b'{') => self.map(schema, rule, path),
            (Kind::Object(properties), b'{') => self.object(properties, path),
            (Kind::AnyOf(schemas), _) => self.union(schema, schemas, path),
            (Kind::Reference(reference), _) => {
                // A constant can't call the function of the reference.
                let mut at = 0;
                while at < self.parameters.len() {
                    let parameter = self.parameters[at].schema;
                    if let Some(target) = find(parameter, reference.name, Direction::Arguments) {
                        return self.value(target, path);
                    }
                    at += 1;
                }
                self.is_decided = false;
                self.skip();
            }
            _ => self.mismatch(schema, path),
        }
    }

    const fn integer(&mut self, schema: &Schema, range: &IntegerRange, path: &Path<'_>) {
        let text = self.skip();
        let Some(number) = Decimal::parse(text).whole() else {
            return self.report_mismatch(schema, text, path);
        };
        // Beyond 128 bits the type decides.
        self.is_decided &= number != i128::MIN && number != i128::MAX;
        let limit = if number < range.minimum {
            Some((" is below the minimum ", range.minimum))
        } else if number > range.maximum {
            Some((" is above the maximum ", range.maximum))
        } else if range.multiple_of != 0 && number % range.multiple_of != 0 {
            Some((" is not a multiple of ", range.multiple_of))
        } else {
            None
        };
        if let Some((relation, limit)) = limit
            && self.report(path)
        {
            write_short(text, &mut self.lines);
            self.lines.push(relation);
            self.lines.integer(limit);
        }
    }

    const fn number(&mut self, range: &NumberRange, path: &Path<'_>) {
        let text = self.skip();
        let number = Decimal::parse(text);
        let magnitude = if range.magnitude < 1e39 {
            Decimal::F32
        } else {
            Decimal::F64
        };
        if number.absolute().compare(&magnitude) > 0 {
            return self.report_limit(text, " is out of range", "", path);
        }
        if let Some(bound) = range.minimum {
            let order = number.compare(&Decimal::parse(bound.json));
            if bound.is_exclusive && order <= 0 {
                self.report_limit(text, " is not above ", bound.json, path);
            } else if order < 0 {
                self.report_limit(text, " is below the minimum ", bound.json, path);
            }
        }
        if let Some(bound) = range.maximum {
            let order = number.compare(&Decimal::parse(bound.json));
            if bound.is_exclusive && order >= 0 {
                self.report_limit(text, " is not below ", bound.json, path);
            } else if order > 0 {
                self.report_limit(text, " is above the maximum ", bound.json, path);
            }
        }
        if let Some(step) = range.multiple_of {
            match number.is_multiple_of(&Decimal::parse(step.json)) {
                Some(true) => {}
                Some(false) => self.report_limit(text, " is not a multiple of ", step.json, path),
                None => self.is_decided = false,
            }
        }
    }

    const fn report_limit(&mut self, text: &str, relation: &str, limit: &str, path: &Path<'_>) {
        if self.report(path) {
            write_short(text, &mut self.lines);
            self.lines.push(relation);
            self.lines.push(limit);
        }
    }

    const fn string(&mut self, schema: &Schema, rule: &StringRule, path: &Path<'_>) {
        let text = self.skip();
        if !rule.pattern.is_empty() || !rule.format.is_empty() {
            self.is_decided = false;
        }
        if !rule.lengths.is_any() && !rule.lengths.accepts(characters(text) - 2) {
            self.report_mismatch(schema, text, path);
        }
    }

    const fn array(&mut self, schema: &Schema, rule: &ArrayRule, path: &Path<'_>) {
        let start = self.at;
        let count = self.items(Some(rule.items), &[], path);
        let got = slice(self.json, start, self.at);
        if !rule.lengths.accepts(count) {
            self.report_mismatch(schema, got, path);
        }
        if rule.is_unique || rule.is_set {
            // Two spellings may be one value of a type.
            self.is_decided &= !rule.is_unique || is_compared_as_json(rule.items);
            if rule.is_unique
                && let Some(twice) = duplicate(got)
                && self.report(path)
            {
                self.lines.push("contains ");
                write_short(twice, &mut self.lines);
                self.lines.push(" twice; write it once");
            }
        }
    }

    /// Checks the items of an array, all with one schema or each with its own. Returns their number.
    const fn items(
        &mut self,
        all: Option<&'static Schema>,
        each: &[&'static Schema],
        path: &Path<'_>,
    ) -> usize {
        let mut count = 0;
        self.at += 1;
        while self.byte() != b']' {
            self.next();
            let path = path.below(Step::Index(count));
            match all {
                Some(schema) => self.value(schema, &path),
                None if count < each.len() => self.value(each[count], &path),
                None => {
                    self.skip();
                }
            }
            count += 1;
        }
        self.at += 1;
        count
    }

    const fn map(&mut self, schema: &Schema, rule: &MapRule, path: &Path<'_>) {
        let start = self.at;
        let mut count = 0;
        self.is_decided &= is_compared_as_json(rule.keys);
        self.at += 1;
        while self.byte() != b'}' {
            self.next();
            let key = self.key();
            let path = path.below(Step::Key(key));
            if is_key(rule.keys, key) {
                self.value(rule.values, &path);
            } else {
                self.skip();
                if self.report(&path) {
                    self.lines.push("unknown; a key must be ");
                    write_expected(rule.keys, &mut self.lines);
                }
            }
            count += 1;
        }
        self.at += 1;
        if !rule.lengths.accepts(count) {
            let got = slice(self.json, start, self.at);
            self.report_mismatch(schema, got, path);
        }
    }

    const fn object(&mut self, properties: &'static [Property], path: &Path<'_>) {
        let start = self.at;
        self.at += 1;
        while self.byte() != b'}' {
            self.next();
            let key = self.key();
            let path = path.below(Step::Key(key));
            match lookup(properties, key) {
                Found::Known(schema) | Found::Other(schema) => self.value(schema, &path),
                Found::Nothing => {
                    self.skip();
                    if self.report(&path) {
                        self.lines.push("unknown; ");
                        write_keys(properties, &mut self.lines);
                    }
                }
            }
        }
        self.at += 1;
        let mut place = 0;
        while let Some(property) = nth(properties, place) {
            let name = property.name.json();
            if property.required && member(self.json, start, name).is_none() {
                let path = path.below(Step::Key(name));
                if self.report(&path) {
                    self.lines.push("missing; expected ");
                    write_expected(property.schema, &mut self.lines);
                }
            }
            place += 1;
        }
    }

    const fn union(
        &mut self,
        schema: &Schema,
        schemas: &'static [&'static Schema],
        path: &Path<'_>,
    ) {
        let (start, violations, is_decided) = (self.at, self.violations, self.is_decided);
        let mut at = 0;
        while at < schemas.len() {
            self.attempts += 1;
            self.value(schemas[at], path);
            self.attempts -= 1;
            if self.violations == violations {
                return;
            }
            (self.at, self.violations, self.is_decided) = (start, violations, is_decided);
            at += 1;
        }
        match closest(schemas, self.json, start) {
            Some(member) => self.value(member, path),
            None => self.mismatch(schema, path),
        }
    }
}

/// The place of a value in the example.
struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    const ROOT: Path<'static> = Path {
        parent: None,
        step: Step::Key(""),
    };

    const fn below(&'p self, step: Step<'p>) -> Path<'p> {
        Path {
            parent: Some(self),
            step,
        }
    }

    /// Writes the path as in the errors of a call, such as `stops[2].name`.
    const fn write<const N: usize>(&self, line: &mut ConstString<N>) {
        let Some(parent) = self.parent else {
            return;
        };
        parent.write(line);
        match self.step {
            Step::Key(key) => {
                if parent.parent.is_some() {
                    line.push(".");
                }
                line.push(key);
            }
            Step::Index(index) => {
                line.push("[");
                line.number(index);
                line.push("]");
            }
        }
    }
}

/// What an object has for a key.
enum Found {
    Known(&'static Schema),
    /// The schema of all keys that are not known.
    Other(&'static Schema),
    Nothing,
}

/// Finds a key as the schema's JSON text shows it: names, keys of flattened maps, and then all others.
const fn lookup(properties: &'static [Property], key: &str) -> Found {
    let mut others = Found::Nothing;
    let mut at = 0;
    while at < properties.len() {
        let property = &properties[at];
        match property.schema.kind {
            Kind::Object(inner) if property.flat => match lookup(inner, key) {
                Found::Nothing => {}
                Found::Other(schema) => others = Found::Other(schema),
                known @ Found::Known(_) => return known,
            },
            Kind::Map(rule) if property.flat => match rule.keys.kind {
                Kind::Enum(keys) => {
                    if contains(&keys, key) {
                        return Found::Known(rule.values);
                    }
                }
                _ => others = Found::Other(rule.values),
            },
            // The definition of a union.
            _ if property.flat => {}
            _ if same(property.name.json(), key) => return Found::Known(property.schema),
            _ => {}
        }
        at += 1;
    }
    others
}

/// Returns the member of a union that a value is most likely meant to match: the one with its tag, or
/// the only one of its JSON type.
const fn closest(
    schemas: &'static [&'static Schema],
    json: &str,
    start: usize,
) -> Option<&'static Schema> {
    let first = byte(json, start);
    let mut only = None;
    let mut count = 0;
    let mut at = 0;
    while at < schemas.len() {
        if let (Kind::Object(properties), b'{') = (schemas[at].kind, first)
            && has_tag(properties, json, start)
        {
            return Some(schemas[at]);
        }
        if may_be(schemas[at], first) {
            only = Some(schemas[at]);
            count += 1;
        }
        at += 1;
    }
    if count == 1 { only } else { None }
}

/// Returns `true` if the object at `start` has the tag of a variant.
const fn has_tag(properties: &'static [Property], json: &str, start: usize) -> bool {
    let mut place = 0;
    while let Some(property) = nth(properties, place) {
        if let Kind::Enum(strings) = property.schema.kind
            && strings.is_tag
            && let Some(value) = member(json, start, property.name.json())
            && byte(json, value) == b'"'
        {
            let end = end_of(json, value);
            return contains(&strings, slice(json, value + 1, end - 1));
        }
        place += 1;
    }
    false
}

/// Returns `true` if a schema may accept a value that starts with this byte.
const fn may_be(schema: &Schema, first: u8) -> bool {
    match schema.kind {
        Kind::Any | Kind::Reference(_) => true,
        Kind::Null => first == b'n',
        Kind::Boolean => matches!(first, b't' | b'f'),
        Kind::Integer(_) | Kind::Number(_) => matches!(first, b'-' | b'0'..=b'9'),
        Kind::String(_) | Kind::Enum(_) => first == b'"',
        Kind::Array(_) | Kind::Tuple(_) => first == b'[',
        Kind::Map(_) | Kind::Object(_) => first == b'{',
        Kind::Nullable(inner) => first == b'n' || may_be(inner, first),
        Kind::AnyOf(schemas) => {
            let mut at = 0;
            while at < schemas.len() {
                if may_be(schemas[at], first) {
                    return true;
                }
                at += 1;
            }
            false
        }
    }
}

/// Returns `true` if values are equal for their type exactly if they are equal as JSON.
const fn is_compared_as_json(schema: &Schema) -> bool {
    match schema.kind {
        Kind::String(rule) => rule.format.is_empty() && schema.decode_check.is_none(),
        Kind::Boolean | Kind::Integer(_) | Kind::Enum(_) => schema.decode_check.is_none(),
        _ => false,
    }
}

/// Returns `true` if a schema of keys accepts a key.
const fn is_key(keys: &Schema, key: &str) -> bool {
    match keys.kind {
        Kind::Enum(strings) => contains(&strings, key),
        Kind::Integer(range) => {
            if !is_plain_integer(key) {
                return false;
            }
            match Decimal::parse(key).whole() {
                Some(number) => range.minimum <= number && number <= range.maximum,
                None => false,
            }
        }
        Kind::String(rule) => rule.lengths.is_any() || rule.lengths.accepts(characters(key)),
        _ => true,
    }
}

/// Returns `true` if a key is an integer as serde reads it: no plus sign and no leading zeros.
const fn is_plain_integer(key: &str) -> bool {
    let start = if byte(key, 0) == b'-' { 1 } else { 0 };
    if byte(key, start) == b'0' {
        return key.len() == 1;
    }
    let mut at = start;
    while at < key.len() {
        if !byte(key, at).is_ascii_digit() {
            return false;
        }
        at += 1;
    }
    at > start
}

const fn contains(strings: &Strings, text: &str) -> bool {
    let mut at = 0;
    while at < strings.values.len() {
        if same(strings.values[at].json(), text) {
            return true;
        }
        at += 1;
    }
    false
}

// Reading of the text. Brackets and quotes are matched, as the macro has parsed it.

const fn byte(text: &str, at: usize) -> u8 {
    let bytes = text.as_bytes();
    if at < bytes.len() { bytes[at] } else { 0 }
}

const fn slice(text: &str, from: usize, to: usize) -> &str {
    let (head, _) = text.split_at(to);
    let (_, tail) = head.split_at(from);
    tail
}

/// Returns where the value at `at` ends.
const fn end_of(json: &str, mut at: usize) -> usize {
    let mut depth = 0_usize;
    loop {
        match byte(json, at) {
            0 => return json.len(),
            b'"' => at = end_of_string(json, at),
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth -= 1;
                at += 1;
            }
            b',' | b':' => at += 1,
            _ => {
                while !matches!(byte(json, at), 0 | b',' | b'}' | b']') {
                    at += 1;
                }
            }
        }
        if depth == 0 {
            return at;
        }
    }
}

const fn end_of_string(json: &str, mut at: usize) -> usize {
    at += 1;
    while at < json.len() {
        match byte(json, at) {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.len()
}

/// Returns the position of the value under a key of the object at `at`.
const fn member(json: &str, mut at: usize, key: &str) -> Option<usize> {
    at += 1;
    while at < json.len() && byte(json, at) != b'}' {
        if byte(json, at) == b',' {
            at += 1;
        }
        let end = end_of_string(json, at);
        if same(slice(json, at + 1, end - 1), key) {
            return Some(end + 1);
        }
        at = end_of(json, end + 1);
    }
    None
}

/// Counts the characters of a JSON string's text, with its quotes if it has some.
const fn characters(text: &str) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < text.len() {
        match byte(text, at) {
            b'\\' if byte(text, at + 1) == b'u' => at += 6,
            b'\\' => at += 2,
            // The further bytes of a character.
            0x80..=0xbf => {
                at += 1;
                continue;
            }
            _ => at += 1,
        }
        count += 1;
    }
    count
}

/// Returns an item of an array that equals an earlier one.
const fn duplicate(array: &str) -> Option<&str> {
    let mut at = 1;
    while byte(array, at) != b']' {
        if byte(array, at) == b',' {
            at += 1;
        }
        let item = slice(array, at, end_of(array, at));
        let mut earlier = 1;
        while earlier < at {
            if byte(array, earlier) == b',' {
                earlier += 1;
            }
            if earlier >= at {
                break;
            }
            let other = slice(array, earlier, end_of(array, earlier));
            if is_equal(item, other) {
                return Some(item);
            }
            earlier += other.len();
        }
        at += item.len();
    }
    None
}

/// Compares two values: numbers by value, objects in any order of their keys.
const fn is_equal(left: &str, right: &str) -> bool {
    match (byte(left, 0), byte(right, 0)) {
        (b'-' | b'0'..=b'9', b'-' | b'0'..=b'9') => {
            Decimal::parse(left).compare(&Decimal::parse(right)) == 0
        }
        (b'[', b'[') => {
            let (mut at, mut other) = (1, 1);
            while byte(left, at) != b']' && byte(right, other) != b']' {
                let item = slice(left, at, end_of(left, at));
                let other_item = slice(right, other, end_of(right, other));
                if !is_equal(item, other_item) {
                    return false;
                }
                at += item.len();
                other += other_item.len();
                if byte(left, at) == b',' && byte(right, other) == b',' {
                    at += 1;
                    other += 1;
                }
            }
            byte(left, at) == b']' && byte(right, other) == b']'
        }
        (b'{', b'{') => includes(left, right) && includes(right, left),
        _ => same(left, right),
    }
}

/// Returns `true` if `right` has all members of `left`.
const fn includes(left: &str, right: &str) -> bool {
    let mut at = 1;
    while byte(left, at) != b'}' {
        if byte(left, at) == b',' {
            at += 1;
        }
        let key_end = end_of_string(left, at);
        let key = slice(left, at + 1, key_end - 1);
        let end = end_of(left, key_end + 1);
        match member(right, 0, key) {
            Some(value) => {
                let value = slice(right, value, end_of(right, value));
                if !is_equal(slice(left, key_end + 1, end), value) {
                    return false;
                }
            }
            None => return false,
        }
        at = end;
    }
    true
}

/// A number as digits without trailing zeros, times a power of ten.
#[derive(Clone, Copy)]
struct Decimal {
    digits: i128,
    exponent: i64,
    /// Unset if further digits were dropped.
    is_exact: bool,
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_lossless,
    reason = "exponents are compared before, and `From` is not constant"
)]
impl Decimal {
    /// The most digits that are kept. More would not fit into 128 bits.
    const DIGITS: u32 = 37;
    /// The greatest `f32`, without its last digit, which is a zero.
    const F32: Decimal = Decimal::of(34_028_234_663_852_885_981_170_418_348_451_692_544, 1);
    /// The greatest `f64`, as far as its digits matter.
    const F64: Decimal = Decimal::of(17_976_931_348_623_157, 292);

    const fn of(digits: i128, exponent: i64) -> Decimal {
        Decimal {
            digits,
            exponent,
            is_exact: true,
        }
    }

    /// Parses a JSON number.
    const fn parse(text: &str) -> Decimal {
        let mut number = Decimal::of(0, 0);
        let (mut count, mut at, mut is_fraction) = (0, 0, false);
        while at < text.len() {
            match byte(text, at) {
                digit @ b'0'..=b'9' => {
                    let digit = (digit - b'0') as i128;
                    if count < Decimal::DIGITS {
                        number.digits = number.digits * 10 + digit;
                        count += (number.digits > 0) as u32;
                        number.exponent -= is_fraction as i64;
                    } else {
                        number.is_exact &= digit == 0;
                        number.exponent += !is_fraction as i64;
                    }
                }
                b'.' => is_fraction = true,
                b'e' | b'E' => {
                    number.exponent += exponent(text, at + 1);
                    break;
                }
                _ => {}
            }
            at += 1;
        }
        while number.digits != 0 && number.digits % 10 == 0 {
            number.digits /= 10;
            number.exponent += 1;
        }
        if number.digits == 0 {
            number.exponent = 0;
        }
        if byte(text, 0) == b'-' {
            number.digits = -number.digits;
        }
        number
    }

    const fn absolute(mut self) -> Decimal {
        self.digits = self.digits.abs();
        self
    }

    /// Returns the number if it is an integer, limited to 128 bits.
    const fn whole(&self) -> Option<i128> {
        if self.exponent < 0 {
            return None;
        }
        let most = if self.digits < 0 {
            i128::MIN
        } else {
            i128::MAX
        };
        if self.exponent > 40 {
            return Some(most);
        }
        let factor = 10_i128.checked_pow(self.exponent as u32);
        match factor {
            Some(factor) => match self.digits.checked_mul(factor) {
                Some(number) => Some(number),
                None => Some(most),
            },
            None => Some(most),
        }
    }

    /// Returns -1, 0 or 1 for a smaller, an equal or a greater number than `other`.
    const fn compare(&self, other: &Decimal) -> i32 {
        let sign = self.digits.signum() as i32;
        if self.digits == 0 || sign != other.digits.signum() as i32 {
            return order(self.digits.signum(), other.digits.signum());
        }
        let (left, right) = (self.absolute(), other.absolute());
        let magnitudes = order(left.magnitude(), right.magnitude());
        if magnitudes != 0 {
            return sign * magnitudes;
        }
        // Equal magnitudes: scaled to the same exponent, both have at most as many digits.
        let lower = if left.exponent < right.exponent {
            left.exponent
        } else {
            right.exponent
        };
        sign * order(left.scaled(lower), right.scaled(lower))
    }

    /// Returns the exponent of the digit before the first one.
    const fn magnitude(&self) -> i128 {
        (self.digits.ilog10() as i64 + self.exponent) as i128
    }

    const fn scaled(&self, exponent: i64) -> i128 {
        self.digits * 10_i128.pow((self.exponent - exponent) as u32)
    }

    /// Returns `true` for a multiple, or `None` if that takes more than 128 bits to compute.
    const fn is_multiple_of(&self, step: &Decimal) -> Option<bool> {
        let lower = if self.exponent < step.exponent {
            self.exponent
        } else {
            step.exponent
        };
        if !self.is_exact || self.exponent - lower > 40 || step.exponent - lower > 40 {
            return None;
        }
        let factors = (
            10_i128.checked_pow((self.exponent - lower) as u32),
            10_i128.checked_pow((step.exponent - lower) as u32),
        );
        let (Some(factor), Some(step_factor)) = factors else {
            return None;
        };
        let scaled = (
            self.digits.checked_mul(factor),
            step.digits.checked_mul(step_factor),
        );
        match scaled {
            (Some(number), Some(step)) if step != 0 => Some(number % step == 0),
            _ => None,
        }
    }
}

const fn order(left: i128, right: i128) -> i32 {
    if left < right {
        -1
    } else {
        (left > right) as i32
    }
}

/// Parses the exponent of a number, limited to what no range contains.
const fn exponent(text: &str, mut at: usize) -> i64 {
    let is_negative = byte(text, at) == b'-';
    let mut exponent = 0;
    while at < text.len() {
        let digit = byte(text, at);
        if digit.is_ascii_digit() && exponent < 100_000 {
            exponent = exponent * 10 + (digit - b'0') as i64;
        }
        at += 1;
    }
    if is_negative { -exponent } else { exponent }
}

// Wording, like that of `messages` for calls.

/// Writes what a schema expects, to follow "expected".
const fn write_expected<const N: usize>(schema: &Schema, line: &mut ConstString<N>) {
    match schema.kind {
        Kind::Any => line.push("any JSON value"),
        Kind::Null => line.push("null"),
        Kind::Boolean => line.push("true or false"),
        Kind::Integer(range) => {
            line.push("an integer");
            match (range.shows_minimum, range.shows_maximum) {
                (true, true) => {
                    line.push(" from ");
                    line.integer(range.minimum);
                    line.push(" to ");
                    line.integer(range.maximum);
                }
                (true, false) => {
                    line.push(" of at least ");
                    line.integer(range.minimum);
                }
                (false, true) => {
                    line.push(" of at most ");
                    line.integer(range.maximum);
                }
                (false, false) => {}
            }
        }
        Kind::Number(_) => line.push("a number"),
        Kind::String(rule) => {
            line.push("a string");
            if !rule.format.is_empty() {
                line.push(" in ");
                line.push(rule.format);
                line.push(" format");
            }
            write_lengths(rule.lengths, "character", line);
        }
        Kind::Enum(strings) => write_values(strings.values, line),
        Kind::Array(rule) => {
            line.push("an array");
            write_lengths(rule.lengths, "item", line);
        }
        Kind::Tuple(items) => {
            line.push("an array");
            write_lengths(Lengths::exactly(items.len()), "item", line);
        }
        Kind::Map(rule) => {
            line.push("an object");
            write_lengths(rule.lengths, "member", line);
        }
        Kind::Object(properties) => {
            line.push("an object");
            let mut place = 0;
            while let Some(property) = nth(properties, place) {
                if let Kind::Enum(strings) = property.schema.kind
                    && strings.is_tag
                {
                    line.push(" with \"");
                    line.push(property.name.json());
                    line.push("\": \"");
                    line.push(strings.values[0].json());
                    line.push("\"");
                    return;
                }
                place += 1;
            }
        }
        Kind::AnyOf(schemas) => {
            let mut at = 0;
            while at < schemas.len() && at < NAMED {
                if at > 0 {
                    line.push(" or ");
                }
                write_expected(schemas[at], line);
                at += 1;
            }
        }
        Kind::Nullable(inner) => {
            write_expected(inner, line);
            line.push(" or null");
        }
        Kind::Reference(reference) => {
            line.push("a `");
            line.push(reference.name);
            line.push("`");
        }
    }
}

const fn write_lengths<const N: usize>(lengths: Lengths, unit: &str, line: &mut ConstString<N>) {
    if lengths.is_any() {
        return;
    }
    let last = if lengths.minimum == lengths.maximum {
        line.push(" of exactly ");
        lengths.maximum
    } else if lengths.maximum == usize::MAX {
        line.push(" of at least ");
        lengths.minimum
    } else if lengths.minimum == 0 {
        line.push(" of at most ");
        lengths.maximum
    } else {
        line.push(" of ");
        line.number(lengths.minimum);
        line.push(" to ");
        lengths.maximum
    };
    line.number(last);
    line.push(" ");
    line.push(unit);
    if last != 1 {
        line.push("s");
    }
}

const fn write_values<const N: usize>(values: &[Text], line: &mut ConstString<N>) {
    let mut at = 0;
    while at < values.len() {
        if at == NAMED {
            return line.push(", …");
        }
        line.push(match at {
            0 => "\"",
            _ if at + 1 == values.len() => " or \"",
            _ => ", \"",
        });
        line.push(values[at].json());
        line.push("\"");
        at += 1;
    }
}

/// Writes the known keys of an object.
const fn write_keys<const N: usize>(properties: &[Property], line: &mut ConstString<N>) {
    let mut place = 0;
    while let Some(property) = nth(properties, place) {
        if place == NAMED {
            return line.push(", …");
        }
        line.push(if place == 0 { "the keys are " } else { ", " });
        line.push(property.name.json());
        place += 1;
    }
    if place == 0 {
        line.push("there are no keys");
    }
}

/// Writes the start of a JSON text.
const fn write_short<const N: usize>(text: &str, line: &mut ConstString<N>) {
    if text.len() <= SHOWN {
        return line.push(text);
    }
    let mut end = SHOWN;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    line.push(slice(text, 0, end));
    line.push("…");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_in_decimal() {
        for (left, right, expected) in [
            ("0.3", "0.1", 1),
            ("1", "1.0", 0),
            ("-0", "0.000", 0),
            ("-2", "1e-9", -1),
            ("-1e3", "-999.5", -1),
            ("2e1", "20", 0),
            ("1e400", "1.7976931348623157e308", 1),
            ("123456789012345678901234567890123456789012345", "1e44", 1),
            ("0.0000000000000000000000000000000000000000000001", "0", 1),
        ] {
            let (left, right) = (Decimal::parse(left), Decimal::parse(right));
            assert_eq!(left.compare(&right), expected);
            assert_eq!(right.compare(&left), -expected);
        }
    }

    #[test]
    fn integers_are_recognised_in_any_notation() {
        for (text, whole) in [
            ("20", Some(20)),
            ("20.0", Some(20)),
            ("2.5e1", Some(25)),
            ("-200e-1", Some(-20)),
            ("-0", Some(0)),
            ("20.5", None),
            ("1e-9", None),
            ("1e99", Some(i128::MAX)),
            ("-1e99", Some(i128::MIN)),
        ] {
            assert_eq!(Decimal::parse(text).whole(), whole, "{text}");
        }
    }

    #[test]
    fn multiples_are_exact() {
        for (number, step, expected) in [
            ("0.3", "0.1", Some(true)),
            ("0.35", "0.1", Some(false)),
            ("-7.5", "2.5", Some(true)),
            ("0", "7", Some(true)),
            ("1e300", "10", None),
        ] {
            let multiple = Decimal::parse(number).is_multiple_of(&Decimal::parse(step));
            assert_eq!(multiple, expected, "{number} of {step}");
        }
    }

    #[test]
    fn values_are_equal_as_json() {
        for (left, right, expected) in [
            (r#"{"a":1,"b":[2,{}]}"#, r#"{"b":[2.0,{}],"a":1}"#, true),
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#, false),
            ("[1,2]", "[1]", false),
            ("[]", "[]", true),
            (r#""1""#, "1", false),
        ] {
            assert_eq!(is_equal(left, right), expected, "{left} {right}");
        }
        assert_eq!(duplicate(r#"[1,"a",[1],1.0]"#), Some("1.0"));
        assert_eq!(duplicate("[1,2,[],[1]]"), None);
    }

    #[test]
    fn characters_are_counted_as_the_model_reads_them() {
        for (text, count) in [("", 0), ("né", 2), (r"a\nb\u0001c\\", 6), ("🦀", 1)] {
            assert_eq!(characters(text), count, "{text}");
        }
    }
}
