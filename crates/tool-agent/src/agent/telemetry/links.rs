//! [`TraceLinks`]: links from the span of a run to the span that drove it before.

use std::sync::Arc;

use tool_core::call::TraceContext;
use tracing::Span;

use crate::guarded::caught;

/// Reads the trace of a span and links a span to another trace, by closures of the application.
#[derive(Clone)]
pub(crate) struct TraceLinks {
    pub(crate) trace_of: Arc<TraceOf>,
    pub(crate) link: Arc<AddLink>,
}

type TraceOf = dyn Fn(&Span) -> Option<TraceContext> + Send + Sync;
type AddLink = dyn Fn(&Span, &TraceContext) + Send + Sync;

impl TraceLinks {
    /// Links a span to an earlier trace, and returns its own trace.
    pub(super) fn attach(&self, span: &Span, earlier: Option<&str>) -> Option<TraceContext> {
        let attached = caught("", || {
            if let Some(earlier) = earlier.and_then(TraceContext::new) {
                (self.link)(span, &earlier);
            }
            (self.trace_of)(span)
        });
        attached.ok().flatten()
    }
}
