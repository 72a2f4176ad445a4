//! The items of arrays, and schemas that all must hold.

use super::{ANYTHING, Effect, Walk};
use crate::json::Json;

impl<'s> Walk<'s> {
    /// `prefixItems` and `items`: each place of an array with its schema, then all others.
    pub(super) fn items(&mut self, old: &'s Json, new: &'s Json, path: &str) {
        let parts = |schema: &'s Json| {
            let first = schema.get("prefixItems").map_or(&[][..], Json::items);
            (first, schema.get("items").unwrap_or(&ANYTHING))
        };
        let ((old_first, old_rest), (new_first, new_rest)) = (parts(old), parts(new));
        for at in 0..old_first.len().max(new_first.len()) {
            let old = old_first.get(at).unwrap_or(old_rest);
            let new = new_first.get(at).unwrap_or(new_rest);
            self.schema(old, new, &format!("{path}[{at}]"));
        }
        self.schema(old_rest, new_rest, &format!("{path}[]"));
    }

    /// `allOf`, place by place.
    pub(super) fn all_of(&mut self, old: &'s Json, new: &'s Json, path: &str) {
        let [old, new] = [old, new].map(|schema| schema.get("allOf").map_or(&[][..], Json::items));
        for (old, new) in old.iter().zip(new) {
            self.schema(old, new, path);
        }
        if new.len() > old.len() {
            self.add(
                path,
                Effect::Narrower,
                "must be what more schemas say (`allOf`)",
            );
        }
        if new.len() < old.len() {
            self.add(
                path,
                Effect::Wider,
                "must be what fewer schemas say (`allOf`)",
            );
        }
    }
}
