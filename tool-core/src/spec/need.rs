//! [`Need`]: the type of a context value that a tool needs.

use std::any::{Any, TypeId, type_name};
use std::fmt;

/// The type of a context value that a tool needs.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Need {
    id: fn() -> TypeId,
    name: fn() -> &'static str,
}

impl Need {
    // `Input::context` asks for `Send + Sync`, so that it is one error.
    pub const fn of<T: Any>() -> Need {
        Need {
            id: TypeId::of::<T>,
            name: type_name::<T>,
        }
    }

    pub(crate) fn id(self) -> TypeId {
        (self.id)()
    }

    /// Returns the path of the type.
    pub(crate) fn name(self) -> &'static str {
        (self.name)()
    }
}

impl fmt::Debug for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
