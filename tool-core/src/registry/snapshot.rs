//! [`Snapshot`]: the tools of a registry at one moment.

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::background::{self, WAIT_FOR_RESULTS};
use super::deferred::{self, RESERVED};
use super::error::{Duplicate, ProblemKind, RegistryError};
use super::policy::Policy;
use super::read_result::is_read_result;
use super::search::{SharedIndex, SortedTools};
use super::table::Table;
use crate::call::context::CallContext;
use crate::call::error::ToolError;
use crate::call::type_map::near_miss;
use crate::provider::hosted_tool::HostedTool;
use crate::provider::portable::{is_tool_name, with_suffix};
use crate::provider::rules::{BrokenRule, Target, broken};
use crate::schema::messages::bare_name;
use crate::tool::{Invoke, ToolEntry};

#[derive(Clone, Default)]
pub(super) struct Snapshot {
    table: Table,
    /// Sorted by name. Created with the first listing after a change, and shared with snapshots of the same tools.
    tools: SortedTools,
    /// Tools by the name under which another server lists them.
    by_source: Arc<HashMap<String, ToolEntry>>,
    pub(super) hosted: Vec<HostedTool>,
    counts: Counts,
    /// Shared with the snapshots before and after it.
    index: Arc<SharedIndex>,
}

/// How many tools of a snapshot are of a kind.
#[derive(Clone, Copy, Default)]
struct Counts {
    deferred: usize,
    /// The number of tools that are not sent to models.
    hidden: usize,
    /// The number of tools that are called in the background.
    background: usize,
}

impl Counts {
    fn of<'t>(tools: impl IntoIterator<Item = &'t ToolEntry>) -> Counts {
        let mut counts = Counts::default();
        tools.into_iter().for_each(|tool| counts.add(tool));
        counts
    }

    fn add(&mut self, tool: &ToolEntry) {
        self.change(tool, |count, is_one| *count += usize::from(is_one));
    }

    fn remove(&mut self, tool: &ToolEntry) {
        self.change(tool, |count, is_one| *count -= usize::from(is_one));
    }

    fn change(&mut self, tool: &ToolEntry, change: impl Fn(&mut usize, bool)) {
        change(&mut self.deferred, tool.is_deferred());
        change(&mut self.hidden, !tool.is_for_models());
        change(&mut self.background, tool.is_background());
    }
}

impl Snapshot {
    /// Creates a snapshot. The error lists all problems.
    pub(super) fn new(
        tools: Vec<ToolEntry>,
        hosted: Vec<HostedTool>,
        policy: &Policy,
    ) -> Result<Snapshot, RegistryError> {
        let mut error = RegistryError::default();
        for tool in &tools {
            check_tool(tool, policy, &mut error);
        }
        let tools = with_distinct_names(tools).into_iter();
        let tools: Vec<_> = tools.map(|tool| defer(tool, policy)).collect();
        let counts = Counts::of(&tools);
        if counts.deferred > 0 {
            check_reserved_names(&tools, &RESERVED, &mut error);
        }
        if counts.background > 0 {
            check_reserved_names(&tools, &[WAIT_FOR_RESULTS], &mut error);
        }
        let tools = sorted(tools);
        error.duplicates = duplicates(&tools);
        if !error.duplicates.is_empty() {
            return Err(error);
        }
        let snapshot = Snapshot::of_valid(tools, hosted);
        error.broken = broken_target_rules(&snapshot);
        if error.is_empty() {
            Ok(snapshot)
        } else {
            Err(error)
        }
    }

    /// Creates a snapshot of tools that are valid together, sorted by name, such as some of the tools of
    /// another snapshot.
    pub(super) fn of_valid(tools: Vec<ToolEntry>, hosted: Vec<HostedTool>) -> Snapshot {
        let mut by_source = HashMap::new();
        for tool in &tools {
            if let Some(source) = tool.source() {
                let name = source.name.clone();
                by_source.entry(name).or_insert_with(|| tool.clone());
            }
        }
        Snapshot {
            table: Table::new(tools.iter()),
            counts: Counts::of(&tools),
            tools: Arc::new(tools.into()),
            by_source: Arc::new(by_source),
            hosted,
            index: Arc::default(),
        }
    }

    /// Creates the snapshot without some of its tools, and with others.
    pub(super) fn changed(
        &self,
        removed: &[ToolEntry],
        added: &[ToolEntry],
        policy: &Policy,
    ) -> Result<Snapshot, RegistryError> {
        if let Some(snapshot) = self.quickly_changed(removed, added, policy) {
            return Ok(snapshot);
        }
        let removed: HashSet<_> = removed.iter().map(|tool| &*tool.name).collect();
        let kept = self
            .tools()
            .iter()
            .filter(|tool| !removed.contains(&*tool.name));
        let tools = kept.chain(added).cloned().collect();
        let changed = Snapshot::new(tools, self.hosted.clone(), policy)?;
        Ok(changed.after(self))
    }

    /// Creates the same snapshot as [`new`](Self::new) at the cost of the changed tools alone, if they are few and
    /// valid, and need not be compared with all others.
    fn quickly_changed(
        &self,
        removed: &[ToolEntry],
        added: &[ToolEntry],
        policy: &Policy,
    ) -> Option<Snapshot> {
        let is_large = (removed.len() + added.len()) * 8 > self.len();
        let has_sources =
            !self.by_source.is_empty() || added.iter().any(|tool| tool.source().is_some());
        if is_large || has_sources || Target::ALL.into_iter().any(Target::is_enabled) {
            return None;
        }
        let mut table = self.table.clone();
        let mut counts = self.counts;
        for tool in removed {
            counts.remove(&table.remove(&tool.name)?);
        }
        let mut error = RegistryError::default();
        for tool in added {
            check_tool(tool, policy, &mut error);
            let tool = defer(tool.clone(), policy);
            counts.add(&tool);
            table.insert(tool).ok()?;
        }
        let has_reserved = RESERVED.iter().any(|name| table.get(name).is_some());
        let has_wait = counts.background > 0 && table.get(WAIT_FOR_RESULTS).is_some();
        if !error.is_empty() || has_wait || counts.deferred > 0 && has_reserved {
            return None;
        }
        Some(Snapshot {
            table,
            tools: Arc::default(),
            by_source: Arc::clone(&self.by_source),
            hosted: self.hosted.clone(),
            counts,
            index: Arc::clone(&self.index),
        })
    }

    /// Lets the next search follow the changes since an earlier snapshot, instead of indexing all tools.
    pub(super) fn after(self, earlier: &Snapshot) -> Snapshot {
        Snapshot {
            index: Arc::clone(&earlier.index),
            ..self
        }
    }

    /// Returns the tools, sorted by name.
    pub(super) fn tools(&self) -> &[ToolEntry] {
        self.tools.get_or_init(|| self.tools_where(|_| true))
    }

    /// Returns some of the tools, sorted by name.
    pub(super) fn tools_where(&self, is_included: impl Fn(&ToolEntry) -> bool) -> Vec<ToolEntry> {
        let tools = self.table.iter().filter(|tool| is_included(tool));
        sorted(tools.cloned().collect())
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn has_deferred(&self) -> bool {
        self.counts.deferred > 0
    }

    pub(super) fn has_background(&self) -> bool {
        self.counts.background > 0
    }

    /// Returns `true` if some tool is for apps alone, or for nobody.
    pub(super) fn has_hidden(&self) -> bool {
        self.counts.hidden > 0
    }

    #[inline]
    pub(super) fn get(&self, name: &str) -> Option<&ToolEntry> {
        let tool = self.table.get(name);
        tool.or_else(|| self.by_source.get(name))
    }

    /// Returns the tool that another server lists under this name, or that has it here and comes from no server.
    pub(super) fn get_by_source(&self, name: &str) -> Option<&ToolEntry> {
        let own = || self.table.get(name).filter(|tool| tool.source().is_none());
        self.by_source.get(name).or_else(own)
    }

    /// Returns the tools that the other snapshot may lack, sorted by name. Of two snapshots of which one is a
    /// change of the other they are few.
    pub(super) fn unshared(&self, other: &Snapshot) -> Vec<ToolEntry> {
        sorted(self.table.unshared(&other.table).cloned().collect())
    }

    pub(super) fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tools().iter().map(|tool| &*tool.name)
    }

    /// Returns the tools of a request to a provider that can't search: the tools that are not deferred, and
    /// the two that find and call the others.
    pub(super) fn listed(&self) -> Vec<ToolEntry> {
        let tools = self.tools().iter().filter(|tool| !tool.is_deferred());
        let more = self.has_deferred().then(deferred::entries);
        tools.cloned().chain(more.into_iter().flatten()).collect()
    }

    /// Returns the tool with this name that finds or calls deferred ones, or waits for calls in the background.
    pub(super) fn built_in(&self, name: &str) -> Option<ToolEntry> {
        if name == WAIT_FOR_RESULTS {
            return self.has_background().then(background::entry);
        }
        let mut entries = self.has_deferred().then(deferred::entries)?.into_iter();
        entries.find(|tool| tool.name == name)
    }

    /// Returns the tools that match a query best, the best first.
    pub(super) fn search(
        &self,
        query: &str,
        limit: usize,
        is_included: impl Fn(&ToolEntry) -> bool,
    ) -> Vec<&ToolEntry> {
        let tools = self.tools();
        let index = self.index.of(&self.tools);
        let found = index.search(query, limit, |tool| is_included(&tools[tool]));
        found.into_iter().map(|tool| &tools[tool]).collect()
    }

    /// Returns the error for a call of a tool that does not exist. It suggests none of the deferred tools,
    /// and no tool that is not sent to models, because a model could list them by guessing names.
    #[cold]
    pub(super) fn unknown_tool(&self, name: &str) -> ToolError {
        let is_listed = |tool: &&ToolEntry| !tool.is_deferred() && tool.is_for_models();
        let name_of = |tool| -> &str { &ToolEntry::spec(tool).name };
        let names = self.tools().iter().filter(is_listed).map(name_of);
        let meant = self.table.get(bare_name(name)).filter(is_listed);
        ToolError::unknown_tool(name, meant.map(name_of), names, self.has_deferred())
    }
}

fn sorted(mut tools: Vec<ToolEntry>) -> Vec<ToolEntry> {
    tools.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    tools
}

/// Returns the names that more than one tool has. The tools are sorted by name.
fn duplicates(tools: &[ToolEntry]) -> Vec<Duplicate> {
    let by_name = tools.chunk_by(|one, other| one.name == other.name);
    let by_name = by_name.filter(|tools| tools.len() > 1);
    let mut duplicates: Vec<_> = by_name
        .map(|tools| Duplicate::new(&tools[0].name, tools))
        .collect();
    if tools.iter().any(|tool| tool.source().is_some()) {
        // Two tools that a client would see under one name.
        let mut by_source: BTreeMap<&str, Vec<&ToolEntry>> = BTreeMap::new();
        for tool in tools {
            by_source.entry(tool.source_name()).or_default().push(tool);
        }
        for (name, tools) in by_source {
            if tools.len() > 1 && !duplicates.iter().any(|duplicate| duplicate.name == name) {
                duplicates.push(Duplicate::new(name, tools));
            }
        }
    }
    duplicates
}

/// Returns the tool as the policy defers it and describes its group.
fn defer(tool: ToolEntry, policy: &Policy) -> ToolEntry {
    // A model is told to call `read_result`, so that is never deferred.
    let mut defers = policy.defer.iter();
    let is_deferred = defers.any(|defers| !is_read_result(&tool) && defers(&tool));
    let tool = if is_deferred { tool.deferred() } else { tool };
    let mut descriptions = policy.group_descriptions.iter().rev();
    let description = descriptions.find(|(group, _)| tool.group() == Some(group));
    match description {
        Some((_, text)) if tool.group_description() != Some(text) => {
            tool.with_group_description(Arc::clone(text))
        }
        _ => tool,
    }
}

/// Adds an error for each tool with the name of a tool that the registry adds.
fn check_reserved_names(tools: &[ToolEntry], reserved: &[&str], error: &mut RegistryError) {
    let is_reserved = |tool: &&ToolEntry| {
        let names = [&*tool.name, tool.source_name()];
        names.iter().any(|name| reserved.contains(name))
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
fn check_tool(tool: &ToolEntry, policy: &Policy, error: &mut RegistryError) {
    let mut add = |kind, detail: &str| error.add(kind, tool, detail);
    // The macro has checked the names of static tools, and dialects leave out dynamic ones.
    if tool.is_live() && !tool.is_dynamic() && !is_tool_name(&tool.name) {
        add(ProblemKind::Name, "");
    }
    if policy.is_incomplete {
        return;
    }
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
    let is_empty = snapshot.len() == 0;
    let targets = Target::ALL.into_iter();
    let targets = targets.filter(|target| target.is_enabled() && !is_empty);
    let broken = targets.flat_map(|target| {
        // Anthropic limits strict tools, and is sent deferred ones too.
        let is_listed = snapshot.has_deferred() && target != Target::AnthropicStrict;
        let mut tools = if is_listed {
            Cow::Owned(snapshot.listed())
        } else {
            Cow::Borrowed(snapshot.tools())
        };
        if snapshot.has_background() {
            tools.to_mut().push(background::entry());
        }
        broken(target, &tools)
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
