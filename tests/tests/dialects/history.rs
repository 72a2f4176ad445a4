//! What a model writes never makes a later request invalid, for servers that check the history of a request.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use ::strict::{Format, Server, check};
use futures_util::{FutureExt, stream};
use properties::random::Random;
use serde_json::{Value, json};
use tool_agent::model::{Model, ModelError, ModelErrorKind, ModelFuture, Request, Response};
use tool_agent::run::{Run, RunOutcome};
use tool_agent::{Agent, Compaction};
use tool_core::dialect::{Dialect, RequestOptions, ToolChoice, Turn};
use tool_core::{Registry, ToolCall, ToolResult, tools};
use tool_dialects::{Anthropic, Bedrock, Gemini, Mistral, OpenAiChat, OpenAiResponses};

use super::streams::split;
use super::{get_forecast, list_alarms, registry};

const NAMES: [&str; 16] = [
    "get_forecast",
    "functions.get_forecast",
    "default_api.get_forecast",
    "tools/get_forecast",
    "get_forecast<|channel|>commentary",
    "<|channel|>commentary",
    "<|start|>get_forecast",
    "print(default_api.get_forecast(city='Oslo'))",
    "get_forecast()",
    "get_forecast ",
    "get forecast",
    "7_days",
    "天気",
    "",
    "-",
    "an_invented_name_of_eighty_letters_which_no_provider_accepts_anywhere_because_it_is_long",
];

const ARGUMENTS: [&str; 17] = [
    r#"{"city":"Oslo"}"#,
    "{\n  \"city\": \"Oslo\"\n}",
    r#"{"city":"Os"#,
    r#"{"city":"Oslo"}{"city":"Rome"}"#,
    r#"["x"]"#,
    "null",
    "",
    " ",
    "```json\n{\"city\":\"Oslo\"}\n```",
    "True",
    "7",
    r#""{\"city\":\"Oslo\"}""#,
    r#""Oslo""#,
    r#"{"city":"\ud800"}"#,
    r#"{"city":1e999}"#,
    r#"{"city":NaN}"#,
    "{'city': 'Oslo'}",
];

/// A text that a model may write: a known mistake, or anything.
fn written(known: &[&str], random: &mut Random) -> String {
    if random.percent(70) {
        return (*random.pick(known)).to_owned();
    }
    let letters = [
        '{', '}', '"', '\\', ':', ',', '[', 'u', 'd', '8', '0', '.', '<', '|', 'é', '\n', '\0',
    ];
    let text = (0..random.below(12)).map(|_| *random.pick(&letters));
    let text: String = text.collect();
    if random.percent(5) {
        text.repeat(300)
    } else {
        text
    }
}

fn rounds() -> usize {
    if std::env::var_os("TOOL_CORE_LONG").is_some() {
        100_000
    } else {
        600
    }
}

/// Returns the body of a request.
fn body(dialect: &dyn Dialect, format: Format, registry: &Registry, messages: &[Value]) -> Value {
    let request = registry.request(dialect).history(messages).build().unwrap();
    serde_json::from_str(&request.body(json!({ format.history(): messages }))).unwrap()
}

/// Reads the events of a stream.
fn read_stream(dialect: &dyn Dialect, events: &[Value]) -> Turn {
    let mut reader = dialect.stream();
    for event in events {
        reader.event(event).unwrap();
    }
    reader.finish().unwrap().0
}

/// Replaces the arguments of the call in a whole response by the value that the text is.
fn with_any_value(provider: &str, mut response: Value, arguments: &str) -> Value {
    let (list, path) = match provider {
        "anthropic" => ("/content", "/input"),
        "bedrock" => ("/output/message/content", "/toolUse/input"),
        "gemini" => ("/candidates/0/content/parts", "/functionCall/args"),
        "gemini-interactions" => ("/steps", "/arguments"),
        _ => return response,
    };
    let value = serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments));
    let calls = response.pointer_mut(list).unwrap().as_array_mut().unwrap();
    *calls.last_mut().unwrap().pointer_mut(path).unwrap() = value;
    response
}

/// A model whose server checks each request.
struct Checked {
    format: Format,
    responses: Arc<Mutex<VecDeque<Response>>>,
}

impl Model for Checked {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        let messages = request.messages.iter();
        let messages: Vec<_> = messages.map(|message| Value::clone(message)).collect();
        let body = request.body(json!({ self.format.history(): messages }));
        let answer = match check(self.format, &serde_json::from_str(&body).unwrap()) {
            Ok(()) => Ok(self.responses.lock().unwrap().pop_front().unwrap()),
            Err(error) => Err(ModelError::new(
                ModelErrorKind::Rejected,
                format!("{error}: {body}"),
            )),
        };
        Box::pin(std::future::ready(answer))
    }
}

impl Checked {
    fn new(format: Format, responses: impl IntoIterator<Item = Response>) -> Checked {
        let responses = Arc::new(Mutex::new(responses.into_iter().collect()));
        Checked { format, responses }
    }
}

fn streamed(events: Vec<Value>) -> Response {
    Response::stream(stream::iter(events.into_iter().map(Ok)))
}

fn dialect(provider: &str) -> Box<dyn Dialect> {
    let mut dialects = split::dialects().into_iter();
    dialects.find(|(name, _)| *name == provider).unwrap().1
}

fn run(agent: &Agent, run: &mut Run) -> RunOutcome {
    let mut running = Box::pin(agent.run(run));
    // It lets others run now and then.
    let mut polls = (0..100_000).map(|_| (&mut running).now_or_never());
    polls.find_map(|outcome| outcome).expect("an end").unwrap()
}

#[test]
fn a_conversation_stays_sendable_whatever_a_model_writes() {
    let formats: Vec<_> = Format::all().collect();
    let strict = registry();
    let tools = tools![get_forecast, list_alarms];
    let lenient = Registry::builder().tools(tools).lenient().build().unwrap();
    let mut random = Random::named("history", 1);
    for round in 0..rounds() {
        let format = formats[round % formats.len()];
        let provider = format.dialect();
        let dialect = dialect(provider);
        let registry = if random.percent(50) {
            &strict
        } else {
            &lenient
        };
        let (name, arguments) = (
            written(&NAMES, &mut random),
            written(&ARGUMENTS, &mut random),
        );
        let reasons = format == Format::Chat(Server::DeepSeek);
        let case = format!("{format:?}: {name:?} with {arguments:?}");
        let ends = (reasons, random.percent(20));
        let (events, whole) = split::calling(provider, (&name, &arguments), ends, &mut random);
        let whole = with_any_value(provider, whole, &arguments);
        let (said_events, said) = split::saying(provider, "It is warm.", &mut random);
        let is_streamed = random.percent(50);

        // In a loop of one's own.
        let turn = if is_streamed {
            read_stream(&*dialect, &events)
        } else {
            dialect.read(&whole).unwrap()
        };
        let calls = turn.calls.iter().cloned();
        let results: Vec<_> = calls
            .map(|call| registry.call(call).now_or_never().unwrap())
            .collect();
        let mut messages = vec![dialect.user_message("How warm is it in Oslo?")];
        messages.extend(dialect.follow_up(&turn, &results));
        let second = body(&*dialect, format, registry, &messages);
        check(format, &second).unwrap_or_else(|error| panic!("{case}: {error}: {second}"));
        messages.extend(dialect.follow_up(&dialect.read(&said).unwrap(), &[]));
        messages.push(dialect.user_message("Thanks!"));
        let third = body(&*dialect, format, registry, &messages);
        check(format, &third).unwrap_or_else(|error| panic!("{case}: {error}: {third}"));

        // With an agent, and a run that is saved and loaded.
        let mut responses = Vec::new();
        if is_streamed {
            responses.extend([events, said_events.clone(), said_events].map(streamed));
        } else {
            responses.extend([whole, said.clone(), said].map(Response::from));
        }
        let agent = Agent::new(registry.clone(), dialect, Checked::new(format, responses));
        let mut conversation = Run::new("conversation-1");
        let question = agent.dialect().user_message("How warm is it in Oslo?");
        conversation.push(question).unwrap();
        let outcome = run(&agent, &mut conversation);
        assert_eq!(
            outcome,
            RunOutcome::Answered("It is warm.".into()),
            "{case}"
        );
        let saved = serde_json::to_string(&conversation).unwrap();
        let mut loaded: Run = serde_json::from_str(&saved).unwrap();
        loaded
            .push(agent.dialect().user_message("Thanks!"))
            .unwrap();
        assert!(
            matches!(run(&agent, &mut loaded), RunOutcome::Answered(_)),
            "{case}"
        );
        // The run has what the model wrote.
        let (call, _) = loaded.rounds()[0].calls().next().unwrap();
        assert_eq!(call.name, name, "{case}");
    }
}

/// A message of the model with one call.
fn calling(name: &str, arguments: &str) -> Value {
    json!({"role": "assistant", "content": "", "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}},
    ]})
}

#[test]
fn what_a_provider_accepts_is_repeated_byte_for_byte() {
    let dialect = OpenAiChat::default();
    let signed = json!({"role": "assistant", "content": "", "reasoning_content": "Hm.", "refusal": null,
        "reasoning_details": [{"type": "reasoning.encrypted", "data": "EqQB"}], "annotations": [],
        "tool_calls": [{"id": "functions.get_forecast:0", "type": "function", "index": 0,
            "extra_content": {"google": {"thought_signature": "EqQB"}},
            "function": {"name": "get_forecast", "arguments": "{ \"b\": 1.0, \"a\":\n\"\\u00e9\" }"}}]});
    assert!(matches!(
        dialect.repeat(&signed),
        std::borrow::Cow::Borrowed(_)
    ));
    let thinking = json!({"role": "assistant", "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"},
        {"type": "tool_use", "id": "toolu_1", "name": "get_forecast", "input": {"city": "Oslo"}},
    ]});
    assert!(matches!(
        Anthropic::default().repeat(&thinking),
        std::borrow::Cow::Borrowed(_)
    ));
    // Gemini's signature may come with an empty text.
    let part = json!({"role": "model", "parts": [{"text": "", "thoughtSignature": "EqQB"}]});
    assert!(matches!(
        Gemini::default().repeat(&part),
        std::borrow::Cow::Borrowed(_)
    ));
}

#[test]
fn a_name_that_no_tool_can_have_becomes_the_nearest_one() {
    let dialect = OpenAiChat::default();
    let sent = |name: &str| {
        let message = calling(name, "{}");
        dialect.repeat(&message)["tool_calls"][0]["function"]["name"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    for name in [
        "functions.get_weather",
        "default_api.get_weather",
        "tools/get_weather",
        "get_weather<|channel|>commentary",
        "<|start|>get_weather",
        "get_weather()",
        "get_weather:",
        " get_weather",
        "get weather",
        "print(get_weather",
    ] {
        let expected = if name.starts_with("print") {
            "print"
        } else {
            "get_weather"
        };
        assert_eq!(sent(name), expected, "{name}");
    }
    for name in ["", "-.-", "天気", "<|channel|>"] {
        assert_eq!(sent(name), "unknown_tool", "{name}");
    }
    assert_eq!(sent(&"x".repeat(80)), "x".repeat(64));
}

#[test]
fn arguments_that_are_no_object_keep_what_the_model_wrote_in_one() {
    let dialect = OpenAiChat::default();
    let sent = |arguments: Value| {
        let mut message = calling("get_weather", "");
        message["tool_calls"][0]["function"]["arguments"] = arguments;
        let sent = dialect.repeat(&message)["tool_calls"][0]["function"]["arguments"].clone();
        sent.as_str().unwrap().to_owned()
    };
    for nothing in [
        json!(""),
        json!(" "),
        json!("null"),
        json!("\"\""),
        Value::Null,
    ] {
        assert_eq!(sent(nothing), "{}");
    }
    assert_eq!(
        sent(json!(r#"{"city":"Os"#)),
        r#"{"INVALID_JSON":"{\"city\":\"Os"}"#
    );
    assert_eq!(sent(json!(["x"])), r#"{"INVALID_JSON":"[\"x\"]"}"#);
    // The object is clear in these.
    assert_eq!(sent(json!({"city": "Oslo"})), r#"{"city":"Oslo"}"#);
    assert_eq!(
        sent(json!(r#""{\"city\":\"Oslo\"}""#)),
        r#"{"city":"Oslo"}"#
    );
}

/// llama-cpp-python writes `null` and rejects it; Groq rejects keys that it writes.
#[test]
fn chat_repeats_no_null_and_no_key_that_only_responses_have() {
    let message = json!({"role": "assistant", "content": null, "reasoning": "Hm.", "channel": "commentary",
        "executed_tools": [], "function_call": {"name": "get_weather", "arguments": "{}"},
        "tool_calls": [{"id": 7, "function": {"name": "get_weather", "arguments": "{}"}}]});
    let response = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]});
    let dialect = OpenAiChat::default();
    let turn = dialect.read(&response).unwrap();
    let result = ToolResult::new(&turn.calls[0], "warm");
    let expected = [
        json!({"role": "assistant", "content": "", "tool_calls": [
            {"id": "7", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}},
        ]}),
        json!({"role": "tool", "tool_call_id": "7", "content": "warm"}),
    ];
    assert_eq!(dialect.follow_up(&turn, &[result]), expected);
    let empty = json!({"role": "assistant", "content": null, "tool_calls": []});
    assert_eq!(
        *dialect.repeat(&empty),
        json!({"role": "assistant", "content": ""})
    );
    assert_eq!(
        *Mistral::default().repeat(&empty),
        json!({"role": "assistant", "content": "(no text)"})
    );
}

#[test]
fn an_id_that_a_provider_rejects_is_replaced_in_the_call_and_in_its_result() {
    let long = "x".repeat(65);
    let result = |dialect: &dyn Dialect| {
        let result = ToolResult::new(&ToolCall::new(&*long, "get_weather", "{}"), "warm");
        dialect.repeat(&dialect.results(&[result])[0]).into_owned()
    };
    let dialect = OpenAiResponses::default();
    let call =
        json!({"type": "function_call", "call_id": long, "name": "get_weather", "arguments": "{}"});
    let sent = dialect.repeat(&call)["call_id"].clone();
    assert!(sent.as_str().unwrap().len() <= 64);
    assert_eq!(result(&dialect)["call_id"], sent);
    let dialect = Bedrock::default();
    let call = json!({"toolUse": {"toolUseId": long, "name": "get_weather", "input": {}}});
    let message = json!({"role": "assistant", "content": [call]});
    let sent = dialect.repeat(&message)["content"][0]["toolUse"]["toolUseId"].clone();
    assert_eq!(
        result(&dialect)["content"][0]["toolResult"]["toolUseId"],
        sent
    );
    let dialect = Mistral::default();
    let sent = dialect.repeat(&calling("get_weather", "{}"))["tool_calls"][0]["id"].clone();
    assert_eq!(sent.as_str().unwrap().len(), 9);
}

/// Anthropic and Bedrock reject messages with calls in a request without tools.
#[test]
fn a_request_has_the_tools_that_its_messages_name() {
    for format in [Format::Bedrock, Format::Anthropic] {
        let provider = format.dialect();
        let mut random = Random::new(1);
        let said = split::saying(provider, "It is warm.", &mut random).1;
        let mut count = 0;
        let mut call = |name| {
            let call = (name, r#"{"city":"Oslo"}"#);
            let response = split::calling(provider, call, (false, false), &mut random).1;
            count += 1;
            let text = response.to_string();
            let ids = ["\"t0\"", "\"t1\""];
            let text = ids.iter().fold(text, |text, id| {
                text.replace(id, &format!("\"call_{count}\""))
            });
            serde_json::from_str(&text).unwrap()
        };
        let responses = [call("get_forecast"), call("functions.invented")];
        let responses = responses.into_iter().chain([said.clone(), said.clone()]);
        let model = Checked::new(format, responses.map(Response::from));
        let agent = Agent::new(registry(), dialect(provider), model);
        let mut conversation = Run::new("conversation-1");
        conversation
            .push(agent.dialect().user_message("How warm is it?"))
            .unwrap();
        assert_eq!(
            run(&agent, &mut conversation),
            RunOutcome::Answered("It is warm.".into())
        );
        // No tool is left, or no call is allowed.
        for (registry, choice) in [
            (Registry::new(), ToolChoice::Auto),
            (super::registry(), ToolChoice::None),
        ] {
            let mut conversation = conversation.clone();
            let responses = [call("get_forecast"), said.clone()].map(Response::from);
            let model = Checked::new(format, responses);
            let agent = Agent::new(registry, dialect(provider), model)
                .request_options(RequestOptions::new().choice(choice));
            conversation
                .push(agent.dialect().user_message("And now?"))
                .unwrap();
            assert_eq!(
                run(&agent, &mut conversation),
                RunOutcome::Answered("It is warm.".into())
            );
            // The call that came nevertheless did not run.
            let (_, result) = conversation.rounds()[3].calls().next().unwrap();
            assert!(result.unwrap().is_error());
        }
    }
}

#[test]
fn a_summary_is_asked_for_with_the_tools_that_the_messages_name() {
    let provider = Format::Bedrock.dialect();
    let mut random = Random::new(1);
    let call = |random: &mut Random| {
        let call = ("get_forecast", r#"{"city":"Oslo"}"#);
        split::calling(provider, call, (false, false), random).1
    };
    let responses = [
        call(&mut random),
        call(&mut random),
        split::saying(provider, "The user asked for the weather.", &mut random).1,
        split::saying(provider, "It is warm.", &mut random).1,
    ];
    let model = Checked::new(Format::Bedrock, responses.map(Response::from));
    let agent = Agent::new(registry(), Bedrock::default(), model);
    let agent = agent.compact(Compaction::at_tokens(1).keep(1));
    let mut conversation = Run::new("conversation-1");
    conversation
        .push(agent.dialect().user_message("How warm is it?"))
        .unwrap();
    assert_eq!(
        run(&agent, &mut conversation),
        RunOutcome::Answered("It is warm.".into())
    );
    let summary = conversation.messages()[0].to_string();
    assert!(
        summary.contains("The user asked for the weather."),
        "{summary}"
    );
}

/// Bedrock rejects two messages of the user in a row.
#[test]
fn a_summary_and_the_question_after_it_have_a_message_between_them_where_roles_alternate() {
    let mut random = Random::new(1);
    let mut say = |text: &str| split::saying("bedrock", text, &mut random).1;
    let responses = [
        say("It is warm."),
        say("The user asked."),
        say("It is cold."),
    ];
    let model = Checked::new(Format::Bedrock, responses.map(Response::from));
    let agent = Agent::new(registry(), Bedrock::default(), model);
    let agent = agent.compact(Compaction::at_tokens(1).keep(1));
    let mut conversation = Run::new("conversation-1");
    for (question, answer) in [
        ("And today?", "It is warm."),
        ("And tomorrow?", "It is cold."),
    ] {
        let question = agent.dialect().user_message(question);
        conversation.push(question).unwrap();
        assert_eq!(
            run(&agent, &mut conversation),
            RunOutcome::Answered(answer.into())
        );
    }
    // `Checked` accepts the summary and the question only with a message between them, which is not saved.
    let messages = conversation.messages();
    let content = |at: usize| messages[at]["content"].to_string();
    assert!(content(0).contains("The user asked."), "{}", content(0));
    assert!(content(1).contains("And tomorrow?"), "{}", content(1));
    assert_eq!(messages.len(), 3);
}
