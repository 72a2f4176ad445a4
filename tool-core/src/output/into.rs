//! [`IntoOutput`]: what a tool, or an application in its place, can return.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::Outcome;
use crate::call::extra::joined_text;
use crate::call::{AppValue, Extra};
use crate::content::{Audio, Content, File, Image, ResourceLink};

/// A value that can be the output of a call.
///
/// | type | the model gets |
/// |---|---|
/// | a string | the text |
/// | `()` | `ok` |
/// | any other type with serde's `Serialize` | the value as JSON; it is the structured result |
/// | [`Image`], [`Audio`], [`File`], [`ResourceLink`], [`Content`] | this part |
/// | `Vec<Content>` | these parts |
/// | `(T, Vec<Content>)` | the value, and these parts |
/// | [`Returned<T>`] | as `T`; the application also gets another value |
/// | [`AnyOutput`] | as what it was made of |
///
/// A function with `#[tool]` returns any of them, or a `Result` of any. Other places that take an output
/// are [`Gate::answer`](crate::hooks::Gate::answer), [`Decision::answer`](crate::hooks::Decision::answer),
/// [`ToolResult::new`](crate::ToolResult::new) and the closure of a `DynamicTool`. The parameter `Kind` is
/// always inferred.
///
/// ```
/// use tool_core::content::{Content, Image};
/// use tool_core::{ToolCall, ToolResult};
///
/// let call = ToolCall::new("call_1", "draw", "");
/// assert_eq!(ToolResult::new(&call, "a string").content(), "a string");
/// assert_eq!(ToolResult::new(&call, ()).content(), "ok");
/// assert_eq!(ToolResult::new(&call, vec![1, 2]).content(), "[1,2]");
/// let picture = Content::from(Image::png([0; 8]));
/// let result = ToolResult::new(&call, ("a caption", vec![picture]));
/// // The caption is the first part.
/// assert_eq!((result.content(), result.parts().len()), ("a caption", 2));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the output of a tool",
    note = "return a type with `serde::Serialize`, an `Image`, a `Vec<Content>`, or a pair of a value and \
            a `Vec<Content>`"
)]
pub trait IntoOutput<Kind> {
    #[doc(hidden)]
    fn into_outcome(self) -> Outcome;
}

/// The kinds of outputs. They keep the implementations of [`IntoOutput`] apart: the compiler must assume
/// that any type may be serializable one day.
pub(crate) mod kind {
    /// A serializable value.
    pub enum Value {}
    /// Parts, or an output that is converted already.
    pub enum Parts {}
    /// A value with parts.
    pub enum ValueAndParts {}
    /// An output of this kind with a value for the application.
    pub struct ForApp<Kind>(std::marker::PhantomData<Kind>);
}

impl<T: Serialize> IntoOutput<kind::Value> for T {
    fn into_outcome(self) -> Outcome {
        Outcome::value(&self)
    }
}

impl IntoOutput<kind::Parts> for Vec<Content> {
    fn into_outcome(self) -> Outcome {
        let text = joined_text(&self);
        let extra = Extra {
            parts: self,
            ..Extra::default()
        };
        Outcome::rich(Outcome::Text(text), extra)
    }
}

macro_rules! parts {
    ($($type:ty),*) => {$(
        impl IntoOutput<kind::Parts> for $type {
            fn into_outcome(self) -> Outcome {
                vec![Content::from(self)].into_outcome()
            }
        }
    )*};
}

parts!(Content, Image, Audio, File, ResourceLink);

impl<T: Serialize> IntoOutput<kind::ValueAndParts> for (T, Vec<Content>) {
    fn into_outcome(self) -> Outcome {
        let (value, mut parts) = self;
        let output = Outcome::value(&value);
        if parts.is_empty() {
            return output;
        }
        let (Outcome::Text(text) | Outcome::Json(text)) = &output else {
            return output;
        };
        parts.insert(0, Content::Text(text.clone()));
        let extra = Extra {
            parts,
            has_value: true,
            ..Extra::default()
        };
        Outcome::rich(output, extra)
    }
}

/// An output with a value for the application, which no model sees: rows for a table, an id, a handle.
///
/// The application reads it with [`ToolResult::app`](crate::ToolResult::app). It is kept in memory only, and
/// not part of a saved run.
///
/// ```
/// use tool_core::{Registry, Returned, ToolCall, tool, tools};
///
/// struct Rows(Vec<u32>);
///
/// /// Counts the orders.
/// #[tool]
/// fn count_orders() -> Returned<usize> {
///     let rows = vec![7, 19];
///     Returned::new(rows.len()).for_app(Rows(rows))
/// }
///
/// let registry = Registry::builder().tools(tools![count_orders]).build()?;
/// let result = registry.call_blocking(ToolCall::new("call_1", "count_orders", ""));
/// assert_eq!(result.content(), "2");
/// assert_eq!(result.app::<Rows>().unwrap().0, [7, 19]);
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Returned<T> {
    value: T,
    app: Option<AppValue>,
}

impl<T> Returned<T> {
    /// Creates an output. The type of the value is one that a tool can return; see [`IntoOutput`].
    pub fn new(value: T) -> Returned<T> {
        Returned { value, app: None }
    }

    /// Adds a value for the application. Replaces an earlier one.
    pub fn for_app<A: Any + Send + Sync>(mut self, value: A) -> Returned<T> {
        self.app = Some(AppValue(Arc::new(value)));
        self
    }
}

impl<T: IntoOutput<Kind>, Kind> IntoOutput<kind::ForApp<Kind>> for Returned<T> {
    fn into_outcome(self) -> Outcome {
        let outcome = self.value.into_outcome();
        match self.app {
            Some(app) => outcome.with_extra(|extra| extra.app = Some(app)),
            None => outcome,
        }
    }
}

/// An output of any kind, for a tool that returns a string in one case and parts in another.
///
/// ```
/// use tool_core::content::{Content, Image};
/// use tool_core::{AnyOutput, Registry, ToolCall, tool, tools};
///
/// /// Opens a file.
/// #[tool]
/// fn open(path: &str) -> AnyOutput {
///     if path.ends_with(".png") {
///         AnyOutput::new(Image::png(b"\x89PNG"))
///     } else {
///         AnyOutput::new("text of the file")
///     }
/// }
///
/// let registry = Registry::builder().tools(tools![open]).build()?;
/// let result = registry.call_blocking(ToolCall::new("call_1", "open", r#"{"path":"a.png"}"#));
/// assert!(matches!(result.parts(), [Content::Image(_)]));
/// let result = registry.call_blocking(ToolCall::new("call_2", "open", r#"{"path":"a.txt"}"#));
/// assert_eq!(result.content(), "text of the file");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
pub struct AnyOutput(Outcome);

impl AnyOutput {
    /// Converts a value that a tool can return; see [`IntoOutput`].
    pub fn new<Kind>(output: impl IntoOutput<Kind>) -> AnyOutput {
        AnyOutput(output.into_outcome())
    }
}

impl IntoOutput<kind::Parts> for AnyOutput {
    fn into_outcome(self) -> Outcome {
        self.0
    }
}

/// Omits the contents, which may be many and personal.
impl fmt::Debug for AnyOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyOutput").finish_non_exhaustive()
    }
}
