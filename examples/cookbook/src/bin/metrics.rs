//! Records calls, requests to a model and runs in histograms of OpenTelemetry.
//!
//! ```sh
//! cargo add tool-core
//! cargo add opentelemetry --features metrics
//! cargo run
//! ```
//!
//! The names and the boundaries follow OpenTelemetry's conventions for generative AI; `tool_agent.` starts what they lack.
//! The application sets the meter provider, such as the one of `opentelemetry_sdk`, before it builds the registry. The
//! `Agent` of `tool-agent` that gets the registry reports its requests and runs to the same observer.
//!
//! Lost in between: calls of unknown tools, whose names a model made up.

use opentelemetry::metrics::{Counter, Histogram, Meter};
use opentelemetry::{KeyValue, global};
use tool_core::hooks::{CallRecord, Observer, RequestRecord, RunRecord};
use tool_core::{Registry, ToolCall, ToolErrorKind, tool, tools};

/// The current temperature of a city in degrees Celsius.
#[tool(read_only, unlinked)]
fn get_temperature(city: &str) -> f64 {
    if city == "Lisbon" { 21.5 } else { 4.0 }
}

/// Records what a registry and its agent do.
pub(crate) struct Metrics {
    calls: Histogram<f64>,
    requests: Histogram<f64>,
    first_chunks: Histogram<f64>,
    tokens: Histogram<u64>,
    cached_tokens: Counter<u64>,
    retries: Counter<u64>,
    runs: Histogram<f64>,
    requests_of_runs: Histogram<u64>,
    calls_of_runs: Histogram<u64>,
}

/// Returns boundaries that grow by a factor.
fn boundaries(first: f64, factor: f64, count: usize) -> Vec<f64> {
    let powers = std::iter::successors(Some(first), |power| Some(power * factor));
    powers.take(count).collect()
}

impl Metrics {
    pub(crate) fn new(meter: &Meter) -> Metrics {
        let seconds = |name: &'static str, first| {
            let histogram = meter.f64_histogram(name).with_unit("s");
            histogram.with_boundaries(first).build()
        };
        let numbers = |name: &'static str, unit: &'static str, boundaries| {
            let histogram = meter.u64_histogram(name).with_unit(unit);
            histogram.with_boundaries(boundaries).build()
        };
        let counter = |name: &'static str, unit: &'static str| {
            let counter = meter.u64_counter(name).with_unit(unit);
            counter.build()
        };
        let short = || boundaries(0.01, 2.0, 14);
        let few = || boundaries(1.0, 2.0, 8);
        Metrics {
            calls: seconds("gen_ai.execute_tool.duration", short()),
            requests: seconds("gen_ai.client.operation.duration", short()),
            first_chunks: seconds("gen_ai.client.operation.time_to_first_chunk", short()),
            tokens: numbers(
                "gen_ai.client.token.usage",
                "{token}",
                boundaries(1.0, 4.0, 14),
            ),
            cached_tokens: counter(
                "gen_ai.client.inference.usage.cache_read.input_tokens",
                "{token}",
            ),
            retries: counter("tool_agent.request.retries", "{retry}"),
            runs: seconds("gen_ai.invoke_agent.duration", boundaries(0.1, 2.0, 13)),
            requests_of_runs: numbers(
                "gen_ai.invoke_agent.inference_calls",
                "{inference_call}",
                few(),
            ),
            calls_of_runs: numbers("gen_ai.invoke_agent.tool_calls", "{tool_call}", few()),
        }
    }
}

/// Returns an attribute, if it has a value.
fn label(name: &'static str, value: Option<&str>) -> Option<KeyValue> {
    value.map(|value| KeyValue::new(name, value.to_owned()))
}

impl Observer for Metrics {
    fn call(&self, record: &CallRecord<'_>) {
        let mut attributes = vec![
            KeyValue::new("gen_ai.tool.name", record.tool.to_owned()),
            KeyValue::new("gen_ai.tool.type", "function"),
        ];
        attributes.extend(label("error.type", record.error.map(ToolErrorKind::as_str)));
        self.calls
            .record(record.duration.as_secs_f64(), &attributes);
    }

    fn request(&self, record: &RequestRecord<'_>) {
        let mut attributes = vec![
            KeyValue::new("gen_ai.operation.name", "chat"),
            KeyValue::new("gen_ai.provider.name", record.provider.to_owned()),
        ];
        attributes.extend(label("gen_ai.request.model", record.model));
        attributes.extend(label("gen_ai.response.model", record.response_model));
        if let Some(usage) = record.usage {
            for (kind, tokens) in [("input", usage.input), ("output", usage.output)] {
                let mut attributes = attributes.clone();
                attributes.push(KeyValue::new("gen_ai.token.type", kind));
                self.tokens.record(tokens, &attributes);
            }
            self.cached_tokens.add(usage.cached_input, &attributes);
        }
        if let Some(time) = record.first_chunk {
            self.first_chunks.record(time.as_secs_f64(), &attributes);
        }
        self.retries.add(record.retries.into(), &attributes);
        attributes.extend(label("error.type", record.error));
        self.requests
            .record(record.duration.as_secs_f64(), &attributes);
    }

    fn run(&self, record: &RunRecord<'_>) {
        let model = label("gen_ai.request.model", record.model);
        let mut attributes: Vec<_> = model.into_iter().collect();
        attributes.extend(label("tool_agent.run.outcome", record.outcome));
        attributes.extend(label("error.type", record.error));
        self.runs.record(record.duration.as_secs_f64(), &attributes);
        self.requests_of_runs.record(record.requests.into(), &[]);
        self.calls_of_runs.record(record.calls.into(), &[]);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let builder = Registry::builder().tools(tools![get_temperature]);
    let registry = builder
        .observe_with(Metrics::new(&global::meter("weather")))
        .build()?;
    let call = ToolCall::new("call_1", "get_temperature", r#"{"city":"Lisbon"}"#);
    println!("{}", registry.call_blocking(call).content());
    Ok(())
}
