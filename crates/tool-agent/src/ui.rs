//! Conversations in the protocols that front ends speak: the AI SDK's [`useChat`](ai_sdk), and [AG-UI](ag_ui).
//!
//! A page posts what its user wrote or decided, and gets a stream of server-sent events until the conversation rests.
//! The server's [`Conversation`] is the truth: of a request, only the last text of
//! the user and the decisions count, however the page changed the messages before them. The agent's
//! [policy](crate::Agent::may_decide) rules on the decisions. What is sent has no secrets, as in a
//! [`Transcript`](crate::transcript::Transcript).
//!
//! The items of each stream are the data of server-sent events, which any web framework sends. The stream ends when the
//! conversation rests: at its answer, an error, or calls that wait for decisions. A page that hangs up ends its stream
//! alone, and the conversation continues.

pub mod ag_ui;
pub mod ai_sdk;
mod turn;

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use tool_core::hooks::Decision;

use crate::conversations::{Conversation, ConversationError, Update, in_this_span};
use crate::transcript::Shown;

use self::turn::{Piece, Turn};

/// Writes the events of a protocol.
trait Encoder: Send + 'static {
    /// Writes a part of the turn to the data of events.
    fn write(&mut self, piece: Piece<'_>, out: &mut Vec<String>);
}

/// Replies to a conversation once it rests: one that was closed after an error goes on when it is opened again. Returns
/// all updates of the turn, and the turn.
async fn reply(
    conversation: &Conversation,
    text: String,
) -> Result<(impl Stream<Item = Arc<Update>> + Send + Unpin + use<>, Turn), ConversationError> {
    loop {
        // Before the reply, because updates of the reasoning are in no entry.
        let updates = conversation.follow();
        match conversation.reply(text.clone()).await {
            Ok(()) => {
                let (messages, _) = turn::last_turn(conversation.transcript().entries());
                return Ok((updates, Turn::after(messages)));
            }
            Err(ConversationError::Busy) => conversation.rested().await,
            Err(error) => return Err(error),
        }
    }
}

/// Decides on calls, and then writes the rest of the turn. As decisions wait while other calls are running, the answer begins
/// before that, and the decisions are made even if the front end hangs up.
fn encode_after<E: Encoder>(
    conversation: &Conversation,
    deciding: impl Future<Output = (Turn, E)> + Send + 'static,
) -> BoxStream<'static, String> {
    let conversation = conversation.clone();
    let deciding = tokio::spawn(in_this_span(deciding));
    let events = stream::once(async move {
        // Fails only if the runtime is shutting down.
        let decided = stream::iter(deciding.await.ok());
        decided.flat_map(move |(turn, encoder)| encode(conversation.follow(), turn, encoder))
    });
    events.flatten().boxed()
}

/// Decides on calls by their fingerprints. Decisions on calls that do not wait count for nothing. Returns the fingerprints of
/// refused ones, each with the reason.
async fn decide(
    conversation: &Conversation,
    mut decisions: Vec<(String, Decision)>,
    user: &str,
) -> Vec<(String, String)> {
    let transcript = conversation.transcript();
    let entries = transcript.entries().iter();
    let holds = entries.filter_map(|entry| match &entry.shown {
        Shown::Call(call) => Some(&call.hold.as_ref()?.fingerprint),
        _ => None,
    });
    let waiting: HashSet<_> = holds.collect();
    decisions.retain(|(fingerprint, _)| waiting.contains(fingerprint));
    let decided = conversation.decide_all(decisions, user).await.into_iter();
    let refused = decided.filter_map(|(id, decided)| Some((id, decided.err()?.publish())));
    refused.collect()
}

/// Writes what followers of a conversation get, to the end of a turn. Returns the data of server-sent events.
fn encode<E: Encoder, U>(updates: U, turn: Turn, encoder: E) -> BoxStream<'static, String>
where
    U: Stream<Item = Arc<Update>> + Send + Unpin + 'static,
{
    let state = (updates, Some((turn, encoder)));
    let events = stream::unfold(state, async |(mut updates, state)| {
        let (mut turn, mut encoder) = state?;
        let update = updates.next().await?;
        let mut out = Vec::new();
        let has_ended = turn.apply(&update, |piece| encoder.write(piece, &mut out));
        let next = (!has_ended).then_some((turn, encoder));
        Some((stream::iter(out), (updates, next)))
    });
    events.flatten().boxed()
}
