//! Context values: an application passes them to its tools; models neither see nor forge them.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use serde_json::json;
use tool_core::call::{CancellationToken, Progress};
use tool_core::{CallContext, Registry, Tool, ToolCall, ToolErrorKind, tool, tools};
use tool_dialects::Mcp;
use tool_docs::testing;

struct Db(Vec<&'static str>);
struct User(&'static str);
struct Absent;

type Ctx = CallContext;

/// Finds notes.
#[tool]
fn find_notes(#[param(context)] db: &Db, word: &str, call: &CallContext) -> Vec<String> {
    let owner = call.get::<User>().map_or("nobody", |user| user.0);
    let found = db.0.iter().filter(|note| note.contains(word));
    found.map(|note| format!("{owner}: {note}")).collect()
}

/// Says who asks, after a while.
#[tool(unlinked)]
async fn whoami(
    times: u8,
    #[param(context)] user: &User,
    #[param(context)] absent: Option<&Absent>,
    #[param(context)] call: &Ctx,
) -> String {
    tokio::task::yield_now().await;
    let missing = if absent.is_none() { "" } else { " and more" };
    let id = call.call_id();
    format!("{} {times}{missing} {id} {}", user.0, call.tool_name())
}

macro_rules! counter {
    ($name:ident, $ty:ty) => {
        /// Counts up.
        #[tool(unlinked)]
        fn $name(#[param(context)] count: $ty) -> u32 {
            let mut count = count.lock().unwrap();
            *count += 1;
            *count
        }
    };
}
counter!(count_up, &Arc<Mutex<u32>>);

fn db() -> Db {
    Db(vec!["milk and bread", "bread", "call Ada"])
}

#[test]
fn a_missing_context_value_is_named_without_its_reference() {
    let error = Registry::linked().unwrap_err().to_string();
    assert!(error.contains("`find_notes`: context::Db, "), "{error}");
    testing::assert_linked(["find_notes"]);
    testing::assert_linked_only(["find_notes"]);
}

#[test]
fn a_context_parameter_is_not_in_the_schema() {
    for schema in [
        find_notes::SPEC.parameters_json(),
        whoami::SPEC.parameters_json(),
        count_up::SPEC.parameters_json(),
    ] {
        for word in ["db", "user", "absent", "call", "count"] {
            assert!(!schema.contains(word), "{schema}");
        }
    }
    assert_eq!(
        count_up::SPEC.parameters_json(),
        r#"{"type":"object","properties":{},"additionalProperties":false}"#
    );
}

#[test]
fn a_call_cannot_supply_a_context_value() {
    let registry = Registry::builder()
        .tools(tools![find_notes])
        .context(db())
        .build()
        .unwrap();
    for name in ["db", "call", "__tool_context_0"] {
        let arguments = json!({"word": "bread", name: ["forged"]});
        let result = registry.call_blocking(ToolCall::new("1", "find_notes", arguments));
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
        assert_eq!(error.violations()[0].path(), name);
        assert!(error.message().contains("unknown"), "{error}");
        assert!(!error.message().contains("did you mean"), "{error}");
    }
    let given = registry.render(&Mcp::default());
    assert!(!given.as_str().contains("db"));
}

#[test]
fn one_registry_serves_many_users() {
    let registry = Registry::builder()
        .tools(tools![find_notes, whoami])
        .context(db())
        .context(User("the house"))
        .build()
        .unwrap();
    let find = ToolCall::new("1", "find_notes", r#"{"word":"bread"}"#);
    let content = |call: ToolCall| registry.call_blocking(call).content().to_owned();
    assert_eq!(
        content(find.clone().with(User("Ada"))),
        r#"["Ada: milk and bread","Ada: bread"]"#
    );
    assert!(content(find).contains("the house: bread"));
    // The last value of each type wins.
    let whoami = ToolCall::new("7", "whoami", r#"{"times":2}"#);
    let two = whoami.with(User("Bob")).with(User("Cem"));
    assert_eq!(content(two.clone()), "Cem 2 7 whoami");
    assert_eq!(content(two.with(Absent)), "Cem 2 and more 7 whoami");
}

#[test]
fn a_context_value_is_shared_by_all_calls() {
    let count = Arc::new(Mutex::new(0));
    let registry = Registry::builder()
        .tools(tools![count_up])
        .context(Arc::<Mutex<u32>>::clone(&count))
        .build()
        .unwrap();
    for _ in 0..5 {
        registry.call_blocking(ToolCall::new("1", "count_up", ""));
    }
    assert_eq!(*count.lock().unwrap(), 5);
}

#[test]
fn building_a_registry_fails_if_a_tool_lacks_a_context_value() {
    let builder = Registry::builder().tools(tools![find_notes, whoami, count_up]);
    let error = builder.clone().context(1_u8).build().unwrap_err();
    let told = error.to_string();
    for (tool, ty) in [
        ("find_notes", "context::Db"),
        ("whoami", "context::User"),
        ("count_up", "alloc::sync::Arc<std::sync::"),
    ] {
        let line = told.lines().find(|line| line.contains(tool));
        let line = line.unwrap_or_else(|| panic!("{tool} is not in {told}"));
        assert!(line.contains(ty) && line.contains("context.rs:"), "{told}");
    }
    assert!(
        !told.contains("Absent") && !told.contains("CallContext"),
        "{told}"
    );
    assert!(
        told.contains("Registry::builder().context(value)"),
        "{told}"
    );

    let complete = builder
        .context(db())
        .context_per_call::<User>()
        .context(Arc::new(Mutex::new(0_u32)));
    let registry = complete.build().unwrap();
    // Tools that are added later are checked, too.
    registry.remove("find_notes").unwrap();
    registry.add(tools![find_notes]).unwrap();
    let empty = Registry::new();
    assert!(empty.add(tools![find_notes]).is_err());
    assert!(empty.is_empty());
    assert!(empty.replace(tools![find_notes][0].clone()).is_err());
}

#[test]
fn a_call_without_its_context_value_is_rejected() {
    let registry = Registry::builder()
        .tools(tools![whoami])
        .context_per_call::<User>()
        .build()
        .unwrap();
    let result = registry.call_blocking(ToolCall::new("1", "whoami", r#"{"times":1}"#));
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ToolErrorKind::Unavailable);
    assert!(error.detail().contains("context::User"));
    // The model cannot mend this.
    assert!(!error.message().contains("User"), "{error}");
    assert!(
        error
            .message()
            .ends_with("internal error; it has been reported")
    );
}

/// Goes on after its caller has stopped waiting.
#[tool(unlinked, blocking)]
fn go_on(call: &CallContext, #[param(context)] ended: &mpsc::SyncSender<()>) {
    call.report(&Progress::new(1.0));
    while !call.is_cancelled() {
        thread::yield_now();
    }
    call.report(&Progress::new(2.0));
    ended.send(()).unwrap();
}

#[cfg_attr(target_family = "wasm", ignore = "it starts a thread")]
#[tokio::test]
async fn progress_after_the_result_is_dropped() {
    let (sender, ended) = mpsc::sync_channel::<()>(1);
    let registry = Registry::builder()
        .tools(tools![go_on])
        .context(sender)
        .build()
        .unwrap();
    let (token, heard) = (CancellationToken::new(), Arc::new(Mutex::new(Vec::new())));
    let (stop, sink) = (token.clone(), Arc::clone(&heard));
    let call = ToolCall::new("1", "go_on", "").cancel_with(&token);
    let result = registry.call(call.on_progress(move |progress| {
        sink.lock().unwrap().push(progress.done);
        stop.cancel();
    }));
    let kind = result.await.error().unwrap().kind();
    assert_eq!(kind, ToolErrorKind::Cancelled);
    ended.recv().unwrap();
    assert_eq!(*heard.lock().unwrap(), [1.0]);
}

/// Has its own module, as another version of a crate would.
mod other {
    pub(super) struct Db;
}

/// A pool of connections to one kind of database.
struct Pool<T>(T);

/// Needs a string.
#[tool(unlinked)]
fn fetch(#[param(context)] url: &String, #[param(context)] pool: &Pool<u8>) -> String {
    format!("{url} {}", pool.0)
}

#[test]
fn a_context_value_that_nearly_fits_is_named() {
    let find = || Registry::builder().tools(tools![find_notes]);
    let fetch = || Registry::builder().tools(tools![fetch]);
    let count = || Registry::builder().tools(tools![count_up]);
    for (builder, expected) in [
        (
            find().context(Arc::new(db())),
            "context::Db (there is a value of type alloc::sync::Arc<context::Db>), ",
        ),
        (
            find().context(Box::new(db())),
            "alloc::boxed::Box<context::Db>), ",
        ),
        (
            find().context(Some(db())),
            "core::option::Option<context::Db>), ",
        ),
        (
            find().context(Arc::new(Mutex::new(db()))),
            "alloc::sync::Arc<std::sync::",
        ),
        (find().context(other::Db), "of type context::other::Db), "),
        (
            find().context_per_call::<Option<Db>>(),
            "of type core::option::Option<context::Db>), ",
        ),
        (
            count().context(Mutex::new(0_u32)),
            "(there is a value of type std::sync::",
        ),
        (
            fetch().context("postgres://").context(Pool(0_u8)),
            "alloc::string::String (there is a value of type &str), ",
        ),
        (
            fetch().context(String::new()).context(Pool(0_u16)),
            "context::Pool<u8> (there is a value of type context::Pool<u16>), ",
        ),
    ] {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(error.matches("there is a value").count(), 1, "{error}");
    }
    // Nothing is near.
    for builder in [
        find().context(Arc::new(User("Ada"))).context(7_u8),
        count().context(Arc::new(Mutex::new(Absent))),
        fetch().context(Arc::new(7_u16)).context(vec![1.5]),
    ] {
        let error = builder.build().unwrap_err().to_string();
        assert!(!error.contains("there is a value"), "{error}");
    }
    // The values of one call.
    let registry = Registry::builder()
        .tools(tools![whoami])
        .context_per_call::<User>();
    let call = ToolCall::new("1", "whoami", r#"{"times":1}"#).with(Arc::new(User("Ada")));
    let result = registry.build().unwrap().call_blocking(call);
    let detail = result.error().unwrap().detail();
    let note = "(there is a value of type alloc::sync::Arc<context::User>)";
    assert!(detail.contains(note), "{detail}");
}
