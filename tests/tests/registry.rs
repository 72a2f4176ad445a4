//! Registries: finding, listing, adding and removing tools, and concurrent calls.

use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use tool_core::dialect::OpenAiResponses;
use tool_core::{Registry, ToolCall, testing, tool, tools};

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

    assert_eq!(clone.remove("roll_die").unwrap().name, "roll_die");
    assert!(clone.remove("roll_die").is_none());
    let result = registry.call_blocking(ToolCall::new("1", "roll_die", ""));
    assert!(result.is_error());
}

#[test]
fn a_running_call_keeps_the_tool_that_it_started_with() {
    let registry = Registry::builder().tools(tools![roll_die]).build().unwrap();
    let running = registry.call(ToolCall::new("1", "roll_die", ""));
    registry.remove("roll_die");
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

#[test]
fn a_test_can_require_linked_tools() {
    testing::assert_linked(["get_temperature"]);
    let said = said(|| testing::assert_linked(["roll_die", "search_web"]));
    assert!(
        said.starts_with("these tools are not in the registry: search_web; "),
        "{said}"
    );
}

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
