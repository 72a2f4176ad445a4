//! A chat at the terminal: a clerk writes, and a lead decides.

use std::collections::HashSet;
use std::io::{self, Write};
use std::pin::pin;
use std::thread;

use futures_util::{FutureExt, StreamExt};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tool_agent::run::{Pending, Run, RunOutcome};
use tool_core::hooks::Decision;
use tool_restate::{Client, Decide, Message, Update};

use crate::Failure;

/// The message for which there are recorded responses.
pub const SUGGESTION: &str =
    "Order 1042 arrived broken. Please refund it, and show me how sales are going.";
/// The reason why the chat can't continue.
const ENDED: &str = "the stream has ended";
/// The user who writes.
const CLERK: &str = "clerk-1";
/// The user who decides on held calls.
const LEAD: &str = "lead-1";

/// Returns the lines of the terminal.
pub fn lines() -> UnboundedReceiver<String> {
    let (sender, lines) = mpsc::unbounded_channel();
    // A thread, because nothing waits for it and the program can end while a line is being read.
    thread::spawn(move || {
        for line in io::stdin().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

/// Sends the lines to a conversation, and shows it all the time, even between two lines.
pub async fn chat(
    client: &Client,
    id: &str,
    mut lines: UnboundedReceiver<String>,
    out: &mut (impl Write + Send),
) -> Result<(), Failure> {
    let mut updates = client.stream(id)?;
    let mut page = Page::default();
    loop {
        write!(out, "{CLERK}> ")?;
        out.flush()?;
        let text = loop {
            tokio::select! {
                line = lines.recv() => match line {
                    Some(text) => break text,
                    None => return Ok(()),
                },
                update = updates.next() => {
                    let run = page.take(update.ok_or(ENDED)??, out)?;
                    decide(client, id, run.as_deref(), &mut page, &mut lines, out).await?;
                }
            }
        };
        let mut sending = pin!(client.send(id, Message::new(text).owner(CLERK)).fuse());
        let mut reply = None;
        let mut is_saved = false;
        while reply.is_none() || !is_saved {
            tokio::select! {
                sent = &mut sending => reply = Some(sent?),
                update = updates.next() => {
                    if let Some(run) = page.take(update.ok_or(ENDED)??, out)? {
                        is_saved = run.outcome().is_some();
                        decide(client, id, Some(&run), &mut page, &mut lines, out).await?;
                    }
                }
            }
        }
        match reply {
            Some(reply) if !matches!(reply.outcome, RunOutcome::Answered(_)) => {
                writeln!(out, "the conversation ended with {:?}", reply.outcome)?;
            }
            Some(reply) if reply.in_background > 0 => {
                writeln!(out, "  {} calls go on", reply.in_background)?;
            }
            _ => {}
        }
    }
}

/// Asks for decisions on waiting calls.
async fn decide(
    client: &Client,
    id: &str,
    run: Option<&Run>,
    page: &mut Page,
    lines: &mut UnboundedReceiver<String>,
    out: &mut (impl Write + Send),
) -> Result<(), Failure> {
    for pending in run.map(Run::pending).unwrap_or_default() {
        if page.asked.insert(pending.fingerprint().to_owned()) {
            let decide = ask(&pending, lines, out).await?;
            // Another person may have decided meanwhile.
            if let Err(error) = client.decide(id, decide).await {
                writeln!(out, "{error}")?;
            }
        }
    }
    Ok(())
}

/// Asks whether a call may run.
async fn ask(
    pending: &Pending,
    lines: &mut UnboundedReceiver<String>,
    out: &mut impl Write,
) -> Result<Decide, Failure> {
    // The clerk confirms calls that only need a second thought.
    let is_own = pending.hold().is_confirmation();
    let user = if is_own { CLERK } else { LEAD };
    let (tool, arguments) = (&pending.call().name, pending.arguments());
    let reason = pending.reason();
    write!(out, "{user}, {reason}: run {tool} {arguments}? [y/n] ")?;
    out.flush()?;
    let answer = lines.recv().await.ok_or("nobody decides")?;
    let decision = if answer.trim().eq_ignore_ascii_case("y") {
        Decision::Allow
    } else {
        Decision::deny("it was not approved")
    };
    Ok(Decide {
        fingerprint: pending.fingerprint().to_owned(),
        decision,
        user: user.to_owned(),
    })
}

/// The parts of a conversation that are on the screen.
#[derive(Default)]
struct Page {
    rounds: usize,
    /// The shown text of a response that is not saved yet.
    written: String,
    asked: HashSet<String>,
}

impl Page {
    /// Shows an update. Returns the run if it was saved again.
    fn take(&mut self, update: Update, out: &mut impl Write) -> io::Result<Option<Box<Run>>> {
        match update {
            Update::Saved(run) => {
                self.show(&run, out)?;
                return Ok(Some(run));
            }
            Update::Text { piece, .. } => self.write(&piece, out)?,
            Update::Discarded { .. } => {
                self.written.clear();
                writeln!(out, " … once more:")?;
            }
            _ => {}
        }
        Ok(None)
    }

    fn write(&mut self, piece: &str, out: &mut impl Write) -> io::Result<()> {
        self.written += piece;
        write!(out, "{piece}")?;
        out.flush()
    }

    /// Shows new rounds, except for text that is on the screen already.
    fn show(&mut self, run: &Run, out: &mut impl Write) -> io::Result<()> {
        for round in &run.rounds()[self.rounds..] {
            let text = round.text();
            let rest = text.strip_prefix(&*self.written).unwrap_or(text);
            self.written.clear();
            if !text.is_empty() {
                writeln!(out, "{rest}")?;
            }
            for (call, _) in round.calls() {
                writeln!(out, "  {} {}", call.name, call.arguments.text())?;
            }
        }
        self.rounds = run.rounds().len();
        Ok(())
    }
}
