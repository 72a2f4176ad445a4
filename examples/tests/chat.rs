//! Runs the chat as a user does.

use examples::program::run;
use examples::provider::Scripted;
use serde_json::json;

fn said(message: serde_json::Value) -> serde_json::Value {
    json!({"choices": [{"index": 0, "message": message}]})
}

#[test]
fn a_chat_streams_answers_and_calls_tools() {
    let function = json!({"name": "count_words", "arguments": "{\"text\":\"two words\"}"});
    let call = json!({"id": "call_1", "type": "function", "function": function});
    let server = Scripted::serve(vec![
        said(json!({"role": "assistant", "content": "Hello, you!"})),
        said(json!({"role": "assistant", "content": null, "tool_calls": [call]})),
        said(json!({"role": "assistant", "content": "It has 2."})),
    ])
    .unwrap();
    let url = server.url();
    let flags = ["--model", "any", "--url", &url];
    let ran = run("chat", &flags, "Hi!\nHow many words has \"two words\"?\n");
    let expected = "Hello, you!\n[count_words({\"text\":\"two words\"})]\nIt has 2.\n";
    assert_eq!((ran.code, &*ran.out), (Some(0), expected), "{}", ran.log);
    let asked = server.asked();
    assert_eq!(asked[0].path, "/chat/completions");
    assert_eq!(asked[0].body["stream"], true);
    // The second question has the first one before it, and the third request the call and its result.
    let roles: Vec<_> = asked[2].body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].clone())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "tool"]);
}

#[test]
fn an_unknown_server_and_a_missing_key_are_named() {
    let ran = run("chat", &["--model", "any", "--server", "grok"], "");
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.log.contains("there is no server") && ran.log.contains("groq, "),
        "{}",
        ran.log
    );
    let ran = run("chat", &["--model", "any", "--server", "databricks"], "");
    assert_eq!(ran.code, Some(1));
    assert!(ran.log.contains("set DATABRICKS_HOST"), "{}", ran.log);
}
