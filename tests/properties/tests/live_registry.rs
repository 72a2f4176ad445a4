//! A registry whose tools are added, replaced and removed while it is in use.
//!
//! Every tool has a version, in its description and as its result, so that a reader of a
//! half-applied
//! change would see two versions. `TOOL_CORE_LONG=1` runs for minutes.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

use properties::random::Random;
use properties::rounds;
use serde_json::{Value, json};
use tool_core::dialect::HostedTool;
use tool_core::dynamic::DynamicTool;
use tool_core::registry::ChangeListener;
use tool_core::{Registry, ToolCall, ToolEntry, ToolErrorKind};
use tool_dialects::{Anthropic, OpenAiResponses};

/// Returns a tool of a version that is ready at its second poll.
fn tool(name: &str, version: u64) -> ToolEntry {
    let tool = DynamicTool::builder(name)
        .description(version.to_string())
        .build(move |_, _| async move {
            let mut is_second = false;
            std::future::poll_fn(|_| {
                if std::mem::replace(&mut is_second, true) {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
            Ok::<_, String>(version)
        });
    tool.expect("it is a tool").into()
}

fn version(tool: &ToolEntry) -> u64 {
    tool.description.parse().expect("it is a version")
}

/// Polls a future once.
fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// The expected contents: versions by name, groups by name, hosted tools in order.
#[derive(Default)]
struct Model {
    tools: BTreeMap<String, (u64, Option<&'static str>)>,
    hosted: Vec<HostedTool>,
}

impl Model {
    fn check(&self, registry: &Registry) {
        let held: Vec<_> = registry
            .specs()
            .iter()
            .map(|tool| {
                (
                    tool.name.to_string(),
                    (version(tool), tool.group().map(str::to_owned)),
                )
            })
            .collect();
        let model = self.tools.iter();
        let expected: Vec<_> = model
            .map(|(name, (version, group))| (name.clone(), (*version, group.map(str::to_owned))))
            .collect();
        assert_eq!(held, expected);
        assert_eq!(registry.hosted(), self.hosted);
        assert_eq!(registry.len(), self.tools.len());
        let rendered = json!(registry.render(&OpenAiResponses::default()));
        let rendered: Vec<_> = rendered.as_array().expect("an array").iter().collect();
        let tools = self.tools.iter().map(|(name, (version, _))| {
            json!({"type": "function", "name": name, "description": version.to_string(),
                   "parameters": {"type": "object", "properties": {}, "additionalProperties": false},
                   "strict": false})
        });
        let expected: Vec<_> = tools
            .chain(self.hosted.iter().map(|tool| tool.json().clone()))
            .collect();
        assert_eq!(rendered, expected.iter().collect::<Vec<_>>());
    }
}

/// The versions of tools by name.
type Versions = BTreeMap<String, u64>;

fn versions(registry: &Registry) -> Versions {
    let specs = registry.specs();
    let versions = specs
        .iter()
        .map(|tool| (tool.name.to_string(), version(tool)));
    versions.collect()
}

/// Returns the versions that a listener knows, and the listener, which checks that the changes it
/// is told follow each other.
fn mirror(registry: &Registry) -> (Arc<Mutex<Versions>>, ChangeListener) {
    let mirror: Arc<Mutex<Versions>> = Arc::default();
    let told = Arc::clone(&mirror);
    let listener = registry.on_change(move |_, change| {
        // A panic poisons the mirror, and the test then fails.
        let mut mirror = told.lock().expect("no panic");
        for tool in &change.added {
            assert_eq!(mirror.insert(tool.name.to_string(), version(tool)), None);
        }
        for (old, new) in &change.replaced {
            let before = mirror.insert(new.name.to_string(), version(new));
            assert_eq!((&old.name, before), (&new.name, Some(version(old))));
        }
        for tool in &change.removed {
            assert_eq!(mirror.remove(&*tool.name), Some(version(tool)));
        }
        let names = [&change.added, &change.removed];
        assert!(
            names
                .into_iter()
                .all(|tools| tools.is_sorted_by_key(|tool| tool.name.clone()))
        );
    });
    (mirror, listener)
}

/// Applies one change after another, each during a call in progress.
#[test]
fn every_change_matches_a_simple_model() {
    const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
    const GROUPS: [&str; 2] = ["left", "right"];
    let hosted = ["web_search", "file_search"].map(|name| HostedTool::new(json!({"type": name})));
    let mut random = Random::named("live", 1);
    for _ in 0..rounds(40, 4000) {
        let (registry, mut model) = (Registry::new(), Model::default());
        let clone = registry.clone();
        let (mirror, _listener) = mirror(&registry);
        let mut running = Vec::new();
        for next in 0..60_u64 {
            let name = *random.pick(&NAMES);
            let group = *random.pick(&GROUPS);
            match random.below(9) {
                0 => {
                    let other = *random.pick(&NAMES);
                    let is_free = name != other
                        && [name, other]
                            .iter()
                            .all(|name| !model.tools.contains_key(*name));
                    let added = registry.add([tool(name, next), tool(other, next).in_group(group)]);
                    assert_eq!(added.is_ok(), is_free);
                    if is_free {
                        model.tools.insert(name.into(), (next, None));
                        model.tools.insert(other.into(), (next, Some(group)));
                    }
                }
                1 | 2 => {
                    let old = registry
                        .replace(tool(name, next).in_group(group))
                        .expect("it fits");
                    let before = model.tools.insert(name.into(), (next, Some(group)));
                    assert_eq!(
                        old.map(|old| version(&old)),
                        before.map(|(version, _)| version)
                    );
                }
                3 => {
                    let old = clone.remove(name).unwrap();
                    let before = model.tools.remove(name);
                    assert_eq!(
                        old.map(|old| version(&old)),
                        before.map(|(version, _)| version)
                    );
                }
                4 => {
                    let gone = registry.remove_group(group).unwrap().len();
                    let before = model.tools.len();
                    model.tools.retain(|_, (_, other)| *other != Some(group));
                    assert_eq!(gone, before - model.tools.len());
                }
                5 => {
                    let tool = random.pick(&hosted);
                    clone.add_hosted(tool.clone());
                    if !model.hosted.contains(tool) {
                        model.hosted.push(tool.clone());
                    }
                }
                6 => {
                    let tool = random.pick(&hosted);
                    assert_eq!(registry.remove_hosted(tool), model.hosted.contains(tool));
                    model.hosted.retain(|other| other != tool);
                }
                _ => {
                    let mut call = Box::pin(registry.call(ToolCall::new("id", name, "")));
                    match (poll(call.as_mut()), model.tools.get(name)) {
                        (Poll::Pending, Some((version, _))) => running.push((call, *version)),
                        (Poll::Ready(result), None) => {
                            let kind = result.error().expect("there is none").kind();
                            assert_eq!(kind, ToolErrorKind::UnknownTool);
                        }
                        (polled, _) => panic!("{name}: {polled:?}"),
                    }
                }
            }
            model.check(&clone);
            assert_eq!(*mirror.lock().expect("no panic"), versions(&clone));
        }
        // Calls in progress finish, whatever happened to their tools.
        for (mut call, version) in running {
            let Poll::Ready(result) = poll(call.as_mut()) else {
                panic!("it answers the second time");
            };
            assert_eq!(result.content(), version.to_string());
        }
    }
}

/// Readers on many threads never see a half-applied change.
/// Pairs of tools share a version and change together: a pair is replaced by removing it and adding
/// it
/// in one `add`; the clock changes by `replace`, and its version only grows.
#[test]
fn readers_never_see_half_a_change() {
    const PAIRS: usize = 4;
    let changes = rounds(400, 60_000);
    let registry = Registry::new();
    let (mirror, _listener) = mirror(&registry);
    registry.add([tool("clock", 0)]).expect("it is new");
    let (clock, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let seen = thread::scope(|scope| {
        let (registry, clock, is_over) = (&registry, &clock, &is_over);
        let writers: Vec<_> = (0..PAIRS)
            .map(|pair| {
                scope.spawn(move || {
                    let (left, right) = (format!("left_{pair}"), format!("right_{pair}"));
                    let group = format!("pair_{pair}");
                    let hosted = HostedTool::new(json!({"type": format!("pair_{pair}_20250101")}));
                    for version in 1..=changes as u64 {
                        let both = [&left, &right].map(|name| tool(name, version).in_group(&group));
                        registry.add(both).expect("the last ones are gone");
                        registry.add_hosted(hosted.clone());
                        assert_eq!(registry.remove_group(&group).unwrap().len(), 2);
                        assert!(registry.remove_hosted(&hosted));
                        if pair == 0 {
                            registry.replace(tool("clock", version)).expect("it fits");
                            clock.store(version, Ordering::Release);
                        }
                    }
                })
            })
            .collect();
        let readers: Vec<_> = (0..3)
            .map(|_| scope.spawn(move || read(registry, clock, is_over)))
            .collect();
        for writer in writers {
            writer.join().expect("a writer");
        }
        is_over.store(true, Ordering::Release);
        let seen = readers
            .into_iter()
            .map(|reader| reader.join().expect("a reader"));
        seen.sum::<usize>()
    });
    assert!(seen > 0, "nobody saw anything");
    assert_eq!((registry.len(), registry.hosted()), (1, Vec::new()));
    assert_eq!(*mirror.lock().expect("no panic"), versions(&registry));
}

/// Reads until `is_over` is set. Returns how often a pair was present.
fn read(registry: &Registry, clock: &AtomicU64, is_over: &AtomicBool) -> usize {
    let (mut seen, mut newest) = (0, 0);
    while !is_over.load(Ordering::Acquire) {
        let specs = registry.specs();
        let list = specs
            .iter()
            .map(|tool| (tool.name.to_string(), version(tool)));
        seen += count_pairs(list.collect());

        let text = registry.render(&Anthropic::default()).into_string();
        let rendered: Value = serde_json::from_str(&text).expect("whole JSON");
        let tools = rendered.as_array().expect("an array").iter();
        let functions = tools.filter(|tool| tool.get("input_schema").is_some());
        let list = functions.map(|tool| {
            let text = |key: &str| tool[key].as_str().expect("text").to_owned();
            (
                text("name"),
                text("description").parse().expect("a version"),
            )
        });
        seen += count_pairs(list.collect());

        // Every call finds the clock, and never an older one than before.
        let least = clock.load(Ordering::Acquire);
        let mut call = pin!(registry.call(ToolCall::new("id", "clock", "")));
        assert!(poll(call.as_mut()).is_pending());
        let Poll::Ready(result) = poll(call.as_mut()) else {
            panic!("it answers the second time");
        };
        let now: u64 = result.content().parse().expect("a version");
        assert!(
            now >= least && now >= newest,
            "{now} after {least} and {newest}"
        );
        newest = now;
    }
    seen
}

/// Checks that both tools of a pair are present or neither, in one version, sorted. Returns the
/// number of pairs.
fn count_pairs(list: Vec<(String, u64)>) -> usize {
    assert!(
        list.is_sorted_by(|left, right| left.0 < right.0),
        "{list:?}"
    );
    let all: BTreeMap<_, _> = list
        .iter()
        .map(|(name, version)| (&**name, *version))
        .collect();
    assert!(all.contains_key("clock"), "{list:?}");
    let mut count = 0;
    for (name, version) in &all {
        if let Some(pair) = name.strip_prefix("left_") {
            assert_eq!(
                all.get(&*format!("right_{pair}")),
                Some(version),
                "{list:?}"
            );
            count += 1;
        }
    }
    assert_eq!(all.len(), 1 + 2 * count, "{list:?}");
    count
}
