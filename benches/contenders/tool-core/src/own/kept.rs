//! A result of 100 KB that is truncated, or kept for `read_result`.

use std::hint::black_box;

use harness::Work;
use harness::now::now;
use tool_core::registry::{MemoryResults, ResultLimits, ResultScope};
use tool_core::{Registry, ToolCall, tool, tools};

/// The bytes of the result that the model gets.
const LIMIT: usize = 4000;

/// Reads the log.
#[tool(unlinked, read_only)]
fn read_log() -> String {
    "GET /orders/7 200 in 12 ms, from the cache of the shop\n".repeat(1800)
}

pub fn work(case: &str) -> Work {
    let builder = Registry::builder().tools(tools![read_log]);
    let builder = if case == "cut" {
        builder.output_cap(LIMIT)
    } else {
        // Each call is kept in place of an older one.
        builder.spill(
            MemoryResults::new().limits(ResultLimits::new().count(10)),
            LIMIT,
        )
    };
    let registry = builder.build().expect("one tool");
    let scope = ResultScope::new("chat 7");
    let call = move |tool: &str, arguments: &str| {
        let call = ToolCall::new("call_1", tool, arguments).with(scope.clone());
        let result = now(registry.call(call));
        assert!(!black_box(&result).is_error(), "{result:?}");
        result
    };
    if matches!(case, "cut" | "kept") {
        return Work::new(1, move || {
            let result = call("read_log", "{}");
            assert!(result.content().len() < 2 * LIMIT);
        });
    }
    let kept = call("read_log", "{}");
    let (handle, _) = kept.kept().expect("a long result");
    let part = match case {
        "read" => r#""line":900"#,
        "search" => r#""search":"orders/8""#,
        _ => panic!("no case {case}"),
    };
    let arguments = format!(r#"{{"handle":"{handle}",{part}}}"#);
    Work::new(1, move || {
        call("read_result", &arguments);
    })
}
