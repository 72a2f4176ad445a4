//! Clients see the text while the model is writing it.

use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use tool_agent::run::RunOutcome;
use tool_restate::{Client, ClientError, Message, Update};

use crate::cast::TOKEN;
use crate::world::{Layout, SMALL, World};

/// Agents whose text can be followed.
const LAYOUT: Layout = Layout {
    agents: 2,
    workers: 1,
    ..SMALL
};

/// The page of a client.
#[derive(Default)]
struct Page {
    messages: usize,
    text: String,
    discarded: usize,
    attempts: Vec<u64>,
}

impl Page {
    fn take(&mut self, update: Update) {
        match update {
            Update::Saved(run) => {
                self.messages = run.messages().len();
                self.text.clear();
            }
            Update::Text { attempt, piece } => {
                if self.attempts.last() != Some(&attempt) {
                    assert!(self.text.is_empty(), "{:?} was not discarded", self.text);
                    self.attempts.push(attempt);
                }
                self.text += &piece;
            }
            Update::Discarded { attempt } => {
                assert_eq!(self.attempts.last(), Some(&attempt));
                self.discarded += 1;
                self.text.clear();
            }
            other => panic!("{other:?}"),
        }
    }

    /// Reads updates until the page is as expected.
    async fn read(
        &mut self,
        updates: &mut Pin<Box<impl Stream<Item = Result<Update, ClientError>>>>,
        is_enough: impl Fn(&Page) -> bool,
    ) {
        let reading = async {
            while !is_enough(self) {
                let update = updates.next().await.expect("the stream goes on");
                self.take(update.unwrap());
            }
        };
        let read = tokio::time::timeout(Duration::from_secs(60), reading).await;
        read.unwrap_or_else(|_| panic!("the page stays at {:?}", self.text));
    }
}

/// A story of twenty words, which takes a second.
const STORY: &str = "story of a very small model that told one word after the other until it had told all of the words";

fn telling(client: &Client, id: &'static str) -> tokio::task::JoinHandle<RunOutcome> {
    let client = client.clone();
    tokio::spawn(async move {
        let message = Message::new(STORY).owner("ann");
        client.send(id, message).await.unwrap().outcome
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_sees_the_text_of_any_agent_and_a_late_one_sees_it_all() {
    let Some(world) = World::start("stream", LAYOUT).await else {
        return;
    };
    let client = world.streaming(TOKEN);
    let answer = format!("done: {STORY}");
    let mut early = Box::pin(client.stream("tale/1").unwrap());
    let told = telling(&client, "tale/1");
    let mut page = Page::default();
    page.read(&mut early, |page| page.text.split(' ').count() > 5)
        .await;
    assert_eq!(page.messages, 1);
    assert!(answer.starts_with(&page.text), "{:?}", page.text);

    // Another client connects in the middle and gets the run and the text so far at once.
    let so_far = page.text.clone();
    let mut late = Box::pin(client.stream("tale/1").unwrap());
    let mut other = Page::default();
    other.read(&mut late, |page| !page.text.is_empty()).await;
    assert_eq!(other.messages, 1);
    assert!(other.text.starts_with(&so_far), "{:?}", other.text);

    for (page, updates) in [(&mut page, &mut early), (&mut other, &mut late)] {
        page.read(updates, |page| page.text == answer).await;
        page.read(updates, |page| page.messages == 2).await;
        assert_eq!((page.discarded, page.attempts.len()), (0, 1));
    }
    assert_eq!(told.await.unwrap(), RunOutcome::Answered(answer));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_text_of_an_agent_that_dies_is_discarded_and_told_anew() {
    let Some(mut world) = World::start("retold", LAYOUT).await else {
        return;
    };
    let client = world.streaming(TOKEN);
    let answer = format!("done: {STORY}");
    let mut updates = Box::pin(client.stream("run-0").unwrap());
    let told = telling(&client, "run-0");
    let mut page = Page::default();
    page.read(&mut updates, |page| page.text.split(' ').count() > 5)
        .await;
    // Both agents are killed, whichever is writing.
    for agent in &mut world.agents {
        agent.restart();
    }
    page.read(&mut updates, |page| page.text == answer).await;
    page.read(&mut updates, |page| page.messages == 2).await;
    assert_eq!((page.discarded, page.attempts.len()), (1, 2));
    assert_eq!(told.await.unwrap(), RunOutcome::Answered(answer));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_text_is_only_for_who_has_the_token() {
    let Some(world) = World::start("token", LAYOUT).await else {
        return;
    };
    let refused = world.client().stream("run-0").err().unwrap();
    assert!(matches!(refused, ClientError::Address(_)), "{refused}");
    let mut updates = world.streaming("0123456789abcdeX").stream("run-0").unwrap();
    let refused = updates.next().await.unwrap().unwrap_err();
    assert!(matches!(refused, ClientError::Refused(401, _)), "{refused}");
    assert!(updates.next().await.is_none());
    let http = reqwest::Client::new();
    for (path, token, status) in [
        ("conversations/run-0", None, 401),
        ("conversations/run-0", Some("0123456789abcdef0"), 401),
        ("other/run-0", Some(TOKEN), 404),
        ("conversations/run-0", Some(TOKEN), 200),
    ] {
        let mut request = http.get(format!("{}/{path}", world.streams[0]));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{path} {token:?}");
    }
}
