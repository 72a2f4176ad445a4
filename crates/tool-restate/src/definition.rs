//! Restate services with names chosen by the application.
//!
//! The SDK's macros take the name from the code. The generated items used here are public but not documented, so the
//! version of the SDK is pinned.

use std::sync::Arc;

use restate_sdk::discovery::ServiceName;
use restate_sdk::endpoint::{ContextInternal, ServiceOptions};
use restate_sdk::service::macro_support::{ServiceBoxFuture, service_definition};
use restate_sdk::service::{Discoverable, Service, ServiceDefinition};

/// The handlers of a service, described by a macro of the SDK.
pub(crate) trait Handlers: Discoverable + Send + Sync + 'static {
    fn handle(self: Arc<Self>, context: ContextInternal) -> ServiceBoxFuture;
}

struct Dispatcher<H>(Arc<H>);

impl<H: Handlers> Service for Dispatcher<H> {
    type Future = ServiceBoxFuture;

    fn handle(&self, context: ContextInternal) -> ServiceBoxFuture {
        Arc::clone(&self.0).handle(context)
    }
}

/// Returns a service with this name.
///
/// # Panics
///
/// Panics if Restate rejects the name.
pub(crate) fn named<H: Handlers>(
    name: &str,
    handlers: H,
    options: ServiceOptions,
) -> ServiceDefinition {
    let mut discovery = H::discover();
    discovery.name = ServiceName::try_from(name.to_owned())
        .unwrap_or_else(|error| panic!("{name:?} can't be the name of a service: {error}"));
    service_definition(Dispatcher(Arc::new(handlers)), discovery).options(options)
}

/// Implements [`Handlers`] for methods with an input.
macro_rules! handlers {
    ($type:ty { $($name:literal => $method:ident),* $(,)? }) => {
        impl $crate::definition::Handlers for $type {
            fn handle(
                self: std::sync::Arc<Self>,
                context: restate_sdk::endpoint::ContextInternal,
            ) -> restate_sdk::service::macro_support::ServiceBoxFuture {
                Box::pin(async move {
                    match context.handler_name() {
                        $($name => {
                            let (input, metadata) = context.input().await;
                            let called = self.$method((&context, metadata).into(), input).await;
                            context.handle_handler_result(called);
                        })*
                        other => {
                            let service = context.service_name();
                            return Err(restate_sdk::endpoint::Error::unknown_handler(service, other));
                        }
                    }
                    context.end();
                    Ok(())
                })
            }
        }
    };
}
pub(crate) use handlers;
