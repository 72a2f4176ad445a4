//! The program as it is called, with small inputs.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// Returns an empty folder of this test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("wire")
        .join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes lines as gzip does, with a name in the head.
fn write_responses(folder: &Path, lines: &[Value]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut bytes = vec![0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 255];
    bytes.extend(b"responses.jsonl\0");
    bytes.extend(miniz_oxide::deflate::compress_to_vec(text.as_bytes(), 6));
    // Nothing reads the sum and the length that follow.
    bytes.extend([0; 8]);
    std::fs::write(folder.join("responses.jsonl.gz"), bytes).unwrap();
}

/// Runs the program. Returns its code, its output and its errors.
fn run(arguments: &[&Path]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_wire"))
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn recorded(dialect: &str, mode: &str, body: impl ToString) -> Value {
    json!({"server": "test", "case": "case", "dialect": dialect, "mode": mode, "status": 200, "body": body.to_string()})
}

/// A response of each format with one call and a text.
fn responses() -> Vec<Value> {
    let arguments = r#"{"city":"Oslo"}"#;
    let chat = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant",
        "content": "Let me see.", "tool_calls": [{"id": "abcDEF123", "type": "function",
        "function": {"name": "get_weather", "arguments": arguments}}]}}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 7}});
    let chunks = [
        json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Let me see."}}]}),
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "abcDEF123", "type": "function",
            "function": {"name": "get_weather", "arguments": "{\"city\":"}}]}}]}),
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "\"Oslo\"}"}}]}}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
    ];
    let chunks: String = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    vec![
        recorded("openai-chat", "whole", &chat),
        recorded("openai-chat", "stream", chunks + "data: [DONE]\n\n"),
        recorded("mistral", "whole", &chat),
        recorded(
            "openai-responses",
            "whole",
            json!({"object": "response", "status": "completed", "output": [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me see."}]},
                {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": arguments},
            ]}),
        ),
        recorded(
            "anthropic",
            "whole",
            json!({"role": "assistant", "stop_reason": "tool_use", "content": [
            {"type": "text", "text": "Let me see."},
            {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Oslo"}},
        ], "usage": {"input_tokens": 5, "output_tokens": 7}}),
        ),
        recorded(
            "gemini",
            "whole",
            json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
                {"text": "Let me see."}, {"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}},
            ]}}]}),
        ),
        recorded(
            "gemini-interactions",
            "whole",
            json!({"status": "requires_action", "steps": [
                {"type": "model_output", "content": [{"type": "text", "text": "Let me see."}]},
                {"type": "function_call", "id": "fc_1", "name": "get_weather", "arguments": {"city": "Oslo"}},
            ]}),
        ),
        recorded(
            "bedrock",
            "whole",
            json!({"stopReason": "tool_use", "output": {"message": {"role": "assistant",
            "content": [{"text": "Let me see."},
                {"toolUse": {"toolUseId": "tooluse_1", "name": "get_weather", "input": {"city": "Oslo"}}}]}}}),
        ),
        recorded(
            "cohere",
            "whole",
            json!({"finish_reason": "TOOL_CALL", "message": {"role": "assistant",
            "tool_calls": [{"id": "call_1", "type": "function",
                "function": {"name": "get_weather", "arguments": arguments}}]}}),
        ),
    ]
}

#[test]
fn equal_readings_are_a_success() {
    let folder = folder("equal");
    write_responses(&folder, &responses());
    std::fs::write(folder.join("cases.json"), json!([
        {"name": "a call", "replies": [{"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "", "tool_calls": [{"id": "a", "type": "function",
            "function": {"name": "get_weather", "arguments": "{\"city\":\"Oslo\"}"}}]}}]}]},
        {"name": "a stream", "strict": true, "again": true, "replies": [{"sse": [
            {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "a", "type": "function",
                "function": {"name": "ping", "arguments": "{}"}}]}}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
            "[DONE]",
        ]}]},
        {"name": "an error", "replies": [{"status": 401, "body": {"error": {"message": "no key"}}}]},
    ]).to_string()).unwrap();
    let (code, output, errors) = run(&[&folder]);
    assert_eq!((code, &*errors), (0, ""), "{output}");
    assert!(
        output.contains(
            "9 responses, 5 streams, 9 calls, 0 errors in both readings, 0 empty turns; 3 cases"
        ),
        "{output}"
    );
    assert!(
        output
            .contains("a call: answered \"done\" [2 requests; ran get_weather{\"city\":\"Oslo\"}]"),
        "{output}"
    );
    assert!(
        output.contains(
            "a stream: answered \"done\", then answered \"done\" [3 requests; ran ping{}]"
        ),
        "{output}"
    );
    assert!(output.contains("an error: error: "), "{output}");
    assert!(output.ends_with("0 unexplained\n"), "{output}");
}

#[test]
fn what_is_read_otherwise_is_a_failure() {
    let folder = folder("otherwise");
    // No response, labelled as one.
    write_responses(
        &folder,
        &[recorded(
            "anthropic",
            "whole",
            json!({"content": "text", "choices": []}),
        )],
    );
    let (code, output, _) = run(&[&folder]);
    assert_eq!(code, 0, "{output}");
    // A stream whose events are cut off is no response, and the second reading does not notice.
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "Hi"}}]});
    write_responses(
        &folder,
        &[recorded(
            "openai-chat",
            "stream",
            format!("data: {chunk}\n\n"),
        )],
    );
    let (code, output, _) = run(&[&folder]);
    assert_eq!(code, 1, "{output}");
    assert!(
        output.contains("UNEXPLAINED openai-chat case: tool-core reads none"),
        "{output}"
    );
    assert!(output.ends_with("1 unexplained\n"), "{output}");
}

#[test]
fn wrong_arguments_are_said_in_a_sentence() {
    let empty = folder("empty");
    let broken = folder("broken");
    std::fs::write(broken.join("responses.jsonl.gz"), "text").unwrap();
    let form = folder("form");
    write_responses(&form, &[json!({"server": "test"})]);
    let list = folder("list");
    std::fs::write(list.join("cases.json"), r#"[{"name": "a"}]"#).unwrap();
    for (arguments, said) in [
        (&[][..], "give one argument"),
        (&[empty.as_path(), empty.as_path()], "give one argument"),
        (&[empty.as_path()], "has neither"),
        (&[Path::new("/no/such/folder")], "has neither"),
        (&[broken.as_path()], "is not compressed by gzip"),
        (&[form.as_path()], "line 1: `dialect` is no string"),
        (&[list.as_path()], "case 0: `replies` is no list"),
    ] {
        let (code, output, errors) = run(arguments);
        assert_eq!((code, &*output), (2, ""), "{errors}");
        assert!(
            errors.contains(said) && errors.lines().count() == 1,
            "{errors}"
        );
    }
}
