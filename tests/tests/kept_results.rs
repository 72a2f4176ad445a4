//! Long results that a registry keeps, and `read_result`.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};
use tool_core::content::{Content, Image};
use tool_core::hooks::Gate;
use tool_core::registry::{
    MemoryResults, ResultLimits, ResultScope, ResultStore, ResultStoreError,
};
use tool_core::runtime::BoxFuture;
use tool_core::{
    CallContext, Registry, RegistryBuilder, ToolCall, ToolErrorKind, ToolResult, ToolType, tool,
    tools,
};
use tool_dialects::{Anthropic, Mcp, OpenAiChat};
use tracing::subscriber::with_default;
use tracing_subscriber::fmt::MakeWriter;

/// Returns a text.
#[tool(unlinked)]
fn say(text: &str) -> String {
    text.to_owned()
}

/// Fails with a text.
#[tool(unlinked)]
fn fail(text: &str) -> Result<(), String> {
    Err(text.to_owned())
}

#[derive(Serialize, ToolType)]
struct Row {
    name: String,
}

/// Returns rows.
#[tool(unlinked)]
fn rows(count: usize) -> Vec<Row> {
    (0..count)
        .map(|at| Row {
            name: format!("row {at}"),
        })
        .collect()
}

/// Returns a value, texts and a picture.
#[tool(unlinked)]
fn draw(before: &str, after: &str) -> (Row, Vec<Content>) {
    let row = Row {
        name: "chart".into(),
    };
    let parts = vec![
        Content::text(before),
        Image::png([1, 2, 3]).into(),
        Content::text(after),
        Content::text("the end"),
    ];
    (row, parts)
}

/// Counts the bytes of the rows of another tool.
#[tool(unlinked)]
async fn count_rows(count: usize, call: &CallContext) -> Result<usize, String> {
    let result = call
        .call(ToolCall::new("inner", "rows", json!({"count": count})))
        .await;
    assert!(result.kept().is_none());
    let rows: Vec<Value> = result.value().map_err(|error| error.to_string())?;
    Ok(rows.len())
}

#[derive(Serialize, ToolType)]
struct Account {
    #[param(secret)]
    token: String,
}

/// Returns an account.
#[tool(unlinked)]
fn account(token: &str) -> Account {
    Account {
        token: token.to_owned(),
    }
}

mod taken {
    /// Has the name of another tool.
    #[tool_core::tool(unlinked)]
    pub(super) fn read_result() {}
}

fn builder() -> RegistryBuilder {
    Registry::builder().tools(tools![say, fail, rows, draw, count_rows, account])
}

fn keeping(limit: usize) -> Registry {
    builder()
        .spill(MemoryResults::new(), limit)
        .build()
        .unwrap()
}

fn call(registry: &Registry, scope: &str, tool: &str, arguments: Value) -> ToolResult {
    let call = ToolCall::new("call_1", tool, arguments);
    registry.call_blocking(call.with(ResultScope::new(scope)))
}

fn read(registry: &Registry, scope: &str, arguments: Value) -> ToolResult {
    call(registry, scope, "read_result", arguments)
}

/// Returns the handle of a result that was kept.
fn handle(result: &ToolResult) -> String {
    result.kept().expect("it was kept").0.to_owned()
}

/// Returns the bytes of a page: its range and its text.
fn page(content: &str) -> (usize, usize, &str) {
    let at = content.rfind("\n[bytes ").expect("a note");
    let mut numbers = content[at + "\n[bytes ".len()..].split(' ');
    let start = numbers.next().unwrap().parse().unwrap();
    let end = numbers.nth(1).unwrap().parse().unwrap();
    (start, end, &content[..at])
}

/// Reads a whole result by its start and `read_result`.
fn whole(registry: &Registry, first: &ToolResult) -> String {
    let Some((handle, bytes)) = first.kept() else {
        return first.content().to_owned();
    };
    let mut text = String::new();
    let mut shown = first.clone();
    loop {
        let (start, end, piece) = page(shown.content());
        assert_eq!((start, end), (text.len(), text.len() + piece.len()));
        text.push_str(piece);
        let is_end = shown.content().ends_with("; this is the end]");
        assert_eq!(is_end, end == bytes, "{}", shown.content());
        if is_end {
            return text;
        }
        let arguments = format!(r#"{{"handle":"{handle}","byte":{end}}}"#);
        let note = format!("read on by `read_result` with {arguments}, ");
        assert!(shown.content().contains(&note), "{}", shown.content());
        shown = read(registry, "chat", serde_json::from_str(&arguments).unwrap());
    }
}

proptest! {
    #[test]
    fn the_start_and_what_is_read_on_are_the_whole(
        text in "(\\PC|\n|\r|é|😀|\\[|a|b){0,300}",
        limit in 0_usize..400,
    ) {
        let registry = keeping(limit);
        let first = call(&registry, "chat", "say", json!({"text": text}));
        prop_assert_eq!(first.kept().is_some(), text.len() > limit);
        prop_assert_eq!(whole(&registry, &first), text);
        // A character that is longer than the limit is shown whole.
        prop_assert!(first.content().len() <= limit.max(4) + 300, "{}", first.content());
    }

    #[test]
    fn any_line_any_byte_and_any_search_is_answered_within_the_limit(
        text in "(\\PC|\n|ab|b){1,300}",
        wanted in "(ab|b|\n|\\PC){1,3}",
        line in 0_usize..40,
        lines in 1_usize..10,
        byte in 0_usize..400,
        limit in 10_usize..200,
    ) {
        let registry = keeping(limit);
        // Long enough to be kept.
        let text = format!("{text}\n{}", "x".repeat(limit));
        let handle = handle(&call(&registry, "chat", "say", json!({"text": text})));
        let by_line = read(&registry, "chat", json!({"handle": handle, "line": line, "lines": lines}));
        let all: Vec<_> = text.split_inclusive('\n').collect();
        match line.checked_sub(1).and_then(|line| all.get(line..)) {
            Some(rest) if !rest.is_empty() => {
                let (_, _, piece) = page(by_line.content());
                let wanted = rest[..lines.min(rest.len())].concat();
                prop_assert!(wanted.starts_with(piece));
                prop_assert!(piece.len() <= limit && (piece == wanted || piece.len() * 4 >= limit - 4));
            }
            _ => {
                let problem = format!("the result has the lines 1 to {} and the bytes 0 to {}", all.len(), text.len() - 1);
                prop_assert!(by_line.is_error() && by_line.content().contains(&problem), "{}", by_line.content());
            }
        }
        let by_byte = read(&registry, "chat", json!({"handle": handle, "byte": byte}));
        prop_assert_eq!(by_byte.is_error(), byte >= text.len());
        if !by_byte.is_error() {
            let (start, end, piece) = page(by_byte.content());
            prop_assert!(start <= byte && byte < start + 4 && &text[start..end] == piece);
        }
        let found = read(&registry, "chat", json!({"handle": handle, "search": wanted}));
        let places = text.matches(&wanted).count();
        prop_assert!([format!("places: {places}, "), format!(" of {places}; ")].iter().any(|note| found.content().contains(note)), "{}", found.content());
        let shown = found.content().lines().filter(|line| line.starts_with("line ")).count();
        prop_assert!(shown <= places.min(20) && (shown > 0) == (places > 0));
        prop_assert!(found.content().len() <= limit + 512);
    }
}

#[test]
fn a_start_ends_with_a_line_and_says_how_to_read_on() {
    let registry = keeping(20);
    let text = "first line\nsecond\nthird line\n";
    let result = call(&registry, "chat", "say", json!({"text": text}));
    let handle = handle(&result);
    assert_eq!(handle.len(), 17);
    assert_eq!(
        result.content(),
        format!(
            "first line\nsecond\n\n[bytes 0 to 18 of 29, lines 1 to 2 of 3; read on by `read_result` with \
             {{\"handle\":\"{handle}\",\"byte\":18}}, or with \"line\" or \"search\"]"
        )
    );
    let second = read(
        &registry,
        "chat",
        json!({"handle": handle, "line": 2, "lines": 1}),
    );
    assert!(
        second
            .content()
            .starts_with("second\n\n[bytes 11 to 18 of 29, lines 2 to 2 of 3; ")
    );
    let found = read(
        &registry,
        "chat",
        json!({"handle": handle, "search": "line"}),
    );
    assert_eq!(
        found.content(),
        "line 1, byte 6: first line\n[places: 1 of 2; search on from byte 24]"
    );
    let on = read(
        &registry,
        "chat",
        json!({"handle": handle, "search": "line", "byte": 24}),
    );
    assert_eq!(
        on.content(),
        "line 3, byte 24: third line\n[places: 1, from byte 24 to the end]"
    );
    let both = read(
        &registry,
        "chat",
        json!({"handle": handle, "line": 1, "byte": 0}),
    );
    assert!(both.content().ends_with("give a line or a byte, not both"));
    assert_eq!(both.error().unwrap().kind(), ToolErrorKind::Failed);
}

#[test]
fn handles_are_unknown_in_other_scopes_and_without_one() {
    let registry = keeping(10);
    let text = "a text that is longer";
    let result = call(&registry, "ada", "say", json!({"text": text}));
    let arguments = json!({"handle": handle(&result)});
    let unknown = |result: &ToolResult| {
        let error = result.error().unwrap();
        error.message().replace(error.id(), "")
    };
    let made_up = read(&registry, "bob", json!({"handle": "r0123456789abcdef"}));
    let of_ada = read(&registry, "bob", arguments.clone());
    assert_eq!(unknown(&made_up), unknown(&of_ada));
    let without = registry.call_blocking(ToolCall::new("1", "read_result", arguments.clone()));
    assert_eq!(unknown(&made_up), unknown(&without));
    assert!(!read(&registry, "ada", arguments).is_error());

    // Without a scope, it is truncated as ever.
    let call = ToolCall::new("1", "say", json!({"text": text}));
    let cut = registry.call_blocking(call.clone());
    assert_eq!(
        cut.content(),
        "a text tha\n[truncated: 11 of 21 bytes omitted]"
    );
    // The scope of a registry is that of its calls.
    let own = builder().spill(MemoryResults::new(), 10);
    let own = own
        .context(ResultScope::new("the only user"))
        .build()
        .unwrap();
    let arguments = json!({"handle": handle(&own.call_blocking(call))});
    let read = own.call_blocking(ToolCall::new("2", "read_result", arguments));
    assert!(
        read.content()
            .starts_with("a text tha\n[bytes 0 to 10 of 21")
    );
}

#[test]
fn handles_are_random() {
    let registry = keeping(1);
    let handles: Vec<_> = (0..100)
        .map(|_| handle(&call(&registry, "chat", "say", json!({"text": "text"}))))
        .collect();
    let number = |handle: &String| u64::from_str_radix(&handle[1..], 16).unwrap();
    let mut numbers: Vec<_> = handles.iter().map(number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 100);
    assert!(numbers.windows(2).all(|pair| pair[1] - pair[0] > 1 << 20));
}

#[test]
fn a_result_with_parts_is_kept_as_one_text() {
    let registry = keeping(40);
    // The value and the first text fit.
    let (before, after) = ("x".repeat(16), "y".repeat(30));
    let result = call(
        &registry,
        "chat",
        "draw",
        json!({"before": before, "after": after}),
    );
    let value = r#"{"name":"chart"}"#;
    assert_eq!(result.structured_json(), Some(value));
    let [first, second, Content::Image(_), Content::Text(cut)] = result.parts() else {
        panic!("{result:?}");
    };
    assert_eq!(
        [first, second],
        [&Content::text(value), &Content::text(&*before)]
    );
    assert!(
        cut.starts_with("\n[bytes 0 to 34 of 72, lines 1 to 2 of 4; "),
        "{cut}"
    );
    let rest = read(
        &registry,
        "chat",
        json!({"handle": handle(&result), "byte": 34}),
    );
    assert!(
        rest.content()
            .starts_with(&format!("{after}\nthe end\n[bytes 34 to 72 of 72, "))
    );

    // The value does not fit, so that it is no value any more.
    let registry = keeping(10);
    let result = call(
        &registry,
        "chat",
        "draw",
        json!({"before": before, "after": after}),
    );
    assert_eq!(result.structured_json(), None);
    assert!(
        matches!(result.parts(), [Content::Text(_), Content::Image(_)]),
        "{result:?}"
    );
    assert_eq!(
        whole(&registry, &result),
        format!("{value}\n{before}\n{after}\nthe end")
    );
}

#[test]
fn structured_results_are_cut_for_models_and_whole_for_tools() {
    let registry = keeping(100);
    let result = call(&registry, "chat", "rows", json!({"count": 50}));
    assert_eq!(result.structured(), None);
    let json: Vec<Value> = serde_json::from_str(&whole(&registry, &result)).unwrap();
    assert_eq!(json.len(), 50);
    let counted = call(&registry, "chat", "count_rows", json!({"count": 50}));
    assert_eq!(counted.content(), "50");
    // A cut result would not match its schema.
    assert!(
        !registry
            .render(&Mcp::default())
            .as_str()
            .contains("outputSchema")
    );
}

#[test]
fn errors_of_tools_are_kept_and_those_of_the_registry_are_not() {
    let registry = keeping(100);
    let text = "compiler output\n".repeat(20);
    let failed = call(&registry, "chat", "fail", json!({"text": text}));
    let error = failed.error().unwrap();
    assert_eq!(error.kind(), ToolErrorKind::Failed);
    assert!(failed.content().contains(error.id()));
    assert!(whole(&registry, &failed).ends_with(&text));
    let rejected = call(&registry, "chat", "say", json!({"x".repeat(300): 1}));
    assert!(rejected.kept().is_none() && rejected.content().len() < 200);
}

#[test]
fn what_a_hook_removes_is_not_kept() {
    let seen = Recording::default();
    let registry = builder()
        .after(async |_, result| {
            let text = result.content().replace("4711", "****");
            result.with_content(text)
        })
        .spill(seen.clone(), 10)
        .build()
        .unwrap();
    let result = call(
        &registry,
        "chat",
        "say",
        json!({"text": "the PIN of Ada is 4711"}),
    );
    let kept = seen.0.lock().unwrap().clone();
    assert_eq!(
        kept.into_values().collect::<Vec<_>>(),
        ["the PIN of Ada is ****"]
    );
    assert!(
        read(
            &registry,
            "chat",
            json!({"handle": handle(&result), "byte": 15})
        )
        .content()
        .contains("****")
    );
}

#[test]
fn pages_of_a_secret_are_secret() {
    let registry = keeping(10);
    let result = call(
        &registry,
        "chat",
        "account",
        json!({"token": "hunter2hunter2"}),
    );
    let page = read(
        &registry,
        "chat",
        json!({"handle": handle(&result), "search": "hunter2"}),
    );
    assert!(page.content().contains("hunter2hunter2"));
    assert!(page.has_secrets() && !format!("{page:?}").contains("hunter2"));
    // Another handle leads nowhere.
    let plain = handle(&result).replacen('s', "r", 1);
    assert!(read(&registry, "chat", json!({"handle": plain})).is_error());
}

#[test]
fn what_reads_on_is_offered_wherever_something_is_cut() {
    let registry = builder()
        .defer(|_| true)
        .spill(MemoryResults::new(), 10)
        .build()
        .unwrap();
    for rendered in [
        registry.render(&OpenAiChat::default()),
        registry.render(&Anthropic::default()),
        registry
            .select(|tool| tool.name == "say")
            .render(&Anthropic::default()),
        registry
            .with_other_tools(tools![])
            .unwrap()
            .render(&OpenAiChat::default()),
    ] {
        assert!(
            rendered.as_str().contains(r#""name":"read_result""#),
            "{}",
            rendered.as_str()
        );
    }
    assert!(!registry.get("read_result").unwrap().is_deferred());
    assert!(Registry::new().get("read_result").is_none());

    let error = builder()
        .tools(tools![taken::read_result])
        .spill(MemoryResults::new(), 10);
    let error = error.build().unwrap_err().to_string();
    assert!(error.contains("`read_result`"), "{error}");
    // The hooks decide on it as on every tool.
    let registry = builder()
        .before(async |hook| match &*hook.tool.name {
            "read_result" => Gate::deny("not today"),
            _ => Gate::Allow,
        })
        .spill(MemoryResults::new(), 10);
    let registry = registry.build().unwrap();
    let result = read(&registry, "chat", json!({"handle": "r"}));
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied);
}

/// Keeps texts for ever, by scope and handle.
#[derive(Clone, Default)]
struct Recording(Arc<Mutex<BTreeMap<(String, String), String>>>);

impl ResultStore for Recording {
    fn put(
        &self,
        scope: &ResultScope,
        handle: &str,
        text: String,
    ) -> BoxFuture<Result<(), ResultStoreError>> {
        let key = (scope.as_str().to_owned(), handle.to_owned());
        self.0.lock().unwrap().insert(key, text);
        Box::pin(async { Ok(()) })
    }

    fn read(
        &self,
        scope: &ResultScope,
        handle: &str,
    ) -> BoxFuture<Result<Option<Arc<str>>, ResultStoreError>> {
        let key = (scope.as_str().to_owned(), handle.to_owned());
        let found = self
            .0
            .lock()
            .unwrap()
            .get(&key)
            .map(|text| text.as_str().into());
        Box::pin(async { Ok(found) })
    }

    fn remove(&self, scope: &ResultScope) -> BoxFuture<Result<(), ResultStoreError>> {
        let mut texts = self.0.lock().unwrap();
        texts.retain(|(of, _), _| of != scope.as_str());
        Box::pin(async { Ok(()) })
    }
}

/// A store on a full disk.
struct Full {
    panics: bool,
}

impl ResultStore for Full {
    fn put(&self, _: &ResultScope, _: &str, _: String) -> BoxFuture<Result<(), ResultStoreError>> {
        assert!(!self.panics, "no space left");
        Box::pin(async { Err("no space left".into()) })
    }

    fn read(
        &self,
        _: &ResultScope,
        _: &str,
    ) -> BoxFuture<Result<Option<Arc<str>>, ResultStoreError>> {
        Box::pin(async { Err("no space left".into()) })
    }

    fn remove(&self, _: &ResultScope) -> BoxFuture<Result<(), ResultStoreError>> {
        Box::pin(async { Ok(()) })
    }
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
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

#[test]
fn of_a_store_that_fails_the_log_tells_and_the_call_has_a_result() {
    for panics in [false, true] {
        let registry = builder().spill(Full { panics }, 10).build().unwrap();
        let log = Log::default();
        let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).finish();
        let (result, read) = with_default(subscriber, || {
            let result = call(&registry, "chat", "say", json!({"text": "x".repeat(20)}));
            (result, read(&registry, "chat", json!({"handle": "r1"})))
        });
        assert_eq!(
            result.content(),
            "xxxxxxxxxx\n[truncated: 10 of 20 bytes omitted]"
        );
        assert!(result.kept().is_none());
        // The model is not told about disks.
        assert!(
            read.is_error() && !read.content().contains("space"),
            "{}",
            read.content()
        );
        let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        assert!(
            log.contains(
                "the result of say is truncated, because it could not be kept: no space left"
            ),
            "{log}"
        );
        assert!(
            log.contains("the result can't be read at the moment")
                && log.matches("no space left").count() == 2,
            "{log}"
        );
    }
}

#[test]
fn the_default_limits_bound_what_is_kept() {
    let store = MemoryResults::new().limits(ResultLimits::new().bytes(30));
    let registry = builder().spill(store, 10).build().unwrap();
    let say = |text: &str| call(&registry, "chat", "say", json!({"text": text}));
    let first = say(&"1".repeat(20));
    let second = say(&"2".repeat(20));
    let read = |result: &ToolResult| read(&registry, "chat", json!({"handle": handle(result)}));
    assert!(read(&first).is_error() && !read(&second).is_error());
    // A result that is longer than all that may be kept is truncated.
    let huge = say(&"3".repeat(31));
    assert!(
        huge.kept().is_none()
            && huge
                .content()
                .contains("[truncated: 21 of 31 bytes omitted]")
    );
    assert!(!read(&second).is_error());
}
