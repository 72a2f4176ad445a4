//! The spans of calls, sent to a collector of OpenTelemetry.
//!
//! ```sh
//! cargo add tool-core
//! cargo add tracing tracing-subscriber tracing-opentelemetry
//! cargo add opentelemetry opentelemetry_sdk
//! cargo add opentelemetry-otlp --features http-json
//! cargo run        # for a collector at OTEL_EXPORTER_OTLP_ENDPOINT, or at http://localhost:4318
//! ```
//!
//! Each call is a span `execute_tool NAME` with the attributes of OpenTelemetry's conventions for generative AI, and an
//! event at its end. Spans of the tool are its children, and a call with a `TraceContext` continues the trace of its
//! caller.
//!
//! Lost in between: the last spans, if the program ends without `shutdown`. Arguments and results are in no span,
//! unless `RegistryBuilder::trace_content` records them.

use std::collections::HashMap;

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tool_core::{Registry, RegistryError, ToolCall, tool};
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt};

/// The current temperature of a city in degrees Celsius.
#[tool(read_only)]
fn get_temperature(city: &str) -> Result<f64, String> {
    let _span = tracing::info_span!(target: "weather", "ask the station").entered();
    if city == "Lisbon" {
        Ok(21.5)
    } else {
        Err(format!("there is no station in {city}"))
    }
}

fn exporter(endpoint: Option<&str>) -> Result<SdkTracerProvider, ExporterBuildError> {
    let mut exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpJson);
    if let Some(endpoint) = endpoint {
        exporter = exporter.with_endpoint(format!("{endpoint}/v1/traces"));
    }
    Ok(SdkTracerProvider::builder()
        .with_batch_exporter(exporter.build()?)
        .build())
}

fn subscriber(provider: &SdkTracerProvider) -> impl Subscriber + Send + Sync {
    // Not the spans of the HTTP client that sends the spans.
    let wanted = Targets::new()
        .with_target("tool_core", LevelFilter::INFO)
        .with_target("weather", LevelFilter::INFO);
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("weather"));
    tracing_subscriber::registry().with(layer.with_filter(wanted))
}

fn tools() -> Result<Registry, RegistryError> {
    let continued = |span: &tracing::Span, trace: &tool_core::call::TraceContext| {
        let headers = trace
            .headers()
            .map(|(name, value)| (name.into(), value.into()));
        let headers: HashMap<String, String> = headers.collect();
        let _ = span.set_parent(TraceContextPropagator::new().extract(&headers));
    };
    Registry::builder().linked().trace_parent(continued).build()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let provider = exporter(None)?;
    tracing::subscriber::set_global_default(subscriber(&provider))?;
    let call = ToolCall::new("call_1", "get_temperature", r#"{"city":"Lisbon"}"#);
    println!("{}", tools()?.call_blocking(call).content());
    provider.shutdown()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use cookbook::Scripted;
    use serde_json::{Value, json};
    use tool_core::call::TraceContext;

    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const PARENT: &str = "00f067aa0ba902b7";

    #[test]
    fn a_collector_gets_the_spans_of_calls() {
        let collector = Scripted::serve(vec![json!({})]).unwrap();
        let provider = exporter(Some(&collector.url())).unwrap();
        tracing::subscriber::with_default(subscriber(&provider), || {
            let tools = tools().unwrap();
            let trace = TraceContext::new(format!("00-{TRACE}-{PARENT}-01")).unwrap();
            for arguments in [r#"{"city":"Lisbon"}"#, r#"{"city":"Atlantis"}"#] {
                let call = ToolCall::new("call_1", "get_temperature", arguments);
                tools.call_blocking(call.with(trace.clone()));
            }
        });
        provider.shutdown().unwrap();

        let asked = collector.asked();
        assert_eq!((asked.len(), &*asked[0].path), (1, "/v1/traces"));
        let scopes = asked[0].body["resourceSpans"][0]["scopeSpans"]
            .as_array()
            .unwrap();
        let spans: Vec<_> = scopes
            .iter()
            .flat_map(|scope| scope["spans"].as_array().unwrap())
            .collect();
        let named = |name: &str| -> Vec<&Value> {
            spans
                .iter()
                .copied()
                .filter(|span| span["name"] == name)
                .collect()
        };
        let calls = named("execute_tool get_temperature");
        let attribute = |span: &Value, key: &str| {
            let attributes = span["attributes"].as_array().unwrap();
            let found = attributes.iter().find(|attribute| attribute["key"] == key);
            found.map(|attribute| attribute["value"]["stringValue"].clone())
        };
        assert_eq!(
            attribute(calls[0], "gen_ai.tool.call.id"),
            Some(json!("call_1"))
        );
        assert_eq!(attribute(calls[0], "error.type"), None);
        assert_eq!(attribute(calls[1], "error.type"), Some(json!("failed")));
        let inner = named("ask the station");
        assert_eq!(inner[0]["parentSpanId"], calls[0]["spanId"]);
        assert_eq!(calls[0]["traceId"], TRACE);
        assert_eq!(calls[0]["parentSpanId"], PARENT);
    }
}
