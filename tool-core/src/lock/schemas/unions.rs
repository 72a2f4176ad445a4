//! Values that one of several schemas describes.

use std::slice;

use super::{Effect, Walk, resolve};
use crate::json::Json;
use crate::json::keywords::{is_word, without_words};

impl<'s> Walk<'s> {
    /// Compares two schemas if one of them is nothing but a union; the other may be its one member.
    pub(super) fn are_unions(&mut self, old: &'s Json, new: &'s Json, path: &str) -> bool {
        let (old_union, new_union) = (union(old), union(new));
        if old_union.is_none() && new_union.is_none() {
            match (old.get("anyOf"), new.get("anyOf")) {
                (None, None) => {}
                (Some(old), Some(new)) => self.unions(old.items(), new.items(), path),
                (None, Some(_)) => self.add(path, Effect::Narrower, "must be one of several now"),
                (Some(_), None) => self.add(path, Effect::Wider, "may be more than one of several"),
            }
            return false;
        }
        let before = self.found.len();
        let old = old_union.unwrap_or(slice::from_ref(old));
        let new = new_union.unwrap_or(slice::from_ref(new));
        self.unions(old, new, path);
        if old_union.is_none() || new_union.is_none() {
            // The words of the whole stand beside the union, not inside of its member.
            let news = self.found.split_off(before).into_iter();
            self.found.extend(news.filter(|found| {
                found.path != path || !matches!(found.effect, Effect::Wording | Effect::Meaning)
            }));
        }
        true
    }

    fn unions(&mut self, old: &'s [Json], new: &'s [Json], path: &str) {
        let (old_root, new_root) = (self.old_root, self.new_root);
        let mut gone: Vec<_> = old
            .iter()
            .map(|schema| (label(old_root, schema), schema))
            .collect();
        let mut come: Vec<_> = new
            .iter()
            .map(|schema| (label(new_root, schema), schema))
            .collect();
        let is_one =
            [&gone, &come].map(|all| all.iter().filter(|(name, _)| name != "null").count());
        let is_one = is_one.iter().all(|count| *count <= 1);
        let place = |name: &str| match is_one {
            true => path.to_owned(),
            false => format!("{path}({name})"),
        };
        let alike = |left: &Json, right: &Json| without_words(left) == without_words(right);
        for round in 0..3 {
            gone.retain(|(name, schema)| {
                let twin = come.iter().position(|(other, candidate)| match round {
                    0 => name == other && alike(schema, candidate),
                    1 => name == other,
                    // The same under another tag is told as two.
                    _ => is_one && name != "null" && other != "null",
                });
                let Some(twin) = twin else {
                    return true;
                };
                let (_, candidate) = come.remove(twin);
                self.schema(schema, candidate, &place(name));
                false
            });
        }
        for (name, schema) in gone {
            if !new.iter().any(|candidate| self.fits(schema, candidate)) {
                let message = match &*name {
                    "null" => "may no longer be null".to_owned(),
                    _ => format!("may no longer be {name}"),
                };
                self.add(path, Effect::Narrower, message);
            }
        }
        for (name, schema) in come {
            if !old.iter().any(|candidate| self.fitted(candidate, schema)) {
                self.add(path, Effect::Wider, format!("may be {name} now"));
            }
        }
    }
}

/// The members of a schema that is a union and nothing else.
fn union(schema: &Json) -> Option<&[Json]> {
    let mut members = schema.members().iter();
    let beside = ["anyOf", "$defs", "definitions", "$schema", "$id"];
    let is_alone = members.all(|(key, _)| beside.contains(&&**key) || is_word(key));
    let union = schema.get("anyOf").filter(|_| is_alone)?;
    Some(union.items())
}

/// What tells a member of a union from the others: its tag, its only key, its type.
fn label(root: &Json, schema: &Json) -> String {
    let schema = resolve(root, schema).unwrap_or(schema);
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let members = schema.get("properties").map_or(&[][..], Json::members);
    let tag = members.iter().find_map(|(_, schema)| schema.get("const"));
    if let Some(tag) = tag {
        return tag.text().map_or_else(|| tag.to_string(), str::to_owned);
    }
    if let Some([Json::String(key)]) = schema.get("required").map(Json::items) {
        return key.clone();
    }
    match schema.get("type") {
        Some(Json::String(name)) => name.clone(),
        Some(list) => list.to_string(),
        None => "anything".to_owned(),
    }
}
