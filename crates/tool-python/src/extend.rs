//! [`Workshop`]: tools that a model writes, tests and registers.

mod check;
mod sample;
mod store;
mod visible;

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

use serde::Serialize;
use serde_json::{Value as Json, json};
use tool_core::call::Arguments;
use tool_core::dynamic::DynamicTool;
use tool_core::hooks::{Decision, Gate, HookCall};
use tool_core::runtime::BoxFuture;
use tool_core::{CallContext, Registry, ToolEntry};

use self::check::{DESCRIPTION, Kind, Proposal, Runner, Spec};
use self::store::{Latest, Lock, Store, is_name};
use crate::code::limits;
use crate::{Limits, Sandbox, lock};

pub use check::Review;

const PYTHON_TOOL: &str = "create_and_register_python_tool";
const ANALYSIS_TOOL: &str = "create_and_register_analysis_tool";
const LIST_TOOL: &str = "list_created_tools";

/// Maximum number of characters of code, and the same for tests.
const CODE: usize = 40_000;

/// Tools that a model writes. They are checked in the sandbox, approved by a person, stored in a folder, and run in the
/// sandbox.
///
/// Give the model [`tools`](Workshop::tools) to write tools with, and add [`gate`](Workshop::gate) as a hook. It checks
/// a new tool, and holds the call until somebody decides. Once they allow it, the tool is in the registry, and the next
/// request of the same run lists it.
///
/// A model can't approve its own tool. A tool is only added if your application attached a
/// [decision](tool_core::ToolCall::decided_by) to the call, with a name, on a hold with exactly the text of the
/// [`Review`]. That text contains the code, the tests, the results of the checks, and their SHA-256 hashes.
///
/// ```no_run
/// use tool_core::hooks::Decision;
/// use tool_core::{Registry, ToolCall};
/// use tool_python::{Policy, Sandbox, Workshop};
///
/// # async fn example(call: ToolCall) -> Result<(), Box<dyn std::error::Error>> {
/// let sandbox = Sandbox::new(Policy::new().pool(2))?;
/// let workshop = Workshop::open(&sandbox, "tools")?;
/// let registry = Registry::builder()
///     .tools(workshop.tools())
///     .before(workshop.gate())
///     .build()?;
/// for (name, problem) in workshop.load(&registry)?.rejected {
///     eprintln!("{name} is not loaded: {problem}");
/// }
///
/// // With a `run::Run`, held calls are kept for you, and its `decide` takes the name. Without a run:
/// let result = registry.call(call.clone()).await;
/// if let Some(hold) = result.error().and_then(|error| error.hold()) {
///     println!("{}", hold.reason());
///     let approved = call.decided_by(hold.clone(), Decision::Allow, "Ada");
///     let result = registry.call(approved).await;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Workshop {
    sandbox: Sandbox,
    limits: Limits,
    approval: Approval,
    state: Arc<State>,
}

type Decide = Arc<dyn Fn(Review) -> BoxFuture<Decision> + Send + Sync>;

/// The way in which new tools are approved.
#[derive(Clone)]
enum Approval {
    /// By a decision on the held call.
    Hold,
    Reviewer {
        by: Arc<str>,
        decide: Decide,
    },
    Nobody,
}

struct State {
    store: Store,
    /// The tools that were added to a registry. Locked while the store or a registry changes.
    made: Mutex<HashMap<String, ToolEntry>>,
}

type Made<'a> = MutexGuard<'a, HashMap<String, ToolEntry>>;

/// The result of [`Workshop::load`].
///
/// ```
/// use tool_python::Loaded;
///
/// fn report(loaded: &Loaded) {
///     println!("loaded: {}", loaded.added.join(", "));
///     for (name, reason) in &loaded.rejected {
///         eprintln!("{name} is not loaded: {reason}");
///     }
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loaded {
    /// The names of the tools that were added.
    pub added: Vec<String>,
    /// The names of the rejected tools, with the reason: a byte changed, or the name is taken.
    pub rejected: Vec<(String, String)>,
}

/// A stored tool; see [`Workshop::list`].
///
/// ```
/// use tool_python::MadeTool;
///
/// fn line(tool: &MadeTool) -> String {
///     format!("{} {} ({:?}), approved by {}", tool.name, tool.version, tool.state, tool.approved_by)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MadeTool {
    /// The name.
    pub name: String,
    /// The latest version, from 1.
    pub version: u32,
    /// `true` if the tool can be called.
    pub state: MadeState,
    /// The name of the approver; empty if the files were changed.
    pub approved_by: String,
    /// The time of the approval, in seconds since 1970, UTC; 0 if the files were changed.
    pub approved_at: u64,
    /// The [`Review::digest`]; empty if the files were changed.
    pub digest: String,
}

/// The state of a stored tool.
///
/// ```
/// use tool_python::MadeState;
///
/// fn advice(state: &MadeState) -> String {
///     match state {
///         MadeState::Active => "in use".into(),
///         MadeState::Disabled => "switched off".into(),
///         MadeState::Changed(what) => format!("look at it before you use it: {what}"),
///         _ => "unknown".into(),
///     }
/// }
///
/// assert_eq!(advice(&MadeState::Active), "in use");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MadeState {
    /// The tool can be loaded.
    Active,
    /// The tool is not loaded until [`Workshop::enable`].
    Disabled,
    /// The tool is not loaded because its files changed after the approval. Contains the details.
    Changed(String),
}

impl Workshop {
    /// Opens a folder with tools, or creates it. The code in the sandbox must not have access to it.
    ///
    /// # Errors
    ///
    /// If the folder can't be used. Also if other users own it, or may write to it, to its contents or to one of its
    /// parents, because anybody who can write there can approve tools.
    pub fn open(sandbox: &Sandbox, folder: impl AsRef<Path>) -> io::Result<Workshop> {
        Ok(Workshop {
            sandbox: sandbox.clone(),
            limits: limits(),
            approval: Approval::Hold,
            state: Arc::new(State {
                store: Store::open(folder.as_ref())?,
                made: Mutex::default(),
            }),
        })
    }

    /// Sets the limits of each run. A run is a call, all tests of a tool, or one generated input. Applies to tools that
    /// are created later. The default is [`Limits::default`], but with 64 KiB of output and 1 MiB for a message.
    pub fn limits(mut self, limits: Limits) -> Workshop {
        self.limits = limits;
        self
    }

    /// Lets a closure decide on new tools, for instance by asking another model, so calls are not held. `by` is stored
    /// as the name of the approver. Anything but [`Decision::Allow`] rejects the tool.
    ///
    /// Beware that another model wrote most of the review, and may try to persuade yours.
    ///
    /// ```no_run
    /// # use tool_core::hooks::Decision;
    /// # use tool_python::{Policy, Sandbox, Workshop};
    /// # let sandbox = Sandbox::new(Policy::new())?;
    /// let workshop = Workshop::open(&sandbox, "tools")?.reviewer("size limit", async |review| {
    ///     if review.code.len() > 2_000 {
    ///         Decision::deny("the code is too long; write a simpler tool")
    ///     } else {
    ///         Decision::Allow
    ///     }
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reviewer<F, R>(mut self, by: impl Into<String>, decide: F) -> Workshop
    where
        F: Fn(Review) -> R + Send + Sync + 'static,
        R: Future<Output = Decision> + Send + 'static,
    {
        self.approval = Approval::Reviewer {
            by: by.into().into(),
            decide: Arc::new(move |review| Box::pin(decide(review))),
        };
        self
    }

    /// Rejects all new tools without running anything of them. Use it where nobody can approve. Stored tools work.
    pub fn unattended(mut self) -> Workshop {
        self.approval = Approval::Nobody;
        self
    }

    /// Returns the tools for the model: `create_and_register_python_tool`, `create_and_register_analysis_tool` and
    /// `list_created_tools`. The first two work only in a registry with the [`gate`](Workshop::gate).
    pub fn tools(&self) -> Vec<ToolEntry> {
        let schema = json!({
            "type": "object",
            "description": "JSON Schema of the arguments: an object with `properties` and `required`. Describe each property.",
        });
        let name = json!({
            "type": "string",
            "pattern": "^[a-z][a-z0-9_]{0,63}$",
            "description": "A lowercase letter, then lowercase letters, digits or `_`.",
        });
        let output = json!({
            "type": "object",
            "description": "JSON Schema of the result, if it always has the same form.",
        });
        let source = |description: &str| json!({"type": "string", "minLength": 1, "maxLength": CODE, "description": description});
        let python = DynamicTool::builder(PYTHON_TOOL)
            .description(
                "Creates a tool from a Python function, tests it, and registers it after approval. From the next request on it can \
                 be called like any other tool. It runs without network, other tools or lasting files.",
            )
            .parameters(json!({
                "type": "object",
                "properties": {
                    "name": name,
                    "schema": schema,
                    "code": source(
                        "Python source with one function that has this name. Its parameters are the properties of the schema; \
                         those that are not required have defaults. Its docstring becomes the description of the tool. It \
                         returns JSON values, raises `ToolError(\"why\")` for arguments that it can't handle, and must not \
                         crash for any that fit the schema.",
                    ),
                    "tests": source(
                        "Python source with `assert`s, alone or in functions `test_…` without parameters. It sees the names of \
                         the code, without an import.",
                    ),
                    "output": output,
                },
                "required": ["name", "schema", "code", "tests"],
                "additionalProperties": false,
            }));
        let analysis = DynamicTool::builder(ANALYSIS_TOOL)
            .description(
                "Creates a tool from a Python script, tries it with generated arguments, and registers it after approval. From \
                 the next request on it can be called like any other tool. It runs without network, other tools or lasting files.",
            )
            .parameters(json!({
                "type": "object",
                "properties": {
                    "name": name,
                    "description": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": DESCRIPTION,
                        "description": "What the tool does, for whoever calls it.",
                    },
                    "schema": schema,
                    "script": source(
                        "Python source that reads its arguments from the dict `args`. Its last line is an expression: the \
                         result, a JSON value. It raises `ToolError(\"why\")` for arguments that it can't handle, and must \
                         not crash for any that fit the schema.",
                    ),
                    "output": output,
                },
                "required": ["name", "description", "schema", "script"],
                "additionalProperties": false,
            }));
        let mut tools = Vec::new();
        for (kind, builder) in [(Kind::Python, python), (Kind::Analysis, analysis)] {
            let workshop = self.clone();
            let tool = builder
                .read_only(false)
                .destructive(false)
                .open_world(false)
                .build(move |arguments: Json, call: CallContext| {
                    let workshop = workshop.clone();
                    async move { workshop.create(kind, arguments, &call).await }
                });
            tools.push(tool.expect("the schema is valid").into());
        }
        let state = Arc::clone(&self.state);
        let list = DynamicTool::builder(LIST_TOOL)
            .description("Lists the tools that were created, with their versions and states.")
            .read_only(true)
            .build(move |_, _| {
                let tools = state.list().map(|tools| {
                    let listed = tools.into_iter().map(|tool| {
                        let state = match tool.state {
                            MadeState::Changed(_) => "damaged".into(),
                            state => json!(state),
                        };
                        json!({"name": tool.name, "version": tool.version, "state": state})
                    });
                    listed.collect::<Vec<_>>()
                });
                async move { tools }
            });
        tools.push(list.expect("it has no schema").into());
        tools
    }

    /// Returns the hook for the registry that contains [`tools`](Workshop::tools). It runs the checks of a new tool. A
    /// failure is an error for the model; otherwise the call is held, with the text of the [`Review`] as the reason.
    ///
    /// When the call comes back with a decision, nothing runs again, because the results of the checks were saved.
    pub fn gate(&self) -> impl Fn(HookCall) -> BoxFuture<Gate> + Send + Sync + 'static + use<> {
        let workshop = self.clone();
        move |hook| {
            let kind = match &*hook.tool.name {
                PYTHON_TOOL => Kind::Python,
                ANALYSIS_TOOL => Kind::Analysis,
                _ => return Box::pin(async { Gate::Allow }),
            };
            let workshop = workshop.clone();
            Box::pin(async move {
                match workshop.approval {
                    Approval::Hold => {}
                    // The reviewer is asked later, by the tool.
                    Approval::Reviewer { .. } => return Gate::Allow,
                    Approval::Nobody => return Gate::deny(NOBODY),
                }
                let proposal = match &hook.call.arguments {
                    Arguments::Text(text) => serde_json::from_str(text),
                    other => serde_json::from_value(json!(other.to_object().unwrap_or_default())),
                };
                let proposal = match proposal {
                    Ok(proposal) => proposal,
                    Err(error) => return Gate::fail(error.to_string()),
                };
                match workshop.review(&hook.registry(), kind, &proposal).await {
                    Ok(review) => Gate::hold(review.to_string()),
                    Err(problem) => Gate::fail(problem),
                }
            })
        }
    }

    /// Creates a tool, once it is approved.
    async fn create(
        &self,
        kind: Kind,
        arguments: Json,
        call: &CallContext,
    ) -> Result<String, String> {
        let proposal: Proposal =
            serde_json::from_value(arguments).map_err(|error| error.to_string())?;
        let registry = Registry::of(call);
        let key = proposal.key(kind);
        match &self.approval {
            Approval::Nobody => Err(NOBODY.to_owned()),
            Approval::Reviewer { by, decide } => {
                let review = self.review(&registry, kind, &proposal).await?;
                match decide(review.clone()).await {
                    Decision::Allow => self.register(&registry, &review, by, &key),
                    Decision::Deny(reason) => Err(format!("it was not approved: {reason}")),
                    _ => Err("it was not approved".to_owned()),
                }
            }
            Approval::Hold => {
                let review: Option<Review> = self.state.store.load_draft(&key);
                let review = review.ok_or("it was not checked, so nobody can have approved it")?;
                let text = review.to_string();
                let mut decisions = call.decisions();
                let approval = decisions.find(|(hold, decision, _)| {
                    hold.tool() == call.tool_name()
                        && hold.reason() == text
                        && **decision == Decision::Allow
                });
                let (_, _, by) =
                    approval.ok_or("what would be added is not what was approved; call again")?;
                self.register(&registry, &review, by, &key)
            }
        }
    }

    /// Checks a proposal, unless its results are saved.
    async fn review(
        &self,
        registry: &Registry,
        kind: Kind,
        proposal: &Proposal,
    ) -> Result<Review, String> {
        let (version, replaces) =
            self.next_version(registry, &proposal.name, &lock(&self.state.made))?;
        let key = proposal.key(kind);
        let saved: Option<Review> = self.state.store.load_draft(&key);
        if let Some(saved) = saved.filter(|saved| saved.version == version) {
            return Ok(saved);
        }
        let review = self
            .runner()
            .check(kind, proposal, version, replaces)
            .await?;
        let store = &self.state.store;
        store.save_draft(&key, &review).map_err(unusable)?;
        Ok(review)
    }

    fn runner(&self) -> Runner<'_> {
        Runner {
            sandbox: &self.sandbox,
            limits: &self.limits,
        }
    }

    /// Returns the version of a new tool, and the version that it replaces.
    fn next_version(
        &self,
        registry: &Registry,
        name: &str,
        made: &Made<'_>,
    ) -> Result<(u32, Option<u32>), String> {
        if !is_name(name) || crate::stubs::is_keyword(name) || name.starts_with("test_") {
            return Err(format!(
                "name: {name:?} can't be the name of a tool; use a lowercase letter, then up to 63 lowercase letters, \
                 digits or `_`, no keyword of Python, and not `test_…`"
            ));
        }
        let taken = || format!("name: another tool is called `{name}`; choose another name");
        // A registry with deferred tools adds these names itself.
        if matches!(name, "search_tools" | "call_tool") {
            return Err(taken());
        }
        if let Some(tool) = registry.get(name) {
            let is_made = made
                .get(name)
                .is_some_and(|made| std::ptr::eq(made.spec(), tool.spec()));
            if !is_made {
                return Err(taken());
            }
        }
        let mut hosted = registry.hosted().into_iter();
        if hosted.any(|tool| tool.json()["name"] == name || tool.json()["type"] == name) {
            return Err(taken());
        }
        match self.state.store.latest(name).map_err(unusable)? {
            None => Ok((1, None)),
            Some(Latest {
                is_disabled: true, ..
            }) => Err(format!(
                "name: the operator has disabled `{name}`; choose another name"
            )),
            Some(Latest { stored: Err(_), .. }) => Err(format!(
                "name: the files of `{name}` are damaged, and only the operator can remove them; choose another name"
            )),
            Some(latest) => Ok((latest.version + 1, Some(latest.version))),
        }
    }

    /// Stores an approved tool and adds it to the registry. If either fails, does neither.
    fn register(
        &self,
        registry: &Registry,
        review: &Review,
        by: &str,
        key: &str,
    ) -> Result<String, String> {
        if by.trim().is_empty() {
            return Err("the approval does not name who approved".to_owned());
        }
        let mut made = lock(&self.state.made);
        let next = self.next_version(registry, &review.name, &made)?;
        if next != (review.version, review.replaces) {
            return Err(MEANWHILE.to_owned());
        }
        let spec = serde_json::from_str(&review.spec).map_err(|error| error.to_string())?;
        let tool: ToolEntry = self.runner().tool(&spec, &review.code)?.into();
        let lock = Lock {
            name: review.name.clone(),
            version: review.version,
            files: review.hashes(),
            approved_by: by.to_owned(),
            approved_at: SystemTime::UNIX_EPOCH
                .elapsed()
                .unwrap_or_default()
                .as_secs(),
        };
        let store = &self.state.store;
        store
            .add(&lock, &review.files())
            .map_err(|error| match error.kind() {
                // Another process that uses the folder was faster.
                ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty => MEANWHILE.to_owned(),
                _ => unusable(error),
            })?;
        let old = made.get(&review.name).cloned();
        if let Err(error) = registry.exchange(old.as_slice(), [tool.clone()]) {
            store
                .retract(&review.name, review.version)
                .map_err(unusable)?;
            return Err(format!("name: {error}"));
        }
        made.insert(review.name.clone(), tool);
        store.delete_draft(key);
        Ok(format!(
            "registered `{}`, version {}, approved by {by}; it can be called from the next request on",
            review.name, review.version
        ))
    }

    /// Adds the latest version of each stored tool to a registry. Leaves out disabled tools, and rejects tools with
    /// changed files. Log [`Loaded::rejected`].
    ///
    /// # Errors
    ///
    /// If the folder can't be read.
    pub fn load(&self, registry: &Registry) -> io::Result<Loaded> {
        let mut made = lock(&self.state.made);
        let mut loaded = Loaded::default();
        for name in self.state.store.names()? {
            match self.load_one(registry, &name, &mut made)? {
                Some(Ok(())) => loaded.added.push(name),
                Some(Err(problem)) => loaded.rejected.push((name, problem)),
                None => {}
            }
        }
        Ok(loaded)
    }

    /// Adds a stored tool to a registry. Returns `None` if it does not exist or is disabled.
    fn load_one(
        &self,
        registry: &Registry,
        name: &str,
        made: &mut Made<'_>,
    ) -> io::Result<Option<Result<(), String>>> {
        let Some(latest) = self.state.store.latest(name)? else {
            return Ok(None);
        };
        if latest.is_disabled {
            return Ok(None);
        }
        let tool = latest.stored.and_then(|stored| {
            let file = |name: &str| stored.files.get(name).ok_or(format!("it has no {name}"));
            let spec: Spec = serde_json::from_str(file("spec.json")?)
                .map_err(|error| format!("spec.json: {error}"))?;
            if spec.name != name || spec.format != 1 {
                return Err("spec.json is that of another tool or format".to_owned());
            }
            let tool = self.runner().tool(&spec, file("code.py")?)?;
            let tool = ToolEntry::from(tool);
            let old = made.get(name).cloned();
            let added = registry.exchange(old.as_slice(), [tool.clone()]);
            added.map_err(|error| error.to_string())?;
            Ok(tool)
        });
        Ok(Some(tool.map(|tool| {
            made.insert(name.to_owned(), tool);
        })))
    }

    /// Returns all stored tools, sorted by name.
    ///
    /// # Errors
    ///
    /// If the folder can't be read.
    pub fn list(&self) -> io::Result<Vec<MadeTool>> {
        self.state.list()
    }

    /// Removes a tool from the registry until it is [enabled](Workshop::enable) again, even after a restart. Meanwhile
    /// the model can't create a tool with its name.
    ///
    /// # Errors
    ///
    /// If the tool does not exist, or the folder can't be changed.
    pub fn disable(&self, registry: &Registry, name: &str) -> io::Result<()> {
        let mut made = lock(&self.state.made);
        self.state.existing(name)?;
        self.state.store.set_disabled(name, true)?;
        withdraw(registry, name, &mut made);
        Ok(())
    }

    /// Adds a disabled tool to the registry again.
    ///
    /// # Errors
    ///
    /// If the tool does not exist, its files changed after the approval, its name is taken, or the folder can't be
    /// changed.
    pub fn enable(&self, registry: &Registry, name: &str) -> io::Result<()> {
        let mut made = lock(&self.state.made);
        self.state.existing(name)?;
        self.state.store.set_disabled(name, false)?;
        match self.load_one(registry, name, &mut made)? {
            Some(loaded) => loaded.map_err(io::Error::other),
            None => Err(missing()),
        }
    }

    /// Removes a tool from the registry and deletes all its versions. The model may then create a tool with this name,
    /// which needs approval like any other.
    ///
    /// # Errors
    ///
    /// If the tool does not exist, or the folder can't be changed.
    pub fn remove(&self, registry: &Registry, name: &str) -> io::Result<()> {
        let mut made = lock(&self.state.made);
        withdraw(registry, name, &mut made);
        if self.state.store.remove(name)? {
            Ok(())
        } else {
            Err(missing())
        }
    }
}

impl fmt::Debug for Workshop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workshop").finish_non_exhaustive()
    }
}

const NOBODY: &str = "new tools need an approval, and nobody is there to give it";

const MEANWHILE: &str = "a tool of this name was added meanwhile; call again";

impl State {
    fn existing(&self, name: &str) -> io::Result<Latest> {
        self.store.latest(name)?.ok_or_else(missing)
    }

    fn list(&self) -> io::Result<Vec<MadeTool>> {
        let mut tools = Vec::new();
        for name in self.store.names()? {
            let Some(latest) = self.store.latest(&name)? else {
                continue;
            };
            let mut tool = MadeTool {
                name,
                version: latest.version,
                state: MadeState::Active,
                approved_by: String::new(),
                approved_at: 0,
                digest: String::new(),
            };
            match latest.stored {
                Ok(stored) => {
                    let lock = stored.lock;
                    tool.digest = Lock::digest(&lock.name, lock.version, &lock.files);
                    tool.approved_by = lock.approved_by;
                    tool.approved_at = lock.approved_at;
                }
                Err(problem) => tool.state = MadeState::Changed(problem),
            }
            if latest.is_disabled {
                tool.state = MadeState::Disabled;
            }
            tools.push(tool);
        }
        Ok(tools)
    }
}

fn withdraw(registry: &Registry, name: &str, made: &mut Made<'_>) {
    if let Some(tool) = made.remove(name) {
        // Removing alone can't fail.
        let _ = registry.exchange(&[tool], []);
    }
}

fn missing() -> io::Error {
    io::Error::new(ErrorKind::NotFound, "there is no such tool")
}

/// Returns a message for the model, which can't do anything about the error.
fn unusable(error: io::Error) -> String {
    format!("the folder of the tools can't be used: {}", error.kind())
}
