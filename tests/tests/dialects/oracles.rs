//! Test oracles: the providers' own Python packages check what the dialects write.
//!
//! `TOOL_CORE_ORACLES=1` enables it. It needs Python 3 and a package registry: the packages of
//! `tests/oracles/requirements.txt` are installed in a virtual environment below `target`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use properties::mutate;
use properties::random::Random;
use properties::sample::Sampler;
use properties::subject::Subject;
use serde_json::{Value, json};
use tool_agent::run::{Run, Step};
use tool_core::content::{Content, Image};
use tool_core::dialect::Dialect;
use tool_core::dialect::write::JsonWriter;
use tool_core::dialect::{HostedTool, Message, ToolChoice, Turn};
use tool_core::dynamic::DynamicTool;
use tool_core::hooks::Decision;
use tool_core::schema::Violation;
use tool_core::{
    Registry, RegistryBuilder, ToolCall, ToolEntry, ToolError, ToolErrorKind, ToolResult, tool,
    tools,
};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mcp, Mistral, OpenAiChat,
    OpenAiResponses, XAi,
};

#[path = "../../support/deferred.rs"]
mod deferred;

use super::{
    freeform, media, programmatic, registry, requests, sample_responses, streams, strict, trained,
    unanswered,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("oracles")
}

/// Returns a Python that has the packages.
fn python() -> PathBuf {
    // The tests of this program share the environment.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _installing = ONE_AT_A_TIME.lock();
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("oracles");
    let python = place.join("bin").join("python");
    let wanted = fs::read_to_string(folder().join("requirements.txt")).unwrap();
    let stamp = place.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return python;
    }
    let run = |command: &mut Command| assert!(command.status().unwrap().success(), "{command:?}");
    run(Command::new("python3").args(["-m", "venv"]).arg(&place));
    run(Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--requirement"])
        .arg(folder().join("requirements.txt")));
    fs::write(stamp, wanted).unwrap();
    python
}

/// Draws a line.
#[tool(
    unlinked,
    background,
    example = r#"{"points": [[0, 0], [3, 4.5]], "width": 2}"#,
    example = r#"{"points": [], "colours": {"first": "é\"\n"}}"#
)]
fn draw_line(
    points: Vec<(f64, f64)>,
    #[param(range = 1..=9)] width: Option<u8>,
    colours: Option<BTreeMap<String, String>>,
) -> usize {
    drop((width, colours));
    points.len()
}

/// Returns all tools of the table of types, and those of this test.
fn tools() -> Vec<ToolEntry> {
    let mut tools: Vec<_> = properties::table::rows()
        .into_iter()
        .map(|row| row.tool)
        .collect();
    tools.extend(registry().specs());
    tools.extend(strict::tools());
    tools.extend(tools![draw_line]);
    tools
}

/// Returns the messages of a run after the first one, with the calls of a response in the background: what repeats it,
/// the acknowledgements, and the results.
fn background(dialect: &dyn Dialect, response: &Value) -> Vec<Arc<Value>> {
    let mut turn = dialect.read(response).unwrap();
    // What is neither a call of these tools nor an answer would end the run.
    turn.unanswered.clear();
    turn.calls.retain(|call| call.server().is_none());
    let registry = Registry::new();
    for call in &turn.calls {
        if registry.get(&call.name).is_none() {
            let tool = DynamicTool::builder(&*call.name).description("Goes on.");
            let tool = tool.parameters(json!({"type": "object"})).background();
            let tool = tool.build(async |_, _| Ok::<_, String>("It ended."));
            registry.add(tool.unwrap()).unwrap();
        }
    }
    let mut run = Run::new("run-1");
    run.push(dialect.user_message("Go.")).unwrap();
    run.respond(dialect, &registry, turn).unwrap();
    let mut open = Vec::new();
    while let Step::Call(calls) = run.next() {
        run.start(&calls).unwrap();
        run.acknowledge(dialect, &registry, &calls).unwrap();
        for call in calls {
            if run.is_in_background(&call) {
                open.push(call);
            } else {
                // Its arguments are not valid.
                run.finish(dialect, registry.call_blocking(call)).unwrap();
            }
        }
    }
    if open.is_empty() {
        return Vec::new();
    }
    run.respond(dialect, &registry, Turn::new(Vec::new()))
        .unwrap();
    run.finish(dialect, registry.call_blocking(open.swap_remove(0)))
        .unwrap();
    assert!(matches!(run.next(), Step::Request(_)));
    run.messages()[1..].to_vec()
}

/// Returns the messages of conversations that moved to a dialect: from each other one a picture, a response with all kinds of
/// calls, and their results.
fn moved(to: &dyn Dialect) -> Vec<Vec<Arc<Value>>> {
    let picture = vec![
        Content::text("Look."),
        Image::png(*b"\x89PNG and more").into(),
    ];
    let instructions = "Answer in Portuguese.".to_owned();
    let pushed = [Message::System(instructions), Message::User(picture)];
    let (text, calls) = (String::new(), Vec::new());
    let said = Message::Model { text, calls };
    let is_conversation = |dialect: &dyn Dialect| dialect.write_message(&said).is_some();
    let mut conversations = Vec::new();
    for (from, response) in super::dialects() {
        let is_other = from.provider() != to.provider();
        if !is_other || !is_conversation(&*from) || !is_conversation(to) {
            continue;
        }
        let mut run = Run::new("run-1");
        let written = pushed
            .iter()
            .filter_map(|message| from.write_message(message));
        for message in written.flatten() {
            run.push(message).unwrap();
        }
        let mut turn = from.read(&response).unwrap();
        turn.unanswered.clear();
        run.respond(&*from, &registry(), turn).unwrap();
        while let Step::Call(calls) = run.next() {
            run.start(&calls).unwrap();
            for call in calls {
                run.finish(&*from, registry().call_blocking(call)).unwrap();
            }
        }
        run.translate(&*from, to).unwrap();
        assert!(matches!(run.next(), Step::Request(_)));
        conversations.push(run.messages().to_vec());
    }
    conversations
}

/// Returns what a dialect writes, reads and answers, as text: a `Value` would sort the keys.
fn case(name: &str, dialect: &dyn Dialect, response: &Value) -> String {
    let mut tools = JsonWriter::new();
    dialect.write_tools(&self::tools(), &[], &mut tools);
    let turn = dialect.read(response).unwrap();
    let each = turn.calls.clone().into_iter();
    let results: Vec<_> = each.map(|call| registry().call_blocking(call)).collect();
    let mut out = JsonWriter::new();
    out.object(|out| {
        out.key("tools").raw(&tools.into_string());
        out.key("response").raw(&response.to_string());
        let media = dialect.results(&media::results(&turn.calls));
        out.key("media").raw(&Value::from(media).to_string());
        out.key("requests").array(|out| {
            for fields in requests::fields_of_many_settings(dialect) {
                out.raw(&fields);
            }
        });
        out.key("background")
            .raw(&json!(background(dialect, response)).to_string());
        out.key("moved").raw(&json!(moved(dialect)).to_string());
        out.key("follow_up")
            .raw(&json!(dialect.follow_up(&turn, &results)).to_string());
    });
    format!("{}:{}", json!(name), out.into_string())
}

/// Runs a script with this input. Returns what it prints.
fn run(script: &str, input: &str) -> String {
    let mut oracle = Command::new(python())
        .arg(folder().join(script))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    oracle
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = oracle.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{said}");
    assert!(output.status.success(), "{said}");
    said
}

/// The packages of Anthropic and OpenAI put a stream together themselves.
#[test]
fn provider_packages_read_the_recorded_streams() {
    if std::env::var_os("TOOL_CORE_ORACLES").is_none_or(|value| value == "0") {
        return;
    }
    let cases = streams::recorded::cases().into_iter().map(|case| {
        let response = streams::read(&*case.dialect, &case.stream)
            .response
            .unwrap();
        let value = json!({"events": case.stream, "response": response});
        (case.name.to_owned(), value)
    });
    let events = freeform::streamed_responses();
    let response = streams::read(&OpenAiResponses::default(), &events).response;
    let custom = json!({"events": events, "response": response.unwrap()});
    let cases = cases.chain([("openai-responses-custom".to_owned(), custom)]);
    let cases: Value = cases.collect::<serde_json::Map<_, _>>().into();
    let said = run("streams.py", &cases.to_string());
    let counts: Value = serde_json::from_str(said.lines().last().unwrap_or_default()).unwrap();
    assert_eq!(counts.as_object().unwrap().len(), 10);
}

/// A part that a new version adds is not in the table of what expects an answer.
#[test]
fn provider_packages_have_no_part_that_the_table_lacks() {
    if std::env::var_os("TOOL_CORE_ORACLES").is_none_or(|value| value == "0") {
        return;
    }
    let packages: Value = serde_json::from_str(&run("answers.py", "")).unwrap();
    let table = unanswered::table();
    let packages = packages.as_object().unwrap();
    assert!(packages.keys().eq(table.keys()));
    for (provider, parts) in packages {
        let rows = table[provider].as_array().unwrap();
        let parts = parts.as_array().unwrap();
        assert_eq!(
            parts.len(),
            rows.len(),
            "{provider}: a part of the table is gone"
        );
        for part in parts {
            let kind = unanswered::kind(part);
            let row = rows
                .iter()
                .find(|row| unanswered::kind(&row["part"]) == kind);
            let row = row.unwrap_or_else(|| panic!("{provider}: {kind} is not in answers.json"));
            unanswered::check(provider, part, row["answer"].as_str().unwrap());
        }
    }
}

/// Custom tools and tools that programs call, with a response that has calls of both.
#[test]
fn provider_packages_accept_custom_tools_and_callers() {
    if std::env::var_os("TOOL_CORE_ORACLES").is_none_or(|value| value == "0") {
        return;
    }
    let tools = freeform::tools().into_iter().chain(programmatic::tools());
    let builder = Registry::builder().tools(tools);
    let registry = [
        json!({"type": "programmatic_tool_calling"}),
        json!({"type": "code_execution_20260120", "name": "code_execution"}),
    ]
    .into_iter()
    .map(HostedTool::new)
    .fold(builder, RegistryBuilder::hosted)
    .build()
    .unwrap();
    let texts = [("run_sql", "SELECT 1"), ("add", "1+x"), ("none", "")];
    let [(_, custom), (_, chat)] = freeform::responses(&texts);
    let mut responses = programmatic::responses();
    let items = responses["output"].as_array_mut().unwrap();
    items.extend(custom["output"].as_array().unwrap().clone());
    // Approved, denied and left open.
    items.extend(["mcpr_allow", "mcpr_deny", "mcpr_open"].map(|id| {
        json!({"type": "mcp_approval_request", "id": id, "server_label": "tickets", "name": "close",
            "arguments": "{}"})
    }));
    for item in items {
        // Custom calls have no status in the package.
        if item["type"] == "custom_tool_call" {
            item.as_object_mut().unwrap().remove("status");
        }
    }
    let with = |mut response: Value, more: Value| {
        let response_members = response.as_object_mut().unwrap();
        response_members.extend(more.as_object().unwrap().clone());
        response
    };
    let cases: [(&str, &dyn Dialect, Value); 3] = [
        (
            "openai-responses",
            &OpenAiResponses::default(),
            with(
                responses,
                json!({"id": "resp_1", "created_at": 1, "model": "gpt-5", "tools": [],
                       "tool_choice": "auto", "parallel_tool_calls": true}),
            ),
        ),
        (
            "openai-chat",
            &OpenAiChat::default(),
            with(
                chat,
                json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1,
                       "model": "gpt-5"}),
            ),
        ),
        (
            "anthropic",
            &Anthropic::default(),
            with(
                programmatic::anthropic_response(),
                json!({"id": "msg_1", "type": "message", "model": "claude", "stop_sequence": null,
                       "container": {"id": "container_1", "expires_at": "2026-11-22T00:00:00Z"},
                       "usage": {"input_tokens": 1, "output_tokens": 1}}),
            ),
        ),
    ];
    let cases = cases.map(|(name, dialect, response)| {
        let turn = dialect.read(&response).unwrap();
        let calls = turn.calls.iter().cloned();
        let results = calls.map(|call| {
            let result = registry.call_blocking(call.clone());
            let decision = match &*call.id {
                "mcpr_allow" => Decision::Allow,
                "mcpr_deny" => Decision::deny("no"),
                _ => return result,
            };
            let hold = result.error().unwrap().hold().unwrap().clone();
            registry.call_blocking(call.decided(hold, decision))
        });
        let results: Vec<_> = results.collect();
        let tools = json!(registry.render(dialect));
        let follow_up = dialect.follow_up(&turn, &results);
        let case = json!({"tools": tools, "response": response, "follow_up": follow_up});
        (name.to_owned(), case)
    });
    let cases: Value = serde_json::Map::from_iter(cases).into();
    let said = run("custom.py", &cases.to_string());
    let counts: Value = serde_json::from_str(said.lines().last().unwrap_or_default()).unwrap();
    let counts = counts.as_object().unwrap();
    assert_eq!(counts.len(), 3);
    assert!(
        counts.values().all(|count| count.as_u64() > Some(8)),
        "{counts:?}"
    );
}

#[test]
fn provider_packages_accept_deferred_tools() {
    if std::env::var_os("TOOL_CORE_ORACLES").is_none_or(|value| value == "0") {
        return;
    }
    let (anthropic, openai) = (deferred::anthropic_response(), deferred::openai_response());
    let dialects: [(&str, &dyn Dialect, Value); 4] = [
        ("anthropic", &Anthropic::default(), anthropic.clone()),
        ("anthropic-strict", &Anthropic::strict(), anthropic),
        ("openai", &OpenAiResponses::default(), openai.clone()),
        ("openai-strict", &OpenAiResponses::strict(), openai),
    ];
    let registry = deferred::registry();
    let cases = dialects.map(|(name, dialect, response)| {
        let turn = dialect.read(&response).unwrap();
        let calls = turn.calls.iter().cloned();
        let results: Vec<_> = calls.map(|call| registry.call_blocking(call)).collect();
        let follow_up = dialect.follow_up(&turn, &results);
        let tools = registry.render(dialect);
        let case = json!({"tools": tools, "response": response, "follow_up": follow_up});
        (name.to_owned(), case)
    });
    let cases: Value = cases.into_iter().collect::<serde_json::Map<_, _>>().into();
    let said = run("deferred.py", &cases.to_string());
    let counts: Value = serde_json::from_str(said.lines().last().unwrap_or_default()).unwrap();
    let counts = counts.as_object().unwrap();
    assert!(counts.len() == 4 && counts.values().all(|count| count.as_u64() > Some(8)));
}

/// Inputs of every kind that the packages describe are accepted, and the packages accept the entries and the results.
#[test]
fn provider_packages_agree_on_trained_tools() {
    if std::env::var_os("TOOL_CORE_ORACLES").is_none_or(|value| value == "0") {
        return;
    }
    let samples: Value = serde_json::from_str(&run("trained.py", "")).unwrap();
    let registry = trained::registry();
    let openai = OpenAiResponses::default();
    let anthropic = Anthropic::default();

    let mut items = samples["openai"].as_array().unwrap().clone();
    assert!(items.len() > 50, "{}", items.len());
    let turn = registry.claim(openai.read(&json!({"output": items})).unwrap());
    let is_refused = |result: &ToolResult| {
        let kind = result.error().map(ToolError::kind);
        kind.is_some_and(|kind| kind != ToolErrorKind::Failed)
    };
    assert_eq!((turn.calls.len(), turn.unanswered.len()), (items.len(), 0));
    let call = |call: &ToolCall| {
        let result = registry.call_blocking(call.clone());
        assert!(!is_refused(&result), "{call:?}: {result:?}");
        result
    };
    let mut openai_results: Vec<_> = turn.calls.iter().map(call).collect();
    let mut inputs = trained::anthropic_inputs();
    for (name, samples) in samples["anthropic"].as_object().unwrap() {
        let name = ["memory", "bash", "computer"]
            .into_iter()
            .find(|known| name == known);
        let samples = samples.as_array().unwrap().iter();
        inputs.extend(samples.map(|sample| (name.unwrap(), sample.clone())));
    }
    assert!(inputs.len() > 50, "{}", inputs.len());
    let calls = inputs.into_iter().enumerate();
    let calls = calls.map(|(at, (name, input))| ToolCall::new(format!("t{at}"), name, input));
    let calls: Vec<_> = calls.collect();
    let is_panic = |call: &&ToolCall| call.arguments.text().contains("panic");
    let anthropic_results: Vec<_> = calls
        .iter()
        .filter(|one| !is_panic(one))
        .map(call)
        .collect();

    // Calls that fail in every way.
    items = trained::openai_items();
    let turn = registry.claim(openai.read(&json!({"output": items})).unwrap());
    openai_results.extend(
        turn.calls
            .iter()
            .map(|call| registry.call_blocking(call.clone())),
    );
    let unknown = Registry::new();
    openai_results.extend(
        turn.calls
            .iter()
            .map(|call| unknown.call_blocking(call.clone())),
    );

    let deferred = Registry::builder()
        .tools(trained::tools())
        .defer(|_| true)
        .build()
        .unwrap();
    let names: Vec<_> = trained::tools()
        .iter()
        .map(|tool| tool.name.to_string())
        .collect();
    let requests = |dialect: &dyn Dialect| {
        let mut tools = Vec::new();
        for registry in [&registry, &deferred] {
            let request = registry.request(dialect).cached().build().unwrap();
            let body: Value = serde_json::from_str(&request.body(json!({}))).unwrap();
            tools.extend(body["tools"].as_array().unwrap().clone());
        }
        let mut choices = Vec::new();
        for name in &names {
            let request = registry.request(dialect).choice(ToolChoice::tool(name));
            let body = request.build().unwrap().body(json!({}));
            let body: Value = serde_json::from_str(&body).unwrap();
            choices.extend(Some(body["tool_choice"].clone()).filter(|choice| !choice.is_null()));
        }
        (tools, choices)
    };
    let case = |dialect: &dyn Dialect, results: &[ToolResult]| {
        let (tools, choices) = requests(dialect);
        json!({"tools": tools, "choices": choices, "results": dialect.results(results)})
    };
    let cases = json!({
        "anthropic": case(&anthropic, &anthropic_results),
        "openai": case(&openai, &openai_results),
    });
    let said = run("trained.py", &cases.to_string());
    let counts: Value = serde_json::from_str(said.lines().last().unwrap_or_default()).unwrap();
    assert!(counts["anthropic"].as_u64() > Some(80), "{counts}");
    assert!(counts["openai"].as_u64() > Some(250), "{counts}");
}

#[test]
fn provider_packages_accept_what_the_dialects_write() {
    if std::env::var_os("TOOL_CORE_ORACLES").is_none_or(|value| value == "0") {
        return;
    }
    let mut with_async_calls = sample_responses::responses();
    for item in with_async_calls["output"].as_array_mut().unwrap() {
        if item["type"] == "function_call" {
            item["async"] = true.into();
        }
    }
    let dialects: [(&str, &dyn Dialect, Value); 15] = [
        (
            "openai-chat",
            &OpenAiChat::default(),
            sample_responses::chat(),
        ),
        (
            "openai-chat-strict",
            &OpenAiChat::strict(),
            sample_responses::chat(),
        ),
        (
            "openai-responses",
            &OpenAiResponses::default(),
            sample_responses::responses(),
        ),
        (
            "openai-responses-strict",
            &OpenAiResponses::strict(),
            sample_responses::responses(),
        ),
        (
            "openai-responses-async",
            &OpenAiResponses::default().async_calls(),
            with_async_calls,
        ),
        (
            "anthropic",
            &Anthropic::default(),
            sample_responses::anthropic(),
        ),
        (
            "anthropic-strict",
            &Anthropic::strict(),
            sample_responses::anthropic(),
        ),
        ("gemini", &Gemini::default(), sample_responses::gemini()),
        (
            "gemini-open-api",
            &Gemini::open_api(),
            sample_responses::gemini(),
        ),
        (
            "gemini-interactions",
            &GeminiInteractions::default(),
            sample_responses::gemini_interactions(),
        ),
        ("bedrock", &Bedrock::default(), sample_responses::bedrock()),
        ("cohere", &Cohere::default(), sample_responses::cohere()),
        ("xai", &XAi::default(), sample_responses::chat()),
        ("mistral", &Mistral::default(), sample_responses::mistral()),
        ("mcp", &Mcp::default(), sample_responses::mcp()),
    ];
    let cases = dialects.map(|(name, dialect, response)| case(name, dialect, &response));
    let said = run("check.py", &format!("{{{}}}", cases.join(",")));
    let counts: Value = serde_json::from_str(said.lines().last().unwrap_or_default()).unwrap();
    let counts = counts.as_object().unwrap();
    assert_eq!(counts.len(), 15);
    assert!(
        counts.values().all(|count| count.as_u64() > Some(250)),
        "{counts:?}"
    );
}

/// Wherever `jsonschema.best_match` finds the fault of a value of no variant, a violation is at that place or
/// inside of it, and seldom only around it.
#[test]
fn unions_are_explained_where_the_best_match_is() {
    if std::env::var_os("TOOL_CORE_ORACLES").is_none_or(|value| value == "0") {
        return;
    }
    let mut cases = String::new();
    for subject in Subject::all() {
        if !subject.schema.to_string().contains("anyOf") {
            continue;
        }
        let name = subject.row.name;
        let mut random = Random::named(name, 11);
        let sampler = Sampler::new(&subject.schema);
        for _ in 0..300 {
            let valid = sampler.sample(&mut random);
            let value = mutate::value(&valid, &subject.schema, &mut random);
            let result = subject.call(&value.to_string(), false);
            let violations = result.error().map_or(&[][..], ToolError::violations);
            if !violations.is_empty() {
                let paths: Vec<_> = violations.iter().map(Violation::path).collect();
                let schema = &subject.schema;
                let case = json!({"name": name, "schema": schema, "value": value, "paths": paths});
                cases += &format!("{case}\n");
            }
        }
    }
    let said = run("unions.py", &cases);
    let counts: Value = serde_json::from_str(said.lines().last().unwrap_or_default()).unwrap();
    let count = |name: &str| counts[name].as_u64().unwrap();
    assert!(count("cases") > 20_000, "{counts}");
    // Elsewhere it looks at a tag that is right, or at a null that means an absent value.
    assert!(count("around") * 1000 < count("cases") * 7, "{counts}");
    assert!(count("inside") * 100 > count("cases") * 95, "{counts}");
}

/// Checks against the schema files of the protocol, if `TOOL_CORE_MCP_SCHEMAS` is the folder of
/// them.
#[test]
fn mcp_tools_and_results_follow_the_schema_files() {
    let Some(folder) = std::env::var_os("TOOL_CORE_MCP_SCHEMAS") else {
        return;
    };
    for (file, mcp) in [
        ("schema-2025-11-25.json", Mcp::v2025_11_25()),
        ("schema-2026-07-28.json", Mcp::v2026_07_28()),
    ] {
        let text = fs::read_to_string(Path::new(&folder).join(file)).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let validator = |name: &str| {
            let schema = json!({"$ref": format!("#/$defs/{name}"), "$defs": file["$defs"]});
            jsonschema::draft202012::new(&schema).unwrap()
        };
        let (tool, result) = (validator("Tool"), validator("CallToolResult"));
        let mut out = JsonWriter::new();
        mcp.write_tools(&tools(), &[], &mut out);
        let tools: Vec<Value> = serde_json::from_str(&out.into_string()).unwrap();
        for value in &tools {
            let problem = tool.validate(value).err().map(|error| error.to_string());
            assert_eq!(problem, None, "{value}");
        }
        let calls = mcp
            .read(&sample_responses::mcp())
            .unwrap()
            .calls
            .into_iter();
        let results: Vec<_> = calls.map(|call| registry().call_blocking(call)).collect();
        let responses = mcp.results(&results);
        let calls = mcp.read(&sample_responses::mcp()).unwrap().calls;
        let with_media = mcp.results(&media::results(&calls));
        let all = responses.iter().chain(&with_media);
        let mut results = all.filter_map(|response| response.get("result"));
        assert_eq!(results.clone().count(), 4 + calls.len());
        assert!(results.all(|value| result.is_valid(value)));
        assert!(!tool.is_valid(&json!({"name": "f"})));
    }
}
