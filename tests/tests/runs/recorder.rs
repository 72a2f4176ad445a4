//! Recordings of conversations with secrets.

use std::fs;
use std::sync::{Arc, Mutex};

use futures_util::stream;
use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::model::{Model, ModelFuture, Request, Response};
use tool_agent::testing::{RecordedModel, Recorder, Recording, ScriptedModel};
use tool_core::{Registry, tool, tools};
use tool_dialects::Anthropic;

use super::saving::TempFolder;
use super::{calling, dialect, saying};

/// The secrets with which doors were opened.
#[derive(Clone, Default)]
struct Opened(Arc<Mutex<Vec<String>>>);

/// Opens a door.
#[tool(unlinked)]
fn open_door(key: &str, account: Option<u32>, #[param(context)] opened: &Opened) -> String {
    opened.0.lock().unwrap().push(format!("{key} {account:?}"));
    format!("opened by https://door.example/?key={key}, Authorization: Bearer {key}")
}

fn registry(opened: &Opened) -> Registry {
    let builder = Registry::builder().tools(tools![open_door]);
    builder.context(opened.clone()).build().unwrap()
}

/// Answers as chat completions stream: a call, then a text, in pieces of three letters.
struct InPieces(String);

impl Model for InPieces {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        let arguments = json!({"key": self.0}).to_string();
        let response = match request.messages.len() {
            1 => calling(&[("open_door", &arguments)]),
            _ => saying(&format!("{0} opened it. Keep {0}.", self.0)),
        };
        let message = &response["choices"][0]["message"];
        let (kind, text) = match &message["content"] {
            Value::String(text) => ("content", text.clone()),
            _ => ("arguments", arguments),
        };
        let letters: Vec<_> = text.chars().collect();
        let mut events = Vec::new();
        for (at, piece) in letters.chunks(3).enumerate() {
            let piece: String = piece.iter().collect();
            let mut call = json!({"index": 0, "function": {"arguments": piece}});
            if at == 0 {
                call["id"] = "call_1".into();
                call["function"]["name"] = "open_door".into();
            }
            let delta = match kind {
                "content" => json!({ "content": piece }),
                _ => json!({ "tool_calls": [call] }),
            };
            events.push(json!({"choices": [{"index": 0, "delta": delta}]}));
        }
        let reason = json!({"index": 0, "delta": {}, "finish_reason": "stop"});
        events.push(json!({"choices": [reason]}));
        let events = stream::iter(events.into_iter().map(Ok));
        Box::pin(async { Ok(Response::stream(events)) })
    }
}

/// Returns the texts of a file of recordings, with the pieces of streams together.
fn texts(value: &Value, found: &mut String) {
    match value {
        Value::String(text) => found.push_str(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => {
            for key in ["content", "arguments"] {
                members
                    .get(key)
                    .into_iter()
                    .for_each(|text| texts(text, found));
            }
            for (key, value) in members {
                if !["content", "arguments", "index", "id", "name"].contains(&&**key) {
                    texts(value, found);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn a_file_of_recordings_has_no_secret_and_replays_with_another_value() {
    // With letters that JSON escapes, and one that another has in it.
    for secret in ["sk-4711-0815", "a\"b\\c é\n42", "4711"] {
        let folder = TempFolder::new("recorder");
        let opened = Opened::default();
        let recorder = Recorder::new(InPieces(secret.into()))
            .keep_requests()
            .hide("ACCOUNT", "4711")
            .hide("KEY", secret);
        let agent = Agent::new(registry(&opened), dialect(), recorder.clone());
        let question = |key: &str| format!("Open the door with {key}.");
        let answer = agent.ask_blocking(&question(secret)).unwrap();
        assert_eq!(answer, format!("{secret} opened it. Keep {secret}."));

        fs::create_dir_all(&folder.0).unwrap();
        let file = folder.0.join("door.json");
        fs::write(&file, json!(recorder.recordings()).to_string()).unwrap();
        let written = fs::read_to_string(&file).unwrap();
        let escaped = json!(secret).to_string();
        let twice = json!(escaped.trim_matches('"')).to_string();
        for form in [secret, escaped.trim_matches('"'), twice.trim_matches('"')] {
            assert!(!written.contains(form), "{written}");
        }
        let mut said = String::new();
        texts(&serde_json::from_str(&written).unwrap(), &mut said);
        assert!(!said.contains(secret), "{said}");
        assert!(said.contains("opened it. Keep <"), "{said}");

        let recordings: Vec<Recording> = serde_json::from_str(&written).unwrap();
        let replayed = Opened::default();
        let name = if secret == "4711" { "ACCOUNT" } else { "KEY" };
        let model = RecordedModel::new(recordings).hide(name, "test-key");
        let agent = Agent::new(registry(&replayed), dialect(), model.clone());
        let answer = agent.ask_blocking(&question("test-key")).unwrap();
        assert_eq!(answer, "test-key opened it. Keep test-key.");
        assert_eq!(*opened.0.lock().unwrap(), [format!("{secret} None")]);
        assert_eq!(*replayed.0.lock().unwrap(), ["test-key None"]);

        let error = agent.ask_blocking(&question("test-key now")).unwrap_err();
        let error = error.to_string();
        assert!(
            !error.contains("test-key") && error.contains('<'),
            "{error}"
        );
    }
}

/// Keys, numbers and texts of a whole response.
#[test]
fn a_whole_response_has_no_secret() {
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "open_door",
        "input": {"key": "sk-0815", "account": 4711, "sk-0815": 1}});
    let done = json!({"type": "text", "text": "Done by sk-0815."});
    let responses = [call, done].map(|block| json!({"role": "assistant", "content": [block]}));
    let recorder = Recorder::new(ScriptedModel::new(responses));
    let recorder = recorder.keep_requests().hide("KEY", "sk-0815");
    // An empty one, such as a variable that is not set, is no secret.
    let recorder = recorder.hide("ACCOUNT", "4711").hide("NONE", "");
    let agent = Agent::new(
        registry(&Opened::default()),
        Anthropic::default(),
        recorder.clone(),
    );
    assert_eq!(agent.ask_blocking("Go.").unwrap(), "Done by sk-0815.");
    let written = json!(recorder.recordings()).to_string();
    assert!(
        !written.contains("0815") && !written.contains("4711"),
        "{written}"
    );
    assert_eq!(recorder.recordings().len(), 2);
}
