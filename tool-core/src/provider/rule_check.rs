//! Checks tools against provider rules: at compile time against the targets of the build, at run
//! time for the strict dialects.
//!
//! A construct that a dialect can rewrite is not an error. The errors are the constructs that no dialect
//! can express: a map with arbitrary keys, a recursive type, a tree that is too deep.

use std::marker::PhantomData;

use crate::provider::portable::{self, Grammar, Problem, has_case_collision, is_name};
use crate::provider::profile::{Construct, Count, LARGE_ENUM};
use crate::provider::rule::{Rule, Value};
use crate::provider::target::{Target, Targets};
use crate::schema::const_string::{ConstString, count_characters};
use crate::schema::constrain::inner;
use crate::schema::stats::{IS_LIMITED, SchemaStats};
use crate::schema::{Kind, MapRule, Property, Schema, Strings};
use crate::types::ToolType;

/// The check of a type, which the compiler evaluates once for all parameters of that type.
pub(crate) struct TypeCheck<T: ?Sized>(PhantomData<T>);

impl<T: ToolType + ?Sized> TypeCheck<T> {
    const CHECKED: &'static CheckedSchema = &check_enabled(inner(T::SCHEMA));

    /// `true` if there is nothing to report, and nothing to count.
    pub(crate) const IS_FINE: bool =
        Self::CHECKED.broken.is_none() && (!IS_LIMITED || contains_nothing(inner(T::SCHEMA)));

    /// Returns the parameter. Stops the build if it breaks a rule that is on.
    #[track_caller]
    pub(crate) const fn parameter(tool: &str, mut property: Property) -> Property {
        if let Some(broken) = &Self::CHECKED.broken {
            reject(tool, &property, broken);
        }
        // Counting again for the tool as a whole would add half of the cost of a tool.
        property.stats = [Some(&Self::CHECKED.stats); IS_LIMITED as usize];
        property
    }
}

/// Returns a parameter whose schema is written by hand. Stops the build if it breaks a rule that is
/// on.
#[track_caller]
pub(crate) const fn parameter(tool: &str, property: Property) -> Property {
    if let Some(broken) = &check_enabled(property.schema).broken {
        reject(tool, &property, broken);
    }
    property
}

/// Stops the build when the parameters of a tool together exceed a limit that is on.
///
/// # Panics
///
/// With a message that names the tool, the parameter that contains most, and the rule.
#[track_caller]
pub(crate) const fn tool(name: &str, parameters: &[Property]) {
    if !IS_LIMITED {
        return;
    }
    let mut total = SchemaStats::NONE;
    let mut at = 0;
    while at < parameters.len() {
        let parameter = &parameters[at];
        at += 1;
        total.keys += 1;
        total.characters += parameter.name().len();
        total.required += parameter.is_required() as usize;
        total.optional += !parameter.is_required() as usize;
        if let [Some(inside)] = parameter.stats.as_slice() {
            total = total.and(**inside);
        } else if !contains_nothing(parameter.schema) {
            total = total.and(check_for(parameter.schema, Targets::NONE).stats);
        }
    }
    if is_within_limits(&total) {
        return;
    }
    if let Some(exceeded) = exceeded_limit(&total, parameters, Targets::ENABLED) {
        let mut line: ConstString<1024> = ConstString::new("tool `");
        line.push(name);
        line.push("`: ");
        exceeded.write(&mut line);
        panic!("{}", line.as_str());
    }
}

/// Stops the build if a target rejects tools that programs call.
///
/// # Panics
///
/// With a message that names the tool and the rule.
#[track_caller]
pub(crate) const fn programmatic(tool: &str) {
    let mut at = 0;
    while at < Target::ALL.len() {
        let target = Target::ALL[at];
        at += 1;
        if target.is_enabled()
            && let Some(rule) = target.profile().rule_against(Construct::Programmatic)
        {
            let mut line: ConstString<1024> = ConstString::new("tool `");
            line.push(tool);
            line.push("`: ");
            write_rejected(target, Construct::Programmatic, rule, &mut line);
            panic!("{}", line.as_str());
        }
    }
}

impl Target {
    /// Checks whether the provider accepts the arguments of a tool, or an answer, with this schema. Parts that its dialect
    /// rewrites are accepted.
    ///
    /// # Errors
    ///
    /// Returns an error that says what to write instead.
    pub fn check(self, schema: &Schema) -> Result<(), String> {
        check(schema, self).map(drop)
    }
}

/// Counts what the schema of a tool's arguments contains. Returns an error text if the target
/// rejects it.
pub(crate) fn check(schema: &Schema, target: Target) -> Result<SchemaStats, String> {
    let Kind::Object(properties) = schema.kind else {
        return Err("the arguments of a tool must be an object".into());
    };
    let mut line: ConstString<1024> = ConstString::EMPTY;
    let mut total = SchemaStats::NONE;
    for property in properties {
        let checked = check_for(property.schema, Targets::only(target));
        if let Some(broken) = checked.broken {
            broken.write(property, &mut line);
            return Err(line.as_str().to_owned());
        }
        total = total.and(checked.stats.of(property));
    }
    match exceeded_limit(&total, properties, Targets::only(target)) {
        Some(exceeded) => {
            exceeded.write(&mut line);
            Err(line.as_str().to_owned())
        }
        None => Ok(total),
    }
}

/// Stops the build with a message that names the tool, the path in its parameter, the rule and the
/// remedy.
#[track_caller]
const fn reject(tool: &str, parameter: &Property, broken: &Broken) -> ! {
    let mut line: ConstString<1024> = ConstString::new("tool `");
    line.push(tool);
    line.push("`, ");
    broken.write(parameter, &mut line);
    panic!("{}", line.as_str());
}

/// The result of checking the schema of a parameter.
struct CheckedSchema {
    stats: SchemaStats,
    broken: Option<Broken>,
}

const fn check_enabled(schema: &Schema) -> CheckedSchema {
    check_for(schema, Targets::ENABLED)
}

const fn check_for(schema: &Schema, targets: Targets) -> CheckedSchema {
    let mut checker = Checker {
        targets,
        checked: CheckedSchema {
            stats: SchemaStats::NONE,
            broken: None,
        },
    };
    checker.schema(schema, &Path::ROOT);
    checker.checked
}

/// The first broken rule of a schema.
struct Broken {
    cause: Cause,
    /// The path to it from the parameter on.
    path: ConstString<192>,
}

#[derive(Clone, Copy)]
enum Cause {
    Portable(&'static Problem),
    Rejected(Target, Construct, &'static Rule),
}

impl Broken {
    /// Writes "parameter `a.b[]`: … (rule …); do …".
    const fn write<const N: usize>(&self, parameter: &Property, line: &mut ConstString<N>) {
        line.push("parameter `");
        line.push(parameter.name());
        line.push(self.path.as_str());
        line.push("`: ");
        match self.cause {
            Cause::Portable(problem) => {
                line.push(problem.text);
                write_remedy(problem.rule, problem.remedy, None, line);
            }
            Cause::Rejected(target, construct, rule) => {
                write_rejected(target, construct, rule, line);
            }
        }
    }
}

/// Writes "Anthropic's strict mode does not accept … (rule …); do …".
const fn write_rejected<const N: usize>(
    target: Target,
    construct: Construct,
    rule: &Rule,
    line: &mut ConstString<N>,
) {
    line.push(target.profile().name);
    if rule.is_strict() {
        line.push("'s strict mode");
    }
    line.push(" does not accept ");
    if let Value::Number(limit) = rule.value {
        line.push("more than ");
        line.number(limit);
        line.push(" ");
    }
    let (what, remedy) = construct.texts();
    line.push(what);
    write_remedy(rule, remedy, Some(target), line);
}

/// Writes " (rule …); do …".
const fn write_remedy<const N: usize>(
    rule: &Rule,
    remedy: &str,
    target: Option<Target>,
    line: &mut ConstString<N>,
) {
    line.push(" (rule ");
    line.push(rule.id);
    line.push("); ");
    line.push(remedy);
    if let Some(target) = target {
        line.push(", or turn off the feature `");
        line.push(target.feature());
        line.push("`");
    }
}

/// One pass over a schema that counts, and stops at the first broken rule.
struct Checker {
    targets: Targets,
    checked: CheckedSchema,
}

impl Checker {
    const fn report(&mut self, cause: Cause, at: &Path<'_>) {
        if self.checked.broken.is_none() {
            let mut path = ConstString::EMPTY;
            at.write(&mut path);
            self.checked.broken = Some(Broken { cause, path });
        }
    }

    /// Reports a construct of this size if a target rejects it.
    const fn construct(&mut self, construct: Construct, size: usize, path: &Path<'_>) {
        if self.targets.is_empty() {
            return;
        }
        let mut at = 0;
        while at < Target::ALL.len() {
            let target = Target::ALL[at];
            if self.targets.has(target)
                && let Some(rule) = target.profile().rule_against(construct)
            {
                let is_rejected = match rule.value {
                    Value::Number(limit) => size > limit,
                    _ => true,
                };
                if is_rejected {
                    self.report(Cause::Rejected(target, construct, rule), path);
                }
            }
            at += 1;
        }
    }

    /// Checks a property of an object, or the properties that are flattened into its place.
    const fn property(&mut self, property: &Property, path: &Path<'_>) {
        match property.schema.kind {
            Kind::Object(inner) if property.is_flat() => return self.properties(inner, path),
            Kind::Map(rule) if property.is_flat() => return self.map(rule, path),
            // The definition of a union, whose members are elsewhere.
            _ if property.is_flat() => return,
            _ => {}
        }
        let key = property.name();
        let mut path = path.below(Segment::Key(key));
        if !is_name(key, Grammar::Key) {
            self.report(Cause::Portable(&portable::KEY), &path);
        }
        self.checked.stats.keys += 1;
        // The grammar allows ASCII only, so that bytes are characters.
        self.checked.stats.characters += key.len();
        self.checked.stats.optional += !property.is_required() as usize;
        path.is_optional |= !property.is_required();
        self.schema(property.schema, &path);
    }

    const fn properties(&mut self, properties: &[Property], path: &Path<'_>) {
        let mut at = 0;
        while at < properties.len() && self.checked.broken.is_none() {
            self.property(&properties[at], path);
            at += 1;
        }
    }

    const fn schema(&mut self, schema: &Schema, path: &Path<'_>) {
        if schema.name.is_empty() {
            return self.kind(schema, path);
        }
        let mut path = *path;
        path.is_optional = false;
        self.kind(schema, &path);
    }

    const fn kind(&mut self, schema: &Schema, path: &Path<'_>) {
        match schema.kind {
            Kind::Any => self.construct(Construct::Untyped, 0, path),
            Kind::Null | Kind::Boolean | Kind::Integer(_) | Kind::Number(_) | Kind::String(_) => {}
            Kind::Enum(strings) => self.strings(strings, path),
            Kind::Array(rule) => {
                let path = self.nested(path);
                self.schema(rule.items, &path.below(Segment::Item));
            }
            Kind::Tuple(schemas) => {
                let path = self.nested(path);
                let mut is_union = false;
                let mut at = 0;
                while at < schemas.len() && self.checked.broken.is_none() {
                    is_union |= !is_same_scalar(schemas[0], schemas[at]);
                    self.schema(schemas[at], &path.below(Segment::Item));
                    at += 1;
                }
                // Strict modes have no tuples: each item is a union of all item types.
                self.checked.stats.unions += (is_union && schemas.len() > 1) as usize;
            }
            Kind::Map(rule) => self.map(rule, path),
            Kind::Object(properties) => {
                let path = self.nested(path);
                self.properties(properties, &path);
            }
            Kind::AnyOf(schemas) => {
                if schemas.is_empty() {
                    self.report(Cause::Portable(&portable::EMPTY), path);
                }
                self.checked.stats.unions += 1;
                let mut at = 0;
                while at < schemas.len() && self.checked.broken.is_none() {
                    self.schema(schemas[at], &path.below(Segment::Variant(at)));
                    at += 1;
                }
            }
            Kind::Nullable(inner) => {
                self.checked.stats.unions += 1;
                self.schema(inner, path);
            }
            Kind::Reference(reference) => {
                self.checked.stats.characters += reference.name.len();
                self.construct(Construct::Recursion, 0, path);
                if !path.is_optional {
                    self.construct(Construct::RequiredRecursion, 0, path);
                }
            }
        }
    }

    /// Returns the path inside of an object or an array.
    const fn nested<'p>(&mut self, path: &Path<'p>) -> Path<'p> {
        let mut inside = *path;
        inside.depth += 1;
        if inside.depth > MIN_NESTING_LIMIT {
            self.construct(Construct::Nesting, inside.depth, path);
        }
        inside
    }

    const fn map(&mut self, rule: MapRule, path: &Path<'_>) {
        let Kind::Enum(keys) = rule.keys.kind else {
            self.construct(Construct::FreeMap, 0, path);
            let path = self.nested(path);
            return self.schema(rule.values, &path.below(Segment::Value));
        };
        self.construct(Construct::EnumMap, 0, path);
        let path = self.nested(path);
        let mut at = 0;
        while at < keys.values.len() && self.checked.broken.is_none() {
            let key = keys.values[at].as_str();
            let mut path = path.below(Segment::Key(key));
            if !is_name(key, Grammar::MapKey) {
                self.construct(Construct::UnusualKey, 0, &path);
            }
            self.checked.stats.keys += 1;
            self.checked.stats.optional += 1;
            self.checked.stats.characters += count_characters(key);
            path.is_optional = true;
            self.schema(rule.values, &path);
            at += 1;
        }
    }

    const fn strings(&mut self, strings: Strings, path: &Path<'_>) {
        let values = strings.values;
        let mut characters = 0;
        let mut at = 0;
        while at < values.len() {
            characters += count_characters(values[at].as_str());
            at += 1;
        }
        self.checked.stats.characters += characters;
        if strings.is_tag {
            return;
        }
        self.checked.stats.values += values.len();
        if values.is_empty() {
            self.report(Cause::Portable(&portable::EMPTY), path);
        }
        if has_case_collision(strings) {
            self.report(Cause::Portable(&portable::CASE_COLLISION), path);
        }
        if values.len() > LARGE_ENUM {
            self.construct(Construct::LargeEnum, characters, path);
        }
    }
}

/// The smallest limit of nesting of all targets: no need to look for one below it.
const MIN_NESTING_LIMIT: usize = {
    let mut smallest = usize::MAX;
    let mut at = 0;
    while at < Target::ALL.len() {
        if let Some(rule) = Target::ALL[at].profile().rule_against(Construct::Nesting)
            && rule.value.number() < smallest
        {
            smallest = rule.value.number();
        }
        at += 1;
    }
    smallest
};

/// A node of a schema, by the path that leads to it.
#[derive(Clone, Copy)]
struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    segment: Segment,
    /// The number of objects and arrays around the node.
    depth: usize,
    /// `true` if something on the path is optional, since the last type that a reference may name.
    is_optional: bool,
}

#[derive(Clone, Copy)]
enum Segment {
    Root,
    Key(&'static str),
    Item,
    Value,
    Variant(usize),
}

impl<'p> Path<'p> {
    /// A parameter, which is inside of the object of all arguments.
    const ROOT: Path<'static> = Path {
        parent: None,
        segment: Segment::Root,
        depth: 1,
        is_optional: false,
    };

    const fn below(&'p self, segment: Segment) -> Path<'p> {
        Path {
            parent: Some(self),
            segment,
            ..*self
        }
    }

    /// Writes `.lines[]`.
    const fn write<const N: usize>(&self, line: &mut ConstString<N>) {
        if let Some(parent) = self.parent {
            parent.write(line);
        }
        match self.segment {
            Segment::Root => {}
            Segment::Key(key) => {
                line.push(".");
                line.push(key);
            }
            Segment::Item => line.push("[]"),
            Segment::Value => line.push("{}"),
            Segment::Variant(at) => {
                line.push("(variant ");
                line.number(at + 1);
                line.push(")");
            }
        }
    }
}

/// Returns `true` if two schemas are the same scalar and are written alike.
const fn is_same_scalar(left: &Schema, right: &Schema) -> bool {
    let is_described = !left.description.is_empty()
        || !right.description.is_empty()
        || !left.notes.is_empty()
        || !right.notes.is_empty();
    if is_described {
        return false;
    }
    match (&left.kind, &right.kind) {
        (Kind::Boolean, Kind::Boolean) => true,
        (Kind::Integer(left), Kind::Integer(right)) => left.is_same(right),
        (Kind::Number(left), Kind::Number(right)) => left.is_any() && right.is_any(),
        (Kind::String(left), Kind::String(right)) => left.is_any() && right.is_any(),
        _ => false,
    }
}

/// `true` if a target of this build limits what a tool contains. Otherwise there is nothing to
/// count.
const _: () = {
    let (mut is_any, mut at) = (false, 0);
    while at < Target::ALL.len() {
        let target = Target::ALL[at];
        is_any |= target.is_enabled() && !target.profile().tool_limits.is_empty();
        at += 1;
    }
    assert!(
        is_any == IS_LIMITED,
        "name the feature of each target with limits"
    );
};

/// The strictest limits of the targets of this build: the most of each count, and the fewest required parameters.
const LIMITS: SchemaStats = {
    let mut limits = SchemaStats {
        keys: usize::MAX,
        optional: usize::MAX,
        required: 0,
        values: usize::MAX,
        characters: usize::MAX,
        unions: usize::MAX,
    };
    let mut at = 0;
    while at < Target::ALL.len() {
        let target = Target::ALL[at];
        at += 1;
        if !target.is_enabled() {
            continue;
        }
        let rules = target.profile().tool_limits;
        let mut index = 0;
        while index < rules.len() {
            let (counted, rule) = rules[index];
            let limit = rule.value.number();
            match counted {
                Count::Properties => limits.keys = smaller(limits.keys, limit),
                Count::EnumValues => limits.values = smaller(limits.values, limit),
                Count::Characters => limits.characters = smaller(limits.characters, limit),
                Count::Optional => limits.optional = smaller(limits.optional, limit),
                Count::Unions => limits.unions = smaller(limits.unions, limit),
                Count::Required if limit > limits.required => limits.required = limit,
                Count::Required => {}
                Count::Tools | Count::MinTools | Count::StrictTools => {
                    panic!("this is no limit of one tool")
                }
            }
            index += 1;
        }
    }
    limits
};

const fn smaller(left: usize, right: usize) -> usize {
    if left < right { left } else { right }
}

/// Returns `true` if a tool exceeds no limit of this build: one comparison for each count, however many
/// targets there are.
#[allow(clippy::absurd_extreme_comparisons)] // Without a target, the limits are the extremes.
const fn is_within_limits(total: &SchemaStats) -> bool {
    total.keys <= LIMITS.keys
        && total.optional <= LIMITS.optional
        && total.required >= LIMITS.required
        && total.values <= LIMITS.values
        && total.characters <= LIMITS.characters
        && total.unions <= LIMITS.unions
}

/// Returns `true` if a schema contains nothing that is counted.
const fn contains_nothing(schema: &Schema) -> bool {
    matches!(
        schema.kind,
        Kind::Any
            | Kind::Null
            | Kind::Boolean
            | Kind::Integer(_)
            | Kind::Number(_)
            | Kind::String(_)
    )
}

/// A limit that a tool exceeds.
struct ExceededLimit {
    target: Target,
    counted: Count,
    rule: &'static Rule,
    count: usize,
    /// The name of the parameter that contains most, or `""`.
    largest: &'static str,
}

impl ExceededLimit {
    /// Writes "5210 properties (most in `a`) exceed the limit of 5000 (rule …); do …".
    const fn write<const N: usize>(&self, line: &mut ConstString<N>) {
        let (what, remedy) = self.counted.texts();
        line.number(self.count);
        line.push(" ");
        line.push(what);
        if self.counted.is_minimum() {
            line.push(" are below the minimum of ");
        } else {
            if !self.largest.is_empty() {
                line.push(" (most in `");
                line.push(self.largest);
                line.push("`)");
            }
            line.push(" exceed the limit of ");
        }
        line.number(self.rule.value.number());
        write_remedy(self.rule, remedy, Some(self.target), line);
    }
}

/// Returns the first limit of the targets that the parameters, which contain `total`, exceed.
const fn exceeded_limit(
    total: &SchemaStats,
    parameters: &[Property],
    targets: Targets,
) -> Option<ExceededLimit> {
    let mut at = 0;
    while at < Target::ALL.len() {
        let target = Target::ALL[at];
        at += 1;
        if !targets.has(target) {
            continue;
        }
        let limits = target.profile().tool_limits;
        let mut index = 0;
        while index < limits.len() {
            let (counted, rule) = limits[index];
            let count = counted.of(total);
            if counted.is_exceeded(count, rule.value.number()) {
                return Some(ExceededLimit {
                    target,
                    counted,
                    rule,
                    count,
                    largest: largest(parameters, counted),
                });
            }
            index += 1;
        }
    }
    None
}

/// Returns what a parameter contains.
const fn stats(parameter: &Property) -> SchemaStats {
    match parameter.stats.as_slice() {
        [Some(stats)] => stats.of(parameter),
        _ => check_for(parameter.schema, Targets::NONE)
            .stats
            .of(parameter),
    }
}

/// Returns the name of the parameter with the greatest count, or `""` if all are zero.
const fn largest(parameters: &[Property], count: Count) -> &'static str {
    let (mut name, mut greatest) = ("", 0);
    let mut at = 0;
    while at < parameters.len() {
        let of_this = count.of(&stats(&parameters[at]));
        if of_this > greatest {
            greatest = of_this;
            name = parameters[at].name();
        }
        at += 1;
    }
    name
}

#[cfg(test)]
mod tests;
