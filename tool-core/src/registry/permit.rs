//! [`Permit`]: permission to run, if the registry limits concurrency.

use std::any::Any;
use std::sync::Weak;
#[cfg(feature = "tokio")]
use std::sync::{Arc, OnceLock};

#[cfg(feature = "tokio")]
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::policy::Policy;
use crate::call::extensions::ParentCall;

/// Held until the tool ends, by the thread of a blocking tool too.
#[derive(Default)]
pub(super) enum Permit {
    /// The registry has no limit.
    #[default]
    None,
    /// Of a tool that cannot make nested calls.
    #[cfg(feature = "tokio")]
    Leaf {
        _permit: Option<OwnedSemaphorePermit>,
        _parent: Option<Arc<Shared>>,
    },
    #[cfg(feature = "tokio")]
    Shared(Arc<Shared>),
}

/// A permit under which nested calls may run.
#[cfg(feature = "tokio")]
pub(super) struct Shared {
    /// The limit that the permit is of.
    limit: Arc<Semaphore>,
    /// Of the limit, or of the parent's `nested`.
    _permit: Option<OwnedSemaphorePermit>,
    /// Lets one nested call at a time run under this permit.
    nested: OnceLock<Arc<Semaphore>>,
    /// The permit of the call that made this one. It is held as long as this one.
    _parent: Option<Arc<Shared>>,
}

impl Permit {
    /// Waits for a permit of the registry. A nested call waits for its siblings instead, and runs
    /// under the permit of its parent.
    #[cfg(feature = "tokio")]
    pub(super) async fn acquire(
        policy: &Policy,
        parent: Option<&ParentCall>,
        is_leaf: bool,
    ) -> Permit {
        let Some(limit) = &policy.semaphore else {
            return Permit::None;
        };
        let parent = parent.and_then(|parent| parent.permit.as_ref()?.upgrade());
        let parent = parent.and_then(|parent| parent.downcast::<Shared>().ok());
        let parent = parent.filter(|parent| Arc::ptr_eq(&parent.limit, limit));
        let semaphore = match &parent {
            Some(parent) => parent.nested.get_or_init(|| Arc::new(Semaphore::new(1))),
            None => limit,
        };
        // It is never closed.
        let permit = Arc::clone(semaphore).acquire_owned().await.ok();
        if is_leaf {
            return Permit::Leaf {
                _permit: permit,
                _parent: parent,
            };
        }
        Permit::Shared(Arc::new(Shared {
            limit: Arc::clone(limit),
            _permit: permit,
            nested: OnceLock::new(),
            _parent: parent,
        }))
    }

    #[cfg(not(feature = "tokio"))]
    #[allow(clippy::unused_async)] // Matches the signature above.
    pub(super) async fn acquire(_: &Policy, _: Option<&ParentCall>, _: bool) -> Permit {
        Permit::None
    }

    /// Returns the permit for calls that the tool makes, which do not keep it.
    pub(super) fn for_nested(&self) -> Option<Weak<dyn Any + Send + Sync>> {
        match self {
            #[cfg(feature = "tokio")]
            Permit::Shared(shared) => {
                let shared: Weak<Shared> = Arc::downgrade(shared);
                Some(shared)
            }
            _ => None,
        }
    }
}
