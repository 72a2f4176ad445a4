//! Values that must match one of several schemas.

use super::candidates::{
    Member, first_byte, is_intended, may_be_kind, may_match, members, only_of_kind, tag_values,
    tags,
};
use super::decoding::{NESTED_UNIONS, is_quick_to_decode};
use super::rewrite::Rewrite;
use super::{Path, Validator};
use crate::schema::cursor::{Cursor, unquote};
use crate::schema::messages::{did_you_mean, nearest, push, shorten};
use crate::schema::violation::{COMPARED, Explanation};
use crate::schema::{ExtraForms, Kind, Schema, Text};

impl<'t> Validator<'t> {
    /// Validates a value that must match one of several schemas. If it contains nested unions, serde
    /// must also be able to decode it in reasonable time.
    pub(super) fn union(
        &mut self,
        schema: &Schema,
        schemas: &[&'static Schema],
        path: &Path<'_>,
        depth: usize,
    ) {
        self.cursor.peek();
        let start = self.cursor.position();
        let violations = self.violations.mark();
        let output = self.output.as_ref().map(Rewrite::mark);
        if self.unions == 0 {
            self.deepest_union = 0;
        }
        // Only with rewriting are the types asked whether they accept a value.
        if schema.extra_forms == ExtraForms::Swallowing && self.output.is_none() {
            return self.report(path, |_| {});
        }
        self.unions += 1;
        self.deepest_union = self.deepest_union.max(self.unions);
        self.any_of(schema, schemas, path, depth);
        self.unions -= 1;
        if self.unions > 0
            || self.deepest_union < NESTED_UNIONS
            || self.violations.mark() != violations
        {
            return;
        }
        let place = start..self.cursor.position();
        let value = match (&mut self.output, output) {
            (Some(output), Some(before)) => output.value(before, place),
            _ => self.text.get(place).unwrap_or_default(),
        };
        if !is_quick_to_decode(&mut self.decode_budget, schema, value) {
            self.report_too_complex(path);
        }
    }

    /// Returns `true` if a string is not even similar to a value of the enum. It may then be the name
    /// of a variant that is an object.
    fn is_unlike_any_value(&mut self, schema: &Schema, text: &str) -> bool {
        match schema.kind {
            Kind::Enum(strings) => {
                // Many values take long. Without a budget for them, the text counts as similar.
                let cost = text.len().saturating_mul(strings.values.len());
                let Some(left) = self.budget.checked_sub(cost) else {
                    return false;
                };
                self.budget = left;
                unquote(text).is_some_and(|text| {
                    let values = strings.values.iter().map(Text::as_str);
                    !strings.accepts(&text) && nearest(&text, values).is_none()
                })
            }
            Kind::Reference(reference) => self.is_unlike_any_value((reference.target)(), text),
            _ => false,
        }
    }

    pub(super) fn report_too_complex(&mut self, path: &Path<'_>) {
        self.is_exhausted = true;
        let message = "too complex to check; simplify it";
        self.report(path, |out| out.push_str(message));
    }

    fn any_of(
        &mut self,
        schema: &Schema,
        schemas: &[&'static Schema],
        path: &Path<'_>,
        depth: usize,
    ) {
        let start = self.cursor;
        let text = self.skip_value();
        // A text that is validated repeatedly must be JSON.
        if !self.is_json() {
            return;
        }
        let end = self.cursor;
        let members = members(text);
        // If only one schema can be meant, its violations are reported.
        let mut likely = schemas
            .iter()
            .filter(|schema| is_intended(schema, text, &members));
        let intended = match (likely.next(), likely.next()) {
            (None, _) => only_of_kind(schemas, text),
            (only, None) => only,
            _ => None,
        };
        let intended = intended.filter(|schema| !self.is_unlike_any_value(schema, text));
        let explains = self.explains;
        let mut reported = None;
        let violations = self.violations.mark();
        let output = self.output.as_ref().map(Rewrite::mark);
        // An exact match of a later schema precedes a match of an earlier one in another spelling.
        let respells = self.respells;
        for round in [false, true] {
            if round && !respells {
                break;
            }
            self.respells = round;
            for candidate in schemas
                .iter()
                .filter(|schema| may_match(schema, text, &members))
            {
                let Some(left) = self.budget.checked_sub(text.len()) else {
                    (self.respells, self.explains) = (respells, explains);
                    return self.report_too_complex(path);
                };
                self.budget = left;
                let coercions = self.coercions.len();
                let is_intended = intended.is_some_and(|one| std::ptr::eq(one, candidate));
                self.explains = explains && is_intended;
                self.cursor = start;
                self.value(candidate, path, depth);
                if self.violations.mark() == violations {
                    (self.respells, self.explains) = (respells, explains);
                    return;
                }
                let found = self.violations.split_off(violations);
                if is_intended {
                    reported = Some(found);
                }
                self.coercions.truncate(coercions);
                if let (Some(rewrite), Some(mark)) = (&mut self.output, output) {
                    rewrite.rewind(mark);
                }
            }
        }
        (self.respells, self.explains) = (respells, explains);
        // Nothing matched. Validating again would take exponential time in nested unions.
        let mut is_complete = true;
        match (intended, reported) {
            (_, Some(found)) => self.violations.append(found),
            (Some(candidate), None) => {
                self.cursor = start;
                self.value(candidate, path, depth);
            }
            (None, None) => {
                is_complete = self.explain(schemas, (text, &members), &start, path, depth);
            }
        }
        self.cursor = end;
        if is_complete && self.violations.mark() != violations {
            return;
        }
        match tags(schemas) {
            Some((tag, values))
                if text.starts_with('{')
                    && !schemas
                        .iter()
                        .any(|schema| is_intended(schema, text, &members)) =>
            {
                let path = path.key(tag);
                let got = members.iter().find(|(key, _)| key == tag);
                self.report(&path, |out| match got {
                    Some((_, value)) => {
                        let shown = shorten(value);
                        push(out, format_args!("expected {values}, got {shown}"));
                        if let Some(text) = unquote(value) {
                            let tags = schemas.iter().flat_map(|schema| tag_values(schema));
                            did_you_mean(out, &text, tags);
                        }
                    }
                    None => push(out, format_args!("missing; expected {values}")),
                });
            }
            _ => self.report_mismatch(schema, text, path),
        }
    }

    /// Reports what is wrong with a value that may be meant for several of these schemas, as far as
    /// the budget goes. Returns `false` if that does not explain why none matches.
    #[cold]
    fn explain(
        &mut self,
        schemas: &[&'static Schema],
        (text, members): (&str, &[Member<'_>]),
        start: &Cursor<'t>,
        path: &Path<'_>,
        depth: usize,
    ) -> bool {
        let likely: Vec<_> = schemas
            .iter()
            .filter(|schema| is_intended(schema, text, members))
            .collect();
        let are_likely = !likely.is_empty();
        let candidates = if are_likely {
            likely
        } else {
            let first = first_byte(text);
            let is_kind = |schema: &&&Schema| may_be_kind(schema, first);
            schemas.iter().filter(is_kind).collect()
        };
        let cost = text.len().saturating_mul(candidates.len());
        let Some(left) = self.explanations.checked_sub(cost) else {
            return false;
        };
        if !self.explains || !(2..=COMPARED).contains(&candidates.len()) {
            return false;
        }
        self.explanations = left;
        let (found, coercions) = (self.violations.mark(), self.coercions.len());
        let output = self.output.as_ref().map(Rewrite::mark);
        let mut alternatives = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            self.cursor = *start;
            self.value(candidate, path, depth);
            alternatives.push(self.violations.split_off(found));
            self.coercions.truncate(coercions);
            if let (Some(rewrite), Some(mark)) = (&mut self.output, output) {
                rewrite.rewind(mark);
            }
        }
        let explanation = Explanation::new(&alternatives, are_likely);
        self.violations.append(explanation.violations);
        explanation.is_complete
    }
}
