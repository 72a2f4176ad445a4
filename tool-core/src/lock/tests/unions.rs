//! Unions, and what stands behind references.

use super::*;

#[test]
fn variants_are_told_apart_by_their_tags() {
    let variant = |tag: &str, more: &str| {
        object(
            &format!(r#""kind":{{"type":"string","const":"{tag}"}}{more}"#),
            r#""kind""#,
        )
    };
    let union = |variants: &[String]| format!("{{\"anyOf\":[{}]}}", variants.join(","));
    let (circle, square) = (
        variant("circle", r#","r":{"type":"number"}"#),
        variant("square", ""),
    );
    let wide = variant("circle", r#","r":{"type":"number"},"x":{"type":"number"}"#);
    let both = union(&[circle.clone(), square.clone()]);
    let cases: [(String, &[&str]); 4] = [
        (
            union(&[square.clone(), circle.clone()]),
            &["wording : written differently, such as in another key order"],
        ),
        (
            union(&[wide, square]),
            &["compatible (circle).x: added, optional"],
        ),
        (
            union(std::slice::from_ref(&circle)),
            &["breaking : can no longer be square"],
        ),
        (circle.clone(), &["breaking : can no longer be square"]),
    ];
    for (new, expected) in cases {
        assert_eq!(found(&both, &new), expected, "{new}");
    }
    assert_eq!(found(&circle, &both), ["compatible : can now be square"]);
}

#[test]
fn recursive_types_are_compared_once() {
    let tree = |more: &str| {
        format!(
            r##"{{"type":"object","properties":{{"t":{{"$ref":"#/$defs/Tree"}}}},"additionalProperties":false,
            "$defs":{{"Tree":{{"anyOf":[{{"type":"integer"{more}}},{{"type":"array","items":{{"$ref":"#/$defs/Tree"}}}}]}}}}}}"##
        )
    };
    let (old, new) = (lock(&tree(""), None), lock(&tree(r#","minimum":0"#), None));
    assert_eq!(
        told(&compare(&old, &new)),
        ["breaking parameters.t(integer): minimum 0 added"]
    );
    assert_eq!(
        told(&compare(&new, &old)),
        ["compatible parameters.t(integer): minimum 0 removed"]
    );
    assert!(compare(&old, &old.clone()).is_empty());
}

#[test]
fn what_stands_behind_a_reference_counts_where_it_can_t_be_compared() {
    let schema = |kind: &str| {
        format!(
            r##"{{"type":"object","properties":{{"t":{{"not":{{"$ref":"#/$defs/T"}}}}}},"$defs":{{"T":{{"type":"{kind}"}}}}}}"##
        )
    };
    let changes = compare(
        &lock(&schema("string"), None),
        &lock(&schema("integer"), None),
    );
    assert_eq!(changes.class(), Some(Class::Breaking));
}
