//! The content of the page, and the frames that keep open pages up to date.
//!
//! While a run goes on, [`View::show`] follows its events. Before and after, [`View::replace`] rebuilds
//! everything from the run, so that the page after a restart is the page before it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::broadcast;
use tool_agent::Event;
use tool_agent::run::{Pending, Round, Run};
use tool_core::call::{Arguments, CallPosition};
use tool_core::content::{Content, Image};
use tool_core::hooks::Decision;
use tool_core::{Registry, ToolError, ToolErrorKind, ToolResult};

use crate::store::Question;

/// A text or a call. A page replaces the item that has the same key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Item {
    key: String,
    #[serde(flatten)]
    shown: Shown,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shown {
    User { text: String },
    Model { text: String },
    Call(Box<Call>),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Call {
    name: String,
    /// JSON text, incomplete while the model writes it.
    arguments: String,
    state: State,
    progress: Option<String>,
    /// Why it is held, and the fingerprint of what a person decides on.
    hold: Option<(String, String)>,
    decisions: Vec<String>,
    result: Option<String>,
    /// The paths of the pictures in the result.
    pictures: Vec<String>,
    #[serde(skip)]
    images: Vec<Image>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    #[default]
    Writing,
    Running,
    Held,
    Done,
    Denied,
    Failed,
}

/// The state of the conversation as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Status {
    pub(crate) is_busy: bool,
    pub(crate) can_retry: bool,
    pub(crate) problem: Option<String>,
}

/// A server-sent event.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Frame<'a> {
    /// Everything. The token changes when the service starts again.
    All {
        token: &'a str,
        suggestions: &'a [String],
        items: &'a [Item],
        status: &'a Status,
    },
    Item {
        item: &'a Item,
    },
    Status {
        status: &'a Status,
    },
}

#[derive(Default)]
struct Page {
    run: String,
    items: Vec<Item>,
    /// The number of responses.
    rounds: usize,
    status: Status,
}

pub(crate) struct View {
    /// Knows which arguments are secret.
    registry: Registry,
    page: Mutex<Page>,
    frames: broadcast::Sender<Arc<str>>,
    token: String,
    suggestions: Vec<String>,
}

impl View {
    pub(crate) fn new(registry: Registry, token: String, suggestions: Vec<String>) -> View {
        View {
            registry,
            page: Mutex::default(),
            frames: broadcast::Sender::new(256),
            token,
            suggestions,
        }
    }

    /// Returns what is shown now, and the frames from now on.
    pub(crate) fn subscribe(&self) -> (Arc<str>, broadcast::Receiver<Arc<str>>) {
        let page = self.lock();
        (self.all(&page), self.frames.subscribe())
    }

    /// Shows a run that is not being driven.
    pub(crate) fn replace(&self, run: &Run, questions: &[Question], status: Status) {
        let mut page = self.lock();
        *page = Page {
            run: run.id().to_owned(),
            items: items(&self.registry, run, questions),
            rounds: run.rounds().len(),
            status,
        };
        self.send(self.all(&page));
    }

    pub(crate) fn set_status(&self, status: Status) {
        let mut page = self.lock();
        page.status = status;
        self.send(frame(&Frame::Status {
            status: &page.status,
        }));
    }

    /// Returns the picture with this path.
    pub(crate) fn picture(&self, path: &str) -> Option<Image> {
        let page = self.lock();
        page.items.iter().find_map(|item| {
            let Shown::Call(call) = &item.shown else {
                return None;
            };
            let index = call.pictures.iter().position(|own| own == path)?;
            call.images.get(index).cloned()
        })
    }

    /// Returns `true` if a page shows a call with this fingerprint.
    pub(crate) fn is_held(&self, fingerprint: &str) -> bool {
        let page = self.lock();
        page.items.iter().any(|item| match &item.shown {
            Shown::Call(call) => call
                .hold
                .as_ref()
                .is_some_and(|(_, held)| held == fingerprint),
            _ => false,
        })
    }

    /// Follows a run.
    pub(crate) fn show(&self, event: Event) {
        let mut page = self.lock();
        match event {
            Event::Text(piece) => {
                let key = format!("text-{}", page.rounds);
                let new = Shown::Model {
                    text: String::new(),
                };
                self.update(&mut page, key, new, |shown| {
                    if let Shown::Model { text } = shown {
                        text.push_str(&piece);
                    }
                });
            }
            Event::CallStarted { position, name } => {
                self.update_call(&mut page, Some(&position), |call, _| call.name = name);
            }
            Event::Arguments {
                position, piece, ..
            } => self.update_call(&mut page, Some(&position), |call, _| {
                let tool = self.registry.get(&call.name);
                if tool.is_some_and(|tool| !tool.has_secrets()) {
                    call.arguments.push_str(&piece);
                }
            }),
            Event::Response { .. } => page.rounds += 1,
            Event::Call { call, .. } => self.update_call(&mut page, call.position(), |shown, _| {
                shown.name.clone_from(&call.name);
                shown.arguments = text(&self.registry, &call.name, &call.arguments);
                shown.state = State::Running;
                shown.hold = None;
            }),
            Event::Progress { position, progress } => {
                self.update_call(&mut page, Some(&position), |call, _| {
                    call.progress = progress.message;
                });
            }
            Event::Result(result) => {
                self.update_call(&mut page, result.position(), |call, key| {
                    call.set_result(&result, key);
                });
            }
            Event::Held(pending) => {
                self.update_call(&mut page, pending.call().position(), |call, _| {
                    call.set_held(&pending);
                });
            }
            _ => {}
        }
    }

    /// Changes an item, which is added if there is none with this key.
    fn update(&self, page: &mut Page, key: String, new: Shown, change: impl FnOnce(&mut Shown)) {
        let index = page.items.iter().position(|item| item.key == key);
        let index = index.unwrap_or_else(|| {
            page.items.push(Item { key, shown: new });
            page.items.len() - 1
        });
        change(&mut page.items[index].shown);
        self.send(frame(&Frame::Item {
            item: &page.items[index],
        }));
    }

    /// Changes a call. `change` gets the path of the call's pictures as well.
    fn update_call(
        &self,
        page: &mut Page,
        position: Option<&CallPosition>,
        change: impl FnOnce(&mut Call, &str),
    ) {
        let Some(position) = position else {
            return;
        };
        let key = format!("call-{}-{}", position.round(), position.index());
        let pictures = format!("/picture/{}/{key}", page.run);
        let new = Shown::Call(Box::default());
        self.update(page, key, new, |shown| {
            if let Shown::Call(call) = shown {
                change(call, &pictures);
            }
        });
    }

    fn all(&self, page: &Page) -> Arc<str> {
        frame(&Frame::All {
            token: &self.token,
            suggestions: &self.suggestions,
            items: &page.items,
            status: &page.status,
        })
    }

    /// Fails only if no page is open.
    fn send(&self, frame: Arc<str>) {
        let _ = self.frames.send(frame);
    }

    fn lock(&self) -> MutexGuard<'_, Page> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    fn set_held(&mut self, pending: &Pending) {
        self.state = State::Held;
        pending.arguments().clone_into(&mut self.arguments);
        self.hold = Some((pending.reason().into(), pending.fingerprint().into()));
    }

    fn set_result(&mut self, result: &ToolResult, path: &str) {
        self.state = match result.error().map(ToolError::kind) {
            None => State::Done,
            Some(ToolErrorKind::Denied) => State::Denied,
            Some(_) => State::Failed,
        };
        self.hold = None;
        self.progress = None;
        self.result = Some(result.content().into());
        let images = result.parts().iter().filter_map(|part| match part {
            Content::Image(image) if image.bytes().is_some() => Some(image.clone()),
            _ => None,
        });
        self.images = images.collect();
        let paths = (0..self.images.len()).map(|index| format!("{path}/{index}"));
        self.pictures = paths.collect();
    }

    fn set_decisions(&mut self, registry: &Registry, round: &Round, index: usize) {
        for (_, decision, by) in round.decisions(index) {
            self.decisions.push(match decision {
                Decision::Allow => format!("Allowed by {by}"),
                Decision::Deny(_) => format!("Denied by {by}"),
                Decision::Change(arguments) => {
                    self.arguments = text(registry, &self.name, arguments);
                    format!("Changed and allowed by {by}")
                }
                _ => format!("Answered by {by}"),
            });
        }
    }
}

/// Returns the items of a run.
fn items(registry: &Registry, run: &Run, questions: &[Question]) -> Vec<Item> {
    let pending = run.pending();
    let mut items = Vec::new();
    let mut questions = questions.iter().enumerate().peekable();
    for number in 0..=run.rounds().len() {
        while let Some((index, question)) =
            questions.next_if(|(_, asked)| asked.round as usize <= number)
        {
            let shown = Shown::User {
                text: question.text.clone(),
            };
            items.push(Item {
                key: format!("user-{index}"),
                shown,
            });
        }
        let Some(round) = run.rounds().get(number) else {
            break;
        };
        if !round.text().is_empty() {
            let shown = Shown::Model {
                text: round.text().into(),
            };
            items.push(Item {
                key: format!("text-{number}"),
                shown,
            });
        }
        for (index, (call, result)) in round.calls().enumerate() {
            let key = format!("call-{number}-{index}");
            let mut shown = Call {
                name: call.name.clone(),
                arguments: text(registry, &call.name, &call.arguments),
                state: State::Running,
                ..Call::default()
            };
            shown.set_decisions(registry, round, index);
            let position = u32::try_from(index).ok();
            let is_it =
                |pending: &&Pending| pending.call().position().map(CallPosition::index) == position;
            let is_last = number + 1 == run.rounds().len();
            let mut held = pending.iter().filter(|_| is_last);
            match (result, held.find(is_it)) {
                (Some(result), _) => {
                    let path = format!("/picture/{}/{key}", run.id());
                    shown.set_result(result, &path);
                }
                (None, Some(pending)) => shown.set_held(pending),
                (None, None) => {}
            }
            items.push(Item {
                key,
                shown: Shown::Call(Box::new(shown)),
            });
        }
    }
    items
}

/// Returns arguments without secrets. Those of an unknown tool may be secrets of another one.
fn text(registry: &Registry, tool: &str, arguments: &Arguments) -> String {
    let tool = registry.get(tool);
    tool.map_or_else(String::new, |tool| tool.shown_arguments(arguments))
}

fn frame(frame: &Frame<'_>) -> Arc<str> {
    serde_json::to_string(frame)
        .expect("texts and booleans")
        .into()
}
