//! A gateway: a server of the tools that it imports from another.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::io::DuplexStream;
use tokio::sync::Notify;
use tool_core::call::elicit::{Elicit, ElicitError, Elicited};
use tool_core::call::{Progress, TraceContext};
use tool_core::{CallContext, Registry, ToolType, tool, tools};
use tool_mcp::{Import, Protocol, Server};

use self::support::{Answer, BOTH, Lifecycle, TestClient, connect, in_time, params, text};

/// What the tools note.
#[derive(Clone, Default)]
struct Notes {
    starts: Arc<AtomicUsize>,
    traces: Arc<Mutex<Vec<String>>>,
    waits: Arc<Notify>,
    cancelled: Arc<Notify>,
}

/// A seat.
#[derive(ToolType)]
struct Seat {
    /// The row.
    row: u8,
}

/// Books a seat.
#[tool]
async fn book(#[param(context)] notes: &Notes, call: &CallContext) -> Result<String, ElicitError> {
    notes.starts.fetch_add(1, Ordering::Relaxed);
    let seat = call.elicit("seat", Elicit::<Seat>::form("Which row?"));
    let Elicited::Accepted(seat) = seat.await? else {
        return Ok("no seat".into());
    };
    let paid = call.elicit("pay", Elicit::confirm("Pay 9 €?")).await?;
    Ok(format!("row {}: {}", seat.row, paid.accepted().is_some()))
}

/// Reports progress and notes its trace.
#[tool]
fn count(to: u32, #[param(context)] notes: &Notes, call: &CallContext) -> u32 {
    if let Some(trace) = call.get::<TraceContext>() {
        notes
            .traces
            .lock()
            .unwrap()
            .push(trace.traceparent().to_owned());
    }
    for done in 1..=to {
        call.report(&Progress::of(done.into(), to.into()));
    }
    to
}

/// Waits until it is cancelled.
#[tool]
async fn wait(#[param(context)] notes: &Notes) -> String {
    struct OnDrop(Arc<Notify>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let _guard = OnDrop(notes.cancelled.clone());
    notes.waits.notify_one();
    std::future::pending().await
}

/// Starts a server, and imports its tools into the registry of a gateway.
async fn gateway(notes: &Notes, protocol: Protocol) -> (Import, Server) {
    let tools = Registry::builder()
        .tools(tools![book, count, wait])
        .context(notes.clone())
        .build()
        .unwrap();
    let import = Import::stream(move || {
        let server = Server::new(tools.clone());
        async move {
            let (near, far) = tokio::io::duplex(64 * 1024);
            let (input, output) = tokio::io::split(far);
            tokio::spawn(server.serve_stream(input, output));
            Ok::<DuplexStream, _>(near)
        }
    });
    let registry = Registry::new();
    let import = import.name("seats").protocol(protocol);
    let import = in_time(import.connect(&registry)).await.unwrap();
    (import, Server::new(registry))
}

const PROTOCOLS: [Protocol; 2] = [Protocol::V2025_11_25, Protocol::V2026_07_28];

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_passes_questions_on() {
    for protocol in PROTOCOLS {
        for lifecycle in BOTH {
            let notes = Notes::default();
            let (_import, server) = gateway(&notes, protocol).await;
            let answers = [Answer::Accept(json!({"row": 4})), Answer::Accept(json!({}))];
            let client = TestClient::answering(answers);
            let running = connect(server, lifecycle, client.clone()).await;
            let what = format!("{protocol:?} {lifecycle:?}");
            assert_eq!(
                text(&running, "book", json!({})).await,
                "row 4: true",
                "{what}"
            );
            let questions = ["seats asks: Which row?", "seats asks: Pay 9 €?"];
            assert_eq!(client.questions(), questions, "{what}");
            // Only where a call can't go on, it runs again for each question.
            let starts = match (protocol, lifecycle) {
                (Protocol::V2025_11_25, Lifecycle::Legacy) => 1,
                _ => 3,
            };
            assert_eq!(notes.starts.load(Ordering::Relaxed), starts, "{what}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_declines_for_a_client_without_a_user() {
    for protocol in PROTOCOLS {
        let (_import, server) = gateway(&Notes::default(), protocol).await;
        let mut client = TestClient::default();
        client.capabilities.elicitation = None;
        let running = connect(server, Lifecycle::Legacy, client).await;
        assert_eq!(text(&running, "book", json!({})).await, "no seat");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_passes_progress_cancellation_and_traces_on() {
    const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for protocol in PROTOCOLS {
        for lifecycle in BOTH {
            let notes = Notes::default();
            let (_import, server) = gateway(&notes, protocol).await;
            let client = TestClient::default();
            let running = connect(server, lifecycle, client.clone()).await;
            let mut request = params("count", json!({"to": 3}));
            request.meta = serde_json::from_value(json!({"traceparent": TRACE})).unwrap();
            in_time(running.call_tool(request)).await.unwrap();
            // The handler of the client runs in tasks of its own.
            in_time(async {
                while client.progress.lock().unwrap().len() < 3 {
                    tokio::task::yield_now().await;
                }
            })
            .await;
            let traces = notes.traces.lock().unwrap().clone();
            let ids = |trace: &str| trace.split('-').nth(1).map(str::to_owned);
            assert_eq!(
                traces.iter().map(|trace| ids(trace)).collect::<Vec<_>>(),
                [ids(TRACE)]
            );

            let request = rmcp::model::CallToolRequest::new(params("wait", json!({})));
            let options = rmcp::service::PeerRequestOptions::no_options();
            let handle = running
                .send_cancellable_request(request.into(), options)
                .await;
            in_time(notes.waits.notified()).await;
            handle.unwrap().cancel(None).await.unwrap();
            in_time(notes.cancelled.notified()).await;
        }
    }
}
