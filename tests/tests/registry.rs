//! Registries: finding, listing, adding and removing tools, and concurrent calls.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;
use tool_core::dynamic::DynamicTool;
use tool_core::registry::RegistryChange;
use tool_core::{Registry, ToolCall, ToolEntry, tool, tools};
use tool_dialects::OpenAiResponses;
use tool_docs::testing;

mod weather {
    /// Temperature of a city.
    #[tool_core::tool]
    pub(crate) fn get_temperature(city: &str) -> f64 {
        f64::from(u32::try_from(city.len()).unwrap_or(0))
    }
}

/// Rolls a die.
#[tool]
fn roll_die() -> u8 {
    4
}

/// Kept out of the automatic registry.
#[tool(unlinked)]
fn hidden() {}

/// Has the name of another tool.
#[tool(unlinked, name = "roll_die")]
fn loaded_die() -> u8 {
    6
}

static GATE: Mutex<(u32, Vec<Waker>)> = Mutex::new((0, Vec::new()));

/// Ends once three calls of it run at the same time.
struct Meeting(bool);

impl Future for Meeting {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut gate = GATE.lock().unwrap();
        if !self.0 {
            self.0 = true;
            gate.0 += 1;
        }
        if gate.0 >= 3 {
            gate.1.drain(..).for_each(Waker::wake);
            return Poll::Ready(());
        }
        gate.1.push(context.waker().clone());
        Poll::Pending
    }
}

/// Waits for two others.
#[tool]
async fn meet(name: &str) -> String {
    Meeting(false).await;
    name.to_owned()
}

fn names(registry: &Registry) -> Vec<String> {
    registry
        .specs()
        .iter()
        .map(|tool| tool.name.to_string())
        .collect()
}

#[test]
fn linked_tools_are_listed_by_name_without_unlinked_ones() {
    let registry = Registry::linked().unwrap();
    assert_eq!(names(&registry), ["get_temperature", "meet", "roll_die"]);
    assert_eq!(registry.len(), 3);
    assert!(registry.get("hidden").is_none());
    let spec = registry.get("get_temperature").unwrap();
    assert_eq!(spec.description, "Temperature of a city.");
    assert!(spec.location.file.ends_with("registry.rs") && spec.location.line > 0);
    assert_eq!(spec.location.module, "registry::weather");
}

#[test]
fn tools_can_be_selected_by_the_paths_of_their_functions() {
    let chosen = tools![hidden, weather::get_temperature];
    let registry = Registry::builder().tools(chosen).build().unwrap();
    assert_eq!(names(&registry), ["get_temperature", "hidden"]);
    assert!(Registry::new().is_empty());
}

#[test]
fn two_tools_of_one_name_are_reported_with_both_places_and_the_remedies() {
    let error = Registry::builder()
        .tools(tools![roll_die, loaded_die])
        .build()
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("2 tools are named `roll_die`:\n  "),
        "{text}"
    );
    assert_eq!(text.matches("registry.rs:").count(), 2, "{text}");
    for remedy in ["#[tool(name = ", "#[tool(unlinked)]", "tools![…]"] {
        assert!(text.contains(remedy), "{text}");
    }
}

#[test]
fn clones_see_added_and_removed_tools() {
    let registry = Registry::builder().tools(tools![roll_die]).build().unwrap();
    let clone = registry.clone();
    registry.add(tools![hidden]).unwrap();
    assert_eq!(names(&clone), ["hidden", "roll_die"]);

    assert!(registry.add(tools![meet, loaded_die]).is_err());
    assert_eq!(
        names(&clone),
        ["hidden", "roll_die"],
        "a failed addition must add nothing"
    );

    assert_eq!(clone.remove("roll_die").unwrap().unwrap().name, "roll_die");
    assert!(clone.remove("roll_die").unwrap().is_none());
    let result = registry.call_blocking(ToolCall::new("1", "roll_die", ""));
    assert!(result.is_error());
}

#[test]
fn one_tool_or_many_can_be_added() {
    let builder = Registry::builder().tools(tools![roll_die]).tools([]);
    let registry = builder.tool(ToolEntry::of::<meet>()).build().unwrap();
    let late = |name| DynamicTool::builder(name).build(async |_, _| Ok::<_, String>("here"));
    registry.add(late("late").unwrap()).unwrap();
    registry.add([late("later").unwrap().into()]).unwrap();
    registry.add(ToolEntry::of::<hidden>()).unwrap();
    registry.add(Vec::new()).unwrap();
    assert_eq!(
        names(&registry),
        ["hidden", "late", "later", "meet", "roll_die"]
    );
}

#[test]
fn a_selection_follows_its_registry() {
    let registry = Registry::builder().tools(tools![meet]).build().unwrap();
    let dice = registry
        .select(|tool| tool.name != "meet")
        .select(|tool| tool.name.ends_with("die"));
    assert!(dice.is_empty());
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&told);
    let _listener = dice.on_change(move |dice, change| {
        sink.lock().unwrap().push((line(change), dice.len()));
    });
    let take = || std::mem::take(&mut *told.lock().unwrap());
    registry.add(tools![roll_die, hidden]).unwrap();
    assert_eq!(names(&dice), ["roll_die"]);
    assert_eq!(take(), [("+[roll_die] ~[] -[]".into(), 1)]);
    registry.replace(tools![loaded_die][0].clone()).unwrap();
    let result = dice.call_blocking(ToolCall::new("1", "roll_die", ""));
    assert_eq!(result.content(), "6");
    take();
    // What is not selected is not told.
    registry.remove("hidden").unwrap();
    assert_eq!(take(), []);
    registry.remove("roll_die").unwrap();
    assert_eq!(take(), [("+[] ~[] -[roll_die]".into(), 0)]);
    let result = dice.call_blocking(ToolCall::new("2", "roll_die", ""));
    assert!(result.is_error());
    // It works without the other registries, too.
    registry.add(tools![roll_die]).unwrap();
    drop(registry);
    assert_eq!(names(&dice), ["roll_die"]);
}

/// A server may make a selection for each call.
#[test]
fn a_selection_asks_about_the_tool_of_a_call_alone() {
    let registry = Registry::builder();
    let registry = registry.tools(tools![roll_die, hidden, meet]).build();
    let registry = registry.unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let take = || std::mem::take(&mut *asked.lock().unwrap());
    let asking = |registry: &Registry| {
        let asked = Arc::clone(&asked);
        registry.select(move |tool| {
            asked.lock().unwrap().push(tool.name.to_string());
            tool.name != "hidden"
        })
    };
    let call = |registry: &Registry, name: &str| {
        let call = ToolCall::new("1", name, "");
        registry.call_blocking(call).content().to_owned()
    };
    let selection = asking(&registry);
    assert_eq!(call(&selection, "roll_die"), "4");
    assert_eq!(call(&asking(&selection), "roll_die"), "4");
    assert_eq!(take(), ["roll_die"; 3]);

    // The error of another call names similar tools.
    let result = selection.call_blocking(ToolCall::new("1", "hidden", ""));
    assert!(result.is_error());
    assert_eq!(take(), ["hidden", "hidden", "meet", "roll_die"]);
    assert_eq!(call(&selection, "roll_die"), "4");
    assert_eq!(take(), [""; 0]);

    // A change costs nothing until somebody looks.
    registry.remove("meet").unwrap();
    registry.replace(tools![loaded_die][0].clone()).unwrap();
    assert_eq!(take(), [""; 0]);
    assert_eq!(call(&selection, "roll_die"), "6");
    assert_eq!(take(), ["roll_die"]);
    assert_eq!(names(&selection), ["roll_die"]);
    assert_eq!(take(), ["hidden", "roll_die"]);
}

/// A listener sees the changes since it was added, also those of a selection that nobody has looked at.
#[test]
fn a_listener_of_a_selection_sees_later_changes_alone() {
    let registry = Registry::builder().tools(tools![roll_die]).build().unwrap();
    let between = registry.select(|tool| tool.name != "meet");
    let selection = between.select(|_| true);
    registry.add(tools![hidden]).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&told);
    let listener = selection.on_change(move |_, change| sink.lock().unwrap().push(line(change)));
    registry.add(tools![meet]).unwrap();
    registry.remove("hidden").unwrap();
    assert_eq!(*told.lock().unwrap(), ["+[] ~[] -[hidden]"]);
    drop(listener);
    registry.remove("roll_die").unwrap();
    assert_eq!(told.lock().unwrap().len(), 1);
    assert_eq!(names(&selection), [""; 0]);
}

#[test]
fn a_selection_is_changed_in_its_registry_alone() {
    let registry = Registry::builder().tools(tools![roll_die]).build().unwrap();
    let selection = registry.select(|_| true);
    for selection in [selection, registry.without_hosted()] {
        let errors = [
            selection.add(tools![hidden]).unwrap_err(),
            selection
                .replace(tools![loaded_die][0].clone())
                .unwrap_err(),
            selection
                .exchange(&tools![roll_die], tools![hidden])
                .unwrap_err(),
            selection.remove("roll_die").unwrap_err(),
            selection.remove("unknown").unwrap_err(),
            selection.remove_group("any").unwrap_err(),
        ];
        for error in errors {
            let text = error.to_string();
            assert!(
                text.starts_with("the tools of a selection follow another"),
                "{text}"
            );
        }
        assert_eq!(names(&selection), ["roll_die"]);
        assert_eq!(names(&registry), ["roll_die"]);
    }
}

#[cfg_attr(panic = "abort", ignore = "a tool or a test panics")]
#[test]
fn a_tool_is_not_selected_if_that_can_not_be_decided() {
    let registry = Registry::builder().tools(tools![roll_die]).build().unwrap();
    let selection = registry.select(|tool| {
        assert!(tool.name != "hidden", "nobody knows");
        true
    });
    registry.add(tools![hidden]).unwrap();
    assert_eq!(names(&selection), ["roll_die"]);
    assert_eq!(names(&registry), ["hidden", "roll_die"]);
}

#[cfg_attr(target_family = "wasm", ignore = "it starts a thread")]
#[test]
fn a_selection_misses_no_change_of_another_thread() {
    let registry = Registry::builder().tools(tools![roll_die]).build().unwrap();
    let selection = registry.select(|_| true);
    std::thread::scope(|scope| {
        for tools in [tools![hidden], tools![meet]] {
            let registry = &registry;
            scope.spawn(move || {
                for _ in 0..500 {
                    registry.add(tools.clone()).unwrap();
                    registry.remove(&tools[0].name).unwrap();
                }
                registry.add(tools).unwrap();
            });
        }
    });
    assert_eq!(names(&selection), ["hidden", "meet", "roll_die"]);
}

#[test]
fn a_running_call_keeps_the_tool_that_it_started_with() {
    let registry = Registry::builder().tools(tools![roll_die]).build().unwrap();
    let running = registry.call(ToolCall::new("1", "roll_die", ""));
    registry.remove("roll_die").unwrap();
    let result = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(running);
    assert_eq!(result.content(), "4");
}

#[test]
fn missing_tools_are_reported_with_the_reason() {
    let error = Registry::linked()
        .unwrap()
        .expect(["roll_die", "search_web"])
        .unwrap_err();
    assert_eq!(error.names(), ["search_web"]);
    assert!(error.to_string().contains("use weather_tools as _;"));
    assert!(Registry::linked().unwrap().expect(["roll_die"]).is_ok());
}

/// Returns the panic message of a test.
fn said(test: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let payload = std::panic::catch_unwind(test).unwrap_err();
    *payload.downcast::<String>().unwrap()
}

#[cfg_attr(panic = "abort", ignore = "a tool or a test panics")]
#[test]
fn a_test_can_require_linked_tools() {
    testing::assert_linked(["get_temperature"]);
    let said = said(|| testing::assert_linked(["roll_die", "search_web"]));
    assert!(
        said.starts_with("these tools are not in the registry: search_web; "),
        "{said}"
    );
}

#[cfg_attr(panic = "abort", ignore = "a tool or a test panics")]
#[test]
fn a_test_can_reject_other_linked_tools() {
    testing::assert_linked_only(["get_temperature", "meet", "roll_die"]);
    let other = said(|| testing::assert_linked_only(["get_temperature", "meet"]));
    assert!(other.starts_with("unexpected tools; "), "{other}");
    assert!(
        other.contains("\n  roll_die, tests/tests/registry.rs:"),
        "{other}"
    );
    let missing = said(|| testing::assert_linked_only(["search_web"]));
    assert!(
        missing.contains("not in the registry: search_web; "),
        "{missing}"
    );
}

#[cfg_attr(target_family = "wasm", ignore = "it starts a thread")]
#[test]
fn calls_run_concurrently_and_results_are_in_order() {
    let registry = Registry::linked().unwrap();
    let calls = ["a", "b", "c"]
        .map(|name| ToolCall::new(name, "meet", serde_json::json!({ "name": name })));
    let calls: Vec<_> = calls
        .into_iter()
        .chain([ToolCall::new("d", "roll_die", "")])
        .collect();
    let running = registry.call_all(calls);
    // On another thread, as in a server.
    let results = std::thread::spawn(|| {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(running)
    });
    let results = results.join().unwrap();
    let seen: Vec<_> = results
        .iter()
        .map(|r| (r.call_id(), r.name(), r.content()))
        .collect();
    assert_eq!(
        seen,
        [
            ("a", "meet", "a"),
            ("b", "meet", "b"),
            ("c", "meet", "c"),
            ("d", "roll_die", "4")
        ]
    );
}

#[test]
fn rendering_is_sorted_by_name() {
    let tools = Registry::linked()
        .unwrap()
        .render(&OpenAiResponses::default())
        .to_string();
    let places = ["get_temperature", "meet", "roll_die"].map(|name| tools.find(name).unwrap());
    assert!(places.is_sorted());
}

/// Describes a change in a line.
fn line(change: &RegistryChange) -> String {
    let names = |tools: &[ToolEntry]| {
        let names = tools.iter().map(|tool| tool.name.to_string());
        names.collect::<Vec<_>>().join(" ")
    };
    let replaced = change.replaced.iter().map(|(old, new)| {
        assert_eq!(old.name, new.name);
        format!("{}>{}", old.description, new.description)
    });
    let replaced: Vec<_> = replaced.collect();
    let (added, removed) = (names(&change.added), names(&change.removed));
    format!("+[{added}] ~{replaced:?} -[{removed}]")
}

#[test]
fn listeners_are_told_what_changed_until_they_are_dropped() {
    let registry = Registry::builder().tools(tools![roll_die]).build().unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&told);
    let listener = registry.on_change(move |registry, change| {
        sink.lock().unwrap().push((line(change), registry.len()));
    });
    let take = || std::mem::take(&mut *told.lock().unwrap());
    registry.add(tools![meet, hidden]).unwrap();
    assert_eq!(take(), [("+[hidden meet] ~[] -[]".into(), 3)]);
    registry.replace(tools![loaded_die][0].clone()).unwrap();
    let replaced = r#"+[] ~["Rolls a die.>Has the name of another tool."] -[]"#;
    assert_eq!(take(), [(replaced.into(), 3)]);
    registry.clone().remove("meet").unwrap();
    assert_eq!(take(), [("+[] ~[] -[meet]".into(), 2)]);
    // What changes nothing, or fails, is not told.
    registry.remove("meet").unwrap();
    registry.add([]).unwrap();
    registry.replace(tools![loaded_die][0].clone()).unwrap();
    registry.add(tools![hidden]).unwrap_err();
    registry.select(|_| true).remove("hidden").unwrap_err();
    assert_eq!(take(), []);

    drop(listener);
    assert_eq!(Arc::strong_count(&told), 1);
    registry.remove("hidden").unwrap();
    assert_eq!(take(), []);
    // It may outlive its registry, and may be kept.
    let orphan = registry.on_change(|_, _| ());
    let sink = Arc::clone(&told);
    let kept = registry.on_change(move |_, change| sink.lock().unwrap().push((line(change), 0)));
    kept.keep();
    registry.add(tools![hidden]).unwrap();
    assert_eq!(take().len(), 1);
    drop(registry);
    drop(orphan);
    assert_eq!(Arc::strong_count(&told), 1);
}

#[test]
fn a_listener_may_change_the_registry_and_the_listeners() {
    let registry = Registry::builder().tools(tools![roll_die]).build().unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let late = Arc::new(Mutex::new(None));
    let (sink, slot) = (Arc::clone(&told), Arc::clone(&late));
    let first = registry.on_change(move |registry, change| {
        sink.lock().unwrap().push(("first", line(change)));
        if change.added.iter().any(|tool| tool.name == "hidden") {
            registry.remove("hidden").unwrap().unwrap();
            let sink = Arc::clone(&sink);
            let listener = registry.on_change(move |_, change| {
                sink.lock().unwrap().push(("late", line(change)));
            });
            *slot.lock().unwrap() = Some(listener);
            registry.add(tools![meet]).unwrap();
        }
    });
    let sink = Arc::clone(&told);
    let second = registry.on_change(move |_, change| {
        sink.lock().unwrap().push(("second", line(change)));
    });
    registry.add(tools![hidden]).unwrap();
    let (added, removed) = ("+[hidden] ~[] -[]", "+[] ~[] -[hidden]");
    let told = told.lock().unwrap().clone();
    let told: Vec<_> = told.iter().map(|(who, line)| (*who, &**line)).collect();
    // In order, to each, and nobody is told what came before.
    assert_eq!(
        told,
        [
            ("first", added),
            ("second", added),
            ("first", removed),
            ("second", removed),
            ("first", "+[meet] ~[] -[]"),
            ("second", "+[meet] ~[] -[]"),
            ("late", "+[meet] ~[] -[]"),
        ]
    );
    drop((first, second, late));
    assert_eq!(names(&registry), ["meet", "roll_die"]);
}

#[test]
fn tools_are_exchanged_in_one_step_or_not_at_all() {
    let registry = Registry::builder()
        .tools(tools![meet, roll_die])
        .build()
        .unwrap();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    let _listener = registry.on_change(move |_, change| sink.lock().unwrap().push(line(change)));
    registry
        .exchange(&tools![roll_die], tools![hidden])
        .unwrap();
    assert_eq!(names(&registry), ["hidden", "meet"]);
    // A name is taken: nothing is removed either.
    let error = registry
        .exchange(&tools![hidden], tools![meet])
        .unwrap_err();
    assert_eq!(error.duplicate_names().collect::<Vec<_>>(), ["meet"]);
    assert_eq!(names(&registry), ["hidden", "meet"]);
    // A tool makes room for another one of its name. Tools that are not there are ignored.
    registry
        .exchange(&tools![meet, roll_die], tools![meet])
        .unwrap();
    assert_eq!(*lines.lock().unwrap(), ["+[hidden] ~[] -[roll_die]"]);
}

/// A tool that returns its own number, and has some words in common with others.
fn numbered(name: &str, number: usize) -> ToolEntry {
    let often = "often ".repeat(number % 4);
    let description = format!(
        "Returns a number. Word{} {often}way{}",
        number % 5,
        number % 19
    );
    let tool = DynamicTool::builder(name).description(description);
    let tool = tool.build(move |_, _| std::future::ready(Ok::<_, String>(number)));
    tool.expect("valid").into()
}

/// Needs a value that no registry here has.
#[tool(unlinked)]
fn needing(#[param(context)] missing: &Mutex<u8>) -> u8 {
    *missing.lock().unwrap()
}

/// Returns what searches find, which may depend on the searches before.
fn found(registry: &Registry) -> Vec<Vec<String>> {
    let queries = [
        "word1 way4",
        "often",
        "tool 3 returns word2",
        "late way18 way1",
    ];
    let found = queries.iter().map(|query| registry.search(query, 30));
    let names = |tools: Vec<ToolEntry>| tools.iter().map(|tool| tool.name.to_string()).collect();
    found.map(names).collect()
}

/// Returns what searches find in a new registry of the same tools.
fn found_at_once(registry: &Registry) -> Vec<Vec<String>> {
    found(&Registry::builder().tools(registry.specs()).build().unwrap())
}

#[test]
fn a_search_keeps_no_removed_tool_alive() {
    let alive = Arc::new(());
    let kept = alive.clone();
    let tool = DynamicTool::builder("late").build(move |_, _| {
        let _ = &kept;
        std::future::ready(Ok::<_, String>(1))
    });
    let registry = Registry::builder().tools(tools![roll_die]).build().unwrap();
    registry.add(tool.unwrap()).unwrap();
    assert_eq!(registry.search("late", 1).len(), 1);
    registry.remove("late").unwrap();
    assert_eq!(Arc::strong_count(&alive), 1);
    assert!(registry.search("late", 1).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// A registry that was changed tool by tool is the one that is built at once, however many tools it has.
    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "takes minutes")]
    fn changes_of_one_tool_among_many_equal_a_new_registry(
        len in 0_usize..300,
        changes in prop::collection::vec((0_u8..7, 0_usize..350), 1..60),
    ) {
        let name = |number: usize| format!("tool_{number}");
        let mut model: BTreeMap<_, _> = (0..len).map(|n| (name(n), n)).collect();
        let tools = model.iter().map(|(name, number)| numbered(name, *number));
        let registry = Registry::builder().tools(tools.collect::<Vec<_>>()).build().unwrap();
        let selected = registry.select(|tool| tool.description.contains("often"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let heard = seen.clone();
        let listener = registry.on_change(move |_, change| {
            let mut heard = heard.lock().unwrap();
            heard.extend(change.added.iter().map(|tool| format!("+{}", tool.name)));
            heard.extend(change.replaced.iter().map(|(_, tool)| format!("~{}", tool.name)));
            heard.extend(change.removed.iter().map(|tool| format!("-{}", tool.name)));
        });
        let mut expected = Vec::new();
        for (at, (kind, number)) in changes.into_iter().enumerate() {
            let name = name(number);
            let own = 1000 + at;
            let tool = numbered(&name, own);
            match kind {
                0 | 1 => {
                    let added = registry.add(tool);
                    prop_assert_eq!(added.is_ok(), !model.contains_key(&name));
                    if added.is_ok() {
                        model.insert(name.clone(), own);
                        expected.push(format!("+{name}"));
                    }
                }
                2 => {
                    let old = registry.replace(tool).unwrap();
                    let modelled = model.insert(name.clone(), own);
                    prop_assert_eq!(old.is_some(), modelled.is_some());
                    let sign = if old.is_some() { '~' } else { '+' };
                    expected.push(format!("{sign}{name}"));
                }
                3 => {
                    let removed = registry.remove(&name).unwrap();
                    prop_assert_eq!(removed.is_some(), model.remove(&name).is_some());
                    expected.extend(removed.map(|_| format!("-{name}")));
                }
                // All or none.
                4 => {
                    let before = names(&registry);
                    let fresh = || numbered("fresh", at);
                    let twice = [fresh(), numbered(&name, at), numbered(&name, at)];
                    prop_assert!(registry.add(twice).is_err());
                    let without_context = tools![needing].into_iter().chain([fresh()]);
                    prop_assert!(registry.add(without_context).is_err());
                    let reserved = [fresh().deferred(), numbered("call_tool", at)];
                    prop_assert!(registry.add(reserved).is_err());
                    prop_assert_eq!(names(&registry), before);
                }
                5 => {
                    prop_assert_eq!(found(&registry), found_at_once(&registry));
                    prop_assert_eq!(found(&selected), found_at_once(&selected));
                }
                // A tool that is deferred, and back.
                _ => {
                    let deferred = numbered("late", at).deferred();
                    prop_assert!(registry.replace(deferred).unwrap().is_none());
                    let call = || ToolCall::new("call_1", "search_tools", r#"{"query":"late"}"#);
                    prop_assert!(!registry.call_blocking(call()).is_error());
                    prop_assert!(registry.remove("late").unwrap().is_some());
                    prop_assert!(registry.call_blocking(call()).is_error());
                    expected.extend(["+late".to_owned(), "-late".to_owned()]);
                }
            }
        }
        drop(listener);
        prop_assert_eq!(found(&registry), found_at_once(&registry));
        prop_assert_eq!(found(&selected), found_at_once(&selected));
        let listed: Vec<_> = model.keys().cloned().collect();
        prop_assert_eq!(names(&registry), listed);
        prop_assert_eq!(registry.len(), model.len());
        prop_assert_eq!(&*seen.lock().unwrap(), &expected);
        for number in 0..350 {
            let name = name(number);
            let result = registry.call_blocking(ToolCall::new("call_1", &*name, "{}"));
            let expected = model.get(&name).map(ToString::to_string);
            prop_assert_eq!(result.is_error(), expected.is_none());
            if let Some(expected) = expected {
                prop_assert_eq!(result.content(), expected);
            }
        }
    }
}

#[test]
fn a_long_chain_of_changes_by_a_listener_ends() {
    let registry = Registry::new();
    let left = Mutex::new(100_000);
    let _listener = registry.on_change(move |registry, _| {
        let mut left = left.lock().unwrap();
        if *left > 0 {
            *left -= 1;
            if registry.remove("roll_die").unwrap().is_none() {
                registry.add(tools![roll_die]).unwrap();
            }
        }
    });
    registry.add(tools![roll_die]).unwrap();
    assert_eq!(registry.len(), 1);
}

/// Panics when it is called and when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("planned");
    }
}

#[cfg_attr(panic = "abort", ignore = "a tool or a test panics")]
#[test]
fn a_listener_that_panics_or_waits_hinders_nobody() {
    let registry = Registry::new();
    let bomb = Bomb;
    let bad = registry.on_change(move |_, _| {
        let _bomb = &bomb;
        panic!("planned");
    });
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    // Waits for a change that another thread makes.
    let good = registry.on_change(move |registry, change| {
        let sender = sender.lock().unwrap().clone();
        if change.added.iter().any(|tool| tool.name == "hidden") {
            let registry = registry.clone();
            std::thread::spawn(move || registry.add(tools![meet]).unwrap())
                .join()
                .unwrap();
        }
        sender.send(line(change)).unwrap();
    });
    registry.add(tools![hidden]).unwrap();
    assert_eq!(receiver.try_recv().unwrap(), "+[hidden] ~[] -[]");
    assert_eq!(receiver.try_recv().unwrap(), "+[meet] ~[] -[]");
    drop(bad);
    registry.remove("meet").unwrap();
    assert_eq!(receiver.try_recv().unwrap(), "+[] ~[] -[meet]");
    drop(good);
}
