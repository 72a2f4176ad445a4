//! Mixed faults: user code that panics, hangs or fails wherever user code runs, in every kind of tool
//! and through every way to make a call. Every call gets one result with its id, in order, and of the
//! kind that `Case::expected` predicts, and no panic leaves the library.
//!
//! `TOOL_CORE_LONG=1` makes 100,000 calls and prints what it counted.

#![allow(clippy::unused_self)] // Methods must have a receiver to be tools.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use properties::random::Random;
use properties::rounds;
use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::run::{Run, RunSettings};
use tool_agent::testing::ScriptedModel;
use tool_core::call::{CancellationToken, Progress};
use tool_core::dynamic::DynamicTool;
use tool_core::hooks::{Gate, HookCall};
use tool_core::{
    CallContext, Registry, RegistryBuilder, ToolCall, ToolErrorKind, ToolResult, ToolType, tool,
    tools, toolset,
};
use tool_dialects::OpenAiChat;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

#[path = "../support/watchdog.rs"]
mod watchdog;

use watchdog::Watchdog;

// Bombs

/// What a panic throws.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Payload {
    Text,
    Formatted,
    Number,
    /// A value whose `Drop` panics, with another one.
    Bomb,
    Huge,
}

const PAYLOADS: [Payload; 5] = [
    Payload::Text,
    Payload::Formatted,
    Payload::Number,
    Payload::Bomb,
    Payload::Huge,
];

impl Payload {
    fn explode(self) -> ! {
        match self {
            Payload::Text => panic!("planned"),
            Payload::Formatted => panic!("planned: {self:?}"),
            Payload::Number => panic_any(7_u8),
            Payload::Bomb => panic_any(Bomb(Payload::Bomb)),
            Payload::Huge => panic_any("planned ".repeat(10_000)),
        }
    }
}

/// Panics when dropped. While another panic unwinds, that aborts the process, unless the library
/// catches it.
struct Bomb(Payload);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.explode();
    }
}

impl fmt::Debug for Bomb {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.explode()
    }
}

// Tools

/// Where a tool faults.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Nowhere,
    Body,
    /// After a wait, if the tool is async.
    Later,
    /// In the `Drop` of a value that is held across a wait.
    Local,
    /// In the `Drop` of a future that the tool awaits.
    Future,
    Decoding,
    ArgumentDrop,
    Serialize,
    SerializeFails,
    TooDeep,
    Long,
    ReturnDrop,
    ErrorDisplay,
    ErrorDisplayFails,
    ErrorSource,
    ErrorSourceDisplay,
    ErrorCyclic,
    ErrorDebug,
    ErrorDrop,
    ErrorLong,
    /// In the closure that receives progress.
    Progress,
    /// Drops a nested call before it ends.
    DropsNested,
}

const PLACES: [Place; 22] = [
    Place::Nowhere,
    Place::Body,
    Place::Later,
    Place::Local,
    Place::Future,
    Place::Decoding,
    Place::ArgumentDrop,
    Place::Serialize,
    Place::SerializeFails,
    Place::TooDeep,
    Place::Long,
    Place::ReturnDrop,
    Place::ErrorDisplay,
    Place::ErrorDisplayFails,
    Place::ErrorSource,
    Place::ErrorSourceDisplay,
    Place::ErrorCyclic,
    Place::ErrorDebug,
    Place::ErrorDrop,
    Place::ErrorLong,
    Place::Progress,
    Place::DropsNested,
];

impl Place {
    /// Returns how a call of `tool` ends.
    fn ends(self, tool: &str) -> Option<ToolErrorKind> {
        use Place::{
            ArgumentDrop, Body, Decoding, DropsNested, ErrorCyclic, ErrorDebug, ErrorDisplay,
            ErrorDisplayFails, ErrorDrop, ErrorLong, ErrorSource, ErrorSourceDisplay, Future,
            Later, Local, Long, Nowhere, Progress, ReturnDrop, Serialize, SerializeFails, TooDeep,
        };
        match self {
            Nowhere | Long | DropsNested => None,
            // The tool drops such an error itself.
            ErrorDrop if tool == "confined" => Some(ToolErrorKind::Panicked),
            SerializeFails | TooDeep => Some(ToolErrorKind::InvalidResult),
            ErrorSource | ErrorSourceDisplay | ErrorCyclic | ErrorDebug | ErrorDrop | ErrorLong => {
                Some(ToolErrorKind::Failed)
            }
            Body | Later | Local | Future | Decoding | ArgumentDrop | Serialize | ReturnDrop
            | ErrorDisplay | ErrorDisplayFails | Progress => Some(ToolErrorKind::Panicked),
        }
    }
}

/// What a tool is told to do, packed into a number.
#[derive(Clone, Copy, Debug)]
struct Plan {
    place: Place,
    payload: Payload,
    waits: usize,
}

impl Plan {
    fn packed(self) -> usize {
        let find = |found: Option<usize>| found.expect("it is listed");
        let place = find(PLACES.iter().position(|&place| place == self.place));
        let payload = find(PAYLOADS.iter().position(|&payload| payload == self.payload));
        place + 100 * payload + 1000 * self.waits
    }

    fn of(packed: usize) -> Plan {
        Plan {
            place: PLACES[packed % 100],
            payload: PAYLOADS[packed / 100 % 10],
            waits: packed / 1000,
        }
    }

    /// Faults at this place.
    fn at(self, place: Place) {
        if self.place == place {
            self.payload.explode();
        }
    }

    fn bomb(self, place: Place) -> Option<Bomb> {
        (self.place == place).then(|| Bomb(self.payload))
    }
}

/// An argument: decoding or dropping it may panic.
#[derive(Deserialize, ToolType)]
#[serde(from = "u16")]
struct Packed {
    plan: Plan,
    _bomb: Option<Bomb>,
}

impl From<u16> for Packed {
    fn from(packed: u16) -> Packed {
        let plan = Plan::of(packed.into());
        plan.at(Place::Decoding);
        Packed {
            plan,
            _bomb: plan.bomb(Place::ArgumentDrop),
        }
    }
}

/// A return value: serializing or dropping it may panic.
struct Returned {
    plan: Plan,
    _bomb: Option<Bomb>,
}

impl Serialize for Returned {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// A list in this many lists.
        struct Levels(u32);

        impl Serialize for Levels {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut items = serializer.serialize_seq(None)?;
                if self.0 > 0 {
                    items.serialize_element(&Levels(self.0 - 1))?;
                }
                items.end()
            }
        }

        match self.plan.place {
            Place::Serialize => self.plan.payload.explode(),
            Place::SerializeFails => Err(serde::ser::Error::custom("planned")),
            Place::TooDeep => Levels(10_000).serialize(serializer),
            Place::Long => serializer.serialize_str(&"long ".repeat(1000)),
            _ => serializer.serialize_str("done"),
        }
    }
}

/// An error: everything about it may panic.
struct Odd {
    plan: Plan,
    _bomb: Option<Bomb>,
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.at(Place::ErrorDisplay);
        match self.plan.place {
            Place::ErrorDisplayFails => Err(fmt::Error),
            Place::ErrorLong => f.write_str(&"planned ".repeat(10_000)),
            _ => f.write_str("planned"),
        }
    }
}

impl fmt::Debug for Odd {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.payload.explode()
    }
}

impl Error for Odd {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        /// Panics when displayed.
        struct Silent(Payload);

        impl fmt::Display for Silent {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.explode()
            }
        }

        impl fmt::Debug for Silent {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.explode()
            }
        }

        impl Error for Silent {}

        self.plan.at(Place::ErrorSource);
        match self.plan.place {
            Place::ErrorCyclic => Some(self),
            Place::ErrorSourceDisplay => Some(Box::leak(Box::new(Silent(self.plan.payload)))),
            _ => None,
        }
    }
}

/// A future that is ready after some polls, and may panic when dropped.
struct Waits {
    left: usize,
    _bomb: Option<Bomb>,
}

impl Future for Waits {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.left == 0 {
            return Poll::Ready(());
        }
        self.left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

fn nested_call() -> ToolCall {
    let plan = Plan {
        place: Place::Nowhere,
        payload: Payload::Text,
        waits: 3,
    };
    ToolCall::new("dropped", "later", json!({ "packed": plan.packed() }))
}

/// Does what a plan says.
fn act(plan: Plan, call: &CallContext) -> Result<Returned, Odd> {
    let _local = plan.bomb(Place::Local).or(plan.bomb(Place::Future));
    plan.at(Place::Body);
    plan.at(Place::Later);
    if plan.place == Place::DropsNested {
        drop(call.call(nested_call()));
    }
    end(plan, call)
}

/// Does what a plan says, after some waits.
async fn act_later(plan: Plan, call: &CallContext) -> Result<Returned, Odd> {
    let _local = plan.bomb(Place::Local);
    plan.at(Place::Body);
    let waits = Waits {
        left: plan.waits,
        _bomb: plan.bomb(Place::Future),
    };
    waits.await;
    plan.at(Place::Later);
    if plan.place == Place::DropsNested {
        let mut nested = Box::pin(call.call(nested_call()));
        let mut polls = 0;
        std::future::poll_fn(|context| {
            polls += 1;
            let _ = nested.as_mut().poll(context);
            if polls == 1 {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(())
        })
        .await;
    }
    end(plan, call)
}

fn end(plan: Plan, call: &CallContext) -> Result<Returned, Odd> {
    if plan.place == Place::Progress {
        call.report(&Progress::new(1.0));
    }
    let is_error = matches!(
        plan.place,
        Place::ErrorDisplay
            | Place::ErrorDisplayFails
            | Place::ErrorSource
            | Place::ErrorSourceDisplay
            | Place::ErrorCyclic
            | Place::ErrorDebug
            | Place::ErrorDrop
            | Place::ErrorLong
    );
    if is_error {
        return Err(Odd {
            plan,
            _bomb: plan.bomb(Place::ErrorDrop),
        });
    }
    Ok(Returned {
        plan,
        _bomb: plan.bomb(Place::ReturnDrop),
    })
}

/// Acts at once.
#[tool(unlinked)]
fn at_once(packed: Packed, call: &CallContext) -> Result<Returned, Odd> {
    act(packed.plan, call)
}

/// Acts at once, with an error that stays on its thread.
#[tool(unlinked)]
fn confined(packed: Packed, call: &CallContext) -> Result<Returned, Box<dyn Error>> {
    act(packed.plan, call).map_err(Into::into)
}

/// Acts after a while.
#[tool(unlinked)]
async fn later(packed: Packed, call: &CallContext) -> Result<Returned, Odd> {
    act_later(packed.plan, call).await
}

/// Acts after a while, in its time.
#[tool(unlinked, timeout = "100s")]
async fn in_time(packed: Packed, call: &CallContext) -> Result<Returned, Odd> {
    act_later(packed.plan, call).await
}

/// Acts on another thread.
#[tool(unlinked, blocking)]
fn on_a_thread(packed: Packed, call: &CallContext) -> Result<Returned, Odd> {
    act(packed.plan, call)
}

/// Never ends.
#[tool(unlinked)]
async fn waits(packed: Packed) -> String {
    let _local = packed.plan.bomb(Place::Local);
    std::future::pending().await
}

/// Never ends in its time.
#[tool(unlinked, timeout = "2ms")]
async fn times_out(packed: Packed) -> String {
    let _local = packed.plan.bomb(Place::Local);
    std::future::pending().await
}

/// Is added and removed while calls run.
#[tool(unlinked)]
fn unused() {}

/// Passes a call on and checks its result.
#[tool(unlinked)]
async fn relay(name: &str, packed: u16, kind: &str, call: &CallContext) -> String {
    let id = format!("{}_nested", call.call_id());
    let nested = ToolCall::new(&*id, name, json!({ "packed": packed }));
    relayed(call.call(nested).await, &id, name, kind)
}

/// Passes a call on and blocks until it ends.
#[tool(unlinked, blocking)]
fn relay_blocking(name: &str, packed: u16, kind: &str, call: &CallContext) -> String {
    let id = format!("{}_nested", call.call_id());
    let nested = ToolCall::new(&*id, name, json!({ "packed": packed }));
    relayed(call.call_blocking(nested), &id, name, kind)
}

fn relayed(result: ToolResult, id: &str, name: &str, kind: &str) -> String {
    COUNTED.nested.fetch_add(1, Ordering::Relaxed);
    let ended = result.error().map_or("", |error| error.kind().as_str());
    let is_expected = (result.call_id(), result.name(), ended) == (id, name, kind);
    assert!(is_expected, "{id} {name} {kind}: {result:?}");
    "relayed".into()
}

/// A receiver with a bomb.
struct Receiver(#[allow(dead_code)] Bomb);

#[toolset]
impl Receiver {
    /// Acts at once.
    #[tool]
    fn method(&self, packed: Packed, call: &CallContext) -> Result<Returned, Odd> {
        act(packed.plan, call)
    }

    /// Acts after a while.
    #[tool]
    async fn async_method(&self, packed: Packed, call: &CallContext) -> Result<Returned, Odd> {
        act_later(packed.plan, call).await
    }
}

/// Acts after a while, without a schema at compile time.
fn dynamic() -> DynamicTool {
    let kept = Bomb(Payload::Text);
    DynamicTool::builder("dynamic")
        .description("Acts.")
        .parameters(json!({
            "type": "object",
            "properties": {"packed": {"type": "integer", "minimum": 0, "maximum": 65535}},
            "required": ["packed"],
        }))
        .build(move |arguments: Value, call: CallContext| {
            let _ = &kept;
            let packed: Packed = serde_json::from_value(arguments["packed"].clone()).unwrap();
            async move { act_later(packed.plan, &call).await }
        })
        .unwrap()
}

// Hooks

/// Where a hook faults, as a context value of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hook {
    /// Panics before it returns its future.
    AtOnce,
    Later,
    Drop,
    Deny,
    Answer,
    Fail,
    Change,
}

const HOOKS: [Hook; 7] = [
    Hook::AtOnce,
    Hook::Later,
    Hook::Drop,
    Hook::Deny,
    Hook::Answer,
    Hook::Fail,
    Hook::Change,
];

impl Hook {
    fn ends(self) -> Option<ToolErrorKind> {
        match self {
            Hook::AtOnce | Hook::Later | Hook::Drop => Some(ToolErrorKind::Panicked),
            Hook::Deny => Some(ToolErrorKind::Denied),
            Hook::Answer => None,
            Hook::Fail => Some(ToolErrorKind::Failed),
            Hook::Change => Some(ToolErrorKind::InvalidArguments),
        }
    }
}

/// The faults of the hooks around a call.
#[derive(Clone, Copy, Debug)]
struct Hooks {
    before: Option<Hook>,
    after: Option<Hook>,
    payload: Payload,
}

/// Faults in a hook and returns its verdict.
fn hook(hook: Option<Hook>, payload: Payload) -> impl Future<Output = Gate> + Send {
    if hook == Some(Hook::AtOnce) {
        payload.explode();
    }
    async move {
        let waits = Waits {
            left: 1,
            _bomb: (hook == Some(Hook::Drop)).then(|| Bomb(payload)),
        };
        waits.await;
        match hook {
            Some(Hook::Later) => payload.explode(),
            Some(Hook::Deny) => Gate::deny("planned"),
            Some(Hook::Answer) => Gate::answer("answered"),
            Some(Hook::Fail) => Gate::fail("planned"),
            Some(Hook::Change) => Gate::change("{\"unknown\":1}"),
            _ => Gate::Allow,
        }
    }
}

fn hooks(call: &HookCall) -> Hooks {
    call.get::<Hooks>().copied().unwrap_or(Hooks {
        before: None,
        after: None,
        payload: Payload::Text,
    })
}

// Registries

/// The settings of a registry.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Flavour {
    Plain,
    Lenient,
    Limited,
    Hooked,
    Everything,
}

const FLAVOURS: [Flavour; 5] = [
    Flavour::Plain,
    Flavour::Lenient,
    Flavour::Limited,
    Flavour::Hooked,
    Flavour::Everything,
];

fn with_hooks(builder: RegistryBuilder) -> RegistryBuilder {
    let (first, second, third) = (Payload::Text, Payload::Bomb, Payload::Number);
    let (first, second, third) = (Bomb(first), Bomb(second), Bomb(third));
    builder
        .before(move |call| {
            let _ = &first;
            let hooks = hooks(&call);
            hook(hooks.before, hooks.payload)
        })
        .after(move |call, result| {
            let _ = &second;
            let hooks = hooks(&call);
            let running = hook(hooks.after, hooks.payload);
            async move {
                running.await;
                result
            }
        })
        .map_errors(move |_| {
            let _ = &third;
            panic!("planned: no message")
        })
}

fn registry(flavour: Flavour) -> Registry {
    let builder = Registry::builder()
        .tools(tools![at_once, confined, later, in_time, on_a_thread])
        .tools(tools![waits, times_out, relay, relay_blocking])
        .tool(dynamic())
        .toolset("", Receiver(Bomb(Payload::Bomb)))
        .context(Bomb(Payload::Formatted));
    let builder = match flavour {
        Flavour::Plain => builder,
        Flavour::Lenient => builder.lenient(),
        Flavour::Limited => builder.concurrency(16).output_cap(200),
        Flavour::Hooked => with_hooks(builder),
        Flavour::Everything => with_hooks(builder)
            .concurrency(16)
            .output_cap(200)
            .timeout(Duration::from_secs(100)),
    };
    builder.build().unwrap()
}

// Cases

/// What is wrong with the text of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Broken {
    Unknown,
    Malformed,
    Invalid,
    Truncated,
}

/// When the token of a call is cancelled.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cancel {
    Never,
    Before,
    Later,
}

/// One call, and everything that goes wrong with it.
#[derive(Clone, Debug)]
struct Case {
    id: String,
    tool: &'static str,
    plan: Plan,
    broken: Option<Broken>,
    hooks: Option<Hooks>,
    cancel: Cancel,
    /// The payload of a context value that panics when dropped.
    value: Option<Payload>,
    /// The payload of a progress closure that panics when dropped.
    listener: Option<Payload>,
    /// Panics in `Agent::each_call`.
    is_unprepared: bool,
    /// The tool that `relay` calls.
    nested: &'static str,
}

const TOOLS: [&str; 8] = [
    "at_once",
    "confined",
    "later",
    "in_time",
    "on_a_thread",
    "method",
    "async_method",
    "dynamic",
];

impl Case {
    fn random(at: usize, random: &mut Random) -> Case {
        let mut case = Case {
            id: format!("call_{at}"),
            tool: TOOLS[random.below(TOOLS.len())],
            plan: Plan {
                place: *random.pick(&PLACES),
                payload: *random.pick(&PAYLOADS),
                waits: random.below(4),
            },
            broken: None,
            hooks: None,
            cancel: Cancel::Never,
            value: random.percent(20).then(|| *random.pick(&PAYLOADS)),
            listener: None,
            is_unprepared: random.percent(5),
            nested: "",
        };
        let hook = |random: &mut Random| random.percent(30).then(|| *random.pick(&HOOKS));
        if random.percent(30) {
            case.hooks = Some(Hooks {
                before: hook(random),
                // An `after` hook has no verdict.
                after: hook(random).filter(|hook| hook.ends() == Some(ToolErrorKind::Panicked)),
                payload: *random.pick(&PAYLOADS),
            });
        }
        match random.below(20) {
            0 => case.broken = Some(Broken::Unknown),
            1 => case.broken = Some(Broken::Malformed),
            2 => case.broken = Some(Broken::Invalid),
            3 => case.broken = Some(Broken::Truncated),
            4 => case.cancel = Cancel::Before,
            5 => {
                case.tool = "waits";
                case.cancel = Cancel::Later;
            }
            6 => case.tool = "times_out",
            7 | 8 => {
                case.nested = case.tool;
                case.tool = *random.pick(&["relay", "relay_blocking"]);
            }
            _ => {}
        }
        if case.cancel == Cancel::Later || case.is_endless() && random.percent(50) {
            case.plan.place = *random.pick(&[Place::Nowhere, Place::Local]);
        }
        if case.cancel == Cancel::Later {
            // They would race with the token.
            case.hooks = None;
        }
        // Without a listener, progress is discarded.
        if case.plan.place == Place::Progress && (case.is_endless() || !case.nested.is_empty()) {
            case.plan.place = Place::Nowhere;
        }
        if random.percent(20) {
            case.listener = Some(*random.pick(&PAYLOADS));
        }
        case
    }

    fn is_endless(&self) -> bool {
        ["waits", "times_out"].contains(&self.tool)
    }

    fn name(&self) -> String {
        match self.broken {
            Some(Broken::Unknown) => format!("{}_{}", self.tool, self.id),
            _ => self.tool.into(),
        }
    }

    /// Returns the text of the arguments.
    fn arguments(&self, has_hooks: bool) -> String {
        let packed = self.plan.packed();
        match self.broken {
            Some(Broken::Malformed) => return "{\"packed\"".into(),
            Some(Broken::Invalid) => return "{\"unpacked\":1}".into(),
            _ => {}
        }
        if self.nested.is_empty() {
            return json!({ "packed": packed }).to_string();
        }
        let kind = self.nested_end(has_hooks).map_or("", ToolErrorKind::as_str);
        json!({ "name": self.nested, "packed": packed, "kind": kind }).to_string()
    }

    /// Attaches values that a text cannot hold. `tokens` are those to cancel later.
    fn attach(&self, mut call: ToolCall, tokens: &Mutex<Vec<CancellationToken>>) -> ToolCall {
        if let Some(payload) = self.value {
            call = call.with(Bomb(payload));
        }
        if let Some(hooks) = self.hooks {
            call = call.with(hooks);
        }
        let (plan, listener) = (self.plan, self.listener.map(Bomb));
        if listener.is_some() || plan.place == Place::Progress {
            call = call.on_progress(move |_| {
                let _ = &listener;
                plan.at(Place::Progress);
            });
        }
        if self.cancel != Cancel::Never {
            let token = CancellationToken::new();
            call = call.cancel_with(&token);
            if self.cancel == Cancel::Before {
                token.cancel();
            } else {
                tokens.lock().unwrap().push(token);
            }
        }
        if self.broken == Some(Broken::Truncated) {
            call = call.truncated();
        }
        call
    }

    /// Returns the kind of the result of the nested call.
    fn nested_end(&self, has_hooks: bool) -> Option<ToolErrorKind> {
        // It inherits the context values of this call.
        let inner = Case {
            tool: self.nested,
            nested: "",
            broken: None,
            cancel: Cancel::Never,
            ..self.clone()
        };
        inner.expected(has_hooks, false)
    }

    /// Returns the kind of the result, by the documentation alone.
    fn expected(&self, has_hooks: bool, is_agent: bool) -> Option<ToolErrorKind> {
        if is_agent && self.is_unprepared {
            return Some(ToolErrorKind::Panicked);
        }
        if self.broken == Some(Broken::Unknown) {
            return Some(ToolErrorKind::UnknownTool);
        }
        let hooks = self.hooks.filter(|_| has_hooks);
        if let Some(after) = hooks.and_then(|hooks| hooks.after) {
            return after.ends();
        }
        if self.cancel == Cancel::Before {
            return Some(ToolErrorKind::Cancelled);
        }
        match self.broken {
            Some(Broken::Malformed | Broken::Truncated) => {
                return Some(ToolErrorKind::MalformedJson);
            }
            Some(Broken::Invalid) => return Some(ToolErrorKind::InvalidArguments),
            _ => {}
        }
        // A hooked call is decoded before its hooks, except by the closure of a dynamic tool. A relay
        // does not decode the arguments that it passes on.
        let is_decoding = matches!(self.plan.place, Place::Decoding | Place::ArgumentDrop);
        if is_decoding && self.nested.is_empty() && self.tool != "dynamic" {
            return Some(ToolErrorKind::Panicked);
        }
        if let Some(before) = hooks.and_then(|hooks| hooks.before) {
            return before.ends();
        }
        match (self.tool, self.plan.place) {
            ("relay" | "relay_blocking", _) => None,
            ("waits" | "times_out", Place::Local) => Some(ToolErrorKind::Panicked),
            ("waits", _) => Some(ToolErrorKind::Cancelled),
            ("times_out", _) => Some(ToolErrorKind::TimedOut),
            (tool, place) => place.ends(tool),
        }
    }
}

// Ways to call

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Awaited,
    Blocking,
    All,
    Service,
    Agent,
    /// Polled some times, then dropped.
    Dropped,
}

const WAYS: [Way; 6] = [
    Way::Awaited,
    Way::Blocking,
    Way::All,
    Way::Service,
    Way::Agent,
    Way::Dropped,
];

/// What the run counted.
struct Counted {
    calls: AtomicUsize,
    nested: AtomicUsize,
    dropped: AtomicUsize,
    /// Results, by kind.
    kinds: Mutex<Vec<(&'static str, usize)>>,
    lost: Mutex<Vec<String>>,
}

static COUNTED: Counted = Counted {
    calls: AtomicUsize::new(0),
    nested: AtomicUsize::new(0),
    dropped: AtomicUsize::new(0),
    kinds: Mutex::new(Vec::new()),
    lost: Mutex::new(Vec::new()),
};

impl Counted {
    fn lose(&self, problem: String) {
        self.lost
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(problem);
    }

    fn check(&self, case: &Case, way: Way, flavour: Flavour, result: &ToolResult) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let kind = result.error().map(tool_core::ToolError::kind);
        let expected = case.expected(has_hooks(flavour), way == Way::Agent);
        let name = case.name();
        // A call that is cancelled before its tool has begun drops nothing of it.
        let is_early = case.cancel == Cancel::Later && kind == Some(ToolErrorKind::Cancelled);
        let is_expected = kind == expected || is_early;
        if (result.call_id(), result.name()) != (&*case.id, &*name) || !is_expected {
            let detail = result.error().map_or("", tool_core::ToolError::detail);
            let content: String = result.content().chars().take(200).collect();
            self.lose(format!(
                "{way:?} {flavour:?} {case:?}: {} {} {kind:?}, not {expected:?}: {content} {detail}",
                result.call_id(),
                result.name(),
            ));
        }
        let kind = kind.map_or("succeeded", ToolErrorKind::as_str);
        let mut kinds = self.kinds.lock().unwrap();
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }

    fn check_all(&self, cases: &[Case], way: Way, flavour: Flavour, results: &[ToolResult]) {
        if results.len() != cases.len() {
            let (had, made) = (results.len(), cases.len());
            self.lose(format!(
                "{way:?} {flavour:?}: {had} results of {made} calls"
            ));
        }
        for (case, result) in cases.iter().zip(results) {
            self.check(case, way, flavour, result);
        }
    }
}

fn has_hooks(flavour: Flavour) -> bool {
    matches!(flavour, Flavour::Hooked | Flavour::Everything)
}

/// Makes some calls in one way. Panics if a panic leaves the library.
async fn make(
    registry: Registry,
    cases: Vec<Case>,
    way: Way,
    flavour: Flavour,
    tokens: Arc<Mutex<Vec<CancellationToken>>>,
) {
    let has_hooks = has_hooks(flavour);
    let new = |case: &Case| {
        let call = ToolCall::new(&*case.id, case.name(), case.arguments(has_hooks));
        case.attach(call, &tokens)
    };
    match way {
        Way::Awaited => {
            for case in cases {
                let result = registry.call(new(&case)).await;
                COUNTED.check(&case, way, flavour, &result);
            }
        }
        Way::Blocking => {
            for case in cases {
                let (registry, call) = (registry.clone(), new(&case));
                let running = tokio::task::spawn_blocking(move || registry.call_blocking(call));
                COUNTED.check(&case, way, flavour, &running.await.unwrap());
            }
        }
        Way::All => {
            let running = registry.call_all(cases.iter().map(new));
            drop(registry);
            COUNTED.check_all(&cases, way, flavour, &running.await);
        }
        Way::Service => {
            use tower::ServiceExt;

            for case in cases {
                let result = registry.clone().oneshot(new(&case)).await;
                COUNTED.check(&case, way, flavour, &result.unwrap());
            }
        }
        Way::Agent => {
            let calls = cases.iter().map(|case| {
                let (name, arguments) = (case.name(), case.arguments(has_hooks));
                json!({"id": case.id, "type": "function",
                    "function": {"name": name, "arguments": arguments}})
            });
            let message = json!({"role": "assistant", "tool_calls": calls.collect::<Vec<_>>()});
            let response = json!({"choices": [{"message": message}]});
            let by_id = cases.iter().cloned().map(|case| (case.id.clone(), case));
            let by_id: HashMap<_, _> = by_id.collect();
            let kept = Bomb(Payload::Bomb);
            let answer =
                json!({"choices": [{"message": {"role": "assistant", "content": "Done."}}]});
            let model = ScriptedModel::new([response, answer]);
            let agent = Agent::new(registry, OpenAiChat::default(), model);
            let agent = agent.each_call(move |call| {
                let _ = &kept;
                let case = &by_id[&call.id];
                if case.is_unprepared {
                    case.plan.payload.explode();
                }
                case.attach(call, &tokens)
            });
            let mut settings = RunSettings::default();
            settings.parallel = Some(true);
            let mut run = Run::builder("run-1").settings(settings).build();
            agent.run(&mut run).await.unwrap();
            drop(agent);
            let results = run.rounds()[0]
                .calls()
                .map(|(_, result)| result.unwrap().clone());
            COUNTED.check_all(&cases, way, flavour, &results.collect::<Vec<_>>());
        }
        Way::Dropped => {
            for case in cases {
                COUNTED.dropped.fetch_add(1, Ordering::Relaxed);
                let mut running = Box::pin(registry.call(new(&case)));
                let mut context = Context::from_waker(Waker::noop());
                for _ in 0..case.plan.waits {
                    if running.as_mut().poll(&mut context).is_ready() {
                        break;
                    }
                }
            }
        }
    }
}

/// Makes a batch of calls in a new registry, all at the same time.
async fn batch(at: usize, random: &mut Random, size: usize) {
    let flavour = FLAVOURS[at % FLAVOURS.len()];
    let registry = registry(flavour);
    let payload = *random.pick(&PAYLOADS);
    let owned = Bomb(payload);
    let listener = registry.on_change(move |_, _| {
        let _ = &owned;
        payload.explode();
    });
    let tokens = Arc::default();
    let mut running = Vec::new();
    for (group, way) in WAYS.into_iter().enumerate() {
        let first = (at * WAYS.len() + group) * size;
        let cases = (first..first + size).map(|number| Case::random(number, random));
        let making = make(
            registry.clone(),
            cases.collect(),
            way,
            flavour,
            Arc::clone(&tokens),
        );
        running.push((way, tokio::spawn(making)));
    }
    // While the calls run.
    registry.add(tools![unused]).unwrap();
    registry.remove("unused").unwrap();
    drop(listener);
    drop(registry);
    for (way, mut making) in running {
        let ended = loop {
            let step = tokio::time::timeout(Duration::from_millis(1), &mut making).await;
            for token in std::mem::take(&mut *tokens.lock().unwrap()) {
                token.cancel();
            }
            if let Ok(ended) = step {
                break ended;
            }
        };
        if let Err(error) = ended {
            COUNTED.lose(format!("a panic left {way:?} {flavour:?}: {error}"));
        }
    }
}

// The log

/// A subscriber that panics now and then in everything it does.
struct Faulty {
    steps: AtomicU64,
    is_on: Arc<AtomicBool>,
}

impl Faulty {
    fn step(&self) {
        let step = self.steps.fetch_add(1, Ordering::Relaxed);
        let number = Random::new(step).word();
        if self.is_on.load(Ordering::Relaxed) && number.is_multiple_of(10) {
            PAYLOADS[usize::try_from(number / 10 % 5).unwrap()].explode();
        }
    }
}

impl Subscriber for Faulty {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        if metadata.target() == "tool_core" {
            self.step();
        }
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        self.step();
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        self.step();
        // Formats the values.
        let _ = format!("{values:?}");
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.step();
        let _ = format!("{event:?}");
    }

    fn enter(&self, _: &Id) {
        self.step();
    }

    fn exit(&self, _: &Id) {
        self.step();
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.step();
        id.clone()
    }

    fn try_close(&self, _: Id) -> bool {
        self.step();
        true
    }
}

#[test]
fn every_call_gets_its_result_whatever_panics() {
    const SIZE: usize = 10;
    let calls = rounds(3000, 100_000);
    let batches = calls.div_ceil(SIZE * (WAYS.len() - 1));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .unwrap();
    let is_on = Arc::new(AtomicBool::new(false));
    let random = Random::named("faults", 1);
    // Planned panics are too many to print.
    let printing = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let ended = {
        let is_on = Arc::clone(&is_on);
        catch_unwind(AssertUnwindSafe(move || {
            let mut random = random;
            let watchdog = Watchdog::new("the first batch");
            for at in 0..batches {
                watchdog.step(format!("batch {at}"));
                if at == batches / 2 {
                    let (steps, is_on) = (AtomicU64::new(0), Arc::clone(&is_on));
                    tracing::subscriber::set_global_default(Faulty { steps, is_on }).unwrap();
                }
                is_on.store(at * 4 >= batches * 3, Ordering::Relaxed);
                runtime.block_on(batch(at, &mut random, SIZE));
            }
        }))
    };
    is_on.store(false, Ordering::Relaxed);
    std::panic::set_hook(printing);
    let lost = COUNTED.lost.lock().unwrap_or_else(PoisonError::into_inner);
    let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    println!(
        "{} calls, {} nested, {} dropped, {} lost: {:?}",
        count(&COUNTED.calls),
        count(&COUNTED.nested),
        count(&COUNTED.dropped),
        lost.len(),
        COUNTED.kinds.lock().unwrap()
    );
    assert!(lost.is_empty(), "{}", lost[..lost.len().min(10)].join("\n"));
    assert!(ended.is_ok(), "a panic left the runner");
    assert!(count(&COUNTED.calls) >= calls);
}
