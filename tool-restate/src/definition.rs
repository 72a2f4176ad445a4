//! Services of Restate whose names the application chooses.
//!
//! The macros of the SDK take the name from the code. What they expand to is public, though not documented, so the version
//! of the SDK is pinned.

use std::error::Error;
use std::io;
use std::sync::Arc;

use restate_sdk::discovery::ServiceName;
use restate_sdk::endpoint::{ContextInternal, Endpoint, ServiceOptions};
use restate_sdk::http_server::HttpServer;
use restate_sdk::service::macro_support::{ServiceBoxFuture, service_definition};
use restate_sdk::service::{Discoverable, Service, ServiceDefinition};
use socket2::SockRef;
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};

/// The handlers of a service, which a macro of the SDK describes.
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
/// If Restate does not accept the name.
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

/// Serves services until a signal, for requests that are signed with these keys if there are some.
pub(crate) async fn serve(
    services: impl IntoIterator<Item = ServiceDefinition>,
    identity_keys: &[String],
    listener: TcpListener,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut endpoint = Endpoint::builder();
    for service in services {
        endpoint = endpoint.bind(service);
    }
    for key in identity_keys {
        endpoint = endpoint.identity_key(key)?;
    }
    send_at_once(&listener)?;
    let server = HttpServer::new(endpoint.build());
    server.serve_with_cancel(listener, ending()).await;
    Ok(())
}

/// Lets connections of a listener send small pieces at once. Otherwise they wait for acknowledgements, 40 ms for each step.
/// Linux gives the option of a listener to its connections.
pub(crate) fn send_at_once(listener: &TcpListener) -> io::Result<()> {
    SockRef::from(listener).set_tcp_nodelay(true)
}

/// Completes at Ctrl-C, and at `SIGTERM`, which service managers send.
async fn ending() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    if let Ok(mut terminate) = signal(SignalKind::terminate()) {
        tokio::select! {
            _ = interrupt => {}
            _ = terminate.recv() => {}
        }
        return;
    }
    let _ = interrupt.await;
}

/// Implements [`Handlers`] by methods with an input.
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
