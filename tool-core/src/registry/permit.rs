//! [`Permit`]: permission to run, if the registry limits concurrency.

use super::policy::Policy;
use crate::call::context::ParentCall;

#[cfg(feature = "tokio")]
use std::any::Any;
#[cfg(feature = "tokio")]
use std::sync::{Arc, Weak};

#[cfg(feature = "tokio")]
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Held until the tool ends, by the thread of a blocking tool too.
#[derive(Default)]
pub(super) struct Permit {
    #[cfg(feature = "tokio")]
    held: Option<Arc<Held>>,
}

#[cfg(feature = "tokio")]
struct Held {
    /// The limit that the permit is of.
    limit: Arc<Semaphore>,
    /// Of the limit, or of the parent's `nested`.
    _permit: Option<OwnedSemaphorePermit>,
    /// Lets one nested call at a time run under this permit.
    nested: Arc<Semaphore>,
    /// The permit of the call that made this one. It is held as long as this one.
    _parent: Option<Arc<Held>>,
}

impl Permit {
    /// Waits for a permit of the registry. A nested call waits for its siblings instead, and runs
    /// under the permit of its parent.
    #[cfg(feature = "tokio")]
    pub(super) async fn acquire(policy: &Policy, parent: Option<&ParentCall>) -> Permit {
        let Some(limit) = &policy.semaphore else {
            return Permit::default();
        };
        let parent = parent.and_then(|parent| parent.permit.as_ref()?.upgrade());
        let parent = parent.and_then(|parent| parent.downcast::<Held>().ok());
        let parent = parent.filter(|parent| Arc::ptr_eq(&parent.limit, limit));
        let semaphore = parent.as_ref().map_or(limit, |parent| &parent.nested);
        // It is never closed.
        let permit = Arc::clone(semaphore).acquire_owned().await.ok();
        Permit {
            held: Some(Arc::new(Held {
                limit: Arc::clone(limit),
                _permit: permit,
                nested: Arc::new(Semaphore::new(1)),
                _parent: parent,
            })),
        }
    }

    #[cfg(not(feature = "tokio"))]
    #[allow(clippy::unused_async)] // Matches the signature above.
    pub(super) async fn acquire(_: &Policy, _: Option<&ParentCall>) -> Permit {
        Permit::default()
    }

    /// Returns the permit for calls that the tool makes, which it does not keep.
    #[cfg(feature = "tokio")]
    pub(super) fn for_nested(&self) -> Option<Weak<dyn Any + Send + Sync>> {
        let held: Weak<dyn Any + Send + Sync> = Arc::downgrade(self.held.as_ref()?) as _;
        Some(held)
    }

    #[cfg(not(feature = "tokio"))]
    pub(super) fn for_nested(&self) -> Option<std::sync::Weak<dyn std::any::Any + Send + Sync>> {
        None
    }
}
