//! Which keywords of JSON Schema restrict values, by the table of `tool-core`.

use tool_core::__docs::{Compared, Drafts, Form, Holds, Keyword};
use tool_core::schema::Json;

/// Returns `true` if a keyword does not affect which values are valid in one of the drafts.
pub(crate) fn is_annotation(name: &str, drafts: Drafts) -> bool {
    Keyword::of(name).is_none_or(|row| is_row_of_annotation(row, drafts))
}

fn is_row_of_annotation(row: &Keyword, drafts: Drafts) -> bool {
    // A keyword that no draft defines may restrict values for another validator.
    let is_enforced = row.enforced == Drafts::NONE || row.enforced.intersects(drafts);
    match row.compared {
        Compared::Wording => true,
        Compared::Alone => false,
        Compared::Whole => !is_enforced,
    }
}

/// Returns `true` if a value of a keyword has the form that draft 6 and later define.
fn is_known_form(row: &Keyword, value: &Json) -> bool {
    let is_schema = |value: &Json| matches!(value, Json::Object(_) | Json::Boolean(_));
    match (row.form, row.holds) {
        (Form::Any, _) => true,
        (Form::Boolean, _) => matches!(value, Json::Boolean(_)),
        (Form::Number, _) => value.as_number().is_some(),
        (Form::String, _) => value.as_str().is_some(),
        (Form::Array, _) | (Form::Schemas, Holds::Schemas) => matches!(value, Json::Array(_)),
        (Form::Names, Holds::Data) if value.as_str().is_some() => true,
        (Form::Names, _) => {
            let mut names = value.items().iter();
            matches!(value, Json::Array(_)) && names.all(|name| name.as_str().is_some())
        }
        (Form::Schemas, Holds::Schema | Holds::Mixed) => is_schema(value),
        (Form::Schemas, _) => matches!(value, Json::Object(_)),
    }
}

/// Returns `true` if a schema can only be compared as a whole.
pub(crate) fn is_opaque(schema: &Json, is_nested: bool, drafts: Drafts) -> bool {
    let Json::Object(members) = schema else {
        return true;
    };
    let has = |name| schema.get(name).is_some();
    let is_opaque = |(name, value): &(String, Json)| {
        Keyword::of(name).is_some_and(|row| {
            row.compared == Compared::Whole && !is_row_of_annotation(row, drafts)
                || !is_known_form(row, value)
        }) || is_nested && ["$id", "$schema"].contains(&&**name)
    };
    members.iter().any(is_opaque) || has("const") && has("enum")
}

/// Returns a schema without its annotations and with sorted keys, for comparison.
pub(crate) fn without_annotations(schema: &Json, drafts: Drafts) -> Json {
    let Json::Object(members) = schema else {
        return schema.clone();
    };
    let drafts = Drafts::named(schema).unwrap_or(drafts);
    let members = members.iter();
    let kept = members.filter_map(|(name, value)| {
        let row = Keyword::of(name).filter(|row| !is_row_of_annotation(row, drafts))?;
        let mut inner = |schema: &Json| without_annotations(schema, drafts);
        let mut value = row.map(value, &mut inner, &str::to_owned);
        if let (Holds::Map | Holds::Properties, Json::Object(members)) = (row.holds, &mut value) {
            members.sort_by(|(left, _), (right, _)| left.cmp(right));
        }
        Some((name.clone(), value))
    });
    let mut kept: Vec<_> = kept.collect();
    kept.sort_by(|(left, _), (right, _)| left.cmp(right));
    Json::Object(kept)
}
