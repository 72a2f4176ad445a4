//! The current turn of a conversation, for a front end that has a part of it.

use std::collections::{BTreeMap, HashMap};

use crate::conversations::{Status, Update};
use crate::transcript::{CallStatus, Change, Entry, Shown, ShownCall, ShownHold, round_of};

/// A part of the turn that the front end lacks. `key` is the key of an entry.
pub(super) enum Piece<'a> {
    /// The turn after this number of messages of the user begins, or continues.
    Start(usize),
    /// All entries, in place of everything before. Only if the turn [replaces](Turn::replacing).
    All(&'a [Entry]),
    /// A response of the model begins.
    Response,
    Reasoning {
        key: &'a str,
        piece: &'a str,
    },
    /// The text of the response continues. If `is_new`, it starts, or starts again.
    Text {
        key: &'a str,
        piece: &'a str,
        is_new: bool,
    },
    CallStarted {
        key: &'a str,
        call: &'a ShownCall,
    },
    /// The arguments that the model is writing continue.
    Arguments {
        key: &'a str,
        piece: &'a str,
    },
    /// The arguments are complete. The front end has the pieces in `sent`.
    Call {
        key: &'a str,
        call: &'a ShownCall,
        sent: &'a str,
    },
    Held {
        key: &'a str,
        hold: &'a ShownHold,
    },
    Progress {
        key: &'a str,
        progress: &'a str,
    },
    /// The call ended. If `is_asked`, the front end has asked for a decision.
    Result {
        key: &'a str,
        call: &'a ShownCall,
        is_asked: bool,
    },
    /// The conversation rests, with these calls that wait, by key.
    End {
        status: &'a Status,
        holds: &'a BTreeMap<String, ShownHold>,
    },
}

/// The turn that a front end shows: the entries since the last message of the user.
#[derive(Default)]
pub(super) struct Turn {
    /// The number of messages of the user that the turn waits for.
    awaited: usize,
    /// The entries before they have come.
    entries: Vec<Entry>,
    /// The number of messages of the user, once the conversation is known.
    number: Option<usize>,
    /// The first response that may belong to the turn.
    first: usize,
    /// The last response of which the front end has a part.
    response: Option<usize>,
    texts: HashMap<String, String>,
    calls: HashMap<String, SentCall>,
    holds: BTreeMap<String, ShownHold>,
    /// The next state of all entries is passed on as it is, not as its parts.
    is_whole: bool,
    /// Those after it are too.
    replaces: bool,
}

/// What a front end has of a call.
#[derive(Clone, Debug, Default)]
pub(super) struct SentCall {
    /// The arguments, if they were sent from here.
    pub(super) arguments: Option<String>,
    /// The arguments are complete.
    pub(super) is_complete: bool,
    /// The fingerprint of the last question for a decision.
    pub(super) asked: Option<String>,
    /// The call has a result.
    pub(super) has_ended: bool,
}

impl Turn {
    /// Creates the turn of a front end that has these calls, by key, and the texts up to them.
    pub(super) fn continued(calls: HashMap<String, SentCall>) -> Turn {
        let response = calls.keys().filter_map(|key| round_of(key)).max();
        Turn {
            response,
            calls,
            ..Turn::default()
        }
    }

    /// Creates the turn after this number of messages of the user. What updates tell before is passed over.
    pub(super) fn after(messages: usize) -> Turn {
        Turn {
            awaited: messages,
            ..Turn::default()
        }
    }

    /// Makes a front end replace what is void or was missed, from the start if `is_whole`.
    pub(super) fn replacing(self, is_whole: bool) -> Turn {
        Turn {
            is_whole,
            replaces: true,
            ..self
        }
    }

    /// Passes on what an update adds. Returns `true` at the end of the turn.
    pub(super) fn apply(&mut self, update: &Update, mut write: impl FnMut(Piece<'_>)) -> bool {
        if self.number.is_none() && !matches!(update, Update::All { .. }) {
            update.apply(&mut self.entries);
            let (number, start) = last_turn(&self.entries);
            if number >= self.awaited {
                let entries = std::mem::take(&mut self.entries);
                self.start(number, start, &entries, &mut write);
                self.is_whole = self.replaces;
            }
            return false;
        }
        match update {
            Update::All { entries, .. } if last_turn(entries).0 < self.awaited => {
                self.entries.clone_from(entries);
                false
            }
            Update::All { entries, status } => {
                let (number, start) = last_turn(entries);
                match self.number {
                    None => self.start(number, start, entries, &mut write),
                    // The follower was late, and the next turn has begun.
                    Some(known) if known != number => {
                        return self.rest(&Status::default(), &mut write);
                    }
                    Some(_) => {}
                }
                let is_whole = std::mem::replace(&mut self.is_whole, self.replaces);
                if is_whole {
                    write(Piece::All(entries));
                }
                for entry in &entries[start..] {
                    self.entry(entry, &mut |piece| {
                        if !is_whole {
                            write(piece);
                        }
                    });
                }
                self.rest(status, &mut write)
            }
            Update::Status { status } => self.rest(status, &mut write),
            Update::Change(change) => {
                self.change(change, &mut write);
                false
            }
        }
    }

    fn start(
        &mut self,
        number: usize,
        start: usize,
        entries: &[Entry],
        write: &mut impl FnMut(Piece<'_>),
    ) {
        let (before, turn) = entries.split_at(start);
        self.number = Some(number);
        let before = before.iter().filter_map(|entry| round_of(&entry.key));
        self.first = before.max().map_or(0, |last| last + 1);
        for entry in turn {
            if let Shown::Model { text } = &entry.shown
                && round_of(&entry.key) <= self.response
            {
                self.texts.insert(entry.key.clone(), text.clone());
            }
        }
        write(Piece::Start(number));
    }

    fn rest(&self, status: &Status, write: &mut impl FnMut(Piece<'_>)) -> bool {
        if !status.is_busy {
            let holds = &self.holds;
            write(Piece::End { status, holds });
        }
        !status.is_busy
    }

    fn change(&mut self, change: &Change, write: &mut impl FnMut(Piece<'_>)) {
        match change {
            Change::Entry { entry } => self.entry(entry, write),
            Change::Text { key, piece } => {
                if let Some(text) = self.texts.get_mut(key) {
                    // It is void if another model goes on.
                    let is_new = text.is_empty();
                    text.push_str(piece);
                    write(Piece::Text { key, piece, is_new });
                }
            }
            Change::Reasoning { key, piece } => {
                self.begin(key, write);
                write(Piece::Reasoning { key, piece });
            }
            Change::Arguments { key, piece } => {
                if let Some(call) = self.calls.get_mut(key).filter(|call| !call.is_complete) {
                    call.arguments.get_or_insert_default().push_str(piece);
                    write(Piece::Arguments { key, piece });
                }
            }
            Change::Progress { key, progress } => {
                if let Some(progress) = progress.as_ref().filter(|_| self.calls.contains_key(key)) {
                    write(Piece::Progress { key, progress });
                }
            }
        }
    }

    fn entry(&mut self, entry: &Entry, write: &mut impl FnMut(Piece<'_>)) {
        let key = &entry.key;
        // A call in the background may end in a later turn, in which the front end does not show it.
        if round_of(key).is_none_or(|round| round < self.first) {
            return;
        }
        match &entry.shown {
            Shown::User { .. } => {}
            Shown::Model { text } => self.text(key, text, write),
            Shown::Call(call) => self.call(key, call, write),
        }
    }

    /// Tells of the response that an entry belongs to, if it is new.
    fn begin(&mut self, key: &str, write: &mut impl FnMut(Piece<'_>)) {
        let response = round_of(key);
        if response > self.response {
            self.response = response;
            write(Piece::Response);
        }
    }

    fn text(&mut self, key: &str, text: &str, write: &mut impl FnMut(Piece<'_>)) {
        let sent = self.texts.get(key).map(String::as_str);
        let (piece, is_new) = match sent.and_then(|sent| text.strip_prefix(sent)) {
            Some(piece) => (piece, sent == Some("")),
            None => (text, true),
        };
        if !piece.is_empty() {
            self.begin(key, write);
            write(Piece::Text { key, piece, is_new });
        }
        self.texts.insert(key.to_owned(), text.to_owned());
    }

    fn call(&mut self, key: &str, call: &ShownCall, write: &mut impl FnMut(Piece<'_>)) {
        match &call.hold {
            Some(hold) => self.holds.insert(key.to_owned(), hold.clone()),
            None => self.holds.remove(key),
        };
        if !self.calls.contains_key(key) {
            self.begin(key, write);
            write(Piece::CallStarted { key, call });
        }
        let sent = self.calls.entry(key.to_owned()).or_default();
        if call.status == CallStatus::Writing {
            let old = sent.arguments.get_or_insert_default();
            if let Some(piece) = call.arguments.strip_prefix(&**old)
                && !piece.is_empty()
            {
                write(Piece::Arguments { key, piece });
                call.arguments.clone_into(old);
            }
            return;
        }
        // A person may have changed them.
        let is_changed = |old: &String| *old != call.arguments;
        if !sent.is_complete || sent.arguments.as_ref().is_some_and(is_changed) {
            let old = sent.arguments.replace(call.arguments.clone());
            let sent = old.as_deref().unwrap_or_default();
            write(Piece::Call { key, call, sent });
        }
        sent.is_complete = true;
        match &call.hold {
            Some(hold) if sent.asked.as_ref() != Some(&hold.fingerprint) => {
                sent.asked = Some(hold.fingerprint.clone());
                write(Piece::Held { key, hold });
            }
            _ => {}
        }
        let has_ended = matches!(
            call.status,
            CallStatus::Done | CallStatus::Denied | CallStatus::Failed
        );
        if has_ended && !sent.has_ended {
            sent.has_ended = true;
            let is_asked = sent.asked.is_some();
            write(Piece::Result {
                key,
                call,
                is_asked,
            });
        }
    }
}

/// Returns the number of messages of the user, and the index after the last one.
pub(super) fn last_turn(entries: &[Entry]) -> (usize, usize) {
    let is_user = |entry: &&Entry| matches!(entry.shown, Shown::User { .. });
    let number = entries.iter().filter(is_user).count();
    let last = entries.iter().rposition(|entry| is_user(&entry));
    (number, last.map_or(0, |last| last + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(number: usize) -> Entry {
        let (key, text) = (format!("user-{number}"), String::new());
        let shown = Shown::User { text };
        Entry { key, shown }
    }

    fn model(round: usize, text: &str) -> Entry {
        let (key, text) = (format!("model-{round}"), text.to_owned());
        let shown = Shown::Model { text };
        Entry { key, shown }
    }

    fn call(key: &str, status: CallStatus) -> Entry {
        let call = ShownCall {
            status,
            ..ShownCall::default()
        };
        let (key, shown) = (key.to_owned(), Shown::Call(call.into()));
        Entry { key, shown }
    }

    fn all(entries: &[Entry]) -> Update {
        let (entries, is_busy) = (entries.to_vec(), true);
        let status = Status {
            is_busy,
            ..Status::default()
        };
        Update::All { entries, status }
    }

    fn change(entry: Entry) -> Update {
        Update::Change(Change::Entry { entry })
    }

    /// Returns what a front end gets, and whether that is the end.
    fn told(turn: &mut Turn, update: &Update) -> (Vec<String>, bool) {
        let mut told = Vec::new();
        let has_ended = turn.apply(update, |piece| {
            told.push(match piece {
                Piece::Start(number) => format!("start {number}"),
                Piece::All(entries) => format!("all {}", entries.len()),
                Piece::Response => "response".into(),
                Piece::Text { piece, is_new, .. } => format!("text {piece} {is_new}"),
                Piece::CallStarted { key, .. } => format!("call {key}"),
                Piece::Call { key, .. } => format!("arguments of {key}"),
                Piece::Result { key, .. } => format!("result of {key}"),
                Piece::End { .. } => "end".into(),
                _ => "other".into(),
            });
        });
        (told, has_ended)
    }

    fn is_told(turn: &mut Turn, update: &Update, expected: &[&str]) {
        let expected = expected.iter().map(|&piece| piece.to_owned()).collect();
        assert_eq!(told(turn, update), (expected, false));
    }

    #[test]
    fn a_call_of_an_earlier_turn_ends_without_the_front_end() {
        let mut turn = Turn::default();
        let old = call("call-0-0", CallStatus::Running);
        let entries = [user(0), old, model(1, "Later."), user(1)];
        is_told(&mut turn, &all(&entries), &["start 2"]);
        let late = change(call("call-0-0", CallStatus::Done));
        is_told(&mut turn, &late, &[]);
        let own = change(call("call-2-0", CallStatus::Done));
        let expected = [
            "response",
            "call call-2-0",
            "arguments of call-2-0",
            "result of call-2-0",
        ];
        is_told(&mut turn, &own, &expected);
    }

    #[test]
    fn a_void_text_starts_again() {
        let mut turn = Turn::default();
        let entries = [user(0), model(0, "I be")];
        let expected = ["start 1", "response", "text I be true"];
        is_told(&mut turn, &all(&entries), &expected);
        is_told(&mut turn, &change(model(0, "")), &[]);
        let piece = "Yes".to_owned();
        let key = "model-0".to_owned();
        let written = Update::Change(Change::Text { key, piece });
        is_told(&mut turn, &written, &["text Yes true"]);
        is_told(&mut turn, &change(model(0, "Yes.")), &["text . false"]);
    }

    #[test]
    fn a_turn_that_is_awaited_passes_over_what_was_before() {
        let mut turn = Turn::after(2);
        is_told(&mut turn, &all(&[user(0), model(0, "One")]), &[]);
        is_told(&mut turn, &change(model(0, "One.")), &[]);
        let status = Status::default();
        is_told(&mut turn, &Update::Status { status }, &[]);
        is_told(&mut turn, &change(user(1)), &["start 2"]);
        let expected = ["response", "text Two true"];
        is_told(&mut turn, &change(model(1, "Two")), &expected);
    }

    #[test]
    fn a_late_follower_gets_no_part_of_the_next_turn() {
        let mut turn = Turn::default();
        is_told(&mut turn, &all(&[user(0)]), &["start 1"]);
        let next = all(&[user(0), model(0, "One."), user(1), model(1, "Two.")]);
        assert_eq!(told(&mut turn, &next), (vec!["end".into()], true));
    }

    #[test]
    fn everything_replaces_what_was_missed() {
        let mut turn = Turn::default().replacing(true);
        let entries = [user(0), model(0, "One ")];
        is_told(&mut turn, &all(&entries), &["start 1", "all 2"]);
        let longer = change(model(0, "One two"));
        is_told(&mut turn, &longer, &["text two false"]);
        is_told(
            &mut turn,
            &all(&[user(0), model(0, "One two three")]),
            &["all 2"],
        );
    }
}
