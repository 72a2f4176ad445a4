//! A subscriber that records every span and event of a test program, so that tests can look them up
//! by the id of a call.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// Fields by name, as text.
pub(crate) type Fields = BTreeMap<String, String>;

#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) name: &'static str,
    pub(crate) target: &'static str,
    pub(crate) parent: Option<u64>,
    pub(crate) fields: Fields,
    pub(crate) is_closed: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) level: Level,
    pub(crate) target: &'static str,
    /// The event's fields. `around` holds the call id of the enclosing span, if there is one.
    pub(crate) fields: Fields,
}

impl Event {
    /// Returns the message, or the message of an exception.
    pub(crate) fn message(&self) -> Option<&str> {
        let fields = ["message", "exception.message"].map(|name| self.fields.get(name));
        fields.into_iter().flatten().next().map(String::as_str)
    }
}

#[derive(Default)]
struct Kept {
    spans: Vec<(u64, Span)>,
    events: Vec<Event>,
}

/// Shared by all threads. Span ids are reused, so the last span with an id is the current one.
#[derive(Clone, Default)]
pub(crate) struct Capture(Arc<Mutex<Kept>>);

/// Returns the subscriber of this program, installed on first use.
pub(crate) fn capture() -> &'static Capture {
    static CAPTURE: OnceLock<Capture> = OnceLock::new();
    CAPTURE.get_or_init(|| {
        let capture = Capture::default();
        let subscriber = tracing_subscriber::registry().with(capture.clone());
        tracing::subscriber::set_global_default(subscriber).expect("the first subscriber");
        capture
    })
}

const CALL: &str = "gen_ai.tool.call.id";

impl Capture {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap()
    }

    /// Returns the span of a call.
    pub(crate) fn span(&self, call: &str) -> Span {
        let kept = self.kept();
        let is_of = |span: &&(u64, Span)| span.1.fields.get(CALL).is_some_and(|id| id == call);
        let found: Vec<_> = kept.spans.iter().filter(is_of).collect();
        assert_eq!(found.len(), 1, "spans of {call}");
        found[0].1.clone()
    }

    /// Returns the library's events about a call.
    pub(crate) fn events(&self, call: &str) -> Vec<Event> {
        let kept = self.kept();
        let is_of = |event: &&Event| {
            // The span has the id of the call.
            event.target == "tool_core" && event.fields.get("around").is_some_and(|id| id == call)
        };
        kept.events.iter().filter(is_of).cloned().collect()
    }

    /// Returns the library's only event about a call.
    pub(crate) fn event(&self, call: &str) -> Event {
        let mut events = self.events(call);
        assert_eq!(events.len(), 1, "events of {call}: {events:?}");
        events.remove(0)
    }

    /// Returns the levels and messages of the library's events whose message contains `text`.
    pub(crate) fn events_that_say(&self, text: &str) -> Vec<(Level, String)> {
        let kept = self.kept();
        let ours = kept
            .events
            .iter()
            .filter(|event| event.target == "tool_core");
        ours.filter_map(|event| Some((event.level, event.message()?)))
            .filter(|(_, message)| message.contains(text))
            .map(|(level, message)| (level, message.to_owned()))
            .collect()
    }

    /// Returns the id of the call whose span encloses the event with this message.
    pub(crate) fn call_around(&self, message: &str) -> Option<String> {
        let kept = self.kept();
        let is_it = |event: &&Event| event.message() == Some(message);
        let event = kept.events.iter().find(is_it)?;
        event.fields.get("around").cloned()
    }

    /// Returns the name of a span.
    pub(crate) fn name(&self, span: u64) -> &'static str {
        let kept = self.kept();
        let found = kept.spans.iter().rev().find(|(id, _)| *id == span);
        found.expect("it was kept").1.name
    }
}

struct Write<'f>(&'f mut Fields);

impl Visit for Write<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Capture {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::new();
        attributes.record(&mut Write(&mut fields));
        let parent = context.span(id).and_then(|span| span.parent());
        let span = Span {
            name: attributes.metadata().name(),
            target: attributes.metadata().target(),
            parent: parent.map(|parent| parent.id().into_u64()),
            fields,
            is_closed: false,
        };
        self.kept().spans.push((id.into_u64(), span));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let mut kept = self.kept();
        let mut spans = kept.spans.iter_mut().rev();
        let found = spans.find(|(other, _)| *other == id.into_u64());
        values.record(&mut Write(&mut found.expect("it is open").1.fields));
    }

    fn on_event(&self, event: &tracing::Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::new();
        event.record(&mut Write(&mut fields));
        let span = context.event_span(event).map(|span| span.id().into_u64());
        let mut kept = self.kept();
        let mut spans = kept.spans.iter().rev();
        let around = spans.find(|(id, _)| Some(*id) == span);
        if let Some(call) = around.and_then(|(_, span)| span.fields.get(CALL)) {
            fields.insert("around".into(), call.clone());
        }
        kept.events.push(Event {
            level: *event.metadata().level(),
            target: event.metadata().target(),
            fields,
        });
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        let mut kept = self.kept();
        let mut spans = kept.spans.iter_mut().rev();
        let found = spans.find(|(other, _)| *other == id.into_u64());
        found.expect("it is open").1.is_closed = true;
    }
}
