//! Unions (`anyOf`).

use std::slice;

use tool_core::__docs::Drafts;
use tool_core::schema::Json;

use super::{Comparison, Effect, resolve};
use crate::keywords::{is_annotation, without_annotations};

impl<'s> Comparison<'s> {
    /// Compares two schemas if at least one is only a union; the other counts as a union of one.
    /// Returns `false` if neither is.
    pub(super) fn union(&mut self, old: &'s Json, new: &'s Json, path: &str) -> bool {
        let (old_union, new_union) = (union(old, self.drafts), union(new, self.drafts));
        if old_union.is_none() && new_union.is_none() {
            match (old.get("anyOf"), new.get("anyOf")) {
                (None, None) => {}
                (Some(old), Some(new)) => self.unions(old.items(), new.items(), path),
                (None, Some(_)) => {
                    self.add(path, Effect::Narrower, "must now match a schema of `anyOf`");
                }
                (Some(_), None) => self.add(
                    path,
                    Effect::Wider,
                    "no longer has to match a schema of `anyOf`",
                ),
            }
            return false;
        }
        let before = self.differences.len();
        let old = old_union.unwrap_or(slice::from_ref(old));
        let new = new_union.unwrap_or(slice::from_ref(new));
        self.unions(old, new, path);
        if old_union.is_none() || new_union.is_none() {
            // The annotations of the whole are next to `anyOf`, not in its variant.
            let new = self.differences.split_off(before).into_iter();
            self.differences.extend(new.filter(|other| {
                other.path != path || !matches!(other.effect, Effect::Wording | Effect::Meaning)
            }));
        }
        true
    }

    fn unions(&mut self, old: &'s [Json], new: &'s [Json], path: &str) {
        let (old_root, new_root) = (self.old_root, self.new_root);
        let mut removed: Vec<_> = old
            .iter()
            .map(|schema| (label(old_root, schema), schema))
            .collect();
        let mut added: Vec<_> = new
            .iter()
            .map(|schema| (label(new_root, schema), schema))
            .collect();
        let count = |variants: &[(String, &Json)]| {
            variants.iter().filter(|(name, _)| name != "null").count()
        };
        let is_single = count(&removed) <= 1 && count(&added) <= 1;
        let place = |name: &str| {
            if is_single {
                path.to_owned()
            } else {
                format!("{path}({name})")
            }
        };
        let drafts = self.drafts;
        let is_equal = |left: &Json, right: &Json| {
            without_annotations(left, drafts) == without_annotations(right, drafts)
        };
        // Pair equal variants first, then variants with the same label, then the only ones.
        for round in 0..3 {
            removed.retain(|(name, schema)| {
                let position = added.iter().position(|(other, candidate)| match round {
                    0 => name == other && is_equal(schema, candidate),
                    1 => name == other,
                    // A renamed tag is reported as one variant removed and one added.
                    _ => is_single && name != "null" && other != "null",
                });
                let Some(position) = position else {
                    return true;
                };
                let (_, candidate) = added.remove(position);
                self.schema(schema, candidate, &place(name));
                false
            });
        }
        for (name, schema) in removed {
            if !new
                .iter()
                .any(|candidate| self.is_old_accepted(schema, candidate))
            {
                self.add(path, Effect::Narrower, format!("can no longer be {name}"));
            }
        }
        for (name, schema) in added {
            if !old
                .iter()
                .any(|candidate| self.is_new_accepted(candidate, schema))
            {
                self.add(path, Effect::Wider, format!("can now be {name}"));
            }
        }
    }
}

/// The variants of a schema that is only a union.
fn union(schema: &Json, drafts: Drafts) -> Option<&[Json]> {
    let mut members = schema.members().iter();
    let allowed = ["anyOf", "$defs", "definitions", "$schema", "$id"];
    let is_union = members.all(|(key, _)| allowed.contains(&&**key) || is_annotation(key, drafts));
    let union = schema.get("anyOf").filter(|_| is_union)?;
    Some(union.items())
}

/// Names a variant by its tag, its only required property, or its type.
fn label(root: &Json, schema: &Json) -> String {
    let schema = resolve(root, schema).unwrap_or(schema);
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let members = schema.get_members("properties");
    let tag = members.iter().find_map(|(_, schema)| schema.get("const"));
    if let Some(tag) = tag {
        return tag.as_str().map_or_else(|| tag.to_string(), str::to_owned);
    }
    if let Some([Json::String(key)]) = schema.get("required").map(Json::items) {
        return key.clone();
    }
    match schema.get("type") {
        Some(Json::String(name)) => name.clone(),
        Some(list) => list.to_string(),
        None => "any".to_owned(),
    }
}
