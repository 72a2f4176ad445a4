//! Whole tools, and the files that they are kept in.

use super::*;

fn read(tools: &str) -> Lock {
    format!("{{\"version\":1,\"tools\":{{{tools}}}}}")
        .parse()
        .unwrap()
}

#[test]
fn tools_come_go_and_take_other_names() {
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
    let title = tool("a", "One.", r#","title":"A""#);
    assert_eq!(lines(&a, &title), ["wording     a, title: added"]);
}

#[test]
fn a_file_that_is_no_lock_is_told_of_and_left_alone() {
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
    // Nothing but the file is left behind.
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_lock_is_the_same_when_it_is_read_again() {
    let text = lock(
        r#"{"type":"object","properties":{"z":{"maximum":1.0},"a":{}}}"#,
        Some("true"),
    );
    assert_eq!(text.to_string().parse::<Lock>().unwrap(), text);
    let windows = text.to_string().replace('\n', "\r\n");
    assert_eq!(windows.parse::<Lock>().unwrap(), text);
}
