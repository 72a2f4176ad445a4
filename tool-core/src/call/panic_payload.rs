//! Panic payloads: read for the operator, then dropped safely.

use std::any::Any;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) type Payload = Box<dyn Any + Send>;

/// Returns the text of a panic payload.
pub(crate) fn text(payload: &Payload) -> String {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    let text = owned.or_else(|| payload.downcast_ref::<&str>().copied());
    text.unwrap_or("panic payload is not text").to_owned()
}

/// Drops a panic payload, which may panic itself.
pub(crate) fn discard(payload: Payload) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // Dropping this one may panic again, without end. A leak is better than a lost result.
        std::mem::forget(another);
    }
}

/// Returns the text of an error's source, whose `Display` may panic.
pub(crate) fn displayed(cause: &dyn Error) -> String {
    let text = catch_unwind(AssertUnwindSafe(|| cause.to_string()));
    text.unwrap_or_else(|payload| {
        discard(payload);
        "the error source panicked while it was displayed".into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panics when dropped, with another bomb as the payload.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::panic_any(Bomb);
        }
    }

    #[test]
    fn a_payload_that_panics_when_dropped_is_discarded() {
        discard(Box::new(Bomb));
    }
}
