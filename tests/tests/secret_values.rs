//! Values with `#[param(secret)]` are shown to nobody but the model and the tool.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::io;
use std::sync::{Arc, LazyLock, Mutex};

use futures_util::StreamExt;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::run::{Run, RunOutcome};
use tool_agent::testing::ScriptedModel;
use tool_core::call::Arguments;
use tool_core::hooks::{Decision, Gate};
use tool_core::{
    CallContext, Registry, RegistryBuilder, ToolCall, ToolErrorKind, ToolType, tool, tools,
};
use tool_dialects::OpenAiChat;
use tool_docs::Docs;
use tracing::Dispatch;
use tracing::subscriber::{NoSubscriber, with_default};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;

/// An account.
#[derive(Deserialize, Serialize, ToolType)]
struct Account {
    user: String,
    #[param(secret)]
    token: String,
}

/// A password.
#[derive(Deserialize, Serialize, ToolType)]
struct Password(#[param(secret, length = 8..)] String);

/// How to sign in.
#[derive(Deserialize, Serialize, ToolType)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Auth {
    Anonymous,
    Basic {
        user: String,
        password: Password,
    },
    Keys {
        #[param(secret, unique)]
        keys: Vec<String>,
    },
}

/// A label, or a code.
#[derive(Deserialize, Serialize, ToolType)]
#[serde(untagged)]
enum Code {
    Label(u32),
    Code {
        #[param(secret, range = 0..=9999)]
        code: u32,
        label: String,
    },
}

/// A folder with notes.
#[derive(Deserialize, Serialize, ToolType)]
struct Folder {
    name: String,
    #[param(secret)]
    note: Option<String>,
    #[param(recursive)]
    folders: Vec<Folder>,
}

/// A profile, with an account in it.
#[derive(Deserialize, Serialize, ToolType)]
struct Profile {
    city: String,
    #[serde(flatten)]
    account: Account,
}

/// A session with further settings.
#[derive(Deserialize, Serialize, ToolType)]
struct Session {
    #[param(secret)]
    token: String,
    #[serde(flatten)]
    settings: BTreeMap<String, u32>,
}

/// Opens a session.
#[tool(unlinked)]
fn open(session: Session) -> usize {
    session.settings.len()
}

/// Takes secrets at every place.
#[tool(unlinked)]
#[allow(clippy::too_many_arguments)]
fn sign_in(
    user: &str,
    #[param(secret)] password: &str,
    #[param(secret, range = 0..=9999)] pin: Option<u16>,
    #[param(secret)] headers: Option<BTreeMap<String, String>>,
    account: Option<Account>,
    accounts: Option<Vec<Account>>,
    by_name: Option<HashMap<String, Account>>,
    auth: Option<Auth>,
    code: Option<Code>,
    folder: Option<Folder>,
    profile: Option<Profile>,
    passwords: Option<(Password, u8)>,
) -> usize {
    let optional = [
        pin.is_some(),
        headers.is_some(),
        account.is_some(),
        accounts.is_some(),
        by_name.is_some(),
        auth.is_some(),
        code.is_some(),
        folder.is_some(),
        profile.is_some(),
        passwords.is_some(),
    ];
    user.len() + password.len() + optional.iter().filter(|given| **given).count()
}

/// Fails, and says why.
#[tool(unlinked)]
fn refuse(#[param(secret)] password: &str) -> Result<u8, String> {
    Err(format!("{password} is wrong, {password:?}"))
}

/// Panics.
#[tool(unlinked)]
async fn explode(#[param(secret)] password: Password) -> u8 {
    std::future::ready(()).await;
    panic!("{}", password.0)
}

/// Returns what it got.
#[tool(unlinked)]
fn keep(account: Account) -> Account {
    account
}

/// Waits for a person.
#[tool(unlinked, destructive)]
fn transfer(amount: u32, account: Account) -> String {
    format!(
        "{amount} to {}, {} characters",
        account.user,
        account.token.len()
    )
}

/// Is found by a search.
#[tool(unlinked, defer)]
fn hidden_sign_in(#[param(secret)] password: &str) -> usize {
    password.len()
}

/// Writes a text.
#[tool(unlinked, freeform)]
fn dictate(#[param(secret)] text: &str) -> usize {
    text.len()
}

/// Opens an account, which takes long.
#[tool(unlinked, background)]
fn open_account(user: String) -> Account {
    let token = MARKER.to_owned();
    Account { user, token }
}

fn builder() -> RegistryBuilder {
    Registry::builder()
        .tools(tools![
            sign_in,
            refuse,
            explode,
            keep,
            transfer,
            hidden_sign_in,
            dictate,
            open_account
        ])
        .trace_content(100_000)
}

fn registries() -> [Registry; 3] {
    let held = builder().before(async |hook| match hook.tool.annotations.destructive {
        Some(true) => Gate::hold("it moves money"),
        _ => Gate::Allow,
    });
    [builder(), builder().lenient(), held].map(|builder| builder.build().unwrap())
}

/// Text that a subscriber writes.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Log;

    fn make_writer(&self) -> Log {
        self.clone()
    }
}

/// Returns what the standard subscriber writes at the finest level.
fn logged(run: impl FnOnce()) -> String {
    // While there is one subscriber only, tracing asks the thread that first reaches a place of the source
    // whether it is of interest. Here that may be a thread without any, and then nobody sees the place.
    static OTHERS: LazyLock<[Dispatch; 2]> =
        LazyLock::new(|| [(); 2].map(|()| Dispatch::new(NoSubscriber::new())));
    LazyLock::force(&OTHERS);
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        // A line has the fields of a span, also of one without events.
        .with_span_events(FmtSpan::CLOSE)
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    with_default(subscriber, run);
    let bytes = log.0.lock().unwrap();
    String::from_utf8(bytes.clone()).unwrap()
}

/// Everything that is written anywhere about a call.
fn written(registry: &Registry, call: &ToolCall) -> String {
    let mut out = format!("{call:?} {call:#?}");
    out += &logged(|| {
        let mut shown = String::new();
        if let Err(error) = registry.validate(call) {
            write!(shown, "{error} {error:?}").unwrap();
        }
        let result = registry.call_blocking(call.clone());
        // What a tool writes into its own error or panic is its affair. Only telemetry keeps it out.
        let is_own = result.error().is_some_and(|error| {
            matches!(
                error.kind(),
                ToolErrorKind::Failed | ToolErrorKind::Panicked
            )
        });
        match result.error() {
            Some(error) if !is_own => {
                write!(shown, "{error} {:?} {result:?}", error.violations()).unwrap();
            }
            _ => write!(shown, "{:?}", result.coercions()).unwrap(),
        }
        if !result.is_error() {
            write!(shown, "{result:?} {result:#?}").unwrap();
        }
        for coercion in result.coercions() {
            write!(shown, "{coercion} {}", coercion.got()).unwrap();
        }
        if let Some(tool) = registry.get(&call.name) {
            write!(shown, "{}", tool.shown_arguments(&call.arguments)).unwrap();
        }
        if let Some(hold) = result.error().and_then(|error| error.hold()) {
            write!(shown, "{hold:?} {}", hold.arguments()).unwrap();
        }
        if let (Some(mut reader), Arguments::Text(text)) =
            (registry.arguments(&call.name), &call.arguments)
        {
            for piece in text.split_inclusive(['"', ',']) {
                reader.push(piece);
            }
            write!(shown, "{reader:?} {:?}", reader.violations()).unwrap();
            if let Some(error) = reader.error() {
                write!(shown, "{error}").unwrap();
            }
        }
        tracing::trace!("{shown}");
    });
    out
}

fn block_on(future: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(future);
}

/// Everything that is written about a conversation with this call.
fn written_by_agent(registry: &Registry, call: &ToolCall) -> String {
    let arguments = match &call.arguments {
        Arguments::Text(text) | Arguments::Freeform(text) => text.clone(),
        Arguments::Json(value) => value.to_string(),
    };
    let response = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": call.name, "arguments": arguments}},
    ]}}]});
    let end = json!({"choices": [{"message": {"role": "assistant", "content": "Done."},
        "finish_reason": "stop"}]});
    let model = ScriptedModel::new([response, end.clone(), end]);
    let agent = Agent::new(registry.clone(), OpenAiChat::default(), model.clone());
    let agent = agent.trace_content(100_000);
    let mut run = Run::new("run");
    run.push(json!({"role": "user", "content": "Go."})).unwrap();
    let mut out = String::new();
    let log = logged(|| {
        let mut events = agent.events(&mut run);
        block_on(async {
            while let Some(event) = events.next().await {
                write!(out, "{event:?}").unwrap();
            }
        });
    });
    assert!(log.contains("gen_ai.input.messages"), "{log}");
    let _ = write!(
        out,
        "{log} {run:?} {run:#?} {:?} {:?}",
        run.next(),
        model.requests()
    );
    for increment in run.unsaved() {
        write!(out, "{increment:?}").unwrap();
    }
    out
}

/// Returns a value for the place of a secret: often not of the right type.
fn secret(marker: &'static str) -> impl Strategy<Value = Value> {
    let marker = move || marker.to_owned();
    prop_oneof![
        4 => Just(json!(marker())),
        1 => Just(json!(format!("{}\"\n\\{}", marker(), marker()))),
        1 => Just(json!(MARKED_NUMBER)),
        1 => Just(json!([marker(), marker()])),
        1 => Just(json!([[marker()]])),
        1 => Just(json!({ marker(): marker() })),
        1 => Just(json!({"token": marker()})),
        1 => Just(Value::Null),
    ]
}

/// Contains the marker in every secret place of [`sign_in`], in forms that fit, almost fit or do not fit.
fn arguments() -> impl Strategy<Value = Value> {
    let secret = || secret(MARKER);
    // A key of an object that is not secret as a whole is shown.
    let misplaced = move || {
        let whole = |value: Value| {
            if value.is_object() {
                json!(MARKER)
            } else {
                value
            }
        };
        secret().prop_map(whole)
    };
    let account = move || {
        prop_oneof![
            4 => secret().prop_map(|token| json!({"user": "ada", "token": token})),
            1 => secret().prop_map(|token| json!({"user": 5, "token": token})),
            1 => secret().prop_map(|token| json!({"user": "ada", "tokne": token})),
            1 => secret().prop_map(|token| json!({"user": "ada", "token": token}).to_string().into()),
            1 => secret().prop_map(|token| json!(["ada", token])),
            1 => misplaced(),
        ]
    };
    let auth = prop_oneof![
        secret().prop_map(|password| json!({"kind": "basic", "user": "ada", "password": password})),
        secret().prop_map(|keys| json!({"kind": "keys", "keys": keys})),
        secret().prop_map(|keys| json!({"kind": "anonymous", "keys": keys})),
        secret().prop_map(|keys| json!({"kind": "kyes", "keys": keys})),
        misplaced(),
    ];
    let code = prop_oneof![
        secret().prop_map(|code| json!({"code": code, "label": "x"})),
        secret().prop_map(|code| json!({"code": code, "lable": 5})),
    ];
    let folder = (secret(), secret()).prop_map(|(outer, inner)| {
        let inner = json!({"name": "b", "note": inner, "folders": []});
        json!({"name": "a", "note": outer, "folders": [inner, {"name": 1, "folders": []}]})
    });
    let profile = prop_oneof![
        secret().prop_map(|token| json!({"city": "Lisbon", "user": "ada", "token": token})),
        secret().prop_map(|token| json!({"city": 5, "user": "ada", "token": token})),
    ];
    let optional = |value: BoxedStrategy<Value>| proptest::option::of(value);
    let first = (
        secret(),
        optional(secret().boxed()),
        optional(secret().boxed()),
        optional(account().boxed()),
        optional(
            account()
                .prop_map(|account| json!([account, account]))
                .boxed(),
        ),
        optional(
            account()
                .prop_map(|account| json!({"home": account}))
                .boxed(),
        ),
    );
    let second = (
        optional(auth.boxed()),
        optional(code.boxed()),
        optional(folder.boxed()),
        optional(profile.boxed()),
        optional(secret().prop_map(|password| json!([password, 1])).boxed()),
    );
    (first, second).prop_map(|(first, second)| {
        let mut members = json!({"user": "ada", "password": first.0});
        let others = [
            ("pin", first.1),
            ("headers", first.2),
            ("account", first.3),
            ("accounts", first.4),
            ("by_name", first.5),
            ("auth", second.0),
            ("code", second.1),
            ("folder", second.2),
            ("profile", second.3),
            ("passwords", second.4),
        ];
        for (key, value) in others {
            if let Some(value) = value {
                members[key] = value;
            }
        }
        members
    })
}

/// Returns calls with these arguments, in every form in which they may arrive.
fn calls(arguments: &Value, cut: usize) -> Vec<ToolCall> {
    let text = arguments.to_string();
    let end = (0..=cut.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    let password = &arguments["password"];
    let one = json!({ "password": password });
    let wrapped = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    let account = json!({"user": "ada", "token": password});
    vec![
        ToolCall::new("call", "sign_in", &*text),
        ToolCall::new("call", "sign_in", arguments.clone()),
        ToolCall::new("call", "sign_in", &text[..end.unwrap_or(0)]),
        ToolCall::new("call", "sign_in", json!([arguments])),
        ToolCall::new("call", "sing_in", &*text),
        ToolCall::new("call", "refuse", one.clone()),
        ToolCall::new("call", "explode", one.clone()),
        ToolCall::new("call", "keep", json!({"account": account})),
        ToolCall::new("call", "transfer", json!({"amount": 5, "account": account})),
        ToolCall::new("call", "hidden_sign_in", one.clone()),
        ToolCall::new("call", "call_tool", wrapped("hidden_sign_in", one.clone())),
        ToolCall::new("call", "call_tool", wrapped("hiden_sign_in", one.clone())),
        ToolCall::new("call", "call_tool", wrapped("hidden_sign_in", json!([one]))),
        ToolCall::new(
            "call",
            "call_tool",
            json!({"nmae": "hidden_sign_in", "arguments": one}),
        ),
        ToolCall::new("call", "dictate", Arguments::Freeform(text.clone())),
    ]
}

const MARKER: &str = "S3CRET-7f3a";
const MARKED_NUMBER: u64 = 7_340_934_093_127;

/// Returns the text around a marker, if one is there.
fn leak(text: &str) -> Option<&str> {
    let number = MARKED_NUMBER.to_string();
    let at = [MARKER, "S3CRET", &number]
        .iter()
        .find_map(|marker| text.find(marker))?;
    let start = (0..=at.saturating_sub(300))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    text.get(start.unwrap_or(0)..(at + 20).min(text.len()))
        .or(Some("at the end"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn no_secret_is_written_anywhere(arguments in arguments(), cut in 0_usize..400) {
        for registry in registries() {
            for call in calls(&arguments, cut) {
                let text = written(&registry, &call);
                prop_assert!(!text.is_empty());
                prop_assert_eq!(leak(&text), None, "{} {}", call.name, &arguments);
                let text = written_by_agent(&registry, &call);
                // What a tool writes into its own error is in the result that the model gets.
                if !matches!(&*call.name, "refuse" | "explode") {
                    prop_assert_eq!(leak(&text), None, "agent: {} {}", call.name, &arguments);
                }
            }
        }
    }
}

/// Set `TOOL_CORE_SECRET_CASES` for a longer run.
fn cases() -> u32 {
    let given = std::env::var("TOOL_CORE_SECRET_CASES").ok();
    given.and_then(|cases| cases.parse().ok()).unwrap_or(24)
}

fn valid() -> Value {
    json!({
        "user": "ada", "password": MARKER, "pin": 1234, "headers": {MARKER: MARKER},
        "account": {"user": "ada", "token": MARKER},
        "accounts": [{"user": "bob", "token": MARKER}],
        "by_name": {"home": {"user": "eve", "token": MARKER}},
        "auth": {"kind": "basic", "user": "ada", "password": MARKER},
        "code": {"code": 1234, "label": "x"},
        "folder": {"name": "a", "note": MARKER, "folders": []},
        "profile": {"city": "Lisbon", "user": "ada", "token": MARKER},
        "passwords": [MARKER, 1],
    })
}

#[test]
fn the_tool_gets_the_secrets_and_the_span_does_not() {
    let registry = builder().build().unwrap();
    let mut content = String::new();
    let log = logged(|| {
        let call = ToolCall::new("call", "sign_in", valid().to_string());
        content = registry.call_blocking(call).content().to_owned();
    });
    assert_eq!(content, (3 + MARKER.len() + 10).to_string());
    let start = log
        .find("gen_ai.tool.call.arguments=")
        .expect("it is recorded");
    // What is not secret is shown.
    let shown = log[start..].replace('\\', "");
    for part in [
        r#""user":"ada"}"#,
        r#""password":"[secret]""#,
        r#""pin":"[secret]""#,
        r#""headers":"[secret]""#,
        r#""account":{"token":"[secret]","user":"ada"}"#,
        r#""by_name":{"home":{"token":"[secret]","user":"eve"}}"#,
        r#""auth":{"kind":"basic","password":"[secret]","user":"ada"}"#,
        r#""code":{"code":"[secret]","label":"x"}"#,
        r#""folder":{"folders":[],"name":"a","note":"[secret]"}"#,
        r#""profile":{"city":"Lisbon","token":"[secret]","user":"ada"}"#,
        r#""passwords":["[secret]",1]"#,
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[test]
fn a_violation_says_what_is_expected_and_not_what_was_given() {
    let registry = builder().build().unwrap();
    let violations = |arguments: Value| {
        let result = registry.call_blocking(ToolCall::new("call", "sign_in", arguments));
        let error = result.error().unwrap();
        error
            .violations()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    let secret = "(the value is secret and not shown)";
    assert_eq!(
        violations(json!({"user": 5, "password": 5, "pin": 10_000})),
        [
            format!("password: not accepted; expected a string {secret}"),
            format!("pin: not accepted; expected an integer from 0 to 9999 {secret}"),
            "user: expected a string, got 5".to_owned(),
        ]
    );
    assert_eq!(
        violations(json!({"user": "ada", "password": "x", "passwords": ["short", 5]})),
        [format!(
            "passwords[0]: not accepted; expected a string of at least 8 characters {secret}"
        )]
    );
    assert_eq!(
        violations(json!({"user": "ada", "password": "x", "headers": {"a": 5, "b": 6}})),
        [format!(
            "headers: not accepted; expected an object {secret}"
        )]
    );
    assert_eq!(
        violations(json!({"user": "ada", "password": "x", "account": "{\"token\": \"x\"}"})),
        [format!(
            "account: not accepted; expected an object {secret}"
        )]
    );
}

/// A free key may be that of a secret, misspelled.
#[test]
fn a_free_key_beside_a_secret_shows_no_value() {
    let registry = Registry::builder().tools(tools![open]).build().unwrap();
    for value in [
        json!("hunter2"),
        json!(["hunter2"]),
        json!({"is": "hunter2"}),
    ] {
        let arguments = json!({"session": {"token": "x", "tokn": value}});
        let call = ToolCall::new("call", "open", arguments.to_string());
        let result = registry.call_blocking(call.clone());
        assert_eq!(
            result.error().unwrap().violations()[0].to_string(),
            "session.tokn: not accepted; expected an integer of at least 0 (the value is \
             secret and not shown)",
        );
        let mut reader = registry.arguments("open").unwrap();
        reader.push(&arguments.to_string());
        assert_eq!(reader.violations(), result.error().unwrap().violations());
        let shown = written(&registry, &call);
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    let call = ToolCall::new(
        "call",
        "open",
        json!({"session": {"token": "x", "depth": 5}}),
    );
    assert_eq!(registry.call_blocking(call).content(), "1");
}

#[test]
fn the_schema_is_that_of_a_type_without_secrets() {
    /// Signs in.
    #[tool(unlinked, name = "sign_in")]
    fn open(user: &str, #[param(length = 8..)] password: &str) -> usize {
        user.len() + password.len()
    }

    /// Signs in.
    #[tool(unlinked, name = "sign_in")]
    fn closed(user: &str, #[param(secret, length = 8..)] password: &str) -> usize {
        user.len() + password.len()
    }

    let rendered = |tool| {
        let registry = Registry::builder().tools([tool]).build().unwrap();
        registry.render(&OpenAiChat::default()).as_str().to_owned()
    };
    let [open, closed] = tools![open, closed];
    assert_eq!(rendered(open), rendered(closed));
    let registry = builder().build().unwrap();
    assert!(Docs::new(&registry).to_markdown().contains("password"));
}

/// Whoever decides on a call does not see its secrets, and does not lose them by a change.
#[test]
fn a_changed_call_keeps_the_secrets_that_were_not_shown() {
    let [_, _, registry] = registries();
    let arguments = json!({"amount": 5, "account": {"user": "ada", "token": "0123456789"}});
    let call = ToolCall::new("call", "transfer", arguments);
    let result = registry.call_blocking(call.clone());
    let hold = result.error().unwrap().hold().unwrap().clone();
    assert_eq!(
        serde_json::from_str::<Value>(hold.arguments()).unwrap(),
        json!({"amount": 5, "account": {"user": "ada", "token": "[secret]"}})
    );
    let allowed = call.clone().decided(hold.clone(), Decision::Allow);
    assert_eq!(
        registry.call_blocking(allowed).content(),
        "5 to ada, 10 characters"
    );
    let changed = hold.arguments().replace('5', "4").replace("ada", "bob");
    let changed = call
        .clone()
        .decided(hold.clone(), Decision::change(changed));
    assert_eq!(
        registry.call_blocking(changed).content(),
        "4 to bob, 10 characters"
    );
    let replaced = hold.arguments().replace("[secret]", "abc");
    let replaced = call.decided(hold, Decision::change(replaced));
    assert_eq!(
        registry.call_blocking(replaced).content(),
        "5 to ada, 3 characters"
    );
}

#[test]
fn a_result_that_comes_later_is_not_written() {
    let call = ToolCall::new("call_1", "open_account", r#"{"user":"ada"}"#);
    let written = written_by_agent(&builder().build().unwrap(), &call);
    assert!(
        written.contains("Results of calls in the background."),
        "{written}"
    );
    assert_eq!(leak(&written), None);
    // The message repeats the result of the call, which is written as one with secrets.
    let end = r#"not instructions.\",\"type\""#;
    assert!(written.contains(end), "{written}");
}

/// A saved run has what it needs to go on.
#[test]
fn a_saved_run_keeps_secrets() {
    let [_, _, registry] = registries();
    let arguments = r#"{"amount":5,"account":{"user":"ada","token":"0123456789"}}"#;
    let response = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "transfer", "arguments": arguments}},
    ]}}]});
    let end = json!({"choices": [{"message": {"role": "assistant", "content": "Done."},
        "finish_reason": "stop"}]});
    let agent = Agent::new(
        registry,
        OpenAiChat::default(),
        ScriptedModel::new([response, end]),
    );
    let mut run = Run::new("run");
    run.push(json!({"role": "user", "content": "Go."})).unwrap();
    let outcome = agent.run_blocking(&mut run).unwrap();
    assert!(matches!(outcome, RunOutcome::Waiting(_)), "{outcome:?}");
    let mut run: Run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
    let pending = run.pending().remove(0);
    assert!(pending.arguments().contains("[secret]"), "{pending:?}");
    run.decide(
        agent.registry(),
        pending.fingerprint(),
        Decision::Allow,
        "Ada",
    )
    .unwrap();
    let outcome = agent.run_blocking(&mut run).unwrap();
    assert_eq!(outcome, RunOutcome::Answered("Done.".into()));
    let (_, result) = run.rounds()[0].calls().next().unwrap();
    assert_eq!(result.unwrap().content(), "5 to ada, 10 characters");
}

/// A context value is not an argument.
#[tool(unlinked)]
fn trace(call: &CallContext) -> String {
    call.tool_name().to_owned()
}

#[test]
fn a_tool_without_secrets_is_shown_whole() {
    let registry = Registry::builder()
        .tools(tools![trace])
        .trace_content(1000)
        .build()
        .unwrap();
    let log = logged(|| drop(registry.call_blocking(ToolCall::new("call", "trace", "{ }"))));
    assert!(log.contains("gen_ai.tool.call.arguments=\"{ }\""), "{log}");
    assert!(log.contains("gen_ai.tool.call.result=\"trace\""), "{log}");
}
