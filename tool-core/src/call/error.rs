//! [`ToolError`]: why a call failed, for the model and for the operator.

mod kind;
mod nested;
mod reference;
mod transient;

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use self::nested::Nested;
pub use self::reference::Reference;
pub use self::transient::Transient;
use crate::call::boundary::{OPERATOR_TEXT, OwnedError, Source, is_huge, panic_text};
use crate::call::hold::Hold;
use crate::call::truncate::truncate;
use crate::schema::messages::{self, floor_char_boundary, nearest, push};
use crate::schema::violation::{Violation, Violations};

pub use self::kind::ToolErrorKind;

/// The details of an invalid result.
pub struct InvalidResult {
    pub(crate) violations: Violations,
    pub(crate) source: Option<Source>,
}

/// The error of a failed call.
///
/// The model sees [`message`](ToolError::message) (also `Display`): the tool's name, what is wrong,
/// what to do, and a reference. Only the operator sees [`detail`](ToolError::detail) and `source`,
/// logged under the same reference.
///
/// ```
/// use tool_core::{Registry, ToolCall, tool, tools};
///
/// /// Divides two numbers.
/// #[tool]
/// fn divide(a: i64, b: i64) -> Result<i64, String> {
///     a.checked_div(b).ok_or("b is zero".into())
/// }
///
/// let registry = Registry::builder().tools(tools![divide]).build()?;
/// let call = ToolCall::new("call_1", "divide", r#"{"a":1,"b":0}"#);
/// let result = registry.call_blocking(call);
/// let error = result.error().unwrap();
/// assert!(error.message().ends_with("b is zero"));
/// // The same reference is in the log.
/// assert!(error.message().contains(error.id()));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ToolError {
    id: Reference,
    kind: ToolErrorKind,
    message: String,
    /// The message before the application replaced it.
    original: Option<String>,
    #[cfg_attr(feature = "serde", serde(skip))]
    detail: String,
    violations: Vec<Violation>,
    /// Shared with the [`ReplacedError`] that is kept while a hook runs.
    #[cfg_attr(feature = "serde", serde(skip))]
    source: Option<Source>,
    is_retryable: bool,
    hold: Option<Box<Hold>>,
}

/// Appended to the message of a retryable error.
const RETRY: &str = "; retrying the same call may succeed";

/// Precedes an example in the message of a rejected call.
const FITS: &str = "\na call that fits: ";

/// Appended to the message of a tool that timed out and whose repetition may do harm.
const NO_RETRY: &str = "; it may have had an effect, so check before you repeat the call";

impl ToolError {
    /// Returns the reference shared by the model's text and the log: six characters that can be
    /// read out over a telephone.
    pub fn id(&self) -> &str {
        self.id.as_str()
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> ToolErrorKind {
        self.kind
    }

    /// Returns the text for the model.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the text before the application [replaced](crate::RegistryBuilder::map_errors) or
    /// truncated it. The log has this text.
    pub fn original_message(&self) -> &str {
        self.original.as_deref().unwrap_or(&self.message)
    }

    /// Returns `true` if retrying the same call may succeed: the tool's error is
    /// [`Transient`](crate::call::Transient), or a tool that is `read_only` or `idempotent` timed out. The
    /// message says so too.
    ///
    /// ```
    /// use tool_core::call::Transient;
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// The current temperature.
    /// #[tool(read_only)]
    /// fn get_temperature(city: &str) -> Result<f64, Transient> {
    ///     Err(Transient::new(format!("no station in {city} answers")))
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![get_temperature]).build()?;
    /// let call = ToolCall::new("call_1", "get_temperature", r#"{"city":"Lisbon"}"#);
    /// assert!(registry.call_blocking(call).error().unwrap().is_retryable());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn is_retryable(&self) -> bool {
        self.is_retryable
    }

    /// Returns the text for the operator alone: the panic payload, or the missing part of the application.
    /// May be empty.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// The first of some numbers.
    /// #[tool]
    /// fn first(numbers: Vec<i64>) -> i64 {
    ///     numbers[0]
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![first]).build()?;
    /// let result = registry.call_blocking(ToolCall::new("call_1", "first", r#"{"numbers":[]}"#));
    /// let error = result.error().unwrap();
    /// assert!(error.detail().contains("index out of bounds"));
    /// assert!(!error.message().contains("index out of bounds"));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Returns the violations of the schema, at most 20: violations of the arguments, which the message
    /// lists, or of the result, which only the operator sees.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![add]).build()?;
    /// let result = registry.call_blocking(ToolCall::new("call_1", "add", r#"{"a":"2","c":3}"#));
    /// let violations = result.error().unwrap().violations().iter();
    /// let paths: Vec<_> = violations.map(|violation| violation.path()).collect();
    /// assert_eq!(paths, ["a", "c", "b"]);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Returns the hold that somebody has to decide on, if the call is [held](crate::hooks::Gate::hold).
    pub fn hold(&self) -> Option<&Hold> {
        self.hold.as_deref()
    }

    /// Returns the type of the error that the tool returned, if it is known.
    #[cfg(feature = "tracing")]
    pub(crate) fn source_type(&self) -> Option<&'static str> {
        self.source.as_ref()?.type_name()
    }

    /// Creates an error whose message is the headline, the reference and the body.
    fn new(kind: ToolErrorKind, headline: [&str; 2], body: [&str; 2]) -> ToolError {
        let mut error = ToolError::with_headline(kind, headline, body[0].len() + body[1].len());
        error.message.push_str(body[0]);
        error.message.push_str(body[1]);
        error
    }

    /// Creates an error whose message is the headline and the reference, with capacity for a body
    /// of `capacity` bytes.
    fn with_headline(kind: ToolErrorKind, headline: [&str; 2], capacity: usize) -> ToolError {
        let id = Reference::unique();
        let headline_len = headline[0].len() + headline[1].len();
        let mut message = String::with_capacity(headline_len + Reference::SUFFIX_LEN + capacity);
        message.push_str(headline[0]);
        message.push_str(headline[1]);
        id.append_to(&mut message);
        ToolError {
            message,
            id,
            kind,
            original: None,
            detail: String::new(),
            violations: Vec::new(),
            source: None,
            is_retryable: false,
            hold: None,
        }
    }

    /// Truncates the message to `cap` bytes, but never before the end of the reference. The operator's text
    /// may be longer, but is bounded too.
    pub(crate) fn truncate(&mut self, cap: usize) {
        if self.original_message().len() > OPERATOR_TEXT {
            self.shrink_source();
        }
        let operator_cap = cap.max(OPERATOR_TEXT);
        let reference = self.message.find(self.id()).unwrap_or_default();
        let cap = cap.max(reference + self.id().len() + 1);
        if self.message.len() > cap && self.original.is_none() {
            let mut original =
                self.message[..floor_char_boundary(&self.message, operator_cap)].to_owned();
            if original.len() < self.message.len() {
                original.push('…');
            }
            self.original = Some(original);
        }
        // A part of an example would be wrong.
        if self.message.len() > cap
            && let Some(at) = self.message.rfind(FITS)
            && is_of_arguments(self.kind)
        {
            self.message.truncate(at);
        }
        truncate(&mut self.message, cap);
        if let Some(original) = &mut self.original {
            truncate(original, operator_cap);
        }
        truncate(&mut self.detail, operator_cap);
    }

    /// Replaces a source that displays a huge message, and thus holds it, by its messages.
    fn shrink_source(&mut self) {
        if let Some(source) = &self.source
            && is_huge(source.error())
        {
            self.source = Some(Source::new(OwnedError::of(source.error())));
        }
    }

    /// Replaces the message. Appends the reference if it is missing, so that the call can be found
    /// in the log.
    pub(crate) fn map_message(&mut self, message: String) {
        let before = std::mem::replace(&mut self.message, message);
        self.original.get_or_insert(before);
        if !self.message.contains(self.id()) {
            self.id.append_to(&mut self.message);
        }
    }

    /// `meant` is the tool with the [bare name](messages::bare_name).
    pub(crate) fn unknown_tool<'a>(
        name: &str,
        meant: Option<&'a str>,
        names: impl Iterator<Item = &'a str> + Clone,
        has_deferred: bool,
    ) -> ToolError {
        let bare = Some(messages::bare_name(name)).filter(|bare| *bare != name);
        let meant = meant.or_else(|| nearest(name, names.clone()));
        let hint = match meant.or_else(|| nearest(bare?, names.clone())) {
            Some(name) => format!(": did you mean {name}?"),
            None if has_deferred => ": search for a tool that does this".into(),
            None if names.clone().next().is_none() => ": there are no tools".into(),
            None => ": call one of the tools you were given".into(),
        };
        let name = messages::name(name);
        ToolError::new(
            ToolErrorKind::UnknownTool,
            ["unknown tool ", &name],
            [&hint, ""],
        )
    }

    pub(crate) fn malformed_json(tool: &str, problem: &str) -> ToolError {
        ToolError::new(
            ToolErrorKind::MalformedJson,
            [&format!("the arguments for {tool}"), " are not valid JSON"],
            [": ", problem],
        )
    }

    pub(crate) fn invalid_arguments(tool: &str, violations: Violations) -> ToolError {
        let (listed, more) = violations.into_parts();
        let each = listed.iter().map(|violation| violation.as_str().len() + 3);
        // The line after the list is rare and not counted.
        let mut error = ToolError::with_headline(
            ToolErrorKind::InvalidArguments,
            ["invalid arguments for ", tool],
            1 + each.sum::<usize>(),
        );
        error.message.push(':');
        for violation in &listed {
            error.message.push_str("\n- ");
            error.message.push_str(violation.as_str());
        }
        if more > 0 {
            push(&mut error.message, format_args!("\n- and {more} more"));
        }
        error.violations = listed;
        error
    }

    /// Appends an example call to the message of a rejected one.
    #[cold]
    pub(crate) fn offer(&mut self, example: Option<&str>) {
        if let Some(example) = example {
            self.message.push_str(FITS);
            self.message.push_str(example);
        }
    }

    pub(crate) fn failed(tool: &str, message: &str, source: Option<Source>) -> ToolError {
        let source = match source.map(Source::downcast::<ToolError>) {
            Some(Ok(error)) if error.hold().is_some_and(|hold| hold.key().is_some()) => {
                return *error;
            }
            // The tool passed the call on to another registry.
            Some(Ok(error)) if Nested::parse(tool, error.original_message()).is_some() => {
                return *error;
            }
            Some(Ok(error)) => Some(Source::new(*error)),
            Some(Err(source)) => Some(source),
            None => None,
        };
        let is_transient = source
            .as_ref()
            .is_some_and(|source| source.error().is::<Transient>());
        let (message, invites_retry) = match message.strip_suffix(RETRY) {
            Some(message) => (message, true),
            None => (message, false),
        };
        let mut error = match Nested::parse(tool, message) {
            Some(nested) => ToolError::passed_on(nested, tool, invites_retry),
            None => ToolError::new(ToolErrorKind::Failed, [tool, " failed"], [": ", message]),
        };
        error.source = source;
        if error.message.len() < message.len() && message.len() > OPERATOR_TEXT {
            // The messages of the calls in between are left out, so `truncate` does not see them.
            error.shrink_source();
        }
        error.is_retryable |= is_transient;
        if error.is_retryable {
            error.message.push_str(RETRY);
        }
        error
    }

    /// Creates the error of a call that was passed on.
    fn passed_on(nested: Nested<'_>, tool: &str, invites_retry: bool) -> ToolError {
        let (kind, body) = (nested.kind, nested.body);
        let headline = [nested.headline[0], tool, nested.headline[1]].concat();
        let mut error = ToolError::new(kind, [&headline, ""], [body, ""]);
        if kind == ToolErrorKind::InvalidArguments {
            let list = body.rfind(FITS).map_or(body, |at| &body[..at]);
            let lines = list.trim_start_matches(':').split("\n- ");
            let bounded = |line: &str| floor_char_boundary(line, OPERATOR_TEXT);
            let lines = lines.map(|line| Violation::parse(&line[..bounded(line)]));
            error.violations = lines.skip(1).take(20).collect();
        }
        let may_retry = matches!(kind, ToolErrorKind::Failed | ToolErrorKind::TimedOut);
        error.is_retryable = may_retry && invites_retry;
        error
    }

    /// Creates the error of a result that breaks the tool's promise. The model can't mend it, and the tool
    /// may have had its effect.
    pub(crate) fn invalid_result(tool: &str, invalid: InvalidResult) -> ToolError {
        const BODY: &str = ": the call was carried out, but its result can't be shown; it has been \
                            reported, so do not repeat the call";
        let mut error = ToolError::new(
            ToolErrorKind::InvalidResult,
            [tool, " returned an invalid result"],
            [BODY, ""],
        );
        let (listed, more) = invalid.violations.into_parts();
        error.detail = listed
            .iter()
            .map(Violation::as_str)
            .collect::<Vec<_>>()
            .join("; ");
        if more > 0 {
            push(&mut error.detail, format_args!("; and {more} more"));
        }
        error.violations = listed;
        error.source = invalid.source;
        error
    }

    pub(crate) fn timed_out(
        tool: &str,
        after: Duration,
        may_retry: bool,
        may_continue: bool,
    ) -> ToolError {
        let running = if may_continue {
            " and may still be running"
        } else {
            ""
        };
        let body = format!(": it did not finish within {after:?}{running}");
        let hint = if may_retry { RETRY } else { NO_RETRY };
        let mut error =
            ToolError::new(ToolErrorKind::TimedOut, [tool, " timed out"], [&body, hint]);
        error.is_retryable = may_retry;
        error
    }

    /// Creates the error of a call of this tool that was stopped. This and the next functions are for code
    /// that handles calls before a registry does, and makes results with
    /// [`ToolResult::failed`](crate::ToolResult::failed).
    pub fn cancelled(tool: &str) -> ToolError {
        ToolError::new(
            ToolErrorKind::Cancelled,
            [tool, " was cancelled"],
            [": the call was stopped before the tool finished", ""],
        )
    }

    /// Creates the error of a call of this tool that is not run. The model sees the reason.
    pub fn denied(tool: &str, reason: &str) -> ToolError {
        ToolError::new(
            ToolErrorKind::Denied,
            [tool, " was not run"],
            [": ", reason],
        )
    }

    /// Creates the error of a tool that waits for the decision on a call that it made. Its own call becomes
    /// [`Held`](ToolErrorKind::Held) then. Once somebody has decided, the tool runs again, and
    /// [`CallContext::decisions`](crate::CallContext::decisions) has the decision, with a hold whose
    /// [`key`](Hold::key) identifies the call.
    pub fn held(hold: Hold, key: impl Into<String>) -> ToolError {
        ToolError::of_hold(hold.with_key(key.into()))
    }

    pub(crate) fn of_hold(hold: Hold) -> ToolError {
        let mut error = ToolError::new(
            ToolErrorKind::Held,
            [hold.tool(), " was not run"],
            [": it needs approval: ", hold.reason()],
        );
        error.hold = Some(Box::new(hold));
        error
    }

    /// Creates the error of a call of this tool during which the program stopped, and which may have had an
    /// effect.
    pub fn interrupted(tool: &str) -> ToolError {
        ToolError::new(
            ToolErrorKind::Interrupted,
            [tool, " was interrupted"],
            [": the program stopped while it ran", NO_RETRY],
        )
    }

    pub(crate) fn unavailable(tool: &str, detail: String) -> ToolError {
        ToolError::internal(ToolErrorKind::Unavailable, tool, detail)
    }

    /// Creates the error of a call of this tool during which code panicked. The model does not see the
    /// panic's message, which becomes the [detail](ToolError::detail).
    ///
    /// ```
    /// use std::panic::catch_unwind;
    /// use tool_core::ToolError;
    ///
    /// let payload = catch_unwind(|| panic!("no such note")).unwrap_err();
    /// let error = ToolError::of_panic("delete_note", payload);
    /// assert_eq!(error.detail(), "no such note");
    /// assert!(error.message().ends_with("internal error; it has been reported"));
    /// ```
    pub fn of_panic(tool: &str, payload: Box<dyn Any + Send>) -> ToolError {
        ToolError::panicked(tool, panic_text(payload))
    }

    pub(crate) fn panicked(tool: &str, panic: String) -> ToolError {
        ToolError::internal(ToolErrorKind::Panicked, tool, panic)
    }

    /// Creates an error whose cause is hidden from the model.
    fn internal(kind: ToolErrorKind, tool: &str, detail: String) -> ToolError {
        let body = [": internal error; it has been reported", ""];
        let mut error = ToolError::new(kind, [tool, " failed"], body);
        error.detail = detail;
        error
    }

    /// Copies what must be kept of the error while a hook owns it.
    pub(crate) fn replaced(&mut self) -> ReplacedError {
        if self.original_message().len() > OPERATOR_TEXT {
            self.shrink_source();
        }
        let bounded = |text: &str| text[..floor_char_boundary(text, OPERATOR_TEXT)].to_owned();
        ReplacedError {
            message: bounded(self.original_message()),
            detail: bounded(&self.detail),
            source: self.source.clone(),
        }
    }

    /// Sets the error that this one replaces as its source.
    pub(crate) fn set_replaced(&mut self, replaced: ReplacedError) {
        self.source = Some(Source::new(replaced));
    }
}

/// Returns `true` if the arguments were rejected.
fn is_of_arguments(kind: ToolErrorKind) -> bool {
    matches!(
        kind,
        ToolErrorKind::InvalidArguments | ToolErrorKind::MalformedJson
    )
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ToolError {
    /// Returns the error of the tool. If a hook panicked, returns the error passed to the hook.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| source.error() as _)
    }
}

/// An error that a hook received and lost by panicking. Its message has the reference, which the
/// hook may have passed on.
#[derive(Debug)]
pub(crate) struct ReplacedError {
    message: String,
    detail: String,
    source: Option<Source>,
}

impl fmt::Display for ReplacedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

impl Error for ReplacedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| source.error() as _)
    }
}
