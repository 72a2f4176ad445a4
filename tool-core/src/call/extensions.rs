//! [`CallExtensions`]: what an application attaches to a call.

use std::any::Any;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use crate::call::cancellation::CancellationToken;
use crate::call::elicit::Elicitor;
use crate::call::hold::Decided;
use crate::call::position::CallPosition;
use crate::call::progress::ProgressSink;
use crate::call::start::StartCheck;
use crate::call::type_map::TypeMap;

/// The call that made a nested call.
#[derive(Clone)]
pub(crate) struct ParentCall {
    pub(crate) depth: u32,
    #[cfg_attr(not(feature = "tokio"), allow(dead_code))]
    pub(crate) permit: Option<Weak<dyn Any + Send + Sync>>,
}

/// The position of a call in its conversation, and the number of calls that it has made.
#[derive(Clone)]
pub(crate) struct Nesting {
    position: CallPosition,
    made: Arc<AtomicU32>,
}

impl Nesting {
    pub(crate) fn of(position: &CallPosition) -> Nesting {
        Nesting {
            position: position.clone(),
            made: Arc::default(),
        }
    }

    /// Returns the position of the next call that it makes.
    pub(super) fn next(&self) -> CallPosition {
        self.position
            .of_nested(self.made.fetch_add(1, Ordering::Relaxed))
    }
}

/// The values that an application attaches to a call.
#[derive(Clone, Default)]
pub(crate) struct CallExtensions {
    pub(crate) values: TypeMap,
    pub(crate) cancellation: Option<CancellationToken>,
    pub(crate) progress: Option<ProgressSink>,
    pub(crate) parent: Option<ParentCall>,
    pub(crate) decided: Decided,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) nesting: Option<Nesting>,
    pub(crate) elicitor: Option<Arc<dyn Elicitor>>,
    /// The last checks before the tool runs, and before each that it calls.
    pub(crate) starts: Vec<StartCheck>,
    /// The permit of the call, for the calls that it makes.
    pub(crate) permit: Option<Weak<dyn Any + Send + Sync>>,
}

/// Returns the call's value of this type if there is one, else the registry's.
pub(crate) fn get_value<'a, T: Any + Send + Sync>(
    call: Option<&'a CallExtensions>,
    registry: &'a TypeMap,
) -> Option<&'a T> {
    call.and_then(|call| call.values.get())
        .or_else(|| registry.get())
}
