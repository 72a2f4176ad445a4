use super::*;

/// A lock with one tool.
fn lock(parameters: &str, output: Option<&str>) -> Lock {
    let output = output.map_or_else(String::new, |output| format!(",\"output\":{output}"));
    let text = format!(
        "{{\"version\":1,\"tools\":{{\"t\":{{\"description\":\"D.\",\"parameters\":{parameters}{output}}}}}}}"
    );
    text.parse()
        .unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The changes between two schemas of a parameter `p`.
fn changes(old: &str, new: &str) -> Vec<String> {
    let of = |schema: &str| {
        let text = format!(
            r#"{{"type":"object","properties":{{"p":{schema}}},"additionalProperties":false}}"#
        );
        lock(&text, None)
    };
    lines(&compare(&of(old), &of(new)))
}

fn lines(changes: &Changes) -> Vec<String> {
    let lines = changes.iter().map(|change| {
        let place = change.path().trim_start_matches("parameters.p");
        format!("{} {place}: {}", change.class(), change.message())
    });
    lines.collect()
}

fn object(properties: &str, required: &str) -> String {
    format!(
        r#"{{"type":"object","properties":{{{properties}}},"required":[{required}],"additionalProperties":false}}"#
    )
}

#[test]
fn every_change_of_a_schema_has_its_class() {
    // Old schema, new schema, changes.
    let cases = r#"
{"type":"string"} => {"type":"string"} =>
{"type":"string"} => {"type":"integer"} => breaking : type string -> integer
{"type":"integer"} => {"type":"number"} => compatible : type integer -> number
{"type":"number"} => {"type":"integer"} => breaking : type number -> integer
{"type":"string"} => {} => compatible : type string -> any
{} => {"type":"string"} => breaking : type any -> string
true => {} => wording : written differently, such as in another key order
{"type":"integer","minimum":0,"maximum":9} => {"type":"integer","minimum":0,"maximum":10} => compatible : maximum 9 -> 10
{"type":"integer","minimum":0} => {"type":"integer","minimum":1} => breaking : minimum 0 -> 1
{"type":"integer","minimum":0} => {"type":"integer"} => compatible : minimum 0 removed
{"type":"integer"} => {"type":"integer","maximum":170141183460469231731687303715884105726} => breaking : maximum 170141183460469231731687303715884105726 added
{"type":"number","minimum":1.0} => {"type":"number","minimum":1} => wording : written differently, such as in another key order
{"type":"number","minimum":0} => {"type":"number","exclusiveMinimum":0} => breaking : minimum 0 -> 0 (exclusive)
{"type":"number","multipleOf":0.3} => {"type":"number","multipleOf":0.1} => compatible : multipleOf 0.3 -> 0.1
{"type":"number","multipleOf":2} => {"type":"number","multipleOf":3} => breaking : multipleOf 2 -> 3
{"type":"string","minLength":1} => {"type":"string","minLength":0} => compatible : minLength 1 removed
{"type":"string","maxLength":8} => {"type":"string","maxLength":7} => breaking : maxLength 8 -> 7
{"type":"string","pattern":"a"} => {"type":"string","pattern":"b"} => breaking : pattern "a" -> "b"
{"type":"string","format":"uuid"} => {"type":"string"} => compatible : format "uuid" removed
{"enum":["a","b"]} => {"enum":["b","c"]} => breaking : can no longer be "a"; compatible : can now be "c"
{"type":"string","enum":["a"]} => {"type":"string"} => compatible : no longer limited to listed values
{"type":"string"} => {"type":"string","const":"a"} => breaking : must now be one of "a"
{"type":"array","items":{"type":"string"}} => {"type":"array","items":{"type":"string","minLength":1},"uniqueItems":true} => breaking : items must now be unique; breaking []: minLength 1 added
{"type":"array","prefixItems":[{},{"type":"string"}],"items":false} => {"type":"array","prefixItems":[{}],"items":false} => breaking [1]: no longer allowed
{"type":"string","description":"A."} => {"type":"string","description":"B."} => wording : description changed
{"type":"integer","default":3} => {"type":"integer","default":4} => compatible : default 3 -> 4
{"type":"string","description":"A."} => {"anyOf":[{"type":"string"},{"type":"null"}],"description":"A."} => compatible : can now be null
{"anyOf":[{"type":"string"},{"type":"null"}]} => {"type":"string"} => breaking : can no longer be null
{"type":"array","items":{"type":"object","additionalProperties":{"type":"integer"}}} => {"type":"array","items":{"type":"object","additionalProperties":{"type":"number"}}} => compatible [].*: type integer -> number
{"not":{"type":"string"}} => {"not":{"type":"string"},"description":"x"} => wording : description added
{"not":{"type":"string"}} => {"not":{"type":"null"}} => breaking : changed in a way that can't be compared
{"allOf":[{"minimum":1}]} => {"allOf":[{"minimum":1},{"maximum":2}]} => breaking : must match more schemas of `allOf`
{"$ref":"https://example.com/a"} => {"$ref":"https://example.com/b"} => breaking : has a reference that can't be compared
{"type":"string","x-mine":1} => {"type":"string","x-mine":2} => wording : written differently, such as in another key order
{"dependencies":{"a":{"description":"A."}}} => {"dependencies":{"a":{"description":"B."}}} => wording : written differently, such as in another key order
{"dependencies":{"a":["b"]}} => {"dependencies":{"a":["c"]}} => breaking : changed in a way that can't be compared
{"dependencies":{"a":{"minimum":1}}} => {"dependencies":{"a":{"minimum":2}}} => breaking : changed in a way that can't be compared
{"extends":{"description":"A."}} => {"extends":{"description":"B."}} => wording : written differently, such as in another key order
{"disallow":["null",{"title":"A"}]} => {"disallow":["null",{"title":"B"}]} => wording : written differently, such as in another key order
{"disallow":["null"]} => {"disallow":["integer"]} => breaking : changed in a way that can't be compared
{"type":"string","contentEncoding":"base64"} => {"type":"string"} => wording : written differently, such as in another key order
"#;
    let mut count = 0;
    for case in cases.trim().lines() {
        let parts: Vec<_> = case.split(" =>").map(str::trim).collect();
        let [old, new, expected] = parts[..] else {
            panic!("{case}");
        };
        assert_eq!(changes(old, new).join("; "), expected, "{case}");
        count += 1;
    }
    assert_eq!(count, 41);
}

#[test]
fn a_keyword_restricts_values_in_the_drafts_that_enforce_it() {
    let of = |draft: &str, more: &str| {
        lock(
            &format!(
                r#"{{"$schema":"{draft}","type":"object","properties":{{"p":{{"type":"string"{more}}}}}}}"#
            ),
            None,
        )
    };
    let drafts = [
        ("http://json-schema.org/draft-04/schema#", false),
        ("http://json-schema.org/draft-06/schema#", true),
        ("http://json-schema.org/draft-07/schema#", true),
        ("https://json-schema.org/draft/2019-09/schema", false),
        ("https://json-schema.org/draft/2020-12/schema", false),
        ("https://example.com/mine", true),
    ];
    for keyword in [
        r#","contentEncoding":"base64""#,
        r#","contentMediaType":"application/json""#,
    ] {
        for (draft, is_enforced) in drafts {
            let changes = compare(&of(draft, ""), &of(draft, keyword));
            let class = if is_enforced {
                Class::Breaking
            } else {
                Class::Wording
            };
            assert_eq!(changes.class(), Some(class), "{draft}: {keyword}");
        }
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
        // A required key that is not allowed: nothing is accepted.
        (
            object(a, ""),
            object(a, r#""b""#),
            &["breaking .b: now required"],
        ),
    ];
    for (old, new, expected) in cases {
        assert_eq!(changes(&old, &new), expected, "{old} -> {new}");
    }
}

#[test]
fn a_wider_result_is_breaking() {
    let none = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
    let changes =
        |old: Option<&str>, new: Option<&str>| lines(&compare(&lock(none, old), &lock(none, new)));
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
        assert_eq!(changes(Some(old), Some(new)), [expected], "{old} -> {new}");
    }
    assert_eq!(
        changes(None, Some("{}")),
        ["compatible output: schema added"]
    );
    assert_eq!(
        changes(Some("{}"), None),
        ["breaking output: schema removed"]
    );
}

#[test]
fn variants_are_matched_by_their_tags() {
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
        assert_eq!(changes(&both, &new), expected, "{new}");
    }
    assert_eq!(changes(&circle, &both), ["compatible : can now be square"]);
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
        lines(&compare(&old, &new)),
        ["breaking parameters.t(integer): minimum 0 added"]
    );
    assert_eq!(
        lines(&compare(&new, &old)),
        ["compatible parameters.t(integer): minimum 0 removed"]
    );
    assert!(compare(&old, &old.clone()).is_empty());
}

#[test]
fn the_target_of_a_reference_counts_within_opaque_keywords() {
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

fn read(tools: &str) -> Lock {
    format!("{{\"version\":1,\"tools\":{{{tools}}}}}")
        .parse()
        .unwrap()
}

#[test]
fn tools_are_added_removed_and_renamed() {
    let tool = |name: &str, text: &str, more: &str| {
        format!(r#""{name}":{{"description":"{text}","parameters":{{"type":"object"}}{more}}}"#)
    };
    let lines = |old: &str, new: &str| {
        let changes = compare(&read(old), &read(new));
        changes.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let (a, b) = (tool("a", "One.", ""), tool("b", "Two.", ""));
    assert_eq!(
        lines(&a, &b),
        ["breaking    a: removed", "compatible  b: added"]
    );
    assert_eq!(
        lines(&a, &tool("b", "One.", "")),
        ["breaking    a: renamed to `b`"]
    );
    assert_eq!(
        lines(&a, &tool("a", "Other.", "")),
        ["wording     a, description: changed"]
    );
    let promise = tool(
        "a",
        "One.",
        r#","annotations":{"read_only":true,"destructive":false}"#,
    );
    assert_eq!(
        lines(&promise, &a),
        [
            "breaking    a, read_only: true -> unset",
            "breaking    a, destructive: false -> unset"
        ]
    );
    assert_eq!(lines(&a, &promise).len(), 2);
    let worse = tool("a", "One.", r#","annotations":{"destructive":true}"#);
    assert_eq!(
        lines(&a, &worse),
        ["wording     a, destructive: unset -> true"]
    );
    let later = tool("a", "One.", r#","annotations":{"background":true}"#);
    assert_eq!(
        lines(&a, &later),
        ["wording     a, background: unset -> true"]
    );
    let title = tool("a", "One.", r#","title":"A""#);
    assert_eq!(lines(&a, &title), ["wording     a, title: added"]);
    let rules = |rules: &str| {
        tool(
            "a",
            "One.",
            &format!(r#","freeform":true,"grammar":"{rules}""#),
        )
    };
    assert_eq!(
        lines(&rules("start: A"), &rules("start: B")),
        ["wording     a, grammar: changed"]
    );
}

#[test]
fn an_invalid_lock_file_is_reported_and_left_unchanged() {
    let folder = std::env::temp_dir().join(format!("tool-core-lock-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("tools.lock.json");
    let tools = lock(r#"{"type":"object"}"#, None);
    let changed = lock(r#"{"type":"object","minProperties":1}"#, None);

    let missing = tools.check_or_update(&path, false).unwrap_err();
    assert!(matches!(missing.kind(), LockErrorKind::Missing));
    assert!(
        missing
            .to_string()
            .contains("with TOOL_CORE_UPDATE=1 to create it"),
        "{missing}"
    );
    assert!(!path.exists());

    for text in [
        "",
        "<<<<<<< HEAD\n{}",
        "[]",
        r#"{"tools":{}}"#,
        r#"{"version":0,"tools":{}}"#,
        r#"{"version":1,"tools":[]}"#,
        r#"{"version":1,"tools":{},"owner":"another program"}"#,
        r#"{"version":1,"tools":{"a":{"description":"A."}}}"#,
        r#"{"version":2,"tools":{"a":{}}}"#,
    ] {
        std::fs::write(&path, text).unwrap();
        for is_updating in [false, true] {
            let error = tools.check_or_update(&path, is_updating).unwrap_err();
            let is_newer = matches!(error.kind(), LockErrorKind::Newer(_));
            assert_eq!(is_newer, text.contains(":2"), "{text}");
            assert!(error.to_string().contains("left unchanged"), "{error}");
            assert!(error.to_string().contains("tools.lock.json"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    std::fs::remove_file(&path).unwrap();
    tools.check_or_update(&path, true).unwrap();
    tools.check_or_update(&path, false).unwrap();
    let error = changed.check_or_update(&path, false).unwrap_err();
    assert_eq!(
        error.changes().and_then(Changes::class),
        Some(Class::Breaking)
    );
    assert!(
        error
            .to_string()
            .contains("breaking    t, parameters: minProperties 1 added"),
        "{error}"
    );
    assert_eq!(Lock::read(&path).unwrap(), tools);
    changed.check_or_update(&path, true).unwrap();
    assert_eq!(Lock::read(&path).unwrap(), changed);
    // No temporary file is left.
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_lock_is_equal_after_a_round_trip() {
    let text = lock(
        r#"{"type":"object","properties":{"z":{"maximum":1.0},"a":{}}}"#,
        Some("true"),
    );
    assert_eq!(text.to_string().parse::<Lock>().unwrap(), text);
    let windows = text.to_string().replace('\n', "\r\n");
    assert_eq!(windows.parse::<Lock>().unwrap(), text);
}

#[test]
fn the_lists_of_a_server_are_compared_like_locks() {
    let list = |schema: &str, hint: bool| {
        let tool = format!(
            r#"{{"name":"add-issue","description":"Adds.","annotations":{{"readOnlyHint":{hint}}},"inputSchema":{schema},"icons":[]}}"#
        );
        Lock::of_mcp(&format!(r#"{{"tools":[{tool}]}}"#)).unwrap()
    };
    let old = list(&object(r#""title":{"type":"string"}"#, r#""title""#), true);
    assert!(compare(&old, &old).is_empty());
    let new = list(
        &object(r#""title":{"type":"integer"}"#, r#""title""#),
        false,
    );
    assert_eq!(
        compare(&old, &new).to_string(),
        "2 breaking\n  breaking    add-issue, read_only: true -> false\n  breaking    add-issue, parameters.title: type string -> integer"
    );
    for text in ["", "[]", r#"{"version":1,"tools":{}}"#, r#"{"tools":[{}]}"#] {
        assert!(Lock::of_mcp(text).is_err(), "{text}");
    }
}
