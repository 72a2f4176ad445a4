//! The histogram of durations, by the API of OpenTelemetry.

use std::borrow::Cow;
use std::time::Instant;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram, Meter};

use crate::call::ToolResult;
use crate::call::boundary::{Guarded, catch};
use crate::call::error::{ToolError, ToolErrorKind};
use crate::runtime::HAS_CLOCK;
use crate::spec::ToolSpec;

/// The boundaries that the conventions give, in seconds.
const BOUNDARIES: [f64; 14] = [
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

/// The instrument. Its code is the application's.
#[derive(Clone)]
pub(crate) struct Durations(Histogram<f64>);

impl Durations {
    pub(crate) fn new(meter: &Meter) -> Durations {
        let histogram = meter
            .f64_histogram("gen_ai.execute_tool.duration")
            .with_unit("s")
            .with_description("The duration of a single tool execution.")
            .with_boundaries(BOUNDARIES.to_vec());
        Durations(histogram.build())
    }
}

/// Measures a call. If it is dropped early, the call counts as cancelled.
pub(super) struct Timer {
    durations: Guarded<Durations>,
    start: Instant,
    tool: Cow<'static, str>,
    is_finished: bool,
}

impl Timer {
    /// Starts, if the registry has a meter. An unknown tool is not executed, and its name, which a model made
    /// up, would be a new time series.
    #[inline]
    pub(super) fn start(durations: Option<&Durations>, tool: Option<&ToolSpec>) -> Option<Timer> {
        let (durations, tool) = (durations.filter(|_| HAS_CLOCK)?, tool?);
        Some(Timer {
            durations: Guarded::new(durations.clone()),
            start: Instant::now(),
            tool: tool.name.clone(),
            is_finished: false,
        })
    }

    pub(super) fn finish(mut self, result: &ToolResult) {
        self.record(result.error().map(ToolError::kind));
    }

    fn record(&mut self, error: Option<ToolErrorKind>) {
        self.is_finished = true;
        let seconds = self.start.elapsed().as_secs_f64();
        let tool = std::mem::take(&mut self.tool);
        let mut attributes = vec![
            KeyValue::new("gen_ai.tool.name", tool),
            KeyValue::new("gen_ai.tool.type", "function"),
        ];
        attributes.extend(error.map(|kind| KeyValue::new("error.type", kind.as_str())));
        let _ = catch(|| self.durations.0.record(seconds, &attributes));
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if !self.is_finished {
            self.record(Some(ToolErrorKind::Cancelled));
        }
    }
}
