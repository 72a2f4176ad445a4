//! [`Registry`] as a `tower::Service`.

use std::convert::Infallible;
use std::task::{Context, Poll};

use tower_service::Service;

use super::Registry;
use crate::call::{ToolCall, ToolResult};
use crate::runtime::BoxFuture;

/// The service never fails: errors are part of the result. Combine it with the layers of `tower`,
/// such as limits, retries and hedging. The example needs tower's features `limit`, `timeout` and
/// `util`.
///
/// ```
/// use std::error::Error;
/// use std::time::Duration;
///
/// use tool_core::{Registry, ToolCall, ToolResult, tool, tools};
/// use tower::{Service, ServiceBuilder, ServiceExt};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// async fn sum() -> Result<ToolResult, Box<dyn Error + Send + Sync>> {
///     let registry = Registry::builder().tools(tools![add]).build()?;
///     let mut service = ServiceBuilder::new()
///         .concurrency_limit(8)
///         .timeout(Duration::from_secs(60))
///         .service(registry);
///     let call = ToolCall::new("call_1", "add", r#"{"a":2,"b":3}"#);
///     Ok(service.ready().await?.call(call).await?)
/// }
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
/// # assert_eq!(runtime.block_on(sum())?.content(), "5");
/// # Ok::<(), Box<dyn Error + Send + Sync>>(())
/// ```
impl Service<ToolCall> for Registry {
    type Response = ToolResult;
    type Error = Infallible;
    type Future = BoxFuture<Result<ToolResult, Infallible>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: ToolCall) -> Self::Future {
        let result = Registry::call(self, call);
        Box::pin(async { Ok(result.await) })
    }
}
