//! [`TraceContext`]: the trace of the caller.

/// The longest `tracestate` that is kept: the length that every implementation must propagate (W3C Trace
/// Context, section 3.3.1.5).
const LONGEST_STATE: usize = 512;
/// The longest `baggage` that is kept: the length that every implementation must propagate (W3C Baggage,
/// section 3.3.2).
const LONGEST_BAGGAGE: usize = 8192;

/// The trace that a call belongs to, as another process sent it: the headers of W3C Trace Context and W3C
/// Baggage.
///
/// Attach it to a call with [`ToolCall::with`](crate::ToolCall::with), and set what makes it the parent of the
/// call's span with [`RegistryBuilder::trace_parent`](crate::RegistryBuilder::trace_parent). `tool-mcp` attaches
/// it to the calls that a client makes with it. A tool can pass it on: it reads it with
/// [`CallContext::get`](crate::CallContext::get).
///
/// ```
/// use tool_core::call::TraceContext;
/// use tool_core::ToolCall;
///
/// let trace = TraceContext::new("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap();
/// let call = ToolCall::new("call_1", "get_forecast", r#"{"city":"Lisbon"}"#).with(trace);
/// assert!(call.get::<TraceContext>().is_some());
/// assert!(TraceContext::new("not a trace").is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    traceparent: String,
    tracestate: Option<String>,
    baggage: Option<String>,
}

impl TraceContext {
    /// Reads a `traceparent`: version, trace id, span id and flags. Returns `None` if it is not valid.
    pub fn new(traceparent: impl Into<String>) -> Option<TraceContext> {
        let traceparent = traceparent.into();
        is_traceparent(&traceparent).then_some(TraceContext {
            traceparent,
            tracestate: None,
            baggage: None,
        })
    }

    /// Sets the `tracestate`, unless it is empty, longer than 512 bytes, or not printable ASCII.
    pub fn with_tracestate(mut self, tracestate: impl Into<String>) -> TraceContext {
        self.tracestate = header(tracestate.into(), LONGEST_STATE);
        self
    }

    /// Sets the `baggage`, unless it is empty, longer than 8192 bytes, or not printable ASCII. It says what the
    /// caller likes, such as the id of a user: do not trust it.
    pub fn with_baggage(mut self, baggage: impl Into<String>) -> TraceContext {
        self.baggage = header(baggage.into(), LONGEST_BAGGAGE);
        self
    }

    /// Returns the `traceparent`.
    pub fn traceparent(&self) -> &str {
        &self.traceparent
    }

    /// Returns the headers that are set, with their names, for a propagator of OpenTelemetry or for a request
    /// to another service.
    ///
    /// ```
    /// use tool_core::call::TraceContext;
    ///
    /// let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    /// let trace = TraceContext::new(parent).unwrap().with_tracestate("vendor=1");
    /// assert!(trace.headers().eq([("traceparent", parent), ("tracestate", "vendor=1")]));
    /// ```
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let parent = Some(("traceparent", &*self.traceparent));
        let others = [("tracestate", &self.tracestate), ("baggage", &self.baggage)];
        let others = others
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.as_deref()?)));
        parent.into_iter().chain(others)
    }
}

fn header(value: String, longest: usize) -> Option<String> {
    let is_printable = value
        .bytes()
        .all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    Some(value).filter(|value| !value.is_empty() && value.len() <= longest && is_printable)
}

/// Returns `true` for a valid `traceparent`. Versions after 00 may add fields.
fn is_traceparent(text: &str) -> bool {
    let is_hex = |part: &str, length: usize| {
        part.len() == length
            && part
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_id = |part: &str, length| is_hex(part, length) && part.bytes().any(|byte| byte != b'0');
    let mut parts = text.splitn(5, '-');
    let mut next = || parts.next().unwrap_or_default();
    let (version, trace, span, flags, more) = (next(), next(), next(), next(), parts.next());
    is_hex(version, 2)
        && version != "ff"
        && is_id(trace, 32)
        && is_id(span, 16)
        && is_hex(flags, 2)
        && (more.is_none() || version != "00")
        && text.len() <= LONGEST_STATE
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn only_valid_headers_are_kept() {
        assert!(TraceContext::new(PARENT).is_some());
        assert!(TraceContext::new(PARENT.replacen("00", "01", 1) + "-more").is_some());
        for wrong in [
            String::new(),
            PARENT.to_uppercase(),
            PARENT.replacen("00", "ff", 1),
            format!("{PARENT}-more"),
            PARENT.replace("00f067aa0ba902b7", "0000000000000000"),
            PARENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            PARENT.replace("-01", "-1"),
        ] {
            assert_eq!(TraceContext::new(&*wrong), None, "{wrong}");
        }
        let trace = TraceContext::new(PARENT).unwrap();
        let long = trace
            .clone()
            .with_tracestate("x".repeat(513))
            .with_baggage("a=b\r\nc: d");
        assert_eq!(long, trace);
    }
}
