//! Cases of tool-core alone: registries of many tools, concurrent calls, a borrowed parameter, white space, a recursive
//! type with constraints, streams, calls in conversations, long results, base64, and the limits
//! of other cases.

mod base64;
mod concurrent;
mod decoding;
mod kept;
mod limits;
mod many;
mod runs;
mod streams;

use std::hint::black_box;

use harness::now::now;
use harness::{Work, cases};
use tool_core::dialect::Dialect;
use tool_core::{Registry, ToolCall, tool, tools};
use tool_dialects::{Anthropic, Mcp, OpenAiChat};

/// Finds the tools of [`many`].
const QUERY: &str = "Search the collection for what fits best.";

pub const CASES: &[&str] = &[
    "text as &str",
    "spaced",
    "constrained",
    "validate flat",
    "validate nested",
    "left out",
    "validate left out",
    "hooked flat",
    "hooked nested",
    "pieces flat",
    "pieces nested",
    "1000 at once",
    "1000 at once, bare",
    "strict openai-chat",
    "strict anthropic",
    "start 10",
    "start 1000",
    "start 10000",
    "look up 10",
    "look up 1000",
    "look up 10000",
    "request 10",
    "request 1000",
    "add 10000",
    "replace 10",
    "replace 10000",
    "search 10",
    "search 1000",
    "search 10000",
    "changed search 10",
    "changed search 1000",
    "changed search 10000",
    "unknown 10",
    "unknown 1000",
    "unknown 10000",
    "unknown 100000",
    "render 10",
    "render 1000",
    "render 10000",
    "stream openai-chat",
    "stream openai-responses",
    "stream anthropic",
    "stream gemini",
    "arguments openai-chat",
    "arguments openai-responses",
    "arguments anthropic",
    "call by hand",
    "call in a run",
    "call in an agent",
    "call in an agent 14",
    "call in an agent 201",
    "call in an agent 1000",
    "agent stream",
    "agent stream, values",
    "base64 encode",
    "base64 encode, base64",
    "base64 encode, copy",
    "base64 decode",
    "base64 decode, base64",
    "base64 decode, copy",
    "long cut",
    "long kept",
    "long read",
    "long search",
    "limit flat",
    "limit nested",
    "limit text",
    "limit refused",
    "limit start",
    "limit stream openai-chat",
    "limit stream openai-responses",
    "limit stream anthropic",
    "limit stream gemini",
    "limit arguments openai-chat",
    "limit arguments openai-responses",
    "limit arguments anthropic",
];

pub fn work(case: &str) -> Work {
    if let Some(of) = case.strip_prefix("limit ") {
        return limits::work(of);
    }
    if let Some(of) = case.strip_prefix("long ") {
        return kept::work(of);
    }
    if case.starts_with("base64 ") {
        return base64::work(case);
    }
    let (what, size) = case.rsplit_once(' ').unwrap_or((case, ""));
    match (what, size.parse()) {
        ("start", Ok(size)) => {
            let tools = many::tools(size);
            Work::new(size, move || {
                let registry = Registry::builder().tools(tools.iter().cloned()).build();
                black_box(registry).expect("unique names");
            })
        }
        ("look up", Ok(size)) => {
            let registry = many::registry(size);
            let names = many::names(size);
            Work::new(size, move || {
                for name in &names {
                    black_box(registry.get(name)).expect("a known tool");
                }
            })
        }
        ("add", Ok(size)) => {
            let tools = many::tools(size);
            Work::new(size, move || {
                let registry = Registry::new();
                for tool in &tools {
                    registry.add([tool.clone()]).expect("unique names");
                }
                black_box(registry);
            })
        }
        ("replace", Ok(size)) => {
            let registry = many::registry(size);
            let tools = many::tools(size);
            Work::new(size, move || {
                for tool in &tools {
                    let old = registry.replace(tool.clone());
                    black_box(old).expect("a known tool");
                }
            })
        }
        ("search", Ok(size)) => {
            let registry = many::registry(size);
            Work::new(1, move || {
                assert_eq!(black_box(registry.search(QUERY, 5)).len(), 5);
            })
        }
        ("changed search", Ok(size)) => {
            let registry = many::registry(size);
            let [tool] = many::tools(1).try_into().expect("one tool");
            Work::new(1, move || {
                let changed = tool.clone().in_group("late");
                registry.replace(changed).expect("a valid tool");
                assert_eq!(black_box(registry.search(QUERY, 5)).len(), 5);
            })
        }
        ("unknown", Ok(size)) => {
            let registry = match size {
                100_000 => many::methods(size),
                _ => many::registry(size),
            };
            Work::new(1, move || {
                let call = ToolCall::new("call_1", "fetch_pages", "{}");
                assert!(black_box(now(registry.call(call))).is_error());
            })
        }
        ("request", Ok(size)) => {
            let registry = many::registry(size);
            Work::new(size, move || {
                let request = registry.request(&Mcp::default()).build();
                black_box(request).expect("no setting names a tool");
            })
        }
        ("render", Ok(size)) => {
            let registry = many::registry(size);
            Work::new(size, move || {
                black_box(registry.render(&Mcp::default()).into_string());
            })
        }
        ("call in an agent", Ok(size)) => runs::in_an_agent(size),
        ("stream", _) => streams::text(size),
        ("arguments", _) => streams::arguments(size),
        _ => match case {
            "call by hand" => runs::by_hand(),
            "call in a run" => runs::in_a_run(),
            "call in an agent" => runs::in_an_agent(1),
            "agent stream" => runs::stream_in_an_agent(false),
            "agent stream, values" => runs::stream_in_an_agent(true),
            "text as &str" => borrowed_text(),
            "spaced" => decoding::spaced(),
            "constrained" => decoding::constrained(),
            "validate flat" => decoding::validate("flat_7", cases::flat()),
            "validate nested" => decoding::validate("nested_7", cases::nested()),
            "left out" => decoding::left_out(),
            "validate left out" => decoding::validate_left_out(),
            "hooked flat" => decoding::hooked("flat_7", cases::flat()),
            "hooked nested" => decoding::hooked("nested_7", cases::nested()),
            "pieces flat" => decoding::pieces("flat_7", cases::flat()),
            "pieces nested" => decoding::pieces("nested_7", cases::nested()),
            "1000 at once" => concurrent::calls(),
            "1000 at once, bare" => concurrent::bare(),
            "strict openai-chat" => strict(OpenAiChat::strict()),
            "strict anthropic" => strict(Anthropic::strict()),
            _ => panic!("no case {case}"),
        },
    }
}

/// Lists the tools of the other cases in the subset of a strict mode.
fn strict(dialect: impl Dialect + 'static) -> Work {
    let registry = Registry::linked().expect("unique names");
    Work::new(1, move || {
        black_box(registry.render(&dialect).into_string());
    })
}

/// Stores a note.
#[tool(unlinked)]
fn borrowing(
    /// The text of the note.
    body: &str,
) -> String {
    black_box(body);
    "stored".into()
}

/// The case `text` with a parameter that borrows from the arguments.
fn borrowed_text() -> Work {
    let registry = Registry::builder().tools(tools![borrowing]).build();
    let registry = registry.expect("one tool");
    let arguments = cases::text();
    Work::new(1, move || {
        let call = ToolCall::new("call_1", "borrowing", &*arguments);
        assert!(!black_box(now(registry.call(call))).is_error());
    })
}
