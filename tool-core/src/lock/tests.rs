mod files;
mod unions;

use super::*;

/// A lock with one tool whose arguments, and perhaps result, have these schemas.
fn lock(parameters: &str, output: Option<&str>) -> Lock {
    let output = output.map_or_else(String::new, |output| format!(",\"output\":{output}"));
    let text = format!(
        "{{\"version\":1,\"tools\":{{\"t\":{{\"description\":\"D.\",\"parameters\":{parameters}{output}}}}}}}"
    );
    text.parse()
        .unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// What changes when a parameter `p` goes from one schema to another, the tool's name left out.
fn found(old: &str, new: &str) -> Vec<String> {
    let of = |schema: &str| {
        let text = format!(
            r#"{{"type":"object","properties":{{"p":{schema}}},"additionalProperties":false}}"#
        );
        lock(&text, None)
    };
    told(&compare(&of(old), &of(new)))
}

fn told(changes: &Changes) -> Vec<String> {
    let told = changes.iter().map(|change| {
        let place = change.path().trim_start_matches("parameters.p");
        format!("{} {place}: {}", change.class(), change.message())
    });
    told.collect()
}

fn object(properties: &str, required: &str) -> String {
    format!(
        r#"{{"type":"object","properties":{{{properties}}},"required":[{required}],"additionalProperties":false}}"#
    )
}

#[test]
fn every_change_of_a_schema_has_its_class() {
    let cases: [(&str, &str, &[&str]); 34] = [
        (r#"{"type":"string"}"#, r#"{"type":"string"}"#, &[]),
        (
            r#"{"type":"string"}"#,
            r#"{"type":"integer"}"#,
            &["breaking : type string -> integer"],
        ),
        (
            r#"{"type":"integer"}"#,
            r#"{"type":"number"}"#,
            &["compatible : type integer -> number"],
        ),
        (
            r#"{"type":"number"}"#,
            r#"{"type":"integer"}"#,
            &["breaking : type number -> integer"],
        ),
        (
            r#"{"type":"string"}"#,
            "{}",
            &["compatible : type string -> any"],
        ),
        (
            "{}",
            r#"{"type":"string"}"#,
            &["breaking : type any -> string"],
        ),
        (
            "true",
            "{}",
            &["wording : written differently, such as in another key order"],
        ),
        (
            r#"{"type":"integer","minimum":0,"maximum":9}"#,
            r#"{"type":"integer","minimum":0,"maximum":10}"#,
            &["compatible : maximum 9 -> 10"],
        ),
        (
            r#"{"type":"integer","minimum":0}"#,
            r#"{"type":"integer","minimum":1}"#,
            &["breaking : minimum 0 -> 1"],
        ),
        (
            r#"{"type":"integer","minimum":0}"#,
            r#"{"type":"integer"}"#,
            &["compatible : minimum 0 removed"],
        ),
        (
            r#"{"type":"integer"}"#,
            r#"{"type":"integer","maximum":170141183460469231731687303715884105726}"#,
            &["breaking : maximum 170141183460469231731687303715884105726 added"],
        ),
        (
            r#"{"type":"number","minimum":1.0}"#,
            r#"{"type":"number","minimum":1}"#,
            &["wording : written differently, such as in another key order"],
        ),
        (
            r#"{"type":"number","minimum":0}"#,
            r#"{"type":"number","exclusiveMinimum":0}"#,
            &["breaking : minimum 0 -> 0 (exclusive)"],
        ),
        (
            r#"{"type":"number","multipleOf":0.3}"#,
            r#"{"type":"number","multipleOf":0.1}"#,
            &["compatible : multipleOf 0.3 -> 0.1"],
        ),
        (
            r#"{"type":"number","multipleOf":2}"#,
            r#"{"type":"number","multipleOf":3}"#,
            &["breaking : multipleOf 2 -> 3"],
        ),
        (
            r#"{"type":"string","minLength":1}"#,
            r#"{"type":"string","minLength":0}"#,
            &["compatible : minLength 1 removed"],
        ),
        (
            r#"{"type":"string","maxLength":8}"#,
            r#"{"type":"string","maxLength":7}"#,
            &["breaking : maxLength 8 -> 7"],
        ),
        (
            r#"{"type":"string","pattern":"a"}"#,
            r#"{"type":"string","pattern":"b"}"#,
            &[r#"breaking : pattern "a" -> "b""#],
        ),
        (
            r#"{"type":"string","format":"uuid"}"#,
            r#"{"type":"string"}"#,
            &[r#"compatible : format "uuid" removed"#],
        ),
        (
            r#"{"enum":["a","b"]}"#,
            r#"{"enum":["b","c"]}"#,
            &[
                r#"breaking : can no longer be "a""#,
                r#"compatible : can now be "c""#,
            ],
        ),
        (
            r#"{"type":"string","enum":["a"]}"#,
            r#"{"type":"string"}"#,
            &["compatible : no longer limited to listed values"],
        ),
        (
            r#"{"type":"string"}"#,
            r#"{"type":"string","const":"a"}"#,
            &[r#"breaking : must now be one of "a""#],
        ),
        (
            r#"{"type":"array","items":{"type":"string"}}"#,
            r#"{"type":"array","items":{"type":"string","minLength":1},"uniqueItems":true}"#,
            &[
                "breaking : items must now be unique",
                "breaking []: minLength 1 added",
            ],
        ),
        (
            r#"{"type":"array","prefixItems":[{},{"type":"string"}],"items":false}"#,
            r#"{"type":"array","prefixItems":[{}],"items":false}"#,
            &["breaking [1]: no longer allowed"],
        ),
        (
            r#"{"type":"string","description":"A."}"#,
            r#"{"type":"string","description":"B."}"#,
            &["wording : description changed"],
        ),
        (
            r#"{"type":"integer","default":3}"#,
            r#"{"type":"integer","default":4}"#,
            &["compatible : default 3 -> 4"],
        ),
        (
            r#"{"type":"string","description":"A."}"#,
            r#"{"anyOf":[{"type":"string"},{"type":"null"}],"description":"A."}"#,
            &["compatible : can now be null"],
        ),
        (
            r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
            r#"{"type":"string"}"#,
            &["breaking : can no longer be null"],
        ),
        (
            r#"{"type":"array","items":{"type":"object","additionalProperties":{"type":"integer"}}}"#,
            r#"{"type":"array","items":{"type":"object","additionalProperties":{"type":"number"}}}"#,
            &["compatible [].*: type integer -> number"],
        ),
        (
            r#"{"not":{"type":"string"}}"#,
            r#"{"not":{"type":"string"},"description":"x"}"#,
            &["wording : description added"],
        ),
        (
            r#"{"not":{"type":"string"}}"#,
            r#"{"not":{"type":"null"}}"#,
            &["breaking : changed in a way that can't be compared"],
        ),
        (
            r#"{"allOf":[{"minimum":1}]}"#,
            r#"{"allOf":[{"minimum":1},{"maximum":2}]}"#,
            &["breaking : must match more schemas of `allOf`"],
        ),
        (
            r#"{"$ref":"https://example.com/a"}"#,
            r#"{"$ref":"https://example.com/b"}"#,
            &["breaking : has a reference that can't be compared"],
        ),
        (
            r#"{"type":"string","x-mine":1}"#,
            r#"{"type":"string","x-mine":2}"#,
            &["wording : written differently, such as in another key order"],
        ),
    ];
    for (old, new, expected) in cases {
        assert_eq!(found(old, new), expected, "{old} -> {new}");
    }
}

#[test]
fn every_change_of_an_object_has_its_class() {
    let a = r#""a":{"type":"string"}"#;
    let ab = r#""a":{"type":"string"},"b":{"type":"integer"}"#;
    let cases: [(String, String, &[&str]); 8] = [
        (
            object(a, ""),
            object(ab, ""),
            &["compatible .b: added, optional"],
        ),
        (
            object(a, ""),
            object(ab, r#""b""#),
            &["breaking .b: added, required"],
        ),
        (object(ab, ""), object(a, ""), &["breaking .b: removed"]),
        (
            object(a, ""),
            object(a, r#""a""#),
            &["breaking .a: now required"],
        ),
        (
            object(a, r#""a""#),
            object(a, ""),
            &["compatible .a: no longer required"],
        ),
        (
            object(a, r#""a""#),
            object(r#""z":{"type":"string","description":"New."}"#, r#""z""#),
            &["breaking .a: renamed to `z`"],
        ),
        (
            object(ab, r#""a","b""#),
            object(
                r#""b":{"type":"integer"},"a":{"type":"string"}"#,
                r#""a","b""#,
            ),
            &["wording : written differently, such as in another key order"],
        ),
        // A key that is required and can't be there: nothing is accepted.
        (
            object(a, ""),
            object(a, r#""b""#),
            &["breaking .b: now required"],
        ),
    ];
    for (old, new, expected) in cases {
        assert_eq!(found(&old, &new), expected, "{old} -> {new}");
    }
}

#[test]
fn results_break_their_readers_when_they_grow() {
    let none = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
    let found =
        |old: Option<&str>, new: Option<&str>| told(&compare(&lock(none, old), &lock(none, new)));
    let cases: [(&str, &str, &str); 7] = [
        (
            r#"{"type":"integer"}"#,
            r#"{"type":"number"}"#,
            "breaking output: type integer -> number",
        ),
        (
            r#"{"type":"number"}"#,
            r#"{"type":"integer"}"#,
            "compatible output: type number -> integer",
        ),
        (
            r#"{"enum":["a"]}"#,
            r#"{"enum":["a","b"]}"#,
            r#"breaking output: can now be "b""#,
        ),
        (
            &object(r#""a":{}"#, r#""a""#),
            &object("", ""),
            "breaking output.a: removed",
        ),
        (
            &object(r#""a":{}"#, ""),
            &object("", ""),
            "compatible output.a: removed",
        ),
        (
            &object(r#""a":{}"#, r#""a""#),
            &object(r#""a":{}"#, ""),
            "breaking output.a: no longer required",
        ),
        (
            &object("", ""),
            &object(r#""a":{}"#, ""),
            "compatible output.a: added, optional",
        ),
    ];
    for (old, new, expected) in cases {
        assert_eq!(found(Some(old), Some(new)), [expected], "{old} -> {new}");
    }
    assert_eq!(
        found(None, Some("{}")),
        ["compatible output: schema added"]
    );
    assert_eq!(
        found(Some("{}"), None),
        ["breaking output: schema removed"]
    );
}
