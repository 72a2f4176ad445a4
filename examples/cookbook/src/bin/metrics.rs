//! The durations of calls, in a histogram of OpenTelemetry.
//!
//! ```sh
//! cargo add tool-core
//! cargo add opentelemetry --features metrics
//! cargo run
//! ```
//!
//! The names and the boundaries follow OpenTelemetry's conventions for generative AI. The application sets the
//! meter provider, such as the one of `opentelemetry_sdk`, before it builds the registry.
//!
//! Lost in between: calls of unknown tools, whose names a model made up.

use opentelemetry::metrics::Meter;
use opentelemetry::{KeyValue, global};
use tool_core::hooks::CallRecord;
use tool_core::{Registry, ToolCall, tool, tools};

/// The current temperature of a city in degrees Celsius.
#[tool(read_only, unlinked)]
fn get_temperature(city: &str) -> f64 {
    if city == "Lisbon" { 21.5 } else { 4.0 }
}

/// Returns an observer that records the duration of each call.
pub(crate) fn durations(meter: &Meter) -> impl Fn(&CallRecord<'_>) + Send + Sync + 'static {
    let boundaries = (0..14).map(|power| 0.01 * f64::from(1 << power));
    let histogram = meter
        .f64_histogram("gen_ai.execute_tool.duration")
        .with_unit("s");
    let histogram = histogram.with_boundaries(boundaries.collect()).build();
    move |record| {
        let tool = KeyValue::new("gen_ai.tool.name", record.tool.to_owned());
        let mut attributes = vec![tool, KeyValue::new("gen_ai.tool.type", "function")];
        attributes.extend(
            record
                .error
                .map(|kind| KeyValue::new("error.type", kind.as_str())),
        );
        histogram.record(record.duration.as_secs_f64(), &attributes);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let builder = Registry::builder().tools(tools![get_temperature]);
    let registry = builder
        .observe(durations(&global::meter("weather")))
        .build()?;
    let call = ToolCall::new("call_1", "get_temperature", r#"{"city":"Lisbon"}"#);
    println!("{}", registry.call_blocking(call).content());
    Ok(())
}
