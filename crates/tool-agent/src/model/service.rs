//! Models as tower services, and retries of requests.

use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tower::retry::Policy;
use tower_service::Service;

#[cfg(all(feature = "http", not(target_family = "wasm")))]
use super::http::sleep;
use super::{Model, ModelError, ModelFuture, Request, Response};
use tool_core::runtime::{BoxFuture, Runtime};

/// A [`Model`] as a `tower::Service<Request>`, so that you can put layers around it. [`ServiceModel`] converts the
/// result back to a model.
///
/// The example needs tower's features `timeout` and `util`.
///
/// ```
/// use std::time::Duration;
///
/// use tool_core::Registry;
/// use tool_agent::Agent;
/// use tool_agent::model::{ModelService, ServiceModel};
/// use tool_agent::dialects::Anthropic;
/// use tool_agent::testing::ScriptedModel;
/// use tower::ServiceBuilder;
///
/// let service = ServiceBuilder::new()
///     .timeout(Duration::from_secs(60))
///     .service(ModelService::new(ScriptedModel::new([])));
/// let agent = Agent::new(Registry::new(), Anthropic::default(), ServiceModel::new(service));
/// # let _ = agent;
/// ```
#[derive(Clone)]
pub struct ModelService(Arc<dyn Model>);

impl ModelService {
    /// Creates the service.
    pub fn new(model: impl Model + 'static) -> ModelService {
        ModelService(Arc::new(model))
    }

    pub(crate) fn shared(model: Arc<dyn Model>) -> ModelService {
        ModelService(model)
    }
}

impl fmt::Debug for ModelService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelService")
    }
}

impl Service<Request> for ModelService {
    type Response = Response;
    type Error = ModelError;
    type Future = BoxFuture<Result<Response, ModelError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ModelError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let model = Arc::clone(&self.0);
        Box::pin(async move { model.ask(request).await })
    }
}

/// A tower service as a [`Model`], such as a [`ModelService`] in layers.
///
/// If a layer's error is not a [`ModelError`], it is wrapped by [`ModelError::other`].
///
/// ```
/// use std::time::Duration;
/// use tool_agent::Agent;
/// use tool_agent::model::{ModelService, ServiceModel};
/// use tool_agent::testing::ScriptedModel;
/// use tool_core::Registry;
/// use tool_agent::dialects::OpenAiChat;
/// use tower::ServiceBuilder;
///
/// let layers = ServiceBuilder::new()
///     .timeout(Duration::from_secs(60))
///     .service(ModelService::new(ScriptedModel::new([])));
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), ServiceModel::new(layers));
/// # let _ = agent;
/// ```
#[derive(Clone, Debug)]
pub struct ServiceModel<S>(S);

impl<S> ServiceModel<S> {
    /// Creates the model.
    pub fn new(service: S) -> ServiceModel<S> {
        ServiceModel(service)
    }
}

impl<S> Model for ServiceModel<S>
where
    S: Service<Request, Response = Response> + Clone + Send + Sync,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    S::Future: Send,
{
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        let mut service = self.0.clone();
        Box::pin(async move {
            poll_fn(|cx| service.poll_ready(cx))
                .await
                .map_err(model_error)?;
            service.call(request).await.map_err(model_error)
        })
    }
}

/// Returns the model's error, or wraps a layer's.
fn model_error(error: impl Into<Box<dyn Error + Send + Sync>>) -> ModelError {
    match error.into().downcast::<ModelError>() {
        Ok(error) => *error,
        Err(error) => ModelError::other(error),
    }
}

/// Retries requests that failed temporarily. This is a `tower::retry::Policy`; [`Agent::retry`](crate::Agent::retry)
/// applies it.
///
/// Waits longer after each failure, with a random part. If the provider gives a time
/// ([`ModelError::wait_before_retry`]), waits that long. If [`ModelError::is_retryable`] returns `false`, returns the
/// error at once.
///
/// ```
/// use std::time::Duration;
/// use tool_agent::model::Retry;
///
/// let policy = Retry::new(5).first_wait(Duration::from_secs(1)).max_wait(Duration::from_secs(30));
/// # let _ = policy;
/// ```
#[derive(Clone)]
pub struct Retry {
    /// The number of retries left.
    left: u32,
    next_wait: Duration,
    max_wait: Duration,
    runtime: Option<Arc<dyn Runtime>>,
}

impl Retry {
    /// Creates a policy with at most this many retries of a request. It waits about 500 ms before the first, then twice
    /// as long each time, but at most a minute.
    pub fn new(retries: u32) -> Retry {
        Retry {
            left: retries,
            next_wait: Duration::from_millis(500),
            max_wait: Duration::from_secs(60),
            runtime: None,
        }
    }

    /// Sets the time before the first retry.
    pub fn first_wait(mut self, wait: Duration) -> Self {
        self.next_wait = wait;
        self
    }

    /// Sets the maximum wait between two attempts. If the provider wants a longer wait, its error is returned instead.
    pub fn max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = wait;
        self
    }

    /// Sets the timers. The default is tokio's, with the feature `tokio`. Without timers, requests are not retried.
    pub fn runtime(mut self, runtime: impl Runtime) -> Self {
        self.runtime = Some(Arc::new(runtime));
        self
    }

    fn sleep(&self, wait: Duration) -> Option<BoxFuture<()>> {
        if let Some(runtime) = &self.runtime {
            return runtime.sleep(wait).ok();
        }
        #[cfg(all(feature = "http", not(target_family = "wasm")))]
        return sleep(wait);
        #[cfg(all(feature = "tokio", any(not(feature = "http"), target_family = "wasm")))]
        return tool_core::runtime::Tokio.sleep(wait).ok();
        #[cfg(not(feature = "tokio"))]
        None
    }
}

impl fmt::Debug for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("left", &self.left)
            .field("next_wait", &self.next_wait)
            .field("max_wait", &self.max_wait)
            .finish_non_exhaustive()
    }
}

impl<R> Policy<Request, R, ModelError> for Retry {
    type Future = BoxFuture<()>;

    fn retry(
        &mut self,
        request: &mut Request,
        result: &mut Result<R, ModelError>,
    ) -> Option<BoxFuture<()>> {
        let error = result.as_ref().err()?;
        if !error.is_retryable() || self.left == 0 {
            return None;
        }
        let wait = self.next_wait.min(self.max_wait);
        // Randomized, so that clients which failed together don't return together.
        let wait = match error.wait_before_retry() {
            Some(asked) if asked > self.max_wait => return None,
            Some(asked) => asked.saturating_add(part(wait, random() / 4.0)),
            None => part(wait, 0.5 + random() / 2.0),
        };
        #[cfg(feature = "tracing")]
        let _ = crate::guarded::caught("", || {
            tracing::event!(
                name: "retry",
                target: "tool_agent",
                tracing::Level::WARN,
                {
                    "error.type" = error.kind().as_str(),
                    exception.message = %format!("{error:?}").escape_debug(),
                    wait.seconds = wait.as_secs_f64(),
                },
                "the request to the model failed and is repeated"
            );
        });
        self.left -= 1;
        self.next_wait = self.next_wait.saturating_mul(2);
        let sleep = self.sleep(wait)?;
        request.count_retry();
        Some(sleep)
    }

    fn clone_request(&mut self, request: &Request) -> Option<Request> {
        Some(request.clone())
    }
}

/// Returns a fraction of a duration. Capped, because multiplying a very long duration would panic.
fn part(time: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(time.as_secs_f64() * factor).unwrap_or(time)
}

/// Returns a random number from 0 to 1.
fn random() -> f64 {
    let bits = RandomState::new().hash_one(0).to_le_bytes();
    let bits = u32::from_le_bytes([bits[0], bits[1], bits[2], bits[3]]);
    f64::from(bits) / f64::from(u32::MAX)
}
