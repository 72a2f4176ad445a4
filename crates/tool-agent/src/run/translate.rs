//! [`Run::translate`]: another provider goes on with a run.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::change::{Change, TranslatedChange};
use super::messages::contains;
use super::parts::Part;
use super::round::{CallState, Round};
use super::sent::Sent;
use super::state::At;
use super::{Run, RunError};
use tool_core::content::Content;
use tool_core::dialect::{Dialect, Message};
use tool_core::{ToolCall, ToolError, ToolResult};

/// What [`Run::translate`] lost of a message.
///
/// ```
/// use serde_json::json;
/// use tool_agent::dialects::{Anthropic, OpenAiChat};
/// use tool_agent::run::{LossKind, Run};
///
/// let mut run = Run::new("conversation-1");
/// run.push(json!({"role": "system", "content": "Answer in Portuguese."}))?;
/// let losses = run.translate(&OpenAiChat::default(), &Anthropic::default())?;
/// assert_eq!((losses[0].message, losses[0].kind), (0, LossKind::Prompt));
/// # Ok::<(), tool_agent::run::RunError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The index of the message before the translation. Messages of a response whose calls have no results yet follow
    /// the others.
    pub message: usize,
    /// The name of the part in the old provider's format, such as `thinking`, or the note that replaces it.
    pub part: String,
    /// What became of it.
    pub kind: LossKind,
}

/// The rules by which [`Run::translate`] loses a part.
///
/// ```
/// use tool_agent::run::{Loss, LossKind};
///
/// /// Returns `true` if a person may miss something.
/// fn is_visible(loss: &Loss) -> bool {
///     loss.kind == LossKind::Media
/// }
/// # let _ = is_visible;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LossKind {
    /// The part is left out, because only its provider understands it: reasoning, a signature, what a hosted tool did, a
    /// source, a mark for a cache, an id of stored data. So is a call that the application pushed as an example.
    Private,
    /// A note replaces the part, because the new provider has no form for it.
    Media,
    /// The system prompt is a message of the user, because the new provider has no other place among the messages.
    Prompt,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Loss { message, part, .. } = self;
        match self.kind {
            LossKind::Private => write!(
                f,
                "message {message}: {part:?} is left out, because only its provider understands it"
            ),
            LossKind::Media => write!(f, "message {message}: a note replaces a part: {part}"),
            LossKind::Prompt => write!(
                f,
                "message {message}: the system prompt is a message of the user; set it where the new provider has it, as \
                 `HttpModel::system` does"
            ),
        }
    }
}

/// Moves a run to another provider.
impl Run {
    /// Writes the conversation in the format of another provider, which goes on with it. `from` is the dialect of its
    /// messages, and `to` the new one. The user's messages and the model's texts stay, and so do calls with their results and
    /// decisions, also those that still run or wait. A typed answer is a text. The [losses](LossKind) are returned. A run
    /// in the new format stays as it is, and its next request follows the rules of the new server.
    ///
    /// The texts of a response become one, before its calls. The id of a call changes if it is not unique or has unusual
    /// characters, and with it the [fingerprint](super::Pending::fingerprint) if the call waits for a decision. The
    /// [rounds](Run::rounds), the usage and the limits stay. A call of a hosted tool that waits for an approval is denied,
    /// because the new provider can't run it.
    ///
    /// Save the run afterwards.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::dialects::{Anthropic, OpenAiChat};
    /// use tool_agent::run::{Run, Step};
    /// use tool_core::Registry;
    /// use tool_core::dialect::Dialect;
    ///
    /// let (anthropic, openai) = (Anthropic::default(), OpenAiChat::default());
    /// let mut run = Run::new("conversation-1");
    /// run.push(anthropic.user_message("What is 2 + 3?"))?;
    /// let response = json!({"role": "assistant", "content": [
    ///     {"type": "thinking", "thinking": "Two and three.", "signature": "EuYB"},
    ///     {"type": "text", "text": "It is 5."},
    /// ]});
    /// run.respond(&anthropic, &Registry::new(), anthropic.read(&response)?)?;
    ///
    /// let losses = run.translate(&anthropic, &openai)?;
    /// assert_eq!(losses[0].to_string(),
    ///     "message 1: \"thinking\" is left out, because only its provider understands it");
    /// run.push(openai.user_message("And plus 2?"))?;
    /// let Step::Request(messages) = run.next() else { panic!() };
    /// assert_eq!(*messages[1], json!({"role": "assistant", "content": "It is 5."}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the messages have neither format, while a request is
    /// [unanswered](super::RunOutcome::Unanswered), because only its provider takes the answer, and if the new dialect does
    /// not [write](Dialect::write_message) turns of a model. The run is then unchanged.
    pub fn translate(
        &mut self,
        from: &(impl Dialect + ?Sized),
        to: &(impl Dialect + ?Sized),
    ) -> Result<Vec<Loss>, RunError> {
        if self.state.info.dialect().unwrap_or(from.provider()) == to.provider() {
            self.bind(to)?;
            // Another server of the format may reject other parts.
            self.sent = Sent::default();
            self.prepare(to);
            return Ok(Vec::new());
        }
        self.check_dialect(from)?;
        if !self.unanswered().is_empty() {
            return Err(RunError::Unanswered(self.unanswered().to_vec()));
        }
        let (change, losses) = Translation::of(self, from, to)?;
        // Nobody can run them.
        let hosted = self.open_calls().filter(|at| {
            let call = self.call_at(*at);
            call.call.server().is_some() && !matches!(call.state, CallState::Ended(_))
        });
        let hosted: Vec<_> = hosted.collect();
        self.record(Change::Translated(Box::new(change)));
        for at in hosted {
            self.fail(at, |tool| {
                let reason = "the conversation goes on with a provider that does not run this tool";
                ToolError::denied(tool, reason)
            });
        }
        self.close(to);
        Ok(losses)
    }

    /// Returns new ids for the calls whose ids are not unique or not accepted everywhere.
    fn new_ids(&self) -> Vec<(At, String)> {
        const LONGEST: usize = 40;
        let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        let mut known = HashSet::new();
        let mut changed = Vec::new();
        for (round, calls) in self.state.rounds.iter().enumerate() {
            for (index, call) in calls.calls.iter().enumerate() {
                let id = &*call.call.id;
                let is_accepted = (1..=LONGEST).contains(&id.len()) && id.bytes().all(is_usual);
                if !is_accepted || !known.insert(id) {
                    changed.push((round, index));
                }
            }
        }
        // Nine letters and digits, which every provider accepts.
        let mut next = (0..).map(|number| format!("call{number:05}"));
        let mut new = || next.find(|id| !known.contains(&**id)).unwrap_or_default();
        let ids = changed.into_iter().map(|at| (at, new()));
        ids.collect()
    }
}

/// The name of a call in [`Dialect::read_message`].
const CALL: &str = "call";

/// A conversation while it is written in another format.
struct Translation<'r, F: ?Sized, D: ?Sized> {
    run: &'r Run,
    from: &'r F,
    dialect: &'r D,
    ids: &'r [(At, String)],
    messages: Vec<Value>,
    change: TranslatedChange,
    losses: Vec<Loss>,
}

impl<'r, F: Dialect + ?Sized, D: Dialect + ?Sized> Translation<'r, F, D> {
    fn of(
        run: &'r Run,
        from: &'r F,
        dialect: &'r D,
    ) -> Result<(TranslatedChange, Vec<Loss>), RunError> {
        let ids = run.new_ids();
        let mut new = Translation {
            run,
            from,
            dialect,
            ids: &ids,
            messages: Vec::new(),
            change: TranslatedChange {
                dialect: dialect.provider().into(),
                messages: Vec::new(),
                parts: Vec::new(),
                responses: Vec::new(),
                told: Vec::new(),
                turn: Vec::new(),
                ids: ids.clone(),
            },
            losses: Vec::new(),
        };
        let mut parts: Vec<_> = run.parts().collect();
        parts.reverse();
        let mut is_paused = false;
        for (range, part) in parts {
            let (start, messages) = (range.start, &run.state.messages[range]);
            is_paused = false;
            match part {
                Part::Message(message) => new.message(start, message),
                Part::Told(_) => new.told(start, messages),
                Part::Response(at, round) => {
                    is_paused = round.is_paused && !messages.is_empty();
                    new.response(at, round, start, messages)?;
                }
            }
        }
        if let Some(round) = run.open_round() {
            let turn = round.turn.as_deref().unwrap_or_default();
            let at = run.last_round();
            let start = run.state.messages.len();
            new.look(at, round, start, turn);
            let turn = new.turn(at, round)?;
            new.change.turn = turn.into_iter().map(Arc::new).collect();
        } else if is_paused {
            // Another provider does not continue a turn that ends with the model's own words.
            new.change.parts.push(new.messages.len());
            new.messages.push(dialect.user_message("Go on."));
        }
        if !run.state.continuation.is_empty() {
            let message = run.state.messages.len().saturating_sub(1);
            let keys = run.state.continuation.keys().cloned();
            new.lose(message, LossKind::Private, keys);
        }
        new.change.messages = new.messages.into_iter().map(Arc::new).collect();
        Ok((new.change, new.losses))
    }

    fn lose(&mut self, message: usize, kind: LossKind, parts: impl IntoIterator<Item = String>) {
        let losses = parts.into_iter().map(|part| Loss {
            message,
            part,
            kind,
        });
        self.losses.extend(losses);
    }

    /// Adds a message of the application.
    fn message(&mut self, at: usize, message: &Value) {
        let (message, left_out) = self.from.read_message(message);
        self.lose(at, LossKind::Private, left_out);
        let Some(mut message) = message else {
            return;
        };
        let mut written = self.dialect.write_message(&message);
        if let (None, Message::System(text)) = (&written, &message) {
            self.lose(at, LossKind::Prompt, ["system".to_owned()]);
            message = Message::User(vec![Content::text(text)]);
            written = self.dialect.write_message(&message);
        }
        if let Message::User(parts) = message {
            // The notes are those that a result has.
            let result = ToolResult::new(&ToolCall::new("", "", ""), parts);
            self.omit(at, &[result]);
        }
        self.change.parts.push(self.messages.len());
        self.messages.extend(written.unwrap_or_default());
    }

    fn omit(&mut self, at: usize, results: &[ToolResult]) {
        let omitted = self.dialect.omitted(results).into_iter();
        let notes: Vec<_> = omitted.map(|omitted| omitted.note).collect();
        self.lose(at, LossKind::Media, notes);
    }

    /// Adds results of background calls.
    fn told(&mut self, start: usize, messages: &[Arc<Value>]) {
        self.late(messages, usize::MAX);
        for (at, message) in messages.iter().enumerate() {
            if super::effect::is_of_user(message) {
                let first = self.messages.len();
                self.message(start + at, message);
                self.change.told.extend(first..self.messages.len());
            }
        }
    }

    /// Adds results in the form of the old provider for late results.
    fn late(&mut self, messages: &[Arc<Value>], before: usize) {
        if let Some(text) = self.run.late_text(messages, before) {
            self.change.parts.push(self.messages.len());
            self.change.told.push(self.messages.len());
            self.messages.push(self.dialect.user_message(&text));
        }
    }

    /// Looks for what is lost of a response, and for late results in it.
    fn look(&mut self, round_at: usize, round: &Round, start: usize, messages: &[Arc<Value>]) {
        self.late(messages, round_at);
        if round_at < self.run.state.translated {
            return;
        }
        let ids: Vec<_> = round.calls.iter().map(|call| &*call.call.id).collect();
        for (at, message) in messages.iter().enumerate() {
            // Messages of the user in a response have results.
            if super::effect::is_of_user(message) {
                continue;
            }
            let (_, mut left_out) = self.from.read_message(message);
            let parts = left_out.len();
            left_out.retain(|part| part != CALL);
            let has_calls = left_out.len() < parts;
            if has_calls || !ids.iter().any(|id| contains(message, id)) {
                self.lose(start + at, LossKind::Private, left_out);
            }
        }
    }

    /// Adds a response with the results of its calls.
    fn response(
        &mut self,
        round_at: usize,
        round: &Round,
        start: usize,
        messages: &[Arc<Value>],
    ) -> Result<(), RunError> {
        self.look(round_at, round, start, messages);
        // A part without messages keeps the response in the count.
        self.change.parts.push(self.messages.len());
        self.change.responses.push(self.messages.len());
        let is_silent = round.calls.is_empty() && round.text.trim().is_empty();
        if messages.is_empty() || is_silent {
            return Ok(());
        }
        let turn = self.turn(round_at, round)?;
        self.messages.extend(turn);
        let calls = round.calls.iter().enumerate();
        let results = calls.filter_map(|(index, call)| {
            let plain = call.plain((round_at, index), self.id((round_at, index)));
            Some(call.answer()?.clone().for_call(&plain))
        });
        let results: Vec<_> = results.collect();
        self.messages.extend(self.dialect.results(&results));
        self.omit(start, &results);
        Ok(())
    }

    /// Writes the model's part of a response.
    fn turn(&self, round_at: usize, round: &Round) -> Result<Vec<Value>, RunError> {
        let calls = round.calls.iter().enumerate();
        let calls = calls.map(|(index, call)| {
            let at = (round_at, index);
            call.plain(at, self.id(at))
        });
        let turn = Message::Model {
            text: round.text.clone(),
            calls: calls.collect(),
        };
        let written = self.dialect.write_message(&turn);
        written.ok_or_else(|| RunError::NoTurns(self.dialect.provider().into()))
    }

    fn id(&self, at: At) -> Option<&'r String> {
        let found = self.ids.binary_search_by_key(&at, |(at, _)| *at);
        found.ok().map(|found| &self.ids[found].1)
    }
}
