//! [`ToolCall`]: a call made by a model, with its arguments, context, errors and result.

pub(crate) mod approval;
mod arguments;
pub(crate) mod boundary;
pub(crate) mod cancellation;
pub(crate) mod context;
pub mod elicit;
pub(crate) mod error;
pub(crate) mod extensions;
pub(crate) mod extra;
pub(crate) mod head;
pub(crate) mod hold;
pub(crate) mod origin;
mod position;
pub(crate) mod progress;
pub(crate) mod result;
mod secrets;
mod start;
mod tool_call;
mod trace_context;
pub(crate) mod truncate;
pub(crate) mod type_map;

pub use arguments::Arguments;
pub use cancellation::{CancellationToken, Cancelled};
pub use error::{Reference, Transient};
pub(crate) use extra::{AppValue, Extra};
pub(crate) use head::{CALL_TOOL, CallHead};
pub(crate) use hold::{Answer, AnswerOutput, Decision, Hold};
pub use position::CallPosition;
pub use progress::Progress;
pub(crate) use result::{ToolResult, run_blocking};
pub use secrets::Secrets;
pub use start::Start;
pub(crate) use start::check_start;
pub(crate) use tool_call::TRUNCATED;
pub use tool_call::ToolCall;
pub use trace_context::TraceContext;
