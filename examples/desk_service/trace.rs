//! The operator's log: events, and the spans of OpenTelemetry with their traces.

use std::collections::HashMap;
use std::io::Write;

use clap::ArgMatches;
use examples::input;
use examples::terminal::Terminal;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use tool_agent::Agent;
use tool_core::call::TraceContext;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Writes each span as a line. A service sends them to a collector.
#[derive(Debug)]
struct Lines;

impl SpanExporter for Lines {
    async fn export(&self, spans: Vec<SpanData>) -> OTelSdkResult {
        for span in spans {
            let (context, parent) = (&span.span_context, span.parent_span_id);
            let (trace, id) = (context.trace_id(), context.span_id());
            let mut line = format!("span {:?} trace={trace} id={id} parent={parent}", span.name);
            for link in span.links.iter() {
                line += &format!(" link={}", link.span_context.trace_id());
            }
            // Nothing can be done if nobody reads the log.
            let _ = writeln!(Terminal::stderr(), "{line}");
        }
        Ok(())
    }
}

/// Starts the log if the flag `--log` is set.
pub(crate) fn start(flags: &ArgMatches) {
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(Lines)
        .build();
    let tracer = provider.tracer("desk_service");
    input::log_with(flags, tracing_opentelemetry::layer().with_tracer(tracer));
}

/// Links what one person's request and another one's decision make of a conversation.
pub(crate) fn linked(agent: Agent) -> Agent {
    agent.trace_links(
        |span| {
            let mut headers = HashMap::new();
            TraceContextPropagator::new().inject_context(&span.context(), &mut headers);
            TraceContext::new(headers.remove("traceparent")?)
        },
        |span, earlier| {
            let headers = HashMap::from([("traceparent".into(), earlier.traceparent().into())]);
            let earlier = TraceContextPropagator::new().extract(&headers);
            span.add_link(earlier.span().span_context().clone());
        },
    )
}
