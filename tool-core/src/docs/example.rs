//! Arguments that a tool takes, made from its schema.

mod scalars;

use crate::json::Json;
use crate::json::keywords::is_opaque;
use crate::schema::validate::{ValidateError, normalise};
use crate::schema::violation::Violations;
use crate::spec::ToolSpec;

/// How many values are made at most on the way to one.
const STEPS: usize = 2000;

/// How deep they nest. Few arguments go deeper, and an example of one would help nobody.
const DEPTH: usize = 12;

/// The arguments of a call that the tool takes, or why there are none to show.
///
/// What has an example or a default is filled in with that, other members only if they are
/// required. The registry's own validator has the last word: a false example is worse than none.
pub(super) fn arguments(tool: &ToolSpec, schema: &Json) -> Result<Json, String> {
    let make = |fills_optional| {
        let mut maker = Maker {
            root: schema,
            fills_optional,
            steps: STEPS,
        };
        let made = maker.value(schema, "", 0, 0)?;
        match judge(tool, &made.to_string()) {
            Ok(()) => Ok(made),
            Err(violations) => Err(match violations.into_parts().0.first() {
                Some(violation) => format!("{violation}; give it an example that fits"),
                None => "none that was tried fits".to_owned(),
            }),
        }
    };
    make(true).or_else(|why| make(false).map_err(|_| why))
}

/// Judges arguments as a registry does.
fn judge(tool: &ToolSpec, arguments: &str) -> Result<(), Violations> {
    #[cfg(feature = "dynamic")]
    if matches!(tool.parameters().kind(), crate::schema::Kind::Any) {
        return crate::dynamic::judge(tool.parameters_json(), arguments);
    }
    match normalise(&tool.parameters(), arguments, false) {
        Ok(_) => Ok(()),
        Err(ValidateError::Invalid(violations)) => Err(violations),
        Err(ValidateError::NotJson(problem)) => Err(Violations::one(String::new(), &problem)),
    }
}

struct Maker<'s> {
    root: &'s Json,
    fills_optional: bool,
    steps: usize,
}

type Made = Result<Json, String>;

impl<'s> Maker<'s> {
    /// The value of this number at a place: those of one place are unlike, where they can be.
    fn value(&mut self, schema: &'s Json, path: &str, number: usize, depth: usize) -> Made {
        if depth > DEPTH || self.steps == 0 {
            return Err(format!("{} nests too deep", named(path)));
        }
        self.steps -= 1;
        if let Some(told) = told(schema, number) {
            return Ok(told.clone());
        }
        if let Some(reference) = schema.get("$ref").and_then(Json::text) {
            let target = reference
                .strip_prefix('#')
                .and_then(|to| self.root.pointer(to));
            let target = target.ok_or_else(|| needs(path, "refers to another document"))?;
            return self.value(target, path, number, depth + 1);
        }
        if *schema == Json::Boolean(true) {
            return Ok(Json::from("text"));
        }
        if is_opaque(schema, depth > 0) || schema.get("allOf").is_some() {
            return Err(needs(path, "has a schema that is too intricate to follow"));
        }
        if let Some(union) = schema.get("anyOf") {
            let mut why = needs(path, "has no value");
            for at in 0..union.items().len() {
                let member = &union.items()[(at + number) % union.items().len()];
                match self.value(member, path, number, depth + 1) {
                    Ok(made) => return Ok(made),
                    Err(other) => why = other,
                }
            }
            return Err(why);
        }
        let kind = match schema.get("type") {
            Some(Json::Array(kinds)) => kinds.first().and_then(Json::text),
            kind => kind.and_then(Json::text),
        };
        match kind {
            Some("null") => Ok(Json::Null),
            Some("boolean") => Ok(Json::Boolean(number.is_multiple_of(2))),
            Some("integer") => scalars::number(schema, path, number, true),
            Some("number") => scalars::number(schema, path, number, false),
            Some("string") => scalars::string(schema, path, number),
            Some("array") => self.array(schema, path, depth),
            Some("object") => self.object(schema, path, number, depth),
            _ => Ok(Json::from("text")),
        }
    }

    fn array(&mut self, schema: &'s Json, path: &str, depth: usize) -> Made {
        let first = schema.get("prefixItems").map_or(&[][..], Json::items);
        let rest = schema
            .get("items")
            .filter(|rest| **rest != Json::Boolean(false));
        let (least, most) = (length(schema, "minItems"), length(schema, "maxItems"));
        let most = most.unwrap_or(usize::MAX);
        let wanted = least.unwrap_or(1).max(1).max(first.len()).min(most);
        let mut items = Vec::new();
        let mut number = 0;
        while items.len() < wanted && number < 4 * wanted {
            let Some(schema_of_item) = first.get(items.len()).or(rest) else {
                break;
            };
            let item = self.value(schema_of_item, &format!("{path}[]"), number, depth + 1);
            number += 1;
            match item {
                Ok(item) if schema.get("uniqueItems").is_some() && items.contains(&item) => {}
                Ok(item) => items.push(item),
                // A list that may be empty is, where nothing that it holds can be shown.
                Err(_) if least.unwrap_or(0) == 0 && first.is_empty() => break,
                Err(why) => return Err(why),
            }
        }
        match items.len() < least.unwrap_or(0) {
            true => Err(needs(path, "needs more unlike items than could be made")),
            false => Ok(Json::Array(items)),
        }
    }

    fn object(&mut self, schema: &'s Json, path: &str, nth: usize, depth: usize) -> Made {
        let known = schema.get("properties").map_or(&[][..], Json::members);
        let required = schema.get("required").map_or(&[][..], Json::items);
        let least = length(schema, "minProperties");
        let most = length(schema, "maxProperties").unwrap_or(usize::MAX);
        let mut members = Vec::new();
        let mut spare = Vec::new();
        for (key, member) in known {
            let is_required = required.iter().any(|name| name.text() == Some(key));
            let is_filled =
                self.fills_optional && told(member, 0).is_some_and(|v| *v != Json::Null);
            if is_required || is_filled {
                let path = inside(path, key);
                members.push((key.clone(), self.value(member, &path, nth, depth + 1)?));
            } else {
                spare.push((key, member));
            }
        }
        // Of a map with known keys, enough of them.
        for (key, member) in spare {
            if members.len() < least.unwrap_or(0) {
                let path = inside(path, key);
                members.push((key.clone(), self.value(member, &path, nth, depth + 1)?));
            }
        }
        let patterns = schema
            .get("patternProperties")
            .map_or(&[][..], Json::members);
        let others = schema.get("additionalProperties");
        let others = others.filter(|others| **others != Json::Boolean(false));
        let wanted = least.unwrap_or(usize::from(known.is_empty())).min(most);
        for number in 0..wanted.saturating_sub(members.len()).min(STEPS) {
            let (key, member) = match (patterns.first(), others) {
                (Some((pattern, member)), _) => (key_like(pattern, number), member),
                (None, Some(member)) => (Some(format!("key_{}", number + 1)), member),
                // Anything may be there, but need not.
                (None, None) => break,
            };
            let path = format!("{path}.*");
            let key = key.ok_or_else(|| needs(&path, "has keys of a pattern"))?;
            members.push((key, self.value(member, &path, number, depth + 1)?));
        }
        match members.len() < least.unwrap_or(0) {
            true => Err(needs(path, "needs more members than could be made")),
            false => Ok(Json::Object(members)),
        }
    }
}

/// The value that a schema itself names.
fn told(schema: &Json, number: usize) -> Option<&Json> {
    let examples = schema.get("examples").map_or(&[][..], Json::items);
    let listed = schema.get("enum").map_or(&[][..], Json::items);
    let nth = |list: &'_ [Json]| (!list.is_empty()).then(|| number % list.len());
    let first = if number == 0 {
        schema.get("default")
    } else {
        None
    };
    (nth(examples).map(|at| &examples[at]))
        .or(first)
        .or(schema.get("const"))
        .or(nth(listed).map(|at| &listed[at]))
}

/// A key that a pattern of ours finds: digits, or one character.
fn key_like(pattern: &str, number: usize) -> Option<String> {
    if pattern.ends_with("[0-9]*)$") {
        return Some((number + 1).to_string());
    }
    let letter = char::from(b'a' + u8::try_from(number % 26).ok()?);
    (pattern == "^[\\s\\S]$").then(|| letter.to_string())
}

fn length(schema: &Json, name: &str) -> Option<usize> {
    schema.get(name)?.number()?.parse().ok()
}

fn inside(path: &str, key: &str) -> String {
    match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    }
}

fn named(path: &str) -> String {
    match path {
        "" => "what it takes".to_owned(),
        path => format!("`{path}`"),
    }
}

fn needs(path: &str, why: &str) -> String {
    format!("{} {why}; give it an example", named(path))
}
