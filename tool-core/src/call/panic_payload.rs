//! What a panic carries: for the operator, and then for nobody.

use std::any::Any;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) type Payload = Box<dyn Any + Send>;

/// Its text.
pub(crate) fn text(payload: &Payload) -> String {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    let text = owned.or_else(|| payload.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic payload that is not text")
        .to_owned()
}

/// Drops it, which may panic as well.
pub(crate) fn discard(payload: Payload) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // Nobody knows for how long that goes on. Better a leak than a call without a result.
        std::mem::forget(another);
    }
}

/// The words of an error behind another. It was never displayed before, and may panic at it.
pub(crate) fn displayed(cause: &dyn Error) -> String {
    let text = catch_unwind(AssertUnwindSafe(|| cause.to_string()));
    text.unwrap_or_else(|payload| {
        discard(payload);
        "a cause that panics when it is displayed".into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panics whenever it is dropped, with another of its kind.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::panic_any(Bomb);
        }
    }

    #[test]
    fn a_payload_that_panics_is_dropped_in_peace() {
        discard(Box::new(Bomb));
    }
}
