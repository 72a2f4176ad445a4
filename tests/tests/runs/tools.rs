//! Tools that change in a conversation: what a provider has cached of it stays.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use ::strict::{Format, check};
use proptest::prelude::*;
use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::model::{ModelError, ModelErrorKind, Request};
use tool_agent::run::Run;
use tool_agent::testing::ScriptedModel;
use tool_core::dialect::{Dialect, RequestOptions};
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, ToolEntry};
use tool_dialects::{Anthropic, OpenAiChat, OpenAiResponses};

/// Returns a tool in one of its versions.
fn versioned(name: &str, version: u8) -> DynamicTool {
    DynamicTool::builder(name)
        .description(format!("Version {version} of {name}."))
        .build(|_, _| async { Ok::<_, String>("done") })
        .unwrap()
}

fn registry(tools: &BTreeMap<&str, u8>) -> Registry {
    let tools = tools
        .iter()
        .map(|(name, version)| versioned(name, *version));
    let tools: Vec<_> = tools.map(ToolEntry::from).collect();
    Registry::builder().tools(tools).build().unwrap()
}

/// Returns the body of a request.
fn body(request: &Request, key: &str) -> Value {
    let messages: Vec<_> = request
        .messages
        .iter()
        .map(|message| (**message).clone())
        .collect();
    serde_json::from_str(&request.body(json!({ key: messages }))).unwrap()
}

/// Returns what a provider compares with its cache, in its order: the tools, then the messages.
fn prompt(body: &Value, key: &str) -> String {
    let mut text = body["tools"].to_string();
    for message in body[key].as_array().unwrap() {
        write!(text, "\n{message}").unwrap();
    }
    text
}

/// Returns the tools that a model has after a request, with their descriptions.
fn offered(body: &Value, key: &str) -> BTreeMap<String, String> {
    let mut offered = BTreeMap::new();
    let add = |offered: &mut BTreeMap<_, _>, tools: &Value| {
        for tool in tools.as_array().into_iter().flatten() {
            let text = |key: &str| tool[key].as_str().unwrap().to_owned();
            offered.insert(text("name"), text("description"));
        }
    };
    add(&mut offered, &body["tools"]);
    for message in body[key].as_array().unwrap() {
        if message["type"] == "additional_tools" {
            add(&mut offered, &message["tools"]);
        }
        if message["role"] != "system" {
            continue;
        }
        for block in message["content"].as_array().unwrap() {
            let tool = &block["tool"];
            if block["type"] == "tool_addition" {
                add(&mut offered, &json!([tool["definition"]]));
            } else {
                offered.remove(tool["name"].as_str().unwrap());
            }
        }
    }
    if body["tool_choice"]["type"] == "allowed_tools" {
        let allowed = body["tool_choice"]["tools"].as_array().unwrap();
        offered.retain(|name, _| allowed.iter().any(|tool| tool["name"] == **name));
    }
    offered
}

fn expected(tools: &BTreeMap<&str, u8>) -> BTreeMap<String, String> {
    let describe =
        |(name, version): (&&str, &u8)| (name.to_string(), format!("Version {version} of {name}."));
    tools.iter().map(describe).collect()
}

/// What happens to a conversation.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A tool gets this version. 0 removes it.
    Tool(&'static str, u8),
    /// The user asks, and the model calls a tool first.
    Ask,
    /// The model can't be reached.
    Fail,
    /// Another process goes on.
    Move,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let tool = prop::sample::select(vec!["read_order", "refund", "ship"]);
    let event = prop_oneof![
        3 => (tool, 0..3_u8).prop_map(|(name, version)| Event::Tool(name, version)),
        3 => Just(Event::Ask),
        1 => Just(Event::Fail),
        1 => Just(Event::Move),
    ];
    prop::collection::vec(event, 1..16)
}

/// A conversation with an agent whose tools change.
struct Conversation<D> {
    dialect: D,
    key: &'static str,
    tools: BTreeMap<&'static str, u8>,
    registry: Arc<Mutex<Registry>>,
    model: ScriptedModel,
    agent: Agent,
    run: Run,
}

impl<D: Dialect + Clone + 'static> Conversation<D> {
    fn new(dialect: D, key: &'static str) -> Conversation<D> {
        // One that is never removed: a request without any has stubs for those in the messages.
        let tools = BTreeMap::from([("ping", 1), ("read_order", 1), ("refund", 1)]);
        let registry = Arc::new(Mutex::new(registry(&tools)));
        let model = ScriptedModel::default();
        let agent = agent(&dialect, &registry, &model);
        let run = Run::new("run-1");
        Conversation {
            dialect,
            key,
            tools,
            registry,
            model,
            agent,
            run,
        }
    }

    fn set(&mut self, name: &'static str, version: u8) {
        if version == 0 {
            self.tools.remove(name);
        } else {
            self.tools.insert(name, version);
        }
        *self.registry.lock().unwrap() = registry(&self.tools);
    }

    /// Goes on in another process.
    fn go_on_elsewhere(&mut self) {
        let saved = serde_json::to_string(&self.run).unwrap();
        self.run = serde_json::from_str(&saved).unwrap();
        self.agent = agent(&self.dialect, &self.registry, &self.model);
    }

    /// Asks, and returns the bodies of the requests.
    fn ask(&mut self, script: impl FnOnce(ScriptedModel) -> ScriptedModel) -> Vec<Value> {
        let before = self.model.requests().len();
        let _ = script(self.model.clone());
        self.run.push(self.dialect.user_message("Go on.")).unwrap();
        let _ = self.agent.run_blocking(&mut self.run);
        let requests = self.model.requests();
        requests[before..]
            .iter()
            .map(|request| body(request, self.key))
            .collect()
    }

    fn answered(&mut self) -> Vec<Value> {
        self.ask(|model| model.call("read_order", json!({})).say("Done."))
    }

    fn failed(&mut self) -> Vec<Value> {
        self.ask(|model| {
            model.push_error(ModelError::new(ModelErrorKind::Other, "down"));
            model
        })
    }
}

fn agent(
    dialect: &(impl Dialect + Clone + 'static),
    registry: &Arc<Mutex<Registry>>,
    model: &ScriptedModel,
) -> Agent {
    let registry = Arc::clone(registry);
    Agent::new(Registry::new(), dialect.clone(), model.clone())
        .request_options(RequestOptions::new().cached())
        .tools_with(move |_| std::future::ready(Ok(registry.lock().unwrap().clone())))
}

/// Lets things happen. Returns the bodies of all requests with the tools at that time, and the number of tools before each.
fn played<D: Dialect + Clone + 'static>(
    dialect: D,
    key: &'static str,
    events: &[Event],
) -> Vec<(Value, BTreeMap<String, String>)> {
    let mut conversation = Conversation::new(dialect, key);
    let mut bodies = Vec::new();
    for event in events {
        let new = match event {
            Event::Tool(name, version) => {
                conversation.set(name, *version);
                continue;
            }
            Event::Move => {
                conversation.go_on_elsewhere();
                continue;
            }
            Event::Ask => conversation.answered(),
            Event::Fail => conversation.failed(),
        };
        bodies.extend(
            new.into_iter()
                .map(|body| (body, expected(&conversation.tools))),
        );
    }
    bodies
}

/// Checks that the prompt of each request that follows a response starts with the last one.
fn prompts_grow(bodies: &[Value], key: &str) {
    for (before, after) in bodies.iter().zip(&bodies[1..]) {
        let (before, after) = (prompt(before, key), prompt(after, key));
        assert!(
            after.starts_with(&before),
            "{after}\ndoes not start with\n{before}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever happens to the tools, the model has those of the registry, and the provider accepts the request.
    #[test]
    fn the_model_has_the_tools_of_the_registry(events in events()) {
        for (body, tools) in played(Anthropic::default().inline_tools(), "messages", &events) {
            prop_assert_eq!(check(Format::Anthropic, &body), Ok(()));
            prop_assert_eq!(&offered(&body, "messages"), &tools);
        }
        for (body, tools) in played(OpenAiResponses::default().additional_tools(), "input", &events) {
            prop_assert_eq!(check(Format::Responses, &body), Ok(()));
            prop_assert_eq!(&offered(&body, "input"), &tools);
        }
        for (body, tools) in played(Anthropic::default(), "messages", &events) {
            prop_assert_eq!(check(Format::Anthropic, &body), Ok(()));
            prop_assert_eq!(&offered(&body, "messages"), &tools);
        }
    }

    /// Once a response has followed, the prompt stays the start of all later ones, in other processes too.
    #[test]
    fn messages_of_the_system_keep_the_prompt(events in events()) {
        let mut conversation = Conversation::new(Anthropic::default().inline_tools(), "messages");
        let mut bodies = conversation.answered();
        // A process that did not see the first list can only guess that the tools did not change since.
        conversation.set("ship", 1);
        bodies.extend(conversation.answered());
        for event in events {
            match event {
                Event::Tool(name, version) => conversation.set(name, version),
                Event::Move => conversation.go_on_elsewhere(),
                Event::Fail => _ = conversation.failed(),
                Event::Ask => bodies.extend(conversation.answered()),
            }
        }
        prompts_grow(&bodies, "messages");
    }
}

#[test]
fn openai_keeps_the_prompt_when_tools_are_added_or_removed() {
    let mut conversation =
        Conversation::new(OpenAiResponses::default().additional_tools(), "input");
    let mut bodies = conversation.answered();
    conversation.set("refund", 0);
    bodies.extend(conversation.answered());
    conversation.go_on_elsewhere();
    bodies.extend(conversation.answered());
    conversation.set("refund", 1);
    bodies.extend(conversation.answered());
    assert!(bodies.last().unwrap()["tool_choice"].is_null());
    conversation.set("ship", 1);
    bodies.extend(conversation.answered());
    prompts_grow(&bodies, "input");
    // Another definition needs another list.
    conversation.set("ship", 2);
    let after = conversation.answered();
    assert_eq!(offered(&after[0], "input"), expected(&conversation.tools));
    assert_eq!(after[0]["tools"].as_array().unwrap().len(), 4);
}

#[test]
fn a_rewritten_list_is_noted_with_what_keeps_the_prompt() {
    let mut conversation = Conversation::new(Anthropic::default(), "messages");
    conversation.answered();
    conversation.set("ship", 1);
    conversation.answered();
    let requests = conversation.model.requests();
    let notes: Vec<_> = requests.iter().map(Request::notes).collect();
    assert_eq!(
        notes,
        [&[][..], &[], &["the tools of the conversation changed, so that Anthropic does not find it in its cache; \
            `Anthropic::inline_tools` keeps it for models that take changes of tools".to_owned()], &[]]
    );
}

#[test]
fn a_summary_and_another_provider_start_with_the_tools_of_the_registry() {
    let mut conversation = Conversation::new(Anthropic::default().inline_tools(), "messages");
    conversation.answered();
    conversation.set("ship", 1);
    conversation.answered();
    let (anthropic, openai) = (Anthropic::default(), OpenAiChat::default());
    conversation.run.translate(&anthropic, &openai).unwrap();
    let model = ScriptedModel::default().say("Done.");
    let agent = agent(&openai, &conversation.registry, &model);
    conversation
        .run
        .push(openai.user_message("Go on."))
        .unwrap();
    agent.run_blocking(&mut conversation.run).unwrap();
    let body = body(&model.requests()[0], "messages");
    assert_eq!(body["tools"].as_array().unwrap().len(), 4);
    assert!(!body.to_string().contains("tool_addition"));
}
