//! The flags of a tool: converts its schema to flags, and parsed flags to arguments.

use std::collections::HashSet;
use std::fmt::Write;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use tool_core::ToolSpec;
use tool_core::schema::{Json, Violation};

use crate::failure::Failure;
use crate::input;
use crate::terminal::safe;

/// Nested objects have flags down to this level; deeper values are given as JSON.
const DEEPEST: usize = 4;

/// Maximum number of flags, because a recursive schema has no end.
const MOST: usize = 200;

/// The words without a flag. No flag has such a name.
const BARE: &str = "NAME=VALUE";

/// Flags that exist for every tool.
const TAKEN: [&str; 5] = ["help", "arguments", "arg", "out", "version"];

/// A flag for one value of the arguments.
pub(crate) struct Flag {
    /// The keys that lead to the value, joined by dots: `departure.not_before`.
    pub(crate) path: String,
    /// The name on the command line: `departure.not-before`.
    pub(crate) long: String,
    pub(crate) required: bool,
    pub(crate) kind: Kind,
    pub(crate) is_list: bool,
    /// `true` for an object with flags for its members.
    pub(crate) has_members: bool,
    description: String,
    /// What a value must be, in words.
    constraints: Vec<String>,
    default: Option<String>,
    /// A value in JSON, for a flag without a simple form.
    example: Option<String>,
    /// The possible strings. Empty if other strings are possible too.
    pub(crate) values: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Boolean,
    Number,
    Integer,
    String,
    /// Any other value, written as JSON.
    Json,
}

impl Kind {
    pub(crate) fn placeholder(self) -> &'static str {
        match self {
            Kind::Boolean => "true|false",
            Kind::Number => "NUMBER",
            Kind::Integer => "INTEGER",
            Kind::String => "STRING",
            Kind::Json => "JSON",
        }
    }
}

/// Returns the flags of a tool, in the order of its parameters.
pub(crate) fn of(tool: &ToolSpec) -> Vec<Flag> {
    let mut flags = of_schema(tool.parameters_json());
    let generated = || tool_docs::example(tool).ok();
    let example = tool.examples().next().map(str::to_owned).or_else(generated);
    let example = example.and_then(|json| Json::parse(&json).ok());
    if let Some(example) = example {
        for flag in flags
            .iter_mut()
            .filter(|flag| flag.kind == Kind::Json && !flag.has_members)
        {
            let pointer = format!("/{}", flag.path.replace('.', "/"));
            let value = example.pointer(&pointer);
            let item = value.map(|value| value.items().first().unwrap_or(value));
            flag.example = if flag.is_list { item } else { value }.map(Json::to_string);
        }
    }
    flags
}

/// Returns the flags of a schema. A parameter has no flag if its name can't be a flag's or is taken. Use `--arg` for
/// it.
pub(crate) fn of_schema(schema: &str) -> Vec<Flag> {
    let Ok(schema) = Json::parse(schema) else {
        return Vec::new();
    };
    let mut flags = Vec::new();
    collect(&schema, &schema, "", true, 0, &mut flags);
    let mut taken: HashSet<String> = TAKEN.map(str::to_owned).into();
    flags.retain(|flag| is_name(&flag.long) && taken.insert(flag.long.clone()));
    flags
}

fn is_name(long: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '.';
    long.starts_with(char::is_alphanumeric) && long.chars().all(is_part)
}

fn collect(
    schema: &Json,
    root: &Json,
    prefix: &str,
    required: bool,
    depth: usize,
    flags: &mut Vec<Flag>,
) {
    let names = schema.get_items("required");
    for (key, property) in schema.get_members("properties") {
        if flags.len() >= MOST {
            return;
        }
        let path = format!("{prefix}{key}");
        let required = required && names.iter().any(|name| name.as_str() == Some(key));
        let value = resolved(property, root);
        let is_list = type_of(value) == "array";
        let item = match value.get("items") {
            Some(item) if is_list => resolved(item, root),
            _ => value,
        };
        let values = item.get_items("enum").iter().filter_map(Json::as_str);
        let described = [property, value]
            .into_iter()
            .find_map(|s| s.get_str("description"));
        let has_members = !is_list && !value.get_members("properties").is_empty();
        flags.push(Flag {
            long: path.replace('_', "-"),
            // A key that contains a dot would be read as a path.
            path: path.clone(),
            required: required && !has_members,
            kind: kind(item),
            is_list,
            has_members: has_members && depth < DEEPEST,
            description: described.unwrap_or_default().to_owned(),
            constraints: constraints(value, is_list.then_some(item)),
            default: property.get("default").map(Json::to_string),
            example: None,
            values: values.map(str::to_owned).collect(),
        });
        if has_members && depth < DEEPEST {
            collect(value, root, &format!("{path}."), required, depth + 1, flags);
        }
    }
}

/// Follows a reference. If one of two alternatives is `null`, returns the other.
fn resolved<'s>(schema: &'s Json, root: &'s Json) -> &'s Json {
    let mut schema = schema;
    for _ in 0..8 {
        let alternatives = schema.get_items("anyOf");
        let mut others = alternatives
            .iter()
            .filter(|other| other.get_str("type") != Some("null"));
        schema = if let Some(reference) = schema.get_str("$ref") {
            match root.pointer(reference.trim_start_matches('#')) {
                Some(target) => target,
                None => return schema,
            }
        } else if let (Some(only), None) = (others.next(), others.next()) {
            only
        } else {
            return schema;
        };
    }
    schema
}

/// Returns what a value must be, in words, and what the items of a list must be.
fn constraints(value: &Json, item: Option<&Json>) -> Vec<String> {
    let mut constraints = value.constraints();
    if let Some(item) = item {
        constraints.extend(item.constraints().iter().map(|each| format!("each {each}")));
    }
    constraints
}

/// Returns the type, ignoring `null`. Empty if several types remain.
fn type_of(schema: &Json) -> &str {
    if let Some(one) = schema.get_str("type") {
        return one;
    }
    let types = schema.get_items("type").iter().filter_map(Json::as_str);
    let mut types = types.filter(|name| *name != "null");
    match (types.next(), types.next()) {
        (Some(one), None) => one,
        _ => "",
    }
}

fn kind(schema: &Json) -> Kind {
    match type_of(schema) {
        "boolean" => Kind::Boolean,
        "integer" => Kind::Integer,
        "number" => Kind::Number,
        "string" => Kind::String,
        _ if schema
            .get_items("enum")
            .iter()
            .any(|value| value.as_str().is_some()) =>
        {
            Kind::String
        }
        _ => Kind::Json,
    }
}

/// Returns the command of a tool, with its flags.
pub(crate) fn command(tool: &ToolSpec, flags: &[Flag]) -> Command {
    with_flags(tool, flags, false)
}

/// Returns the command of a tool for completion scripts, which complete possible values as well.
pub(crate) fn completed(tool: &ToolSpec) -> Command {
    with_flags(tool, &of(tool), true)
}

fn with_flags(tool: &ToolSpec, flags: &[Flag], is_completed: bool) -> Command {
    let whole = Arg::new("arguments")
        .long("arguments")
        .value_name("JSON")
        .allow_hyphen_values(true)
        .help_heading("All arguments")
        .help("The arguments as a JSON object, @FILE, or - for standard input");
    let pair = Arg::new("arg")
        .long("arg")
        .value_name("NAME=VALUE")
        .action(ArgAction::Append)
        .help_heading("All arguments")
        .help("One argument, whose value is taken as it is");
    let paths: Vec<_> = flags.iter().map(|flag| flag.path.clone()).collect();
    let mut others = vec![whole.conflicts_with_all(paths).conflicts_with("arg"), pair];
    if !is_completed {
        let bare = Arg::new(BARE)
            .action(ArgAction::Append)
            .num_args(0..)
            .hide(true);
        others.push(bare.conflicts_with("arguments"));
    }
    Command::new(tool.name.to_string())
        .about(safe(&tool.description).into_owned())
        .long_about(safe(&tool.prompt()).into_owned())
        .disable_version_flag(true)
        .args(flags.iter().map(|flag| arg(flag, is_completed)))
        .args(others)
}

fn arg(flag: &Flag, is_completed: bool) -> Arg {
    let mut arg = Arg::new(flag.path.clone())
        .long(flag.long.clone())
        .value_name(flag.kind.placeholder())
        .help(help(flag));
    arg = arg.action(if flag.is_list {
        ArgAction::Append
    } else {
        ArgAction::Set
    });
    arg = match flag.kind {
        Kind::Boolean => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        Kind::Number | Kind::Integer => arg.allow_negative_numbers(true),
        Kind::String | Kind::Json => arg,
    };
    if is_completed && !flag.values.is_empty() {
        arg = arg.value_parser(PossibleValuesParser::new(flag.values.clone()));
    }
    arg
}

/// Returns the help of a flag: its description, its values, and whether it is required.
pub(crate) fn help(flag: &Flag) -> String {
    let mut help = flag.description.clone();
    let mut note = |text: String| {
        let space = if help.is_empty() { "" } else { " " };
        let _ = write!(help, "{space}[{text}]");
    };
    if flag.required {
        note("required".into());
    }
    if flag.is_list {
        note("may be repeated".into());
    }
    if !flag.values.is_empty() {
        note(format!("one of: {}", flag.values.join(", ")));
    }
    if !flag.constraints.is_empty() {
        note(flag.constraints.join("; "));
    }
    if let Some(default) = &flag.default {
        note(format!("default: {default}"));
    }
    if let Some(example) = &flag.example {
        note(format!("such as {example}"));
    }
    safe(&help).into_owned()
}

/// Returns the arguments of a call as JSON.
pub(crate) fn arguments(
    tool: &ToolSpec,
    flags: &[Flag],
    matches: &ArgMatches,
) -> Result<String, Failure> {
    let mut input = input::Input::default();
    if let Some(whole) = matches.get_one::<String>("arguments") {
        return input.read("--arguments", whole);
    }
    let mut pairs = Vec::new();
    for flag in flags {
        for value in matches.get_many::<String>(&flag.path).into_iter().flatten() {
            let value = input.read(&format!("--{}", flag.long), value)?;
            pairs.push((flag.path.clone(), value));
        }
    }
    let bare: Vec<_> = matches
        .get_many::<String>(BARE)
        .into_iter()
        .flatten()
        .collect();
    if let [whole] = &bare[..]
        && whole.trim_start().starts_with('{')
        && pairs.is_empty()
    {
        return Ok((*whole).clone());
    }
    let given = matches.get_many::<String>("arg").into_iter().flatten();
    for given in given.chain(bare) {
        let Some((name, value)) = given.split_once('=') else {
            let message = format!(
                "`{given}`: expected a flag, NAME=VALUE such as city=Lisbon, or one JSON object"
            );
            return Err(Failure::Wrong(message));
        };
        pairs.push((name.to_owned(), value.to_owned()));
    }
    Ok(tool.arguments_from_text(pairs))
}

/// Describes an invalid argument by the name of its flag.
pub(crate) fn violation(flags: &[Flag], violation: &Violation) -> String {
    let path = violation.path();
    let flag = flags
        .iter()
        .filter(|flag| {
            path.strip_prefix(&*flag.path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
        .max_by_key(|flag| flag.path.len());
    let message = violation.message();
    match flag {
        Some(flag) if flag.path.len() == path.len() => format!("--{}: {message}", flag.long),
        Some(flag) => {
            let rest = path[flag.path.len()..].trim_start_matches('.');
            format!("--{} at {rest}: {message}", flag.long)
        }
        None => violation.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_flags_or_taken_have_none() {
        let schema = r#"{"properties": {"a_b": {}, "a-b": {}, "help": {}, "arguments": {}, "": {}, "-x": {}, "a=b": {},
            "c.d": {}, "c": {"properties": {"d": {}}}, "\u001b[2J": {}, "größe": {}}}"#;
        let flags = of_schema(schema);
        let longs: Vec<_> = flags.iter().map(|flag| &*flag.long).collect();
        assert_eq!(longs, ["a-b", "c.d", "c", "größe"]);
        // clap panics if two flags have the same name.
        let args = flags.iter().map(|flag| arg(flag, true));
        Command::new("tool").args(args).debug_assert();
    }
}
