//! The tools of a registry at one moment.

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::error::{Duplicate, Lack, RegistryError};
use super::names::NameHash;
use super::policy::Policy;
use crate::call::context::CallContext;
use crate::provider::hosted_tool::HostedTool;
use crate::provider::portable::is_tool_name;
use crate::provider::rules::{BrokenRule, Target, broken};
use crate::tool::{Invoke, ToolEntry};

/// The tools at one moment, in the order of their names, and the hosted ones.
#[derive(Clone, Default)]
pub(super) struct Snapshot {
    pub(super) tools: Vec<ToolEntry>,
    places: HashMap<Cow<'static, str>, usize, NameHash>,
    pub(super) hosted: Vec<HostedTool>,
}

impl Snapshot {
    /// Everything that keeps these tools from being a registry is told at once.
    pub(super) fn new(
        tools: Vec<ToolEntry>,
        hosted: Vec<HostedTool>,
        policy: &Policy,
    ) -> Result<Snapshot, RegistryError> {
        let mut error = RegistryError::default();
        for tool in &tools {
            judge(tool, policy, &mut error);
        }
        let mut named: BTreeMap<Cow<'static, str>, Vec<ToolEntry>> = BTreeMap::new();
        for tool in tools {
            named.entry(tool.name.clone()).or_default().push(tool);
        }
        let duplicates = named.iter().filter(|(_, tools)| tools.len() > 1);
        error.duplicates = duplicates
            .map(|(name, tools)| {
                let mut locations: Vec<_> = tools.iter().map(|tool| tool.location).collect();
                // The linker's order is not the same in every build.
                locations.sort_unstable_by_key(|place| (place.file, place.line));
                Duplicate {
                    name: name.to_string(),
                    locations,
                }
            })
            .collect();
        let snapshot = Snapshot {
            places: named.keys().cloned().zip(0..).collect(),
            tools: named.into_values().flatten().collect(),
            hosted,
        };
        if error.duplicates.is_empty() {
            error.broken = broken_by_targets(&snapshot.tools);
        }
        match error.is_empty() {
            true => Ok(snapshot),
            false => Err(error),
        }
    }

    #[inline]
    pub(super) fn get(&self, name: &str) -> Option<&ToolEntry> {
        self.places.get(name).map(|&place| &self.tools[place])
    }

    pub(super) fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tools.iter().map(|tool| &*tool.name)
    }
}

/// What one tool lacks in this registry.
fn judge(tool: &ToolEntry, policy: &Policy, error: &mut RegistryError) {
    let lack = |what: String| Lack {
        tool: tool.name.to_string(),
        location: tool.location,
        what,
    };
    // A prefix makes a name that the macro has not seen.
    if tool.is_live() && !is_tool_name(&tool.name) {
        error.names.push(lack(String::new()));
    }
    let is_given = |id: TypeId| {
        id == TypeId::of::<CallContext>() || policy.context.has(id) || policy.per_call.contains(&id)
    };
    for need in tool.needs().iter().filter(|need| !is_given(need.id())) {
        error.context.push(lack(need.name().to_owned()));
    }
    if policy.runtime.is_none() {
        let invoke = tool.invoke();
        let is_blocking = matches!(invoke, Invoke::Blocking(_));
        // A registry's own time-out is not for tools that only a thread could stop.
        let default = policy
            .timeout
            .filter(|_| !matches!(invoke, Invoke::Sync(_)));
        if is_blocking {
            error.runtime.push(lack("blocks".into()));
        } else if tool.timeout().or(default).is_some() {
            error.runtime.push(lack("has a time-out".into()));
        }
    }
}

/// What the targets of this build refuse of these tools together. No tools at all are no mistake
/// before they are sent.
fn broken_by_targets(tools: &[ToolEntry]) -> Vec<BrokenRule> {
    let targets = Target::ALL.into_iter();
    let targets = targets.filter(|target| target.is_enabled() && !tools.is_empty());
    targets.flat_map(|target| broken(target, tools)).collect()
}

#[cfg(all(test, not(feature = "tokio")))]
mod tests {
    use std::time::Duration;

    use crate::{Registry, ToolCall, tool, tools};

    /// Blocks its thread.
    #[tool(unlinked, blocking)]
    fn block() {}

    /// Says how long it may take.
    #[tool(unlinked, timeout = "1s")]
    async fn hurry() {
        std::future::ready(()).await;
    }

    /// Takes any time.
    #[tool(unlinked)]
    async fn dawdle() {
        std::future::ready(()).await;
    }

    /// Can't be stopped anyway.
    #[tool(unlinked)]
    fn add(a: i64, b: i64) -> i64 {
        a + b
    }

    #[test]
    fn tools_that_need_a_runtime_are_named_where_there_is_none() {
        let all = Registry::builder().tools(tools![block, hurry, dawdle, add]);
        let error = all.clone().build().unwrap_err().to_string();
        let mut lines = error.lines();
        assert_eq!(
            lines.next(),
            Some("these tools need timers or threads, and there is no async runtime:")
        );
        for start in ["  `block`: blocks, ", "  `hurry`: has a time-out, "] {
            let line = lines.next().unwrap_or_default();
            assert!(line.starts_with(start), "{error}");
            assert!(line.contains("snapshot.rs:"), "{error}");
        }
        assert_eq!(
            lines.collect::<String>(),
            "turn on the feature `tokio` of tool-core, or give the registry another one with \
             `Registry::builder().runtime(…)`"
        );
        // A registry's own time is for all that can be stopped.
        let error = all.timeout(Duration::from_secs(1)).build().unwrap_err();
        assert!(error.to_string().contains("`dawdle`: has a time-out"));
        assert!(!error.to_string().contains("`add`"));
    }

    #[test]
    fn all_others_need_none() {
        let registry = Registry::builder().tools(tools![dawdle, add]).build();
        let call = ToolCall::new("1", "add", r#"{"a":2,"b":3}"#);
        assert_eq!(registry.unwrap().call_blocking(call).content(), "5");
    }
}
