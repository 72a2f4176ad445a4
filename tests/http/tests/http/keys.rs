//! Where keys come from, and where they go.

use std::env;
use std::process::Command;

use serde_json::json;
use tool_agent::model::{HttpModel, ModelError, ModelErrorKind};
use tool_core::dialect::Dialect;
use tool_dialects::{Bedrock, Cohere, OpenAiChat};

use crate::server::{Server, json};
use crate::{KEY, ask, assert_no_secret};

/// Runs an ignored test of this program with other environment variables.
pub(crate) fn run_with(variables: &[(&str, &str)], test: &str) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "--ignored", test, "--nocapture"]);
    for name in [
        "OPENAI_API_KEY",
        "COHERE_API_KEY",
        "CO_API_KEY",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "DATABRICKS_HOST",
        "GOOGLE_CLOUD_LOCATION",
        "GOOGLE_CLOUD_PROJECT",
        "GROQ_API_KEY",
    ] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    let ran = command.output().unwrap();
    let out = String::from_utf8_lossy(&ran.stdout);
    let log = String::from_utf8_lossy(&ran.stderr);
    assert!(
        ran.status.success() && out.contains("1 passed"),
        "{out}\n{log}"
    );
    assert!(!out.contains(KEY) && !log.contains(KEY));
}

fn sent_key(set: impl FnOnce(HttpModel) -> HttpModel) -> Option<String> {
    let server = Server::start([json(&json!({"choices": []}))]);
    let dialect = OpenAiChat::default();
    let model = set(HttpModel::new(&dialect, "m").base_url(&server.url));
    ask(&dialect, &model).unwrap();
    assert_no_secret(&[&model]);
    server.received()[0]
        .header("authorization")
        .map(str::to_owned)
}

#[test]
fn a_key_in_the_environment_is_for_its_provider_alone() {
    run_with(&[("OPENAI_API_KEY", KEY)], "keys::child_with_a_key");
    run_with(&[], "keys::child_without_a_key");
}

#[test]
#[ignore = "run by another test"]
fn child_with_a_key() {
    assert_eq!(sent_key(|model| model), None);
    let bearer = Some(format!("Bearer {KEY}"));
    assert_eq!(
        sent_key(|model| model.key_from_env("OPENAI_API_KEY")),
        bearer
    );
}

#[test]
#[ignore = "run by another test"]
fn child_without_a_key() {
    let error = |dialect: &dyn Dialect, model: HttpModel| {
        let error = ask(dialect, &model).unwrap_err();
        (error.kind(), error.to_string())
    };
    let missing = |provider: &str, url: &str, names: &str| {
        let text = format!(
            "the request to m at {url} failed: no key{provider}: set {names}, or call `HttpModel::key`"
        );
        (ModelErrorKind::Unauthorized, text)
    };
    let openai = "https://api.openai.com/v1/chat/completions";
    let dialect = OpenAiChat::default();
    let model = HttpModel::new(&dialect, "m");
    assert_eq!(
        error(&dialect, model.clone()),
        missing(" for OpenAI", openai, "OPENAI_API_KEY")
    );
    for name in ["OTHER", "", "A=B", "A\0B"] {
        assert_eq!(
            error(&dialect, model.clone().key_from_env(name)),
            missing("", openai, name)
        );
    }
    let cohere = Cohere::default();
    let model = HttpModel::new(&cohere, "m");
    assert_eq!(
        error(&cohere, model),
        missing(
            " for Cohere",
            "https://api.cohere.com/v2/chat",
            "COHERE_API_KEY or CO_API_KEY"
        )
    );
    let bedrock = Bedrock::default();
    let (kind, text) = error(&bedrock, HttpModel::new(&bedrock, "m"));
    assert_eq!(kind, ModelErrorKind::Other);
    assert!(text.contains("AWS_REGION"), "{text}");
}

#[test]
fn a_region_can_not_change_the_host() {
    let variables = [
        ("AWS_REGION", "evil.example/"),
        ("AWS_BEARER_TOKEN_BEDROCK", KEY),
    ];
    run_with(&variables, "keys::child_with_a_bad_region");
}

#[test]
#[ignore = "run by another test"]
fn child_with_a_bad_region() {
    let bedrock = Bedrock::default();
    let error = ask(&bedrock, &HttpModel::new(&bedrock, "m")).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("has characters other than letters"), "{text}");
}

#[test]
fn keys_come_from_text_and_callbacks() {
    let bearer = Some(format!("Bearer {KEY}"));
    assert_eq!(sent_key(|model| model.key(KEY)), bearer);
    // Files of keys end with a line break.
    assert_eq!(sent_key(|model| model.key(format!("{KEY}\n"))), bearer);
    assert_eq!(
        sent_key(|model| model.key_with(async || Ok(KEY.to_owned()))),
        bearer
    );
    assert_eq!(sent_key(|model| model.key(KEY).without_key()), None);
    let own = sent_key(|model| {
        model
            .key("other key")
            .header("Authorization", format!("Bearer {KEY}"))
    });
    assert_eq!(own, bearer);

    let dialect = OpenAiChat::default();
    let failing = async || {
        Err(ModelError::new(
            ModelErrorKind::Unauthorized,
            "no token today",
        ))
    };
    let model = HttpModel::new(&dialect, "m").key_with(failing);
    let error = ask(&dialect, &model).unwrap_err().to_string();
    assert!(error.ends_with(" failed: no token today"), "{error}");
}
