//! [`Updates`]: the updates of a conversation for a client, while the model writes.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::Stream;
use reqwest::Url;
use reqwest::header::AUTHORIZATION;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Decoder, LinesCodec, LinesCodecError};
use tool_agent::run::Run;

use crate::client::Client;
use crate::error::ClientError;
use crate::message::Saved;
use crate::stream::{Attempt, MAX_TEXT, Note};

/// Maximum length of a line. Each byte of a text may take six.
const MAX_LINE: usize = 6 * MAX_TEXT + 1024;
/// The wait before a lost connection is opened again.
const RECONNECT: Duration = Duration::from_secs(1);
/// Maximum number of consecutive temporary refusals by an agent.
const REFUSALS: u32 = 30;
/// Maximum length of the reason for a refusal.
const MAX_REASON: usize = 1024;
/// After this time without a line, the connection counts as lost. Agents send one every ten seconds.
const SILENCE: Duration = Duration::from_secs(30);
/// Interval between reads of the state if no agent reports a change.
const IDLE: Duration = Duration::from_secs(2);
/// Interval and number of reads of the state if it should have changed.
const BUSY: Duration = Duration::from_millis(50);
const TRIES: u32 = 40;

/// A change in a conversation; see [`Client::stream`].
///
/// ```
/// use tool_restate::Update;
///
/// fn show(update: Update, page: &mut String) {
///     match update {
///         // Shows the whole conversation, and removes the text that the model was writing.
///         Update::Saved(run) => *page = run.rounds().last().map_or("", |round| round.text()).to_owned(),
///         Update::Text { piece, .. } => page.push_str(&piece),
///         // The model is asked again.
///         Update::Discarded { .. } => page.clear(),
///         _ => {}
///     }
/// }
/// # let _ = show;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Update {
    /// The saved run. It replaces everything shown before, including text.
    Saved(Box<Run>),
    /// A piece of the response that the model is writing.
    Text {
        /// The number of the request to the model. Pieces with the same number belong together.
        attempt: u64,
        /// The piece.
        piece: String,
    },
    /// The text of this attempt is not part of the run, so remove it. The model is asked again.
    Discarded {
        /// The number of the request to the model.
        attempt: u64,
    },
}

/// The updates of a conversation, as a [`Stream`]; see [`Client::stream`].
///
/// Dropping it closes the connections.
#[derive(Debug)]
pub struct Updates {
    updates: mpsc::Receiver<Result<Update, ClientError>>,
    _tasks: JoinSet<()>,
}

impl Stream for Updates {
    type Item = Result<Update, ClientError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.updates.poll_recv(cx)
    }
}

// In this file, because the updates use the client.
impl Client {
    /// Follows a conversation while the model is writing. The stream starts with the saved run and the text of the
    /// response so far, followed by updates. You can follow a conversation before its first message. The stream does
    /// not end by itself.
    ///
    /// An agent keeps up to 1 MiB of a response until it is complete. A longer rest comes with the run. This text is
    /// not saved: if an agent dies, it is [discarded](crate::Update::Discarded), and another agent asks the model
    /// again. In addition, the stream checks the saved run every two seconds.
    ///
    /// ```no_run
    /// use futures_util::StreamExt;
    /// use tool_restate::{Client, ClientError, Update};
    ///
    /// # async fn show(token: String) -> Result<(), ClientError> {
    /// let agents = ["http://10.0.0.5:9090", "http://10.0.0.6:9090"];
    /// let client = Client::new("http://localhost:8080")?.streams(agents, token)?;
    /// let mut updates = client.stream("conversation-1")?;
    /// while let Some(update) = updates.next().await {
    ///     match update? {
    ///         Update::Saved(run) => println!("{} messages", run.messages().len()),
    ///         Update::Text { piece, .. } => print!("{piece}"),
    ///         Update::Discarded { .. } => println!("once more:"),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Address`] if there are no [agents](Client::streams). If an agent refuses, the stream ends
    /// with [`ClientError::Refused`]. That happens at once if the token is wrong (401) or the service has another name
    /// (404), and after half a minute if the agent is too busy, because 1,000 clients follow its conversations (503).
    ///
    /// # Panics
    ///
    /// Panics if called outside of tokio.
    pub fn stream(&self, id: &str) -> Result<Updates, ClientError> {
        let Some((agents, token)) = &self.streams else {
            let problem = "no agents are set; name them with `Client::streams`";
            return Err(ClientError::Address(problem.to_owned()));
        };
        let agents = agents.iter().cloned().map(|mut agent| {
            if let Ok(mut path) = agent.path_segments_mut() {
                path.pop_if_empty().extend([&self.service, id]);
            }
            agent
        });
        Ok(Updates::new(self.clone(), id, agents.collect(), token))
    }
}

/// An event of the connection to an agent.
enum Heard {
    Note(Note),
    Lost,
    Refused(ClientError),
}

impl Updates {
    /// Follows a conversation. `agents` are the addresses, including the path of the conversation.
    pub(crate) fn new(client: Client, id: &str, agents: Vec<Url>, token: &str) -> Updates {
        // Small, so that a slow reader makes the agents wait. They buffer each response only once.
        let (sender, updates) = mpsc::channel(16);
        let (heard, hearing) = mpsc::channel(16);
        let mut tasks = JoinSet::new();
        let count = agents.len();
        for (index, agent) in agents.into_iter().enumerate() {
            tasks.spawn(listen(index, agent, token.to_owned(), heard.clone()));
        }
        let follower = Follower {
            client,
            id: id.to_owned(),
            run: None,
            shown: Shown::new(count),
            updates: sender,
        };
        tasks.spawn(follower.follow(hearing));
        Updates {
            updates,
            _tasks: tasks,
        }
    }
}

/// Reads the lines of an agent. Connects again if the connection is lost or temporarily refused.
async fn listen(index: usize, agent: Url, token: String, heard: mpsc::Sender<(usize, Heard)>) {
    let http = reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(5))
        .read_timeout(SILENCE)
        .build();
    let Ok(http) = http else { return };
    let mut refusals = Refusals::default();
    loop {
        let read = read_lines(index, &http, &agent, &token, &heard).await;
        let refused = read.unwrap_or_else(|error| {
            tracing::debug!(%agent, %error, "no stream of an agent");
            None
        });
        if let Some(error) = refusals.end(refused) {
            let _ = heard.send((index, Heard::Refused(error))).await;
            return;
        }
        if heard.send((index, Heard::Lost)).await.is_err() {
            return;
        }
        tokio::time::sleep(RECONNECT).await;
    }
}

/// The number of consecutive refusals by an agent.
#[derive(Default)]
struct Refusals(u32);

impl Refusals {
    /// Counts how a connection ended. Returns the refusal if another attempt would be refused, too.
    fn end(&mut self, refused: Option<ClientError>) -> Option<ClientError> {
        self.0 = refused.as_ref().map_or(0, |_| self.0 + 1);
        refused.filter(|error| !error.is_temporary() || self.0 == REFUSALS)
    }
}

/// Reads lines until the connection ends. Returns the error if the agent refuses.
async fn read_lines(
    index: usize,
    http: &reqwest::Client,
    agent: &Url,
    token: &str,
    heard: &mpsc::Sender<(usize, Heard)>,
) -> Result<Option<ClientError>, Box<dyn std::error::Error + Send + Sync>> {
    let request = http.get(agent.clone());
    let request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    let mut response = request.send().await?;
    let status = response.status().as_u16();
    if status != 200 {
        let mut reason = Vec::new();
        while reason.len() < MAX_REASON
            && let Some(chunk) = response.chunk().await?
        {
            reason.extend_from_slice(&chunk);
        }
        reason.truncate(MAX_REASON);
        let reason = String::from_utf8_lossy(&reason);
        let reason = format!("the stream of the agent at {agent}: {reason}");
        return Ok(Some(ClientError::Refused(status, reason)));
    }
    let mut lines = LinesCodec::new_with_max_length(MAX_LINE);
    let mut buffer = BytesMut::new();
    while let Some(chunk) = response.chunk().await? {
        buffer.extend_from_slice(&chunk);
        loop {
            let line = match lines.decode(&mut buffer) {
                Err(LinesCodecError::MaxLineLengthExceeded) => {
                    return Err("a line is too long".into());
                }
                decoded => decoded?,
            };
            let Some(line) = line else { break };
            if !line.is_empty() {
                let note = serde_json::from_str(&line)?;
                heard.send((index, Heard::Note(note))).await?;
            }
        }
    }
    Ok(None)
}

/// The attempt that is shown, out of all that agents report.
struct Shown {
    /// The current attempt of each agent.
    attempts: Vec<Option<Attempt>>,
    attempt: Option<Attempt>,
    /// Set if the response is complete and about to be saved.
    is_complete: bool,
    /// The number of known parts of the run.
    parts: u64,
    /// The number of parts that should be saved by now.
    wanted: u64,
}

impl Shown {
    fn new(agents: usize) -> Shown {
        Shown {
            attempts: vec![None; agents],
            attempt: None,
            is_complete: false,
            parts: 0,
            wanted: 0,
        }
    }

    /// Handles a line of an agent, and returns updates.
    fn hear(&mut self, agent: usize, note: Note) -> Vec<Update> {
        match note {
            Note::Saved(parts) => {
                self.wanted = self.wanted.max(parts);
                Vec::new()
            }
            Note::Asks(attempt) => {
                self.attempts[agent] = Some(attempt);
                let rank = |attempt: &Attempt| (attempt.parts, attempt.started, attempt.number);
                // A process that was suspended may report an attempt that the engine has given up.
                let is_old = self
                    .attempt
                    .is_some_and(|shown| rank(&shown) > rank(&attempt));
                if is_old || attempt.parts != self.parts {
                    return Vec::new();
                }
                let discarded = self.discard();
                self.attempt = Some(attempt);
                discarded.into_iter().collect()
            }
            Note::Text(piece) => {
                let attempt = self.shown_of(agent);
                let text = attempt.map(|attempt| Update::Text {
                    attempt: attempt.number,
                    piece,
                });
                text.into_iter().collect()
            }
            Note::Ended(is_complete) => {
                let is_shown = self.shown_of(agent).is_some();
                self.attempts[agent] = None;
                match is_shown {
                    true if is_complete => {
                        self.is_complete = true;
                        Vec::new()
                    }
                    true => self.discard().into_iter().collect(),
                    false => Vec::new(),
                }
            }
        }
    }

    /// Forgets the attempt of an agent.
    fn lose(&mut self, agent: usize) -> Option<Update> {
        let is_shown = self.shown_of(agent).is_some();
        self.attempts[agent] = None;
        is_shown.then(|| self.discard()).flatten()
    }

    /// Handles a newly read number of parts.
    fn read(&mut self, parts: u64) {
        self.parts = parts;
        if self.attempt.is_some_and(|attempt| attempt.parts < parts) {
            self.attempt = None;
            self.is_complete = false;
        }
    }

    /// Returns the shown attempt, if this agent is still making it.
    fn shown_of(&self, agent: usize) -> Option<Attempt> {
        self.attempt
            .filter(|_| self.attempts[agent] == self.attempt)
    }

    fn discard(&mut self) -> Option<Update> {
        self.is_complete = false;
        let attempt = self.attempt.take()?.number;
        Some(Update::Discarded { attempt })
    }
}

/// Reads the state, and merges the reports of the agents.
struct Follower {
    client: Client,
    id: String,
    run: Option<Run>,
    shown: Shown,
    updates: mpsc::Sender<Result<Update, ClientError>>,
}

/// The reason why the updates end.
enum End {
    /// The client needs no more updates.
    Closed,
    Failed(ClientError),
}

impl From<ClientError> for End {
    fn from(error: ClientError) -> End {
        End::Failed(error)
    }
}

impl Follower {
    async fn follow(mut self, hearing: mpsc::Receiver<(usize, Heard)>) {
        let updates = self.updates.clone();
        let following = self.drive(hearing);
        tokio::select! {
            end = following => {
                if let Err(End::Failed(error)) = end {
                    let _ = updates.send(Err(error)).await;
                }
            }
            () = updates.closed() => {}
        }
    }

    async fn drive(&mut self, mut hearing: mpsc::Receiver<(usize, Heard)>) -> Result<(), End> {
        // If the first read fails, the address of the ingress is probably wrong.
        self.read(self.saved().await?).await?;
        let mut tries = 0;
        loop {
            let is_behind = self.shown.wanted > self.shown.parts && tries < TRIES;
            let pause = if is_behind { BUSY } else { IDLE };
            tokio::select! {
                heard = hearing.recv() => {
                    let Some((agent, heard)) = heard else { return Ok(()) };
                    tries = 0;
                    self.hear(agent, heard).await?;
                }
                () = tokio::time::sleep(pause) => {
                    tries += 1;
                    self.refresh().await?;
                }
            }
        }
    }

    async fn hear(&mut self, agent: usize, heard: Heard) -> Result<(), End> {
        let updates = match heard {
            Heard::Refused(error) => return Err(error.into()),
            Heard::Lost => self.shown.lose(agent).into_iter().collect(),
            Heard::Note(note) => {
                if let Note::Asks(attempt) = &note {
                    self.catch_up(attempt.parts).await?;
                }
                self.shown.hear(agent, note)
            }
        };
        for update in updates {
            self.show(update).await?;
        }
        Ok(())
    }

    /// Reads the run up to the start of a response, before its text is shown.
    async fn catch_up(&mut self, parts: u64) -> Result<(), End> {
        for _ in 0..TRIES {
            if self.shown.parts >= parts {
                break;
            }
            self.refresh().await?;
            if self.shown.parts < parts {
                tokio::time::sleep(BUSY).await;
            }
        }
        Ok(())
    }

    /// Reads the state, ignoring temporary failures of the ingress.
    async fn refresh(&mut self) -> Result<(), End> {
        match self.saved().await {
            Err(error) if error.is_temporary() => Ok(()),
            saved => self.read(saved?).await,
        }
    }

    /// Reads the parts of the run that are not known yet.
    async fn saved(&self) -> Result<Saved, ClientError> {
        self.client.saved(&self.id, self.shown.parts).await
    }

    async fn read(&mut self, saved: Saved) -> Result<(), End> {
        if saved.parts < self.shown.parts {
            let problem = format!("the conversation {:?} was removed", self.id);
            return Err(ClientError::Refused(404, problem).into());
        }
        if saved.increments.is_empty() {
            return Ok(());
        }
        let run = match self.run.take() {
            None => Run::replay(saved.increments),
            Some(mut run) => run.apply(saved.increments).map(|()| run),
        };
        let run = run.map_err(|error| ClientError::Failed(error.into()))?;
        self.run = Some(run.clone());
        self.shown.read(saved.parts);
        self.show(Update::Saved(Box::new(run))).await
    }

    async fn show(&self, update: Update) -> Result<(), End> {
        let sent = self.updates.send(Ok(update)).await;
        sent.map_err(|_| End::Closed)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    fn attempt(number: u64, started: u64, parts: u64) -> Attempt {
        Attempt {
            number,
            started,
            parts,
        }
    }

    /// Writes updates as short lines, such as `+1 text` and `-1`.
    fn lines(updates: impl IntoIterator<Item = Update>) -> Vec<String> {
        let lines = updates.into_iter().map(|update| match update {
            Update::Text { attempt, piece } => format!("+{attempt} {piece}"),
            Update::Discarded { attempt } => format!("-{attempt}"),
            Update::Saved(_) => "saved".to_owned(),
        });
        lines.collect()
    }

    fn text(piece: &str) -> Note {
        Note::Text(piece.to_owned())
    }

    #[test]
    fn a_second_attempt_discards_the_first_and_silences_it() {
        let mut shown = Shown::new(2);
        assert!(shown.hear(0, Note::Asks(attempt(1, 10, 0))).is_empty());
        assert_eq!(lines(shown.hear(0, text("a"))), ["+1 a"]);
        assert_eq!(lines(shown.hear(1, Note::Asks(attempt(2, 20, 0)))), ["-1"]);
        // The first process was suspended, and continues.
        assert!(shown.hear(0, text("b")).is_empty());
        assert!(shown.hear(0, Note::Ended(true)).is_empty());
        assert_eq!(lines(shown.hear(1, text("c"))), ["+2 c"]);
        assert!(shown.hear(0, Note::Asks(attempt(1, 10, 0))).is_empty());
        assert!(shown.hear(0, text("d")).is_empty());
        assert_eq!(lines(shown.hear(1, text("e"))), ["+2 e"]);
    }

    #[test]
    fn a_lost_agent_discards_only_a_response_that_is_not_complete() {
        let mut shown = Shown::new(2);
        shown.hear(0, Note::Asks(attempt(1, 10, 0)));
        assert!(shown.lose(1).is_none());
        assert_eq!(lines(shown.lose(0)), ["-1"]);
        shown.hear(0, Note::Asks(attempt(2, 20, 0)));
        assert!(shown.hear(0, Note::Ended(true)).is_empty());
        assert!(shown.lose(0).is_none());
        // The response was lost with its agent after all.
        assert_eq!(lines(shown.hear(1, Note::Asks(attempt(3, 30, 0)))), ["-2"]);
        assert_eq!(lines(shown.hear(1, Note::Ended(false))), ["-3"]);
    }

    #[test]
    fn a_response_that_is_saved_is_shown_no_longer() {
        let mut shown = Shown::new(2);
        shown.hear(0, Note::Asks(attempt(1, 10, 0)));
        shown.hear(0, Note::Saved(1));
        assert_eq!(shown.wanted, 1);
        shown.read(1);
        assert!(shown.hear(0, text("late")).is_empty());
        assert!(shown.hear(1, Note::Asks(attempt(2, 20, 0))).is_empty());
        assert!(shown.hear(1, text("of the past")).is_empty());
        assert!(shown.hear(1, Note::Asks(attempt(3, 30, 1))).is_empty());
        assert_eq!(lines(shown.hear(1, text("next"))), ["+3 next"]);
    }

    #[tokio::test]
    async fn a_line_without_an_end_is_not_kept() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let sending = tokio::spawn(async move {
            let (mut client, _) = listener.accept().await.unwrap();
            client.read_buf(&mut Vec::new()).await.unwrap();
            let head = b"HTTP/1.1 200 OK\r\n\r\n{\"saved\":7}\n";
            client.write_all(head).await.unwrap();
            let piece = vec![b'x'; 1 << 16];
            // Sends until the client closes the connection.
            let mut sent = 0;
            while sent < 20 * MAX_LINE && client.write_all(&piece).await.is_ok() {
                sent += piece.len();
            }
            sent
        });
        let (heard, mut hearing) = mpsc::channel(16);
        let http = reqwest::Client::new();
        let read = read_lines(0, &http, &url.parse().unwrap(), "token", &heard).await;
        let problem = read.unwrap_err().to_string();
        assert!(problem.contains("too long"), "{problem}");
        assert!(sending.await.unwrap() < 20 * MAX_LINE);
        let first = hearing.recv().await;
        assert!(matches!(first, Some((0, Heard::Note(Note::Saved(7))))));
    }

    #[tokio::test]
    async fn an_agent_that_refuses_for_now_is_asked_again() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let busy = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy";
        let serving = tokio::spawn(async move {
            for answer in [busy, "HTTP/1.1 200 OK\r\n\r\n{\"saved\":7}\n"] {
                let (mut client, _) = listener.accept().await.unwrap();
                client.read_buf(&mut Vec::new()).await.unwrap();
                client.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        let (heard, mut hearing) = mpsc::channel(16);
        let listening = tokio::spawn(listen(0, url.parse().unwrap(), "token".to_owned(), heard));
        assert!(matches!(hearing.recv().await, Some((0, Heard::Lost))));
        let second = hearing.recv().await;
        assert!(matches!(second, Some((0, Heard::Note(Note::Saved(7))))));
        serving.await.unwrap();
        listening.abort();
    }

    #[test]
    fn refusals_end_the_stream_at_once_or_after_many_in_a_row() {
        let refused = |status| Some(ClientError::Refused(status, "no".to_owned()));
        for status in [401, 403, 404] {
            assert!(Refusals::default().end(refused(status)).is_some());
        }
        for status in [429, 502, 503] {
            let mut refusals = Refusals::default();
            for _ in 0..2 {
                for _ in 1..REFUSALS {
                    assert!(refusals.end(refused(status)).is_none());
                }
                // A connection resets the count.
                assert!(refusals.end(None).is_none());
            }
            for _ in 1..REFUSALS {
                assert!(refusals.end(refused(status)).is_none());
            }
            assert!(refusals.end(refused(status)).is_some());
        }
    }

    #[tokio::test]
    async fn a_refusal_names_the_agent_and_is_cut() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut client, _) = listener.accept().await.unwrap();
            client.read_buf(&mut Vec::new()).await.unwrap();
            let head = b"HTTP/1.1 401 Unauthorized\r\n\r\n";
            client.write_all(head).await.unwrap();
            let _ = client.write_all(&[b'x'; 100 * MAX_REASON]).await;
        });
        let (heard, _hearing) = mpsc::channel(16);
        let http = reqwest::Client::new();
        let read = read_lines(0, &http, &url.parse().unwrap(), "token", &heard).await;
        let refused = read.unwrap().unwrap().to_string();
        assert!(refused.contains(&url), "{refused}");
        assert!(refused.len() < 2 * MAX_REASON, "{}", refused.len());
    }

    #[test]
    fn agents_have_addresses() {
        let client = Client::new("http://localhost:8080").unwrap();
        for address in ["agents:9090", "ftp://agents/", "http://", ""] {
            let refused = client.clone().streams([address], "token").err().unwrap();
            let message = refused.to_string();
            assert!(message.contains(&format!("{address:?}")), "{message}");
        }
        client.streams(["http://agents:9090"], "token").unwrap();
    }
}
