//! Model-written code that calls the tools of a registry.

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{policy, sandbox};
use futures_util::FutureExt;
use serde_json::{Value, json};
use tool_core::hooks::{Decision, Gate};
use tool_core::{CallContext, Registry, ToolCall, ToolResult, tool, tools};
use tool_python::{CodeTool, Limits, code_mode, python_sandbox};

/// The user of a call.
struct User(&'static str);

/// Adds two numbers.
#[tool(unlinked)]
fn add(a: i64, #[param(default = 1)] b: i64) -> i64 {
    a + b
}

/// Returns the user's name.
#[tool(unlinked)]
fn whoami(#[param(context)] user: &User, call: &CallContext) -> String {
    format!("{} in {}", user.0, call.call_id())
}

/// Divides.
#[tool(unlinked)]
fn divide(a: f64, b: f64) -> Result<f64, String> {
    if b == 0.0 {
        Err("can't divide by 0".to_owned())
    } else {
        Ok(a / b)
    }
}

/// Deletes a note.
#[tool(unlinked, destructive)]
fn delete_note(id: u32) -> String {
    format!("deleted {id}")
}

/// Returns after all calls of a group have started.
#[tool(unlinked)]
async fn meet(n: u32, #[param(context)] barrier: &Arc<tokio::sync::Barrier>) -> u32 {
    barrier.wait().await;
    n
}

/// Never returns.
#[tool(unlinked, timeout = "20ms")]
async fn sleep_forever() {
    std::future::pending::<()>().await;
}

fn tools_of_the_test() -> Registry {
    Registry::builder()
        .context_per_call::<User>()
        .context(Arc::new(tokio::sync::Barrier::new(3)))
        .tools(tools![
            add,
            whoami,
            divide,
            delete_note,
            meet,
            sleep_forever
        ])
        .before(async |hook| match hook.tool.annotations.destructive {
            Some(true) => Gate::hold("it deletes something"),
            _ => Gate::Allow,
        })
        .build()
        .unwrap()
}

fn limits() -> Limits {
    Limits {
        time: Duration::from_secs(30),
        ..Limits::default()
    }
}

/// Runs code with a tool. Returns `None` if the kernel has no sandbox.
async fn run(
    tool: impl FnOnce(&tool_python::Sandbox) -> CodeTool,
    code: &str,
) -> Option<ToolResult> {
    let sandbox = sandbox(policy())?;
    let tool = tool(&sandbox)
        .limits(limits())
        .name("run_code")
        .build()
        .unwrap();
    let registry = Registry::builder().tool(tool).build().unwrap();
    let call = ToolCall::new("call_1", "run_code", json!({"code": code})).with(User("Ada"));
    Some(registry.call(call).await)
}

async fn run_tools(code: &str) -> Option<Value> {
    let result = run(|sandbox| code_mode(sandbox, &tools_of_the_test()), code).await?;
    assert!(!result.is_error(), "{}", result.content());
    Some(result.structured().expect("an object"))
}

#[tokio::test]
async fn code_calls_a_tool_through_the_registry() {
    let Some(result) = run_tools("print(add(2, 3))\nadd(a=2) * 10").await else {
        return;
    };
    assert_eq!(result, json!({"value": 30, "stdout": "5\n"}));
}

#[tokio::test]
async fn calls_have_the_context_values_of_the_outer_call() {
    let Some(result) = run_tools("[whoami(), whoami()]").await else {
        return;
    };
    assert_eq!(
        result,
        json!({"value": ["Ada in call_1.1", "Ada in call_1.2"]})
    );
}

#[tokio::test]
async fn calls_run_side_by_side_in_gather() {
    let code = "import asyncio\nawait asyncio.gather(*[meet.start(n) for n in range(3)])";
    let Some(result) = run_tools(code).await else {
        return;
    };
    assert_eq!(result, json!({"value": [0, 1, 2]}));
}

/// Models write calls in this way.
#[tokio::test]
async fn calls_are_started_where_they_are_awaited() {
    let code = "
import asyncio
async def both(a):
    return await add(a, b=2) + await add(a)
[
    await add(1),
    await both(1),
    await asyncio.gather(*[meet(n) for n in range(3)]),
    await asyncio.gather(meet(0), *(meet(n) for n in [1]), meet.start(2)),
    await asyncio.wait_for(add(2), 10),
    await asyncio.create_task(add(3)),
    add(4),
    len([await add(n) for n in range(3)]),
]";
    let Some(result) = run_tools(code).await else {
        return;
    };
    let expected = json!([2, 5, [0, 1, 2], [0, 1, 2], 3, 4, 5, 3]);
    assert_eq!(result["value"], expected);
    // Calls that are made first and awaited later, and calls under another name.
    let code = "
import asyncio
from asyncio import gather
x = add(1)
calls = [add(n) for n in range(3)]
plus = add
async with asyncio.TaskGroup() as group:
    task = group.create_task(add(9))
[
    await x,
    await asyncio.gather(*calls),
    await gather(plus(1), *(add(n) for n in range(2)), asyncio.sleep(0, 'slept')),
    await asyncio.wait_for(plus(5), 10),
    await plus(6),
    await call_tool('add', a=7),
    await start_tool('add', a=8),
    await task,
    sorted([await done for done in asyncio.as_completed([add(1), plus(2)])]),
    await asyncio.gather(),
]";
    let expected = json!([2, [1, 2, 3], [2, 1, 2, "slept"], 6, 7, 8, 9, 10, [2, 3], []]);
    assert_eq!(run_tools(code).await.unwrap()["value"], expected);
    // A function that the code defines hides the tool of the same name.
    let own = "
async def add(a): return a * 100
await add(2)";
    assert_eq!(run_tools(own).await.unwrap()["value"], 200);
    // A class, a parameter and a loop variable with the name of a tool, and a value that is not a coroutine.
    let own = "
class add:
    def __init__(self, a): self.a = a
    def __await__(self):
        yield from ()
        return self.a
(await add(7), [str(divide) for divide in 'ab'])";
    assert_eq!(
        run_tools(own).await.unwrap()["value"],
        json!([7, ["a", "b"]])
    );
}

#[tokio::test]
async fn a_started_call_that_is_never_awaited_is_an_error_with_its_line() {
    for (code, line) in [
        ("x = 1\nadd.start(1)\nx", 2),
        ("def f():\n    return add.start(1)\nf()\n1", 2),
        (
            "import asyncio\nasync def main():\n    await add(1)\n    x = add.start(2)\nawait main()",
            4,
        ),
        (
            "calls = [add.start(n) for n in range(2)]\nawait calls[0]",
            1,
        ),
        // The event loop cancels these tasks at its end.
        (
            "import asyncio\nasync def main():\n    asyncio.create_task(sleep_forever.start())\nawait main()",
            3,
        ),
        (
            "import asyncio\nasync def work():\n    await sleep_forever()\nasync def main():\n    \
             asyncio.create_task(work())\nasyncio.run(main())",
            3,
        ),
    ] {
        let tool = |sandbox: &_| code_mode(sandbox, &tools_of_the_test());
        let Some(result) = run(tool, code).await else {
            return;
        };
        let name = if code.contains("add") {
            "add"
        } else {
            "sleep_forever"
        };
        let expected = format!("line {line} starts a call of {name} that is never awaited");
        assert!(result.is_error(), "{code}: {}", result.content());
        assert!(
            result.content().contains(&expected),
            "{code}: {}",
            result.content()
        );
    }
}

#[tokio::test]
async fn a_started_call_that_the_code_gives_up_is_not_an_error() {
    let code = "
import asyncio
task = asyncio.create_task(add.start(1))
task.cancel()
try:
    await task
except asyncio.CancelledError:
    pass
coroutine = add.start(2)
coroutine.close()
try:
    await asyncio.gather(divide(1, 0), sleep_forever())
except ToolError:
    pass
'done'";
    let Some(result) = run_tools(code).await else {
        return;
    };
    assert_eq!(result["value"], "done");
}

/// These tools take other arguments than the functions of `asyncio` with the same names.
#[tokio::test]
async fn a_tool_may_be_called_as_a_function_of_asyncio() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let tool = tool_core::dynamic::DynamicTool::builder("create_task")
        .description("Creates a task.")
        .parameters(json!({"type": "object", "properties": {"title": {"type": "string"}}}))
        .build(async |arguments: Value, _| Ok::<_, String>(arguments["title"].to_string()))
        .unwrap();
    let tools = Registry::builder().tool(tool).build().unwrap();
    let tool = code_mode(&sandbox, &tools)
        .limits(limits())
        .build()
        .unwrap();
    let registry = Registry::builder().tool(tool).build().unwrap();
    let code = "
class Tracker:
    def gather(self, *titles): return titles
[await create_task('a'), create_task(create_task('b')), Tracker().gather('c')]";
    let call = ToolCall::new("call_1", "run_code", json!({"code": code}));
    let result = registry.call(call).await;
    let expected = json!({"value": ["\"a\"", "\"\\\"b\\\"\"", ["c"]]});
    assert_eq!(result.structured(), Some(expected), "{}", result.content());
}

#[tokio::test]
async fn what_the_stubs_name_exists_and_tells_the_truth() {
    let code = r#"
import inspect, io, contextlib
with contextlib.redirect_stdout(io.StringIO()) as said:
    help(add)
[str(inspect.signature(add)), "Adds two numbers." in said.getvalue(), add.__doc__, add(1, 2), await add.start(2)]"#;
    let Some(result) = run_tools(code).await else {
        return;
    };
    let expected = json!([
        "(a: int, b: int = 1) -> int",
        true,
        "Adds two numbers.",
        3,
        3
    ]);
    assert_eq!(result["value"], expected);

    let sandbox = sandbox(policy()).unwrap();
    let tool = tool_core::dynamic::DynamicTool::foreign("plan")
        .parameters(json!({
            "type": "object",
            "properties": {
                "place": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
                "tree": {"$ref": "#/$defs/Tree"},
                "odd": {"type": "object", "properties": {"from": {"type": "string"}}},
            },
            "$defs": {"Tree": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}}},
        }))
        .build(async |arguments, _| Ok::<_, String>(arguments.to_string()))
        .unwrap();
    let tools = Registry::builder().tool(tool).build().unwrap();
    let tool = code_mode(&sandbox, &tools)
        .limits(limits())
        .build()
        .unwrap();
    let description = tool.spec().description.to_string();
    let registry = Registry::builder().tool(tool).build().unwrap();
    let classes: Vec<_> = description
        .lines()
        .filter_map(|line| {
            line.strip_prefix("class ")
                .map(|rest| rest.split('(').next().unwrap())
                .or_else(|| line.split_once(" = TypedDict(").map(|(name, _)| name))
        })
        .collect();
    assert!(classes.len() >= 2, "{description}");
    let code = format!(
        "place: PlanPlace = PlanPlace(city='x')\n[{}] and plan(place)",
        classes.join(", ")
    );
    let call = ToolCall::new("call_1", "run_code", json!({"code": code}));
    let result = registry.call(call).await;
    assert!(result.content().contains("city"), "{}", result.content());
}

#[tokio::test]
async fn types_are_checked_before_anything_runs() {
    let Some(mypy) = std::env::var_os("TOOL_PYTHON_MYPY") else {
        eprintln!("skipped: TOOL_PYTHON_MYPY is not set");
        return;
    };
    let python = std::path::Path::new(&mypy).with_file_name("python");
    let Some(sandbox) = sandbox(policy().python(python)) else {
        return;
    };
    let tools = tools_of_the_test();
    let tool = code_mode(&sandbox, &tools).check().unwrap();
    let tool = tool.limits(limits()).build().unwrap();
    let registry = Registry::builder().tool(tool).build().unwrap();
    for (code, expected) in [
        (
            "add(1)\nadd('2')",
            "line 2: Argument 1 to the tool has incompatible type \"str\"; expected \"int\"",
        ),
        (
            "add(1)\nadd(c=2)",
            "line 2: Unexpected keyword argument \"c\" for the tool",
        ),
        (
            "x = add(1)\n\nx.upper()",
            "line 3: \"int\" has no attribute \"upper\"",
        ),
        ("ad(1)", "line 1: Name \"ad\" is not defined"),
        ("add(1", "line 1: Unexpected EOF"),
    ] {
        let call = ToolCall::new("call_1", "run_code", json!({"code": code})).with(User("Ada"));
        let result = registry.call(call).await;
        assert!(result.is_error(), "{code}: {}", result.content());
        let start = "nothing ran, because of errors in types:\nline ";
        assert!(
            result.content().contains(start) && result.content().contains(expected),
            "{code}: {}",
            result.content()
        );
    }
    let code = "
import asyncio
from collections import defaultdict
counts = {'a': 1}
x = add(1)
x = str(x)
rows = []
rows.append(await add(2))
both = await asyncio.gather(add(1), *[add.start(n) for n in range(2)])
async with asyncio.timeout(9):
    last = await asyncio.wait_for(add(3), 9)
try:
    divide(1, 0)
except ToolError:
    pass
await start_tool('add', a=1)
[x, rows, both, last, max(counts, key=counts.get), call_tool('add', a=5), await call_tool('add', a=6)]";
    let call = ToolCall::new("call_1", "run_code", json!({"code": code})).with(User("Ada"));
    let result = registry.call(call).await;
    let expected = json!({"value": ["2", [3], [2, 1, 2], 4, "a", 6, 7]});
    assert_eq!(result.structured(), Some(expected), "{}", result.content());
}

#[tokio::test]
async fn a_check_of_types_without_a_checker_is_an_error() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let has_mypy = sandbox
        .run(
            "import mypy",
            &tool_python::Inputs::new(),
            &tool_python::NoTools,
            &limits(),
        )
        .unwrap()
        .is_finished();
    if has_mypy {
        eprintln!("skipped: the interpreter of the system has mypy");
        return;
    }
    let error = code_mode(&sandbox, &tools_of_the_test())
        .check()
        .unwrap_err();
    assert!(
        error.to_string().contains("No module named 'mypy'"),
        "{error}"
    );
}

#[tokio::test]
async fn code_that_returns_nothing_is_told_so() {
    let Some(result) = run_tools("result = add(1)").await else {
        return;
    };
    assert!(
        result["note"]
            .as_str()
            .unwrap()
            .contains("nothing was printed or returned")
    );
    assert!(run_tools("print(add(1))").await.unwrap()["note"].is_null());
}

/// Sends a message when it is dropped.
struct Dropped(tokio::sync::mpsc::UnboundedSender<()>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

#[tokio::test]
async fn a_wait_that_times_out_cancels_the_call() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let (sender, mut dropped) = tokio::sync::mpsc::unbounded_channel();
    let slow = tool_core::dynamic::DynamicTool::builder("slow")
        .build(move |_, _| {
            let guard = Dropped(sender.clone());
            async move {
                std::future::pending::<()>().await;
                drop(guard);
                Ok::<_, String>(1)
            }
        })
        .unwrap();
    let wait = tool_core::dynamic::DynamicTool::builder("wait");
    let dropped = Arc::new(tokio::sync::Mutex::new(
        async move { dropped.recv().await }.boxed(),
    ));
    let wait = wait
        .build(move |_, _| {
            let dropped = Arc::clone(&dropped);
            async move { Ok::<_, String>(dropped.lock().await.as_mut().await.is_some()) }
        })
        .unwrap();
    let tools = Registry::builder().tool(slow).tool(wait).build().unwrap();
    let tool = code_mode(&sandbox, &tools)
        .limits(limits())
        .build()
        .unwrap();
    let registry = Registry::builder().tool(tool).build().unwrap();
    let code = "
import asyncio
try:
    await asyncio.wait_for(slow.start(), 0.05)
    said = 'it returned'
except TimeoutError:
    said = wait()
said";
    let call = ToolCall::new("call_1", "run_code", json!({"code": code}));
    let result = registry.call(call).await;
    assert_eq!(result.content(), r#"{"value":true}"#);
}

#[tokio::test]
async fn a_traceback_shows_the_lines_of_the_code_alone() {
    let code = "
import asyncio
async def one(n):
    return await divide(n, 0)
async def main():
    return await asyncio.gather(one(1), one(2))
await main()";
    let tool = |sandbox: &_| code_mode(sandbox, &tools_of_the_test());
    let Some(result) = run(tool, code).await else {
        return;
    };
    let text = result.content();
    for part in [
        "line 4, in one",
        "return await divide(n, 0)",
        "line 7",
        "can't divide by 0",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for part in ["<string>", "<prelude>", "/asyncio/"] {
        assert!(!text.contains(part), "{part}: {text}");
    }
}

#[tokio::test]
async fn a_thousand_calls_side_by_side_run_a_few_at_a_time() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let running = Arc::new(Mutex::new((0, 0)));
    let counts = Arc::clone(&running);
    let tool = tool_core::dynamic::DynamicTool::builder("slow")
        .build(move |_, _| {
            let counts = Arc::clone(&counts);
            async move {
                {
                    let mut counts = counts.lock().unwrap();
                    counts.0 += 1;
                    counts.1 = counts.1.max(counts.0);
                }
                tokio::task::yield_now().await;
                counts.lock().unwrap().0 -= 1;
                Ok::<_, String>(1)
            }
        })
        .unwrap();
    let tools = Registry::builder().tool(tool).build().unwrap();
    let code = "import asyncio\nsum(await asyncio.gather(*[slow.start() for n in range(1000)]))";
    for parallel in [1, 7] {
        let limits = Limits {
            parallel,
            ..limits()
        };
        let tool = code_mode(&sandbox, &tools).limits(limits).build().unwrap();
        let registry = Registry::builder().tool(tool).build().unwrap();
        let call = ToolCall::new("call_1", "run_code", json!({"code": code}));
        let result = registry.call(call).await;
        assert_eq!(result.content(), r#"{"value":1000}"#);
        assert!(running.lock().unwrap().1 <= parallel);
    }
}

#[tokio::test]
async fn errors_are_exceptions_with_the_words_of_the_registry() {
    let code = "
said = []
for call in (lambda: add('x', c=1), lambda: divide(1, 0), lambda: call_tool('ad'), sleep_forever, delete_note):
    try:
        call()
    except ToolError as error:
        said.append(str(error))
said";
    let Some(result) = run_tools(code).await else {
        return;
    };
    let said: Vec<&str> = result["value"]
        .as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap())
        .collect();
    let registry = tools_of_the_test();
    let calls = [
        ("add", r#"{"a":"x","c":1}"#),
        ("divide", r#"{"a":1,"b":0}"#),
        ("ad", "{}"),
        ("sleep_forever", "{}"),
        ("delete_note", "{}"),
    ];
    assert_eq!(said.len(), calls.len());
    // Ignores the reference of each error.
    let words = |text: &str| {
        text.split(' ')
            .filter(|word| !word.contains("ref"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    for ((name, arguments), said) in calls.into_iter().zip(said) {
        let result = registry
            .call(ToolCall::new("x", name, arguments).with(User("Ada")))
            .await;
        let (id, own) = (result.error().unwrap().id().to_owned(), result.content());
        assert_eq!(words(said).len(), words(own).len(), "{said}\n{own}");
        let place = own.find(&id).expect("the reference");
        assert_eq!(said[..place], own[..place]);
        assert_eq!(said[place + id.len()..], own[place + id.len()..]);
    }
}

#[tokio::test]
async fn an_exception_of_the_code_shows_its_lines_and_what_was_printed() {
    let tool = |sandbox: &_| code_mode(sandbox, &tools_of_the_test());
    let Some(result) = run(tool, "print('before')\nx = divide(1, 0)").await else {
        return;
    };
    assert!(result.is_error());
    let text = result.content();
    assert!(
        text.contains("line 2") && text.contains("x = divide(1, 0)"),
        "{text}"
    );
    assert!(
        text.contains("can't divide by 0") && text.contains("stdout before that:\nbefore"),
        "{text}"
    );
    assert!(
        !text.contains("<prelude>") && !text.contains("<string>"),
        "{text}"
    );
}

#[tokio::test]
async fn a_held_call_waits_for_a_decision() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let decided = Arc::clone(&seen);
    let tool = |sandbox: &_| {
        code_mode(sandbox, &tools_of_the_test()).on_hold(move |held| {
            let user = held.call.get::<User>().unwrap().0;
            decided
                .lock()
                .unwrap()
                .push(format!("{user}: {}", held.hold.arguments()));
            let is_allowed = held.hold.arguments() == r#"{"id":7}"#;
            async move {
                if is_allowed {
                    Decision::Allow
                } else {
                    Decision::deny("notes are kept")
                }
            }
        })
    };
    let code = "
said = [delete_note(7)]
try:
    delete_note(8)
except ToolError as error:
    said.append('notes are kept' in str(error))
said";
    let Some(result) = run(tool, code).await else {
        return;
    };
    assert_eq!(
        result.structured().unwrap(),
        json!({"value": ["deleted 7", true]}),
        "{}",
        result.content()
    );
    assert_eq!(
        *seen.lock().unwrap(),
        [r#"Ada: {"id":7}"#, r#"Ada: {"id":8}"#]
    );
}

#[tokio::test]
async fn the_clock_stands_still_while_a_call_is_held() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let tool = code_mode(&sandbox, &tools_of_the_test())
        .limits(Limits {
            time: Duration::from_secs(1),
            ..Limits::default()
        })
        .on_hold(async |_| {
            tokio::time::sleep(Duration::from_millis(1500)).await;
            Decision::Allow
        })
        .build()
        .unwrap();
    let registry = Registry::builder().tool(tool).build().unwrap();
    let call =
        ToolCall::new("call_1", "run_code", json!({"code": "delete_note(1)"})).with(User("Ada"));
    let result = registry.call(call).await;
    assert_eq!(
        result.structured(),
        Some(json!({"value": "deleted 1"})),
        "{}",
        result.content()
    );
}

#[tokio::test]
async fn a_hostile_program_can_call_no_other_tools_and_no_code() {
    let code = "
said = []
for name in ('run_code', 'python_sandbox', ''):
    try:
        call_tool(name, code='1')
    except ToolError:
        said.append(name)
said";
    let Some(result) = run_tools(code).await else {
        return;
    };
    assert_eq!(result["value"], json!(["run_code", "python_sandbox", ""]));
}

#[tokio::test]
async fn integers_of_any_length_are_exact_and_nan_is_refused() {
    let code = "
said = []
for value in (2 ** 70, float('nan')):
    try:
        add(value)
    except (ToolError, TypeError) as error:
        said.append(str(error))
('1180591620717411303424' in said[0], 'nan' in said[1], 2 ** 70)";
    let result = run(|sandbox| code_mode(sandbox, &tools_of_the_test()), code).await;
    let Some(result) = result else { return };
    assert_eq!(
        result.content(),
        r#"{"value":[true,true,1180591620717411303424]}"#
    );
}

#[tokio::test]
async fn dropping_the_call_ends_the_run() {
    use std::os::unix::fs::PermissionsExt;

    let folder = std::env::temp_dir().join(format!("tool-python-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    // The user of the sandbox must be able to enter it.
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let Some(sandbox) = sandbox(policy().folder(&folder)) else {
        return;
    };
    let tool = code_mode(&sandbox, &tools_of_the_test())
        .limits(Limits {
            time: Duration::from_secs(3_600),
            cpu: Duration::from_secs(3_600),
            ..Limits::default()
        })
        .build()
        .unwrap();
    let registry = Registry::builder()
        .tool(tool)
        .timeout(Duration::from_millis(300))
        .build()
        .unwrap();
    let call =
        ToolCall::new("call_1", "run_code", json!({"code": "while True: pass"})).with(User("Ada"));
    let result = registry.call(call).await;
    assert!(result.is_error());
    // The run ends, and deletes its folder.
    let is_empty = || std::fs::read_dir(&folder).unwrap().next().is_none();
    for _ in 0..6_000 {
        if is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(is_empty());
    std::fs::remove_dir(&folder).unwrap();
}

#[tokio::test]
async fn the_sandbox_returns_output_value_files_and_pictures() {
    // The smallest PNG is enough, because the tool only looks at the first bytes.
    let code = "
open('a.txt', 'w').write('abc')
open('b.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n123')
open('c.png', 'wb').write(b'no picture')
print('hi')
float('nan')";
    let Some(result) = run(python_sandbox, code).await else {
        return;
    };
    let expected = json!({
        "repr": "nan",
        "stdout": "hi\n",
        "files": [{"path": "a.txt", "bytes": 3}, {"path": "b.png", "bytes": 11}, {"path": "c.png", "bytes": 10}],
    });
    assert_eq!(result.structured(), Some(expected), "{}", result.content());
    assert_eq!(result.parts().len(), 2, "the value and a picture");
}

/// However long the code's value, output, file names or exception are.
#[tokio::test]
async fn what_the_model_gets_is_bounded_and_says_what_was_left_out() {
    let cases = [
        ("'x' * 900_000", "value: "),
        (
            "[{'id': n, 'name': 'row %d' % n} for n in range(20_000)]",
            " rows, ",
        ),
        ("{str(n): [n] * 10 for n in range(10_000)}", " members, "),
        ("[['x' * 100] * 9_000]", " rows, "),
        ("[10 ** 4_000] * 40", "value: "),
        (
            "{('x' * 20): {1, 2}, 'y': object()} and ['x' * 40_000, float('nan')]",
            "repr: ",
        ),
        (
            "for n in range(900): open('%d' % n + 'x' * 30, 'w').close()",
            "files: ",
        ),
        (
            "for n in range(900): print('line', n, 'y' * 60)",
            "stdout: ",
        ),
        (
            "import sys\nfor n in range(900): print('\\x01' * 60, file=sys.stderr)",
            "stderr: ",
        ),
        (
            "print('z' * 60_000)\nprint('w' * 60, file=__import__('sys').stderr)\n'v' * 30_000",
            "stdout: ",
        ),
        (
            "print('z' * 60_000)\nraise ValueError('v' * 90_000)",
            "[left out: ",
        ),
        (
            "def f(n): return f(n - 1) if n else 1 / 0\nf(300)",
            "ZeroDivisionError",
        ),
        (
            "print('é' * 30_000)\nwhile True: print('line')",
            "the limit is 65536 bytes",
        ),
    ];
    let Some(sandbox) = sandbox(policy().pool(1)) else {
        return;
    };
    for most in [1 << 10, 16 << 10] {
        let limits = Limits {
            message: 1 << 20,
            output: 64 << 10,
            ..limits()
        };
        let tool = python_sandbox(&sandbox)
            .limits(limits)
            .shown(most)
            .build()
            .unwrap();
        let registry = Registry::builder().tool(tool).build().unwrap();
        for (code, expected) in cases {
            let call = ToolCall::new("call_1", "python_sandbox", json!({"code": code}));
            let result = registry.call(call).await;
            let text = result.content();
            // An error starts with a few words and its reference.
            assert!(text.len() <= most + 100, "{code}: {} bytes", text.len());
            assert!(text.contains(expected), "{code}: {text}");
            if let Some(value) = result.structured() {
                assert!(value["note"].as_str().unwrap().contains("not kept"));
            }
        }
    }
}

#[tokio::test]
async fn a_message_that_is_too_long_is_an_error_of_the_code() {
    let code = "
said = []
for size in (10, 2_000, 20_000, 5_000_000):
    try:
        said.append(len(call_tool('whoami', x='x' * size)))
    except ToolError as error:
        said.append('`Limits::message`' in str(error) and '20000' in str(error))
try:
    await call_tool.__globals__['start_tool']('whoami', x='é' * 12_000)
except ToolError as error:
    said.append('takes 2' in str(error))
said[2:]";
    let tool = |sandbox: &_| {
        code_mode(sandbox, &tools_of_the_test()).limits(Limits {
            message: 20_000,
            ..limits()
        })
    };
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let registry = |tool: CodeTool| {
        Registry::builder()
            .tool(tool.build().unwrap())
            .build()
            .unwrap()
    };
    let registry = registry(tool(&sandbox));
    let run = async |code: &str| {
        let call = ToolCall::new("call_1", "run_code", json!({"code": code})).with(User("Ada"));
        registry.call(call).await
    };
    assert_eq!(run(code).await.content(), r#"{"value":[true,true,true]}"#);
    for value in ["'x' * 30_000", "['é' * 100] * 200"] {
        let result = run(&format!("print('kept')\n{value}")).await;
        let text = result.content();
        assert!(
            result.is_error() && text.contains("the value takes ") && text.contains("kept"),
            "{text}"
        );
    }
    // Exceptions and a `repr` stay within the limit too, although escaped characters take up to six bytes.
    for code in [
        "raise ValueError('\\x01' * 100_000)",
        "'\\x01' * 9_000, {1}",
    ] {
        let text = run(code).await.content().to_owned();
        assert!(!text.contains("broke the connection"), "{text}");
    }
}

#[tokio::test]
async fn an_error_by_a_limit_names_it() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let limits = Limits {
        memory: 200 << 20,
        disk: 1 << 20,
        files: 20,
        threads: 4,
        calls: 3,
        cpu: Duration::from_millis(500),
        ..limits()
    };
    let tool = code_mode(&sandbox, &tools_of_the_test()).limits(limits);
    let registry = Registry::builder()
        .tool(tool.build().unwrap())
        .build()
        .unwrap();
    for (code, expected) in [
        (
            "bytearray(1 << 30)",
            "the limit on memory is 209715200 bytes",
        ),
        (
            "import mmap\nmmap.mmap(-1, 1 << 30)",
            "the limit on memory is",
        ),
        (
            "open('x', 'wb').write(b'x' * (2 << 20))",
            "the limit on disk is 1048576 bytes",
        ),
        (
            "import os\nx = [os.pipe() for n in range(90)]",
            "the limit on open files is 128",
        ),
        ("while True: pass", "`Limits::cpu`) (the limit is 500ms)"),
        (
            "while True: call_tool('ad') if False else add(1)",
            "`Limits::calls`) (the limit is 3 calls)",
        ),
        (
            "for n in range(40): open(str(n), 'w').close()\n__import__('time').sleep(9)",
            "`Limits::files`",
        ),
        (
            "import ctypes\nctypes.string_at(8)",
            "the stack overflowed in a deep recursion, or memory ran out",
        ),
        ("import os\nos.abort()", "memory ran out (`Limits::memory`)"),
    ] {
        let call = ToolCall::new("call_1", "run_code", json!({"code": code})).with(User("Ada"));
        let result = registry.call(call).await;
        assert!(
            result.content().contains(expected),
            "{code}: {}",
            result.content()
        );
    }
}

#[tokio::test]
async fn open_figures_are_pictures() {
    let code = "
import sys
class Figure:
    def savefig(self, path):
        open(path, 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n')
class Plot:
    get_fignums = staticmethod(lambda: [1, 2])
    figure = staticmethod(lambda number: Figure())
sys.modules['matplotlib.pyplot'] = Plot";
    let Some(result) = run(python_sandbox, code).await else {
        return;
    };
    assert_eq!(result.parts().len(), 3, "{}", result.content());
}

#[tokio::test]
async fn every_call_passes_the_hooks() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let (seen, ran) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let (counter, runs) = (Arc::clone(&seen), Arc::clone(&ran));
    let tools = Registry::builder()
        .tools(tools![add])
        .before(move |hook| {
            *counter.lock().unwrap() += 1;
            assert!(hook.call.is_programmatic());
            let is_even = hook.call.arguments.to_object().unwrap()["a"] == 0;
            async move {
                if is_even {
                    Gate::deny("not 0")
                } else {
                    Gate::Allow
                }
            }
        })
        .after(move |_, result| {
            *runs.lock().unwrap() += u32::from(!result.is_error());
            async { result }
        })
        .build()
        .unwrap();
    let tool = code_mode(&sandbox, &tools)
        .limits(limits())
        .build()
        .unwrap();
    let registry = Registry::builder().tool(tool).build().unwrap();
    // In a loop, side by side, in threads, and by the underlying functions.
    let code = "
import asyncio
from concurrent.futures import ThreadPoolExecutor
said = [add(n) for n in range(1, 6)]
said += await asyncio.gather(*[add.start(n) for n in range(1, 6)])
with ThreadPoolExecutor(5) as pool:
    said += pool.map(add, range(1, 6))
said += [call_tool('add', a=n) for n in range(1, 5)]
try:
    add(0)
except ToolError as error:
    said.append('not 0' in str(error))
len(said), said[-1]";
    let result = registry
        .call(ToolCall::new("call_1", "run_code", json!({"code": code})))
        .await;
    assert_eq!(result.content(), r#"{"value":[20,true]}"#);
    assert_eq!((*seen.lock().unwrap(), *ran.lock().unwrap()), (20, 19));
}

#[tokio::test]
async fn garbage_and_silence_end_the_run_and_the_registry_goes_on() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let limits = Limits {
        time: Duration::from_secs(1),
        ..Limits::default()
    };
    let tool = code_mode(&sandbox, &tools_of_the_test())
        .limits(limits)
        .build()
        .unwrap();
    let registry = Registry::builder().tool(tool).build().unwrap();
    // The channel is among the first descriptors.
    let write = "import os\nfor fd in range(3, 12):\n    try: os.write(fd, DATA)\n    except OSError: pass\nadd(1)";
    let cases = [
        (
            write.replace("DATA", r"b'\x07\x00\x00\x00garbage'"),
            "broke the connection",
        ),
        (
            write.replace("DATA", r"b'\xff\xff\xff\xff'"),
            "broke the connection",
        ),
        ("import time\ntime.sleep(100)".to_owned(), "took too long"),
        ("1".to_owned(), r#"{"value":1}"#),
    ];
    for (code, expected) in cases {
        let call = ToolCall::new("call_1", "run_code", json!({"code": code})).with(User("Ada"));
        let result = registry.call(call).await;
        assert!(
            result.content().contains(expected),
            "{code}: {}",
            result.content()
        );
    }
}

#[tokio::test]
async fn deferred_tools_are_found_and_called() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let tools = Registry::builder()
        .tools(tools![add, divide])
        .defer_tools(["divide"])
        .build()
        .unwrap();
    let tool = code_mode(&sandbox, &tools)
        .limits(limits())
        .build()
        .unwrap();
    assert!(!tool.spec().description.contains("divide"));
    let registry = Registry::builder().tool(tool).build().unwrap();
    let code = "'divide' in search_tools('divides numbers'), call_tool('divide', a=1, b=4), divide(1, b=2)";
    let result = registry
        .call(ToolCall::new("call_1", "run_code", json!({"code": code})))
        .await;
    assert_eq!(result.content(), r#"{"value":[true,0.25,0.5]}"#);
}

#[tokio::test]
async fn arguments_are_bound_as_by_python() {
    let code = "
said = []
for call in (lambda: add(1, 2, 3), lambda: add(1, a=2)):
    try:
        call()
    except TypeError as error:
        said.append(str(error))
said";
    let Some(result) = run_tools(code).await else {
        return;
    };
    let expected = [
        "add() takes 2 arguments, but 3 were given",
        "add() got multiple values for argument 'a'",
    ];
    assert_eq!(result["value"], json!(expected));
}

#[tokio::test]
async fn code_of_a_shared_registry_can_not_run_code() {
    let Some(sandbox) = sandbox(policy()) else {
        return;
    };
    let registry = Registry::builder().tools(tools![add]).build().unwrap();
    let tool = code_mode(&sandbox, &registry)
        .limits(limits())
        .build()
        .unwrap();
    registry.add([tool.into()]).unwrap();
    let code = "
try:
    said = call_tool('run_code', code='1')
except ToolError as error:
    said = str(error)
said, add(1)";
    let result = registry
        .call(ToolCall::new("call_1", "run_code", json!({"code": code})))
        .await;
    assert_eq!(result.content(), r#"{"value":["code can't run code",2]}"#);
    // The tool holds the registry that contains it, so neither would be dropped.
    registry.remove("run_code").unwrap();
}

/// Checks the pictures of matplotlib, if the interpreter has it.
#[tokio::test]
async fn figures_of_matplotlib_are_pictures() {
    let code = "
try:
    import matplotlib.pyplot as plt
except ImportError:
    found = False
else:
    found = True
    plt.plot([1, 3, 2])
    plt.show()
    plt.figure()
    plt.bar(['a', 'b'], [1, 2])
found";
    let Some(result) = run(python_sandbox, code).await else {
        return;
    };
    let expected = match result.structured().unwrap()["value"].as_bool() {
        Some(true) => 3,
        _ => 0,
    };
    assert_eq!(result.parts().len(), expected, "{}", result.content());
}
