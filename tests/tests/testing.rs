//! `tool_docs::testing`: one function that tests all tools of a program.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::{env, fs};

use serde::{Deserialize, Deserializer};
use tool_core::{Registry, ToolEntry, ToolType, tool, tools};
use tool_docs::lock::Lock;
use tool_docs::{Budget, Cost, Docs, testing};

/// Adds two numbers.
#[tool]
fn add(#[param(example = 2)] a: i64, #[param(default = 3)] b: i64) -> i64 {
    a + b
}

/// Rolls a die.
#[tool]
fn roll() -> u8 {
    4
}

/// Opens a door.
#[tool]
fn open_door(#[param(pattern = "^[0-9]{4}$")] code: &str) {
    let _ = code;
}

fn registry(tools: impl IntoIterator<Item = ToolEntry>) -> Registry {
    let registry = Registry::builder().tools(tools).build();
    registry.expect("unique names")
}

/// Creates a folder with the lock file and the catalogue of a registry.
fn folder(name: &str, registry: &Registry) -> PathBuf {
    let folder = env::temp_dir().join(format!("tool-core-testing-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a writable folder");
    let write =
        |name: &str, text: String| fs::write(folder.join(name), text).expect("a writable folder");
    write("tools.lock.json", Lock::new(registry).to_string());
    write("TOOLS.md", Docs::new(registry).to_markdown());
    write("tools.html", Docs::new(registry).to_html());
    folder
}

fn failure(run: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("something is wrong");
    panic
        .downcast_ref::<String>()
        .expect("it is said what")
        .clone()
}

#[test]
fn valid_tools_pass() {
    let registry = registry(tools![add, roll]);
    let folder = folder("good", &registry);
    testing::check(&registry)
        .expect_tools(["add", "roll"])
        .lock(folder.join("tools.lock.json"))
        .docs(folder.join("TOOLS.md"))
        .docs(folder.join("tools.html"))
        .examples()
        .budget_bytes(400)
        .run();
    fs::remove_dir_all(&folder).expect("a removable folder");
}

#[test]
fn every_problem_is_reported_at_once() {
    let folder = folder("bad", &registry(tools![add]));
    let said = failure(|| {
        testing::check(&registry(tools![roll]))
            .expect_tools(["add"])
            .lock(folder.join("tools.lock.json"))
            .docs(folder.join("TOOLS.md"))
            .budget_bytes(10)
            .run();
    });
    for part in [
        "not in the registry: add;",
        "unexpected tools; expect them too",
        "\n  roll, ",
        "breaking    add: removed",
        "compatible  roll: added",
        "TOOLS.md is out of date",
        "more than the budget of 10:\nroll ",
        "Anthropic, strict",
    ] {
        assert!(said.contains(part), "{part:?} is missing in\n{said}");
    }
    fs::remove_dir_all(&folder).expect("a removable folder");
}

#[test]
fn a_tool_without_an_example_call_is_reported_on_request() {
    let tools = registry(tools![add, open_door]);
    testing::check(&tools).run();
    assert_eq!(
        failure(|| testing::check(&tools).examples().run()),
        "no example call of `open_door`: `code` has a pattern; add an example"
    );
}

#[test]
fn a_budget_counts_what_a_request_repeats() {
    let budget = Budget::new(&registry(tools![add, roll]));
    let names: Vec<_> = budget.tools().iter().map(Cost::name).collect();
    assert_eq!(names, ["add", "roll"], "the costliest comes first");
    assert_eq!(
        budget.bytes(),
        budget.tools().iter().map(Cost::bytes).sum::<usize>()
    );
    let chat = budget
        .dialects()
        .iter()
        .find(|(name, _)| *name == "OpenAI Chat");
    let rendered = registry(tools![add, roll]).render(&tool_dialects::OpenAiChat::default());
    assert_eq!(chat.expect("it is listed").1, rendered.as_str().len());
    let alone = registry(tools![roll]).render(&tool_dialects::Mcp::default());
    let mcp = budget.tools()[1]
        .dialects()
        .iter()
        .find(|(name, _)| *name == "MCP");
    assert_eq!(mcp.expect("it is listed").1, alone.as_str().len());
}

#[test]
fn files_are_written_on_request() {
    // Environment variables belong to the process, so another process runs the check.
    const FOLDER: &str = "TOOL_CORE_TESTING_FOLDER";
    let tools = registry(tools![add, roll]);
    if let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) {
        return testing::check(&tools)
            .lock(folder.join("tools.lock.json"))
            .docs(folder.join("new.html"))
            .run();
    }
    let folder = folder("update", &registry(tools![add]));
    let child = |update: Option<&str>| {
        let mut command = std::process::Command::new(env::current_exe().expect("this is a file"));
        command.args(["--exact", "files_are_written_on_request"]);
        command.env(FOLDER, &folder).env_remove("TOOL_CORE_UPDATE");
        command.envs(update.map(|value| ("TOOL_CORE_UPDATE", value)));
        command.output().expect("it runs").status.success()
    };
    let lock = || fs::read_to_string(folder.join("tools.lock.json")).expect("it is there");
    let old = lock();
    assert!(!child(None) && !child(Some("0")) && !child(Some("")));
    assert_eq!(lock(), old);
    assert!(child(Some("1")));
    assert_eq!(lock(), Lock::new(&tools).to_string());
    assert!(child(None));
    fs::remove_dir_all(&folder).expect("a removable folder");
}

/// An even number.
#[derive(Debug, ToolType)]
struct Even(u8);

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Even, D::Error> {
        match u8::deserialize(deserializer)? {
            number if number % 2 == 0 => Ok(Even(number)),
            _ => Err(serde::de::Error::custom("odd")),
        }
    }
}

/// Deals cards.
#[tool(unlinked, example = r#"{"cards": [3]}"#)]
fn deal(cards: Vec<Even>) -> u8 {
    cards.iter().map(|card| card.0).sum()
}

/// A pair that both derives read in the same way.
#[derive(Deserialize, ToolType)]
struct Pair {
    first: u8,
    #[serde(default)]
    second: u8,
}

/// Adds a pair.
#[tool(unlinked, example = r#"{"pair": {"first": 3}}"#)]
fn add_pair(pair: Pair) -> u8 {
    pair.first + pair.second
}

#[test]
fn a_deserialize_by_hand_that_is_not_used_is_found() {
    testing::check(&registry(tools![add_pair])).examples().run();
    if cfg!(debug_assertions) {
        let failure = failure(|| testing::check(&registry(tools![deal])).examples().run());
        assert!(
            failure.contains("cards[0]: the `Deserialize` of this type rejects it (odd"),
            "{failure}"
        );
        assert!(failure.contains("#[param(serde)]"), "{failure}");
    }
}
