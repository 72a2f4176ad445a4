//! The boundary around the application's code: its panics end at most the call.
//!
//! User code does not only run in a tool's body. It also runs in `Drop`, in the sources of an error, in a
//! subscriber of the log. [`catch`] runs such code; [`Guarded`] holds a value whose `Drop` may panic;
//! [`Caught`] is a future that does not panic when polled.

use std::any::{Any, type_name};
use std::error::Error;
use std::fmt::{self, Write};
use std::future::Future;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::schema::messages::floor_char_boundary;

pub(crate) type Payload = Box<dyn Any + Send>;

/// Runs user code. If it panics, returns the text of the panic.
#[inline]
pub(crate) fn catch<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(panic_text)
}

/// Returns the text of a panic payload, which may panic itself when dropped.
#[cold]
pub(crate) fn panic_text(payload: Payload) -> String {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    let found = owned.or_else(|| payload.downcast_ref::<&str>().copied());
    let text = found.unwrap_or("panic payload is not text").to_owned();
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // Dropping this payload may panic again, without end. So it leaks, because a lost result would be
        // worse.
        std::mem::forget(another);
    }
    text
}

/// A value of the application, or none. A panic in its `Drop` is caught, wherever it is dropped. Unlike an
/// `Option` of a guarded value, it needs no space for a tag.
pub(crate) struct Guarded<T>(Option<T>);

impl<T> Guarded<T> {
    pub(crate) fn new(value: T) -> Guarded<T> {
        Guarded(Some(value))
    }

    /// Returns the value. It is absent if there was none, and while it is dropped.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_ref()
    }

    /// Takes the value out, which is unguarded from then on.
    fn into_inner(mut self) -> Option<T> {
        self.0.take()
    }

    #[cold]
    fn clear(&mut self) {
        // The panic hook has reported the panic.
        let _ = catch(|| self.0 = None);
    }
}

impl<T> Deref for Guarded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.get().expect("the value is only absent while dropped")
    }
}

impl<T> From<Option<T>> for Guarded<T> {
    fn from(value: Option<T>) -> Guarded<T> {
        Guarded(value)
    }
}

impl<T> Drop for Guarded<T> {
    #[inline]
    fn drop(&mut self) {
        if self.0.is_some() {
            self.clear();
        }
    }
}

/// A future of user code. Completes with the text of a panic if it panics. Dropping it before it
/// completes may panic: the call then ends as panicked.
pub(crate) struct Caught<F>(Option<F>);

impl<F: Future + Unpin> Caught<F> {
    pub(crate) fn new(future: F) -> Caught<F> {
        Caught(Some(future))
    }
}

impl<F: Future + Unpin> Future for Caught<F> {
    type Output = Result<F::Output, String>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let slot = &mut self.get_mut().0;
        let mut output = None;
        let polled = catch(|| {
            if let Some(future) = slot
                && let Poll::Ready(value) = Pin::new(future).poll(context)
            {
                output = Some(value);
                // In here, because it may panic too. The output is kept then.
                *slot = None;
            }
        });
        match (output, polled) {
            (Some(output), _) => Poll::Ready(Ok(output)),
            (None, Ok(())) => Poll::Pending,
            (None, Err(panic)) => {
                let _ = catch(|| *slot = None);
                Poll::Ready(Err(panic))
            }
        }
    }
}

/// The longest text in bytes that is kept of an error for the operator.
pub(crate) const OPERATOR_TEXT: usize = 64 << 10;

/// The error of a tool, as the application reads it. A pointer, because every call moves the space
/// for one.
#[derive(Clone)]
pub struct Source(Arc<Typed>);

/// An error and the name of the type that it was made of.
struct Typed {
    error: Guarded<Box<dyn Error + Send + Sync>>,
    #[cfg_attr(not(feature = "tracing"), allow(dead_code))]
    type_name: fn() -> &'static str,
}

impl Source {
    pub(crate) fn new<E: Into<Box<dyn Error + Send + Sync>>>(error: E) -> Source {
        Source(Arc::new(Typed {
            error: Guarded::new(error.into()),
            type_name: type_name::<E>,
        }))
    }

    pub(crate) fn error(&self) -> &(dyn Error + Send + Sync + 'static) {
        &**self.0.error
    }

    /// Returns the path of the error's type, or `None` if it is a string or not known.
    #[cfg(feature = "tracing")]
    pub(crate) fn type_name(&self) -> Option<&'static str> {
        let name = (self.0.type_name)();
        let is_known = !name.contains("dyn ") && name.contains("::");
        let is_ours = self.error().is::<OwnedError>() || name == type_name::<String>();
        (is_known && !is_ours).then_some(name)
    }

    /// Returns the error if it is of this type and not shared. The type must not panic when dropped.
    pub(crate) fn downcast<E: Error + 'static>(self) -> Result<Box<E>, Source> {
        if !self.error().is::<E>() {
            return Err(self);
        }
        let Typed { error, .. } = Arc::try_unwrap(self.0).map_err(Source)?;
        let error = error.into_inner().expect("it is only absent while dropped");
        error.downcast().map_err(Source::new)
    }
}

impl From<String> for Source {
    fn from(text: String) -> Source {
        Source::new(text)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.error(), f)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.error(), f)
    }
}

/// The maximum number of errors of one chain that are read, because a chain may have no end.
const CHAIN: usize = 32;

/// Iterates over the sources of an error, without the error itself. Ends after 32 errors, and
/// where `source()` panics.
pub(crate) fn sources<'e>(
    error: &'e (dyn Error + 'static),
) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    let source = |error: &'e (dyn Error + 'static)| catch(|| error.source()).ok().flatten();
    std::iter::successors(source(error), move |error| source(*error)).take(CHAIN - 1)
}

/// The messages of an error and its sources.
#[derive(Debug)]
pub(crate) struct OwnedError {
    text: String,
    source: Option<Box<OwnedError>>,
}

impl OwnedError {
    /// Copies the messages, each truncated to [`OPERATOR_TEXT`].
    pub(crate) fn of(error: &(dyn Error + 'static)) -> OwnedError {
        let sources: Vec<_> = sources(error).map(displayed).collect();
        let source = sources.into_iter().rev().fold(None, |source, text| {
            Some(Box::new(OwnedError { text, source }))
        });
        OwnedError {
            text: displayed(error),
            source,
        }
    }
}

impl fmt::Display for OwnedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for OwnedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// Returns `true` if an error or one of its sources displays a message longer than [`OPERATOR_TEXT`].
pub(crate) fn is_huge(error: &(dyn Error + 'static)) -> bool {
    let mut errors = std::iter::once(error).chain(sources(error));
    errors.any(|error| !matches!(display(error).1, Ok(Ok(()))))
}

/// Returns the displayed text of an error, truncated to [`OPERATOR_TEXT`] bytes.
pub(crate) fn displayed(error: &(dyn Error + 'static)) -> String {
    match display(error) {
        (text, Ok(Ok(()))) => text,
        // The error of the application's `Display`, or the end of the space.
        (text, Ok(Err(_))) => text + "…",
        (_, Err(_)) => "the error source panicked while it was displayed".into(),
    }
}

/// Displays an error until the text is long enough. `Display` may panic.
fn display(error: &dyn Error) -> (String, Result<fmt::Result, String>) {
    struct Capped(String);

    impl Write for Capped {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            let end = floor_char_boundary(part, OPERATOR_TEXT - self.0.len());
            self.0.push_str(&part[..end]);
            if end < part.len() {
                Err(fmt::Error)
            } else {
                Ok(())
            }
        }
    }

    let mut out = Capped(String::new());
    let written = catch(|| write!(out, "{error}"));
    (out.0, written)
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

    /// An error that is its own source, or that panics.
    #[derive(Debug)]
    struct Odd {
        panics: bool,
    }

    impl fmt::Display for Odd {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            assert!(!self.panics, "planned");
            f.write_str("größer")
        }
    }

    impl Error for Odd {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            assert!(!self.panics, "planned");
            Some(self)
        }
    }

    #[cfg_attr(panic = "abort", ignore = "it catches a panic")]
    #[test]
    fn a_payload_that_panics_when_dropped_is_discarded() {
        let caught = catch(|| std::panic::panic_any(Bomb));
        assert_eq!(caught, Err("panic payload is not text".into()));
    }

    #[cfg_attr(panic = "abort", ignore = "it catches a panic")]
    #[test]
    fn a_value_that_panics_when_dropped_is_dropped() {
        drop(Guarded::new(Bomb));
    }

    #[cfg_attr(panic = "abort", ignore = "it catches a panic")]
    #[test]
    fn a_chain_without_an_end_is_cut() {
        assert_eq!(sources(&Odd { panics: false }).count(), CHAIN - 1);
        assert_eq!(sources(&Odd { panics: true }).count(), 0);
    }

    #[test]
    fn an_endless_chain_is_truncated() {
        let error = OwnedError::of(&Odd { panics: false });
        let chain = std::iter::successors(Some(&error), |error| error.source.as_deref());
        assert_eq!(chain.count(), CHAIN);
    }

    #[cfg_attr(panic = "abort", ignore = "it catches a panic")]
    #[test]
    fn a_text_is_cut_at_a_character() {
        assert_eq!(displayed(&Odd { panics: false }), "größer");
        assert!(displayed(&Odd { panics: true }).contains("panicked"));
        let long = Source::new(format!("g{}", "ö".repeat(OPERATOR_TEXT)));
        let shown = displayed(long.error());
        assert_eq!(shown.len(), OPERATOR_TEXT - 1 + "…".len());
        assert!(shown.starts_with("gö") && shown.ends_with("ö…"));
        assert!(is_huge(long.error()) && !is_huge(&Odd { panics: false }));
    }
}
