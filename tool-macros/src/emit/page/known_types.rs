//! The schemas of the standard types that a page shows.
//!
//! A macro sees names, not types. Known are the primitive types, `String`, `Vec` and `Option`, by these
//! names or by their paths in `std`, and slices and arrays of known types. Nothing is stated about any
//! other name, because it may be an alias or another type.

use syn::{Expr, ExprLit, GenericArgument, Lit, PathArguments, Type};

use crate::model::constraint::Constraint;
use crate::model::types::{Passing, peel};

/// The members of a JSON object, each with its JSON text.
pub(super) type Members = Vec<(String, String)>;

/// Returns `true` if a type is written as an `Option`.
pub(super) fn is_optional(ty: &Type) -> bool {
    matches!(standard(peel(ty)), Some((name, Some(_))) if name == "Option")
}

/// The schema of a parameter of this type with these constraints, or `None` if the type is unknown.
pub(super) fn schema_members(ty: &Type, narrowings: &[Constraint]) -> Option<Members> {
    let passing = Passing::of(ty);
    let ty = match standard(passing.inner()) {
        Some((name, Some(inner))) if name == "Option" && !is_optional(inner) => inner,
        _ => passing.inner(),
    };
    let mut members = members(ty)?;
    let is_array = members[0].1 == "\"array\"";
    for (keyword, value) in narrowings.iter().flat_map(|one| &one.keywords) {
        let keyword = match (is_array, *keyword) {
            (true, "minLength") => "minItems",
            (true, "maxLength") => "maxItems",
            (_, keyword) => keyword,
        };
        match members.iter_mut().find(|(name, _)| name == keyword) {
            Some((_, wide)) => wide.clone_from(value),
            None => members.push((keyword.to_owned(), value.clone())),
        }
    }
    Some(members)
}

fn members(ty: &Type) -> Option<Members> {
    let ty = peel(ty);
    match ty {
        Type::Slice(slice) => return array(&slice.elem, None),
        Type::Array(array) => {
            let Expr::Lit(ExprLit {
                lit: Lit::Int(length),
                ..
            }) = &array.len
            else {
                return None;
            };
            // A schema of no items has another form.
            let length: usize = length.base10_parse().ok().filter(|length| *length > 0)?;
            return self::array(&array.elem, Some(length));
        }
        _ => {}
    }
    let unbounded = |name: &str| Some(typed(name, &[]));
    let bounded = |minimum: i32, maximum: i32| {
        let keywords = [("minimum", minimum), ("maximum", maximum)];
        Some(typed("integer", &keywords))
    };
    let (name, inner) = standard(ty)?;
    match (&*name, inner) {
        ("bool", None) => unbounded("boolean"),
        ("f32" | "f64", None) => unbounded("number"),
        ("str" | "String", None) => unbounded("string"),
        ("char", None) => Some(typed("string", &[("minLength", 1), ("maxLength", 1)])),
        ("i8", None) => bounded(i8::MIN.into(), i8::MAX.into()),
        ("i16", None) => bounded(i16::MIN.into(), i16::MAX.into()),
        ("u8", None) => bounded(0, u8::MAX.into()),
        ("u16", None) => bounded(0, u16::MAX.into()),
        ("u32" | "u64" | "u128" | "usize", None) => Some(typed("integer", &[("minimum", 0)])),
        ("i32" | "i64" | "i128" | "isize", None) => unbounded("integer"),
        ("Vec", Some(inner)) => array(inner, None),
        ("Option", Some(inner)) if !is_optional(inner) => {
            let inner = object(&members(inner)?);
            let null = object(&typed("null", &[]));
            Some(vec![("anyOf".into(), format!("[{inner}, {null}]"))])
        }
        _ => None,
    }
}

fn typed(name: &str, keywords: &[(&str, i32)]) -> Members {
    let mut members = vec![("type".into(), format!("\"{name}\""))];
    let keywords = keywords.iter();
    members.extend(keywords.map(|(keyword, value)| ((*keyword).into(), value.to_string())));
    members
}

fn array(items: &Type, length: Option<usize>) -> Option<Members> {
    let mut array = typed("array", &[]);
    array.push(("items".into(), object(&members(items)?)));
    if let Some(length) = length {
        array.push(("minItems".into(), length.to_string()));
        array.push(("maxItems".into(), length.to_string()));
    }
    Some(array)
}

/// The name of a standard type and its argument, for `Vec<T>` as for `std::vec::Vec<T>`.
fn standard(ty: &Type) -> Option<(String, Option<&Type>)> {
    let Type::Path(path) = ty else { return None };
    let names: Vec<_> = path
        .path
        .segments
        .iter()
        .map(|one| one.ident.to_string())
        .collect();
    match &names[..] {
        _ if path.qself.is_some() => return None,
        [_] => {}
        [krate, _, _] if ["std", "core", "alloc"].contains(&&**krate) => {}
        _ => return None,
    }
    let last = path.path.segments.last()?;
    let inner = match &last.arguments {
        PathArguments::None => None,
        PathArguments::AngleBracketed(arguments) if arguments.args.len() == 1 => {
            match &arguments.args[0] {
                GenericArgument::Type(inner) => Some(inner),
                _ => return None,
            }
        }
        _ => return None,
    };
    Some((last.ident.to_string(), inner))
}

/// Members as JSON text, on one line if they are short.
pub(super) fn object(members: &Members) -> String {
    let members = members
        .iter()
        .map(|(key, value)| format!("\"{key}\": {value}"));
    let members: Vec<_> = members.collect();
    let line = members.join(", ");
    if line.len() <= 76 && !line.contains('\n') {
        return format!("{{{line}}}");
    }
    // JSON strings contain no line breaks.
    let lines = members.join(",\n").replace('\n', "\n  ");
    format!("{{\n  {lines}\n}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_standard_types_are_known() {
        let text = r#"{"type": "string"}"#;
        let text_or_null = format!(r#"{{"anyOf": [{text}, {{"type": "null"}}]}}"#);
        for (ty, expected) in [
            ("Option<&str>", Some(text.to_owned())),
            (
                "std::option::Option<std::string::String>",
                Some(text.to_owned()),
            ),
            (
                "Vec<Option<String>>",
                Some(format!(r#"{{"type": "array", "items": {text_or_null}}}"#)),
            ),
            ("Vec<Unit>", None),
            ("other::String", None),
            ("<T as Trait>::String", None),
            ("Option<Option<u8>>", None),
            ("HashMap<String, u8>", None),
            ("Vec<u8, Local>", None),
            ("[u8; LENGTH]", None),
            ("[u8; 0]", None),
        ] {
            let parsed: Type = syn::parse_str(ty).unwrap();
            let found = schema_members(&parsed, &[]).map(|members| object(&members));
            assert_eq!(found, expected, "{ty}");
        }
    }

    #[test]
    fn only_an_option_is_known_to_be_optional() {
        for (ty, expected) in [
            ("Option<Unit>", true),
            ("(core::option::Option<&str>)", true),
            ("Maybe<u8>", false),
            ("other::Option<u8>", false),
        ] {
            let parsed: Type = syn::parse_str(ty).unwrap();
            assert_eq!(is_optional(&parsed), expected, "{ty}");
        }
    }
}
