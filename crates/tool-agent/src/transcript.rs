//! A run in the form for a person: messages, texts and calls, for a page or a terminal.
//!
//! You create a [`Transcript`] from a [`Run`] and pass it the [`Event`]s. So a page shows the same during a run and
//! after a reload. It contains no secrets, because arguments are shown as by [`Registry::shown`].

use std::collections::HashMap;

use serde::Serialize;
use tool_core::call::CallPosition;
use tool_core::content::Content;
use tool_core::hooks::Decision;
use tool_core::{Registry, ToolError, ToolErrorKind, ToolResult};

use crate::Event;
use crate::run::{Pending, Round, Run, changed_call, position_of};

/// The entries of a run that a person sees, in order.
///
/// ```
/// use futures_util::StreamExt;
/// use serde_json::json;
/// use tool_agent::Agent;
/// use tool_agent::run::Run;
/// use tool_agent::testing::ScriptedModel;
/// use tool_agent::transcript::Transcript;
/// use tool_core::Registry;
/// use tool_agent::dialects::OpenAiChat;
///
/// let model = ScriptedModel::default().say("Hello!");
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
/// let mut run = Run::new("conversation-1");
/// let mut transcript = Transcript::new(agent.registry(), &run);
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let mut events = agent.reply_events(&mut run, "Hello?");
/// while let Some(event) = events.next().await {
///     if let Some(change) = transcript.apply(&event?) {
///         // A page makes the same change to its own entries; see `Change::apply`.
///         println!("{}", serde_json::to_string(&change)?);
///     }
/// }
/// drop(events);
/// let entries = json!([
///     {"key": "user-0", "kind": "user", "text": "Hello?"},
///     {"key": "model-0", "kind": "model", "text": "Hello!"},
/// ]);
/// assert_eq!(json!(transcript.entries()), entries);
/// assert_eq!(transcript.entries(), Transcript::new(agent.registry(), &run).entries());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Transcript {
    registry: Registry,
    entries: Vec<Entry>,
    /// The indices of the entries, by key.
    indices: HashMap<String, usize>,
    /// The number of messages of the user.
    messages: usize,
    /// The number of complete responses.
    rounds: usize,
}

/// An entry of a [`Transcript`].
///
/// ```
/// use tool_agent::transcript::{Entry, Shown};
///
/// /// Writes a line of a page. The key tells which line to replace.
/// fn line(entry: &Entry) -> (String, String) {
///     let text = match &entry.shown {
///         Shown::User { text } => format!("you: {text}"),
///         Shown::Model { text } => text.clone(),
///         Shown::Call(call) => format!("{}({})", call.name, call.arguments),
///         _ => String::new(),
///     };
///     (entry.key.clone(), text)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Entry {
    /// Identifies the entry in its run, and never changes.
    pub key: String,
    /// The content of the entry.
    #[serde(flatten)]
    pub shown: Shown,
}

/// A change to the entries of a [`Transcript`]. In JSON it has the `type` `entry`, `text`, `reasoning`, `arguments` or
/// `progress`.
///
/// While the model writes, only the new piece is in the change, so a long response does not cost more for each piece.
///
/// ```
/// use serde_json::json;
/// use tool_agent::transcript::Change;
///
/// let key = "model-0".to_owned();
/// let change = Change::Text { key, piece: " world".into() };
/// assert_eq!(json!(change), json!({"type": "text", "key": "model-0", "piece": " world"}));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change {
    /// An entry is new, or replaces the one with the same key.
    Entry {
        /// The entry.
        entry: Entry,
    },
    /// The text of a response continues.
    Text {
        /// The key of the entry.
        key: String,
        /// What follows the text so far.
        piece: String,
    },
    /// The model reasons. Changes no entry, because a run does not keep it for a person.
    Reasoning {
        /// The key that the entry of the text gets, if one follows.
        key: String,
        /// What follows the reasoning so far.
        piece: String,
    },
    /// The arguments of a call continue.
    Arguments {
        /// The key of the entry.
        key: String,
        /// What follows the arguments so far.
        piece: String,
    },
    /// The tool of a call reported progress.
    Progress {
        /// The key of the entry.
        key: String,
        /// The progress, in place of the last one.
        progress: Option<String>,
    },
}

/// The content of an [`Entry`]. In JSON it has the `kind` `user`, `model` or `call`.
///
/// ```
/// use serde_json::json;
/// use tool_agent::transcript::Shown;
///
/// // JSON for a page.
/// let shown = Shown::User { text: "Hello?".into() };
/// assert_eq!(json!(shown), json!({"kind": "user", "text": "Hello?"}));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Shown {
    /// A message of the user.
    User {
        /// The text, without pictures and files.
        text: String,
    },
    /// The text of a response.
    Model {
        /// The text so far.
        text: String,
    },
    /// A call.
    Call(Box<ShownCall>),
}

/// A call in the form for a person.
///
/// ```
/// use tool_agent::transcript::ShownCall;
///
/// fn lines(call: &ShownCall) -> Vec<String> {
///     let mut lines = vec![format!("{}({})", call.name, call.arguments)];
///     lines.extend(call.hold.iter().map(|hold| format!("approve? {}", hold.reason)));
///     lines.extend(call.result.clone());
///     lines
/// }
///
/// assert_eq!(lines(&ShownCall::default()), ["()"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ShownCall {
    /// The name of the tool.
    pub name: String,
    /// The arguments without secrets. JSON text, incomplete while the model is writing it.
    pub arguments: String,
    /// The state of the call.
    pub status: CallStatus,
    /// The last progress that the tool reported.
    pub progress: Option<String>,
    /// The hold, if the call waits for a decision.
    pub hold: Option<ShownHold>,
    /// The decisions so far.
    pub decisions: Vec<ShownDecision>,
    /// The text of the result.
    pub result: Option<String>,
    /// A [line](Content::line) for each part of the result.
    pub lines: Vec<String>,
    /// The parts of the result. The JSON does not contain them.
    #[serde(skip)]
    pub parts: Vec<Content>,
}

/// The state of a call.
///
/// ```
/// use tool_agent::transcript::CallStatus;
///
/// fn sign(status: CallStatus) -> &'static str {
///     match status {
///         CallStatus::Writing | CallStatus::Running => "…",
///         CallStatus::Waiting => "?",
///         CallStatus::Done => "✓",
///         _ => "✗",
///     }
/// }
///
/// assert_eq!(sign(CallStatus::Denied), "✗");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallStatus {
    /// The model is writing the arguments.
    #[default]
    Writing,
    /// The call is running or will run.
    Running,
    /// The call waits for a decision.
    Waiting,
    /// The call succeeded.
    Done,
    /// A person or a policy denied the call.
    Denied,
    /// The call failed, was cancelled or was interrupted.
    Failed,
}

/// A held call, without secrets. It is part of a conversation, or an entry in an inbox of
/// [`waiting`](crate::run::Journal::waiting) calls.
///
/// ```
/// use tool_agent::run::{Journal, JournalError, Page};
/// use tool_agent::transcript::ShownHold;
///
/// /// Returns the calls on which a user may have to decide.
/// async fn inbox(journal: &dyn Journal, user: &str) -> Result<Vec<ShownHold>, JournalError> {
///     let heads = journal.waiting(Page::new(100)).await?;
///     let waiting = heads.iter().flat_map(|head| &head.waiting);
///     let of_others = waiting.filter(|pending| pending.owner() != Some(user));
///     Ok(of_others.map(ShownHold::from).collect())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ShownHold {
    /// The id of the run.
    pub run: String,
    /// The [owner](Pending::owner) of the run.
    pub owner: Option<String>,
    /// The name of the tool.
    pub name: String,
    /// The provider's server that runs the tool, if it does not run in your program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The arguments for the tool, as JSON text.
    pub arguments: String,
    /// The reason given by the hook or the provider.
    pub reason: String,
    /// The [fingerprint](Pending::fingerprint) of everything that the person sees.
    pub fingerprint: String,
    /// `true` if the owner of the run may [confirm](tool_core::hooks::Gate::confirm) the call.
    pub is_confirmation: bool,
}

/// A decision on a call, with the person's name.
///
/// ```
/// use tool_agent::transcript::{ShownDecision, Verdict};
///
/// fn line(decision: &ShownDecision) -> String {
///     match decision.verdict {
///         Verdict::Allowed => format!("allowed by {}", decision.by),
///         Verdict::Denied => format!("denied by {}", decision.by),
///         _ => format!("changed by {}", decision.by),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ShownDecision {
    /// The verdict.
    pub verdict: Verdict,
    /// The name of the person.
    pub by: String,
}

/// The kind of a decision.
///
/// ```
/// use serde_json::json;
/// use tool_agent::transcript::Verdict;
///
/// assert_eq!(json!([Verdict::Allowed, Verdict::Changed]), json!(["allowed", "changed"]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// The call runs unchanged.
    Allowed,
    /// The call does not run.
    Denied,
    /// The call runs with other arguments.
    Changed,
    /// The call was answered in place of the tool.
    Answered,
}

impl Transcript {
    /// Creates the transcript of a run in its current state. The registry tells which arguments are secret.
    ///
    /// Create it again when the run rests, such as after a decision, a cancellation or an error, because no events tell
    /// about undone changes.
    pub fn new(registry: &Registry, run: &Run) -> Transcript {
        let mut transcript = Transcript {
            registry: registry.clone(),
            entries: Vec::new(),
            indices: HashMap::new(),
            messages: 0,
            rounds: 0,
        };
        let mut said = run.said().iter().peekable();
        for number in 0..=run.rounds().len() {
            while let Some((_, text)) = said.next_if(|(round, _)| *round <= number) {
                transcript.say(text.clone());
            }
            if let Some(round) = run.rounds().get(number) {
                transcript.add_round(round);
            }
        }
        for pending in run.pending() {
            transcript.change_call(pending.call().position(), |call| call.hold(&pending));
        }
        transcript
    }

    /// Returns the entries, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the call with this [key](Entry::key). Use it to get the [parts](ShownCall::parts) of a result.
    pub fn call(&self, key: &str) -> Option<&ShownCall> {
        match &self.entries[*self.indices.get(key)?].shown {
            Shown::Call(call) => Some(call),
            _ => None,
        }
    }

    /// Applies an event of the run, and returns the change to the entries.
    pub fn apply(&mut self, event: &Event) -> Option<Change> {
        let entry = match event {
            Event::Message(text) => Some(self.say(text.clone())),
            Event::Text(piece) => return Some(self.write(piece)),
            Event::Reasoning(piece) => {
                let (key, piece) = (self.text_key(), piece.clone());
                return Some(Change::Reasoning { key, piece });
            }
            Event::FellBack { .. } => {
                let index = *self.indices.get(&self.text_key())?;
                let entry = &mut self.entries[index];
                if let Shown::Model { text } = &mut entry.shown {
                    text.clear();
                }
                Some(&*entry)
            }
            Event::CallStarted { position, name } => {
                self.change_call(Some(position), |call| call.name.clone_from(name))
            }
            Event::Arguments {
                position, piece, ..
            } => {
                let key = key_of(position);
                let call = call_in(&mut self.entries[*self.indices.get(&key)?])?;
                // Pieces for an unknown tool are hidden too, because the model may mean one with secrets.
                if self.registry.get(&call.name)?.has_secrets() {
                    return None;
                }
                call.arguments.push_str(piece);
                let piece = piece.clone();
                return Some(Change::Arguments { key, piece });
            }
            Event::Response { .. } => {
                self.rounds += 1;
                None
            }
            Event::Call { call, shown } => self.change_call(call.position(), |entry| {
                entry.name.clone_from(&call.name);
                // After a decision, the decided arguments stay, because the call has the model's.
                if entry.decisions.is_empty() {
                    entry.arguments.clone_from(shown);
                }
                entry.status = CallStatus::Running;
                entry.hold = None;
            }),
            Event::Progress { position, progress } => {
                let key = key_of(position);
                let progress = progress.message.clone();
                let call = call_in(&mut self.entries[*self.indices.get(&key)?])?;
                call.progress.clone_from(&progress);
                return Some(Change::Progress { key, progress });
            }
            Event::Result(result) => self.change_call(result.position(), |call| call.end(result)),
            Event::Held(pending) => {
                self.change_call(pending.call().position(), |call| call.hold(pending))
            }
            _ => None,
        };
        entry.cloned().map(|entry| Change::Entry { entry })
    }

    /// Returns the key of the text of the next response.
    fn text_key(&self) -> String {
        format!("model-{}", self.rounds)
    }

    fn say(&mut self, text: String) -> &Entry {
        let key = format!("user-{}", self.messages);
        self.messages += 1;
        self.entry(key, Shown::User { text })
    }

    /// Adds a piece to the text of the response.
    fn write(&mut self, piece: &str) -> Change {
        let key = self.text_key();
        let is_new = !self.indices.contains_key(&key);
        let text = String::new();
        let entry = self.entry(key, Shown::Model { text });
        if let Shown::Model { text } = &mut entry.shown {
            text.push_str(piece);
        }
        if is_new {
            let entry = entry.clone();
            return Change::Entry { entry };
        }
        let (key, piece) = (entry.key.clone(), piece.to_owned());
        Change::Text { key, piece }
    }

    fn add_round(&mut self, round: &Round) {
        if !round.text().is_empty() {
            let text = round.text().to_owned();
            self.entry(self.text_key(), Shown::Model { text });
        }
        for (index, (call, result)) in round.calls().enumerate() {
            let mut shown = ShownCall {
                name: call.name.clone(),
                arguments: self.registry.shown(call),
                status: CallStatus::Running,
                ..ShownCall::default()
            };
            for (hold, decision, by) in round.decisions(index) {
                hold.arguments().clone_into(&mut shown.arguments);
                let verdict = match decision {
                    Decision::Allow => Verdict::Allowed,
                    Decision::Deny(_) => Verdict::Denied,
                    Decision::Change(arguments) => {
                        let changed = changed_call(&self.registry, call, arguments);
                        shown.arguments = self.registry.shown(&changed);
                        Verdict::Changed
                    }
                    _ => Verdict::Answered,
                };
                let by = by.to_owned();
                shown.decisions.push(ShownDecision { verdict, by });
            }
            if let Some(result) = result {
                shown.end(result);
            }
            let position = position_of(self.rounds, index);
            self.change_call(Some(&position), |call| *call = shown);
        }
        self.rounds += 1;
    }

    /// Changes a call, adding it if it is new.
    fn change_call(
        &mut self,
        position: Option<&CallPosition>,
        change: impl FnOnce(&mut ShownCall),
    ) -> Option<&Entry> {
        let position = position?;
        let entry = self.entry(key_of(position), Shown::Call(Box::default()));
        if let Shown::Call(call) = &mut entry.shown {
            change(call);
        }
        Some(entry)
    }

    /// Returns the entry with this key, adding it if it is new.
    fn entry(&mut self, key: String, new: Shown) -> &mut Entry {
        let index = *self.indices.entry(key.clone()).or_insert_with(|| {
            self.entries.push(Entry { key, shown: new });
            self.entries.len() - 1
        });
        &mut self.entries[index]
    }
}

impl Change {
    /// Makes the change to entries in the program of a follower. Does nothing if they lack the entry that continues.
    ///
    /// ```
    /// use tool_agent::transcript::{Change, Entry, Transcript};
    ///
    /// /// Keeps a copy of a transcript.
    /// fn follow(copy: &mut Vec<Entry>, changes: Vec<Change>) {
    ///     for change in &changes {
    ///         change.apply(copy);
    ///     }
    /// }
    /// ```
    pub fn apply(&self, entries: &mut Vec<Entry>) {
        let (Change::Entry {
            entry: Entry { key, .. },
        }
        | Change::Text { key, .. }
        | Change::Reasoning { key, .. }
        | Change::Arguments { key, .. }
        | Change::Progress { key, .. }) = self;
        // The last entries change most.
        let found = entries.iter_mut().rfind(|entry| entry.key == *key);
        match (self, found) {
            (Change::Entry { entry }, Some(found)) => found.clone_from(entry),
            (Change::Entry { entry }, None) => entries.push(entry.clone()),
            (_, None) | (Change::Reasoning { .. }, _) => {}
            (Change::Text { piece, .. }, Some(found)) => {
                if let Shown::Model { text } = &mut found.shown {
                    text.push_str(piece);
                }
            }
            (Change::Arguments { piece, .. }, Some(found)) => {
                if let Some(call) = call_in(found) {
                    call.arguments.push_str(piece);
                }
            }
            (Change::Progress { progress, .. }, Some(found)) => {
                if let Some(call) = call_in(found) {
                    call.progress.clone_from(progress);
                }
            }
        }
    }
}

fn call_in(entry: &mut Entry) -> Option<&mut ShownCall> {
    match &mut entry.shown {
        Shown::Call(call) => Some(call),
        _ => None,
    }
}

fn key_of(position: &CallPosition) -> String {
    format!("call-{}-{}", position.round(), position.index())
}

/// Returns the number of the response that an entry belongs to. An entry of the user belongs to none.
#[cfg(feature = "conversations")]
pub(crate) fn round_of(key: &str) -> Option<usize> {
    let (kind, rest) = key.split_once('-')?;
    let round = rest.split('-').next()?.parse();
    round.ok().filter(|_| kind != "user")
}

impl From<&Pending> for ShownHold {
    fn from(pending: &Pending) -> ShownHold {
        ShownHold {
            run: pending.run().to_owned(),
            owner: pending.owner().map(str::to_owned),
            name: pending.hold().tool().to_owned(),
            server: pending.hold().server().map(str::to_owned),
            arguments: pending.arguments().to_owned(),
            reason: pending.reason().to_owned(),
            fingerprint: pending.fingerprint().to_owned(),
            is_confirmation: pending.hold().is_confirmation(),
        }
    }
}

impl ShownCall {
    fn hold(&mut self, pending: &Pending) {
        self.status = CallStatus::Waiting;
        pending.arguments().clone_into(&mut self.arguments);
        self.hold = Some(pending.into());
    }

    fn end(&mut self, result: &ToolResult) {
        self.status = match result.error().map(ToolError::kind) {
            None => CallStatus::Done,
            Some(ToolErrorKind::Denied) => CallStatus::Denied,
            Some(_) => CallStatus::Failed,
        };
        self.hold = None;
        self.progress = None;
        self.result = Some(result.content().to_owned());
        self.lines = result.parts().iter().map(Content::line).collect();
        self.parts = result.parts().to_vec();
    }
}
