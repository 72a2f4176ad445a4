//! [`Snapshot`]: the tools of a registry at one moment.

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use super::deferred::{self, RESERVED};
use super::error::{Duplicate, ProblemKind, RegistryError};
use super::name_hash::NameHash;
use super::policy::Policy;
use super::search::SearchIndex;
use crate::call::context::{CallContext, near_miss};
use crate::call::error::ToolError;
use crate::provider::hosted_tool::HostedTool;
use crate::provider::portable::{is_tool_name, with_suffix};
use crate::provider::rules::{BrokenRule, Target, broken};
use crate::tool::{Invoke, ToolEntry};

#[derive(Clone, Default)]
pub(super) struct Snapshot {
    /// Sorted by name.
    pub(super) tools: Vec<ToolEntry>,
    /// Indices of the tools, by name and by the name under which another server lists them.
    indices: HashMap<Cow<'static, str>, usize, NameHash>,
    pub(super) hosted: Vec<HostedTool>,
    pub(super) has_deferred: bool,
    /// Created with the first search. Shared with snapshots of the same tools.
    index: Arc<OnceLock<SearchIndex>>,
}

impl Snapshot {
    /// Creates a snapshot. The error lists all problems. Without a policy, missing context values and
    /// runtimes are ignored.
    pub(super) fn new(
        tools: Vec<ToolEntry>,
        hosted: Vec<HostedTool>,
        policy: Option<&Policy>,
    ) -> Result<Snapshot, RegistryError> {
        let mut error = RegistryError::default();
        for tool in &tools {
            check_tool(tool, policy, &mut error);
        }
        let mut by_name: BTreeMap<Cow<'static, str>, Vec<ToolEntry>> = BTreeMap::new();
        let tools = with_distinct_names(tools);
        let tools = match policy {
            Some(policy) => defer(tools, policy),
            None => tools,
        };
        let has_deferred = tools.iter().any(ToolEntry::is_deferred);
        if has_deferred {
            check_reserved_names(&tools, &mut error);
        }
        let has_sources = tools.iter().any(|tool| tool.source().is_some());
        for tool in tools {
            by_name.entry(tool.name.clone()).or_default().push(tool);
        }
        let mut by_source: BTreeMap<String, Vec<ToolEntry>> = BTreeMap::new();
        if has_sources {
            for tool in by_name.values().flatten() {
                let name = tool.source_name().to_owned();
                by_source.entry(name).or_default().push(tool.clone());
            }
        }
        // Two tools that a client would see under one name.
        let is_reported = |name: &str| by_name.get(name).is_some_and(|tools| tools.len() > 1);
        by_source.retain(|name, tools| tools.len() > 1 && !is_reported(name));
        let by_source = by_source.iter().map(|(name, tools)| (&**name, tools));
        let by_name_or_source = by_name.iter().map(|(name, tools)| (&**name, tools));
        let duplicates = by_name_or_source.chain(by_source);
        let duplicates = duplicates.filter(|(_, tools)| tools.len() > 1);
        error.duplicates = duplicates
            .map(|(name, tools)| {
                let mut locations: Vec<_> = tools.iter().map(|tool| tool.location).collect();
                // The order of linked tools differs between builds.
                locations.sort_unstable_by_key(|location| (location.file, location.line));
                Duplicate {
                    name: name.to_string(),
                    locations,
                }
            })
            .collect();
        let snapshot = Snapshot::of_valid(by_name.into_values().flatten().collect(), hosted);
        if error.duplicates.is_empty() {
            error.broken = broken_target_rules(&snapshot);
        }
        if error.is_empty() {
            Ok(snapshot)
        } else {
            Err(error)
        }
    }

    /// Creates a snapshot of tools that are valid together, sorted by name. Some of the tools of a snapshot are.
    pub(super) fn of_valid(tools: Vec<ToolEntry>, hosted: Vec<HostedTool>) -> Snapshot {
        let names = tools.iter().map(|tool| tool.name.clone());
        let mut indices: HashMap<_, _, _> = names.zip(0..).collect();
        for (at, tool) in tools.iter().enumerate() {
            if let Some(source) = tool.source() {
                indices.entry(source.name.clone().into()).or_insert(at);
            }
        }
        Snapshot {
            has_deferred: tools.iter().any(ToolEntry::is_deferred),
            tools,
            indices,
            hosted,
            index: Arc::default(),
        }
    }

    #[inline]
    pub(super) fn get(&self, name: &str) -> Option<&ToolEntry> {
        self.indices.get(name).map(|&index| &self.tools[index])
    }

    pub(super) fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tools.iter().map(|tool| &*tool.name)
    }

    /// Returns the tools of a request to a provider that can't search: those that are not deferred, and
    /// the two that find and call the others.
    pub(super) fn listed(&self) -> Vec<ToolEntry> {
        let tools = self.tools.iter().filter(|tool| !tool.is_deferred());
        let more = self.has_deferred.then(deferred::entries);
        tools.cloned().chain(more.into_iter().flatten()).collect()
    }

    /// Returns the tool with this name that finds or calls deferred ones.
    pub(super) fn built_in(&self, name: &str) -> Option<ToolEntry> {
        let mut entries = self.has_deferred.then(deferred::entries)?.into_iter();
        entries.find(|tool| tool.name == name)
    }

    /// Returns the tools that match a query best, the best first.
    pub(super) fn search(
        &self,
        query: &str,
        limit: usize,
        is_included: impl Fn(&ToolEntry) -> bool,
    ) -> Vec<&ToolEntry> {
        let index = self.index.get_or_init(|| SearchIndex::new(&self.tools));
        let found = index.search(query, limit, |tool| is_included(&self.tools[tool]));
        found.into_iter().map(|tool| &self.tools[tool]).collect()
    }

    /// Returns the error for a call of a tool that does not exist. It suggests none of the deferred tools:
    /// a model could list them by guessing names.
    #[cold]
    pub(super) fn unknown_tool(&self, name: &str) -> ToolError {
        let listed: Vec<_> = self
            .tools
            .iter()
            .filter(|tool| !tool.is_deferred())
            .collect();
        let names = listed.iter().map(|tool| &*tool.name);
        ToolError::unknown_tool(name, names, self.has_deferred)
    }
}

/// Defers the tools that the policy defers, and describes their groups.
fn defer(tools: Vec<ToolEntry>, policy: &Policy) -> Vec<ToolEntry> {
    if policy.defer.is_empty() && policy.group_descriptions.is_empty() {
        return tools;
    }
    let defer = |tool: ToolEntry| {
        let is_deferred = policy.defer.iter().any(|defers| defers(&tool));
        let tool = if is_deferred { tool.deferred() } else { tool };
        let mut descriptions = policy.group_descriptions.iter().rev();
        let description = descriptions.find(|(group, _)| tool.group() == Some(group));
        match description {
            Some((_, text)) if tool.group_description() != Some(text) => {
                tool.with_group_description(Arc::clone(text))
            }
            _ => tool,
        }
    };
    tools.into_iter().map(defer).collect()
}

/// Adds the tools that have the names of those that find deferred tools.
fn check_reserved_names(tools: &[ToolEntry], error: &mut RegistryError) {
    let is_reserved = |tool: &&ToolEntry| {
        let names = [&*tool.name, tool.source_name()];
        names.iter().any(|name| RESERVED.contains(name))
    };
    for tool in tools.iter().filter(is_reserved) {
        error.add(ProblemKind::Reserved, tool, "");
    }
}

/// Renames tools whose valid names are equal, while the names they are made from differ: each name
/// gets a suffix that depends on the original name only.
fn with_distinct_names(mut tools: Vec<ToolEntry>) -> Vec<ToolEntry> {
    if tools.iter().all(|tool| tool.source().is_none()) {
        return tools;
    }
    let valid_name = |tool: &ToolEntry| match tool.source() {
        Some(source) => source.valid_name.clone(),
        None => tool.name.to_string(),
    };
    let mut names: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, tool) in tools.iter().enumerate() {
        names.entry(valid_name(tool)).or_default().push(at);
    }
    for indices in names.into_values().filter(|indices| indices.len() > 1) {
        for at in indices {
            let name = match tools[at].source() {
                Some(source) if source.name != source.valid_name => {
                    with_suffix(&source.valid_name, &source.name)
                }
                _ => continue,
            };
            // A clone is not the same entry, and listeners would report a change.
            if tools[at].name != name {
                let mut tool = tools[at].clone().into_live();
                tool.spec.name = name.into();
                tools[at] = ToolEntry::from_live(tool);
            }
        }
    }
    tools
}

/// Adds the problems of one tool.
fn check_tool(tool: &ToolEntry, policy: Option<&Policy>, error: &mut RegistryError) {
    let mut add = |kind, detail: &str| error.add(kind, tool, detail);
    // The macro has checked the names of static tools, and dialects leave out dynamic ones.
    if tool.is_live() && !tool.is_dynamic() && !is_tool_name(&tool.name) {
        add(ProblemKind::Name, "");
    }
    let Some(policy) = policy else { return };
    let is_available = |id: TypeId| {
        id == TypeId::of::<CallContext>()
            || policy.context.contains(id)
            || policy.per_call.iter().any(|need| need.id() == id)
    };
    for need in tool.needs() {
        if !is_available(need.id()) {
            let per_call = policy.per_call.iter().map(|need| need.name());
            let given = policy.context.type_names().chain(per_call);
            match near_miss(need.name(), given) {
                Some(note) => add(ProblemKind::Context, &format!("{} ({note})", need.name())),
                None => add(ProblemKind::Context, need.name()),
            }
        }
    }
    if policy.runtime.is_none() {
        let invoke = tool.invoke();
        // The timeout of a registry does not apply to sync tools, which cannot be stopped.
        let default = policy
            .timeout
            .filter(|_| !matches!(invoke, Invoke::Sync(_)));
        if matches!(invoke, Invoke::Blocking(_)) {
            add(ProblemKind::Runtime, "is blocking");
        } else if tool.timeout().or(default).is_some() {
            add(ProblemKind::Runtime, "has a timeout");
        }
    }
}

/// Returns the rules of this build's targets that the tools together break. An empty registry
/// breaks none, because tools may be added before it is rendered.
fn broken_target_rules(snapshot: &Snapshot) -> Vec<BrokenRule> {
    let is_empty = snapshot.tools.is_empty();
    let targets = Target::ALL.into_iter();
    let targets = targets.filter(|target| target.is_enabled() && !is_empty);
    let broken = targets.flat_map(|target| {
        // Anthropic limits strict tools, and is sent deferred ones too.
        if snapshot.has_deferred && target != Target::AnthropicStrict {
            broken(target, &snapshot.listed())
        } else {
            broken(target, &snapshot.tools)
        }
    });
    broken.collect()
}

#[cfg(all(test, not(feature = "tokio")))]
mod tests {
    use std::time::Duration;

    use crate::{Registry, ToolCall, tool, tools};

    /// Blocks its thread.
    #[tool(unlinked, blocking)]
    fn block() {}

    /// Has a timeout.
    #[tool(unlinked, timeout = "1s")]
    async fn limited() {
        std::future::ready(()).await;
    }

    /// Has no timeout.
    #[tool(unlinked)]
    async fn unlimited() {
        std::future::ready(()).await;
    }

    /// Cannot be stopped.
    #[tool(unlinked)]
    fn add(a: i64, b: i64) -> i64 {
        a + b
    }

    #[test]
    fn an_error_lists_tools_that_need_a_runtime() {
        let all = Registry::builder().tools(tools![block, limited, unlimited, add]);
        let error = all.clone().build().unwrap_err().to_string();
        let mut lines = error.lines();
        assert_eq!(
            lines.next(),
            Some("these tools need timers or threads, but there is no async runtime:")
        );
        for start in ["  `block`: is blocking, ", "  `limited`: has a timeout, "] {
            let line = lines.next().unwrap_or_default();
            assert!(line.starts_with(start), "{error}");
            assert!(line.contains("snapshot.rs:"), "{error}");
        }
        assert_eq!(
            lines.collect::<String>(),
            "enable the feature `tokio` of tool-core, or set another runtime with \
             `Registry::builder().runtime(…)`"
        );
        // The timeout of a registry applies to every tool that can be stopped.
        let error = all.timeout(Duration::from_secs(1)).build().unwrap_err();
        assert!(error.to_string().contains("`unlimited`: has a timeout"));
        assert!(!error.to_string().contains("`add`"));
    }

    #[test]
    fn other_tools_need_no_runtime() {
        let registry = Registry::builder().tools(tools![unlimited, add]).build();
        let call = ToolCall::new("1", "add", r#"{"a":2,"b":3}"#);
        assert_eq!(registry.unwrap().call_blocking(call).content(), "5");
    }
}
