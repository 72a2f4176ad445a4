//! Internal errors are for the operator. For every way in which a call can fail, the model gets a
//! message with a reference, and the operator's event has the same reference and the secret.

use std::error::Error;
use std::future::Future;
use std::time::Duration;

use tool_core::call::CancellationToken;
use tool_core::dialect::Dialect;
use tool_core::hooks::Gate;
use tool_core::{Registry, RegistryBuilder, ToolCall, ToolErrorKind, ToolResult, tool, tools};
use tool_dialects::Gemini;

#[allow(dead_code)] // Another test looks at spans.
#[path = "../../support/capture.rs"]
mod capture;
mod leaky_tools;

use capture::capture;
use leaky_tools::{Bomb, SECRET, all};

/// Returns the texts of a result in every dialect.
fn texts_for_model(result: ToolResult) -> (ToolResult, Vec<String>) {
    let open_api: &dyn Dialect = &Gemini::open_api();
    let dialects = tool_dialects::all()
        .map(|known| known.dialect)
        .chain([open_api]);
    let results = [result];
    let texts = dialects.map(|dialect| {
        let messages = dialect.results(&results);
        serde_json::to_string(&messages).unwrap()
    });
    let texts = texts.collect();
    let [result] = results;
    (result, texts)
}

/// Checks what the model and the operator see of one failure.
fn check(id: &str, result: ToolResult, expected: ToolErrorKind, is_secret: bool) {
    let (result, mut texts) = texts_for_model(result);
    texts.push(result.content().to_owned());
    let error = result.error().unwrap_or_else(|| panic!("{id} is fine"));
    assert_eq!(error.kind(), expected, "{id}");
    for text in &texts {
        assert!(!text.to_lowercase().contains(SECRET), "{id}: {text}");
        assert!(text.contains(error.id()), "{id}: {text}");
        for word in ["Outage", "Cause", "Bomb", "secrets::", "core::"] {
            assert!(!text.contains(word), "{id}: {text}");
        }
    }
    let event = capture().event(id);
    assert_eq!(event.fields["reference"], error.id(), "{id}");
    let span = capture().span(id);
    assert_eq!(span.fields["error.type"], expected.as_str(), "{id}");
    let is_retryable = event.fields["retryable"] == "true";
    assert_eq!(is_retryable, error.is_retryable(), "{id}");
    let is_there = format!("{:?}", event.fields).to_lowercase();
    assert_eq!(is_there.contains(SECRET), is_secret, "{id}: {is_there}");
}

async fn call(registry: &Registry, id: &str, name: &str) -> ToolResult {
    registry.call(ToolCall::new(id, name, "{}")).await
}

#[tokio::test]
async fn no_failure_of_a_tool_shows_the_model_a_secret() {
    use ToolErrorKind::{Failed, InvalidResult, Panicked, Unavailable};
    capture();
    let ways: [(&str, RegistryBuilder); 3] = [
        ("short", all()),
        ("guarded", all().output_cap(10_000)),
        (
            "limited",
            all().concurrency(1).timeout(Duration::from_secs(60)),
        ),
    ];
    for (way, builder) in ways {
        let registry = builder.build().unwrap();
        for (name, kind, is_secret) in [
            ("fails", Failed, true),
            ("is_busy", Failed, true),
            ("fails_boxed", Failed, true),
            ("fails_rudely", Failed, false),
            ("is_rude", Panicked, true),
            ("panics", Panicked, true),
            ("panics_later", Panicked, true),
            ("panics_on_a_thread", Panicked, true),
            ("panics_twice", Panicked, false),
            ("drops_a_bomb", Panicked, true),
            ("unserializable", InvalidResult, true),
            ("lacks", Unavailable, true),
        ] {
            let id = format!("{way} {name}");
            let result = call(&registry, &id, name).await;
            assert_eq!(
                result.error().unwrap().is_retryable(),
                name == "is_busy",
                "{name}"
            );
            check(&id, result, kind, is_secret);
        }
        let id = format!("{way} reports");
        let call = ToolCall::new(&id, "reports", "").on_progress(|_| panic!("told {SECRET}"));
        check(&id, registry.call(call).await, Panicked, true);
    }
}

#[tokio::test]
async fn no_failure_of_an_application_hook_shows_the_model_a_secret() {
    use ToolErrorKind::{Cancelled, Failed, InvalidArguments, Panicked, TimedOut, UnknownTool};
    capture();
    let gate = all().before(|pending| {
        assert_ne!(pending.call.id, "gate at once", "not with {SECRET}");
        async move {
            assert_ne!(pending.call.id, "gate later", "not with {SECRET}");
            if pending.call.id == "gate drops a bomb" {
                let _bomb = Bomb;
                std::future::pending::<()>().await;
            }
            Gate::Allow
        }
    });
    let gate = gate.build().unwrap();
    for id in ["gate at once", "gate later"] {
        check(id, call(&gate, id, "works").await, Panicked, true);
    }
    let token = CancellationToken::new();
    let waits = ToolCall::new("gate drops a bomb", "works", "").cancel_with(&token);
    let (result, ()) = tokio::join!(gate.call(waits), async { token.cancel() });
    check("gate drops a bomb", result, Panicked, true);

    let after = all().after(|_, result| {
        assert_ne!(result.call_id(), "after at once", "not with {SECRET}");
        async move {
            assert_ne!(result.call_id(), "after later", "not with {SECRET}");
            result
        }
    });
    let after = after.build().unwrap();
    for id in ["after at once", "after later"] {
        check(id, call(&after, id, "works").await, Panicked, true);
    }

    // The error that a hook received survives its panic, as does one that two hooks received.
    let twice = all()
        .after(async |_, result| panic!("{} was on its way", result.content()))
        .after(async |_, _| panic!("once more"))
        .map_errors(|_| Some("it did not work".into()))
        .build()
        .unwrap();
    for (name, first) in [
        ("fails", "fails failed"),
        ("is_busy", "is_busy failed"),
        ("panics", "panicked with hunter2"),
        ("lacks", "the call has no context value"),
    ] {
        let id = format!("after {name}");
        let result = call(&twice, &id, name).await;
        let mut chain = Vec::new();
        let mut source = result.error().unwrap().source();
        while let Some(error) = source {
            chain.push(error.to_string());
            source = error.source();
        }
        assert!(chain[0].contains("was on its way"), "{chain:?}");
        assert!(chain[1].contains(first), "{chain:?}");
        assert!(chain[1].contains(" [ref "), "{chain:?}");
        let causes = capture().event(&id).fields["causes"].clone();
        assert!(causes.starts_with("once more: "), "{causes}");
        assert!(
            chain
                .iter()
                .all(|text| causes.matches(&**text).count() == 1),
            "{causes}"
        );
        check(&id, result, Panicked, true);
    }

    // `map_errors` panics: the library's message stays.
    let retold = all().map_errors(|_| panic!("told with {SECRET}"));
    let retold = retold.timeout(Duration::from_millis(2)).build().unwrap();
    check(
        "retold",
        call(&retold, "retold", "fails").await,
        Failed,
        true,
    );
    let result = call(&retold, "retold unknown", "nothing").await;
    check("retold unknown", result, UnknownTool, false);
    let result = call(&retold, "retold in time", "waits").await;
    check("retold in time", result, TimedOut, false);
    let invalid = ToolCall::new("retold invalid", "works", r#"{"x":1}"#);
    check(
        "retold invalid",
        retold.call(invalid).await,
        InvalidArguments,
        false,
    );
    let token = CancellationToken::new();
    token.cancel();
    let waits = ToolCall::new("retold cancelled", "waits", "").cancel_with(&token);
    check(
        "retold cancelled",
        retold.call(waits).await,
        Cancelled,
        false,
    );
}

#[test]
fn outside_of_a_runtime_the_model_sees_no_secret() {
    capture();
    let registry = all().build().unwrap();
    for name in ["drops_a_bomb", "panics_on_a_thread"] {
        let id = format!("outside {name}");
        let result = registry.call_blocking(ToolCall::new(&id, name, ""));
        assert!(
            !result.content().contains("runtime"),
            "{}",
            result.content()
        );
        check(&id, result, ToolErrorKind::Unavailable, false);
    }
}

#[tokio::test]
async fn the_operator_sees_what_the_application_hides_from_the_model() {
    /// Its own words, and nothing behind them.
    #[tool(unlinked)]
    /// Fails with words alone.
    fn says() -> Result<u8, String> {
        Err(format!("the password {SECRET} is wrong"))
    }

    capture();
    let mapped = || {
        Registry::builder()
            .tools(tools![says])
            .map_errors(|_| Some("it did not work".into()))
    };
    let hidden = mapped().build().unwrap();
    check(
        "hidden",
        call(&hidden, "hidden", "says").await,
        ToolErrorKind::Failed,
        true,
    );
    let hook = Registry::builder().tools(tools![says]);
    let hook = hook.after(async |_, result| result.with_content("it did not work"));
    let hook = hook.build().unwrap();
    let result = call(&hook, "hidden by a hook", "says").await;
    let error = result.error().unwrap();
    assert_eq!(
        error.original_message(),
        format!(
            "says failed [ref {}]: the password {SECRET} is wrong",
            error.id()
        )
    );
    check("hidden by a hook", result, ToolErrorKind::Failed, true);
    // Truncated before the secret that a hook was to hide.
    let cut = mapped().output_cap(4).build().unwrap();
    let result = call(&cut, "cut", "says").await;
    check("cut", result, ToolErrorKind::Failed, true);
}

#[tokio::test]
async fn a_hook_sees_a_text_before_it_is_truncated() {
    /// Says something long.
    #[tool(unlinked)]
    fn long() -> String {
        format!("{}{SECRET}", "x".repeat(17))
    }

    for cap in 0..30 {
        let registry = Registry::builder().tools(tools![long]).output_cap(cap);
        let registry = registry.after(async |_, result| {
            let text = result.content().replace(SECRET, "…");
            result.with_content(text)
        });
        let result = call(&registry.build().unwrap(), "", "long").await;
        assert!(!result.content().contains('h'), "{}", result.content());
        assert!(result.content().len() <= cap + 40);
    }
}

/// A dropped call has no result. Its panic does not reach whoever drops it, who may be about to drop
/// other calls.
#[test]
fn a_dropped_call_keeps_its_panic() {
    let registry = all().build().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let _inside = runtime.enter();
    let mut call = Box::pin(registry.call(ToolCall::new("given up", "drops_a_bomb", "")));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(call.as_mut().poll(&mut context).is_pending());
    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(call)));
    assert!(dropped.is_ok());
}
