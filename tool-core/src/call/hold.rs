//! [`Hold`] and [`Decision`]: calls that wait for a person.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::approval::{ApprovalRequest, Hosted};
use super::arguments::Arguments;
use super::extra::Extra;
use crate::schema::Property;
use crate::schema::secret::{HIDDEN, any_secret, redact_arguments};
use crate::visible;

/// A call that waits until somebody decides on it, because a `before` hook held it, or because its provider asks for an
/// [approval](ApprovalRequest); see [`Gate::hold`](crate::hooks::Gate::hold) and
/// [`Gate::confirm`](crate::hooks::Gate::confirm).
/// [`ToolError::hold`](crate::ToolError::hold) returns it.
///
/// It contains everything that a person has to see: the arguments, as the tool would get them, and the
/// reason. A decision applies to these arguments only.
///
/// ```
/// use tool_core::hooks::Gate;
/// use tool_core::{Registry, ToolCall, tool, tools};
///
/// /// Pays an invoice.
/// #[tool]
/// fn pay(invoice: u32) -> u32 {
///     invoice
/// }
///
/// let registry = Registry::builder()
///     .tools(tools![pay])
///     .before(async |_| Gate::hold("it costs money"))
///     .build()?;
/// let result = registry.call_blocking(ToolCall::new("call_1", "pay", r#"{"invoice":7}"#));
/// // What a person decides on.
/// let hold = result.error().unwrap().hold().unwrap();
/// assert_eq!(hold.tool(), "pay");
/// assert_eq!(hold.arguments(), r#"{"invoice":7}"#);
/// assert_eq!(hold.reason(), "it costs money");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Hold {
    tool: String,
    arguments: String,
    /// The arguments without their secrets, if they have some.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    shown: Option<Box<str>>,
    /// The shown form, where it is another text.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    visible: Option<Box<str>>,
    reason: String,
    /// The number of holds of this call so far, starting at 1.
    number: u32,
    /// Set if the owner of the call may decide.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "std::ops::Not::not")
    )]
    is_confirmation: bool,
    /// Set if a tool waits for the decision on a call that it made. Identifies that call for the tool.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    key: Option<String>,
    /// The provider's question. Boxed, because few holds have one.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    asked: Option<Box<Asked>>,
}

/// A provider's question before a call.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Asked {
    request: ApprovalRequest,
    /// The server of the provider that runs the tool.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    server: Option<String>,
}

impl Hold {
    pub(crate) fn new(
        tool: &str,
        parameters: &'static [Property],
        arguments: &str,
        reason: String,
        (number, is_confirmation): (u32, bool),
    ) -> Hold {
        let shown = any_secret(parameters)
            .then(|| Box::<str>::from(redact_arguments(parameters, arguments).text));
        let visible = match visible::json(shown.as_deref().unwrap_or(arguments)) {
            Cow::Borrowed(_) => None,
            Cow::Owned(visible) => Some(visible.into()),
        };
        Hold {
            tool: tool.to_owned(),
            arguments: arguments.into(),
            shown,
            visible,
            reason: match visible::escape(&reason) {
                Cow::Borrowed(_) => reason,
                Cow::Owned(escaped) => escaped,
            },
            number,
            is_confirmation,
            key: None,
            asked: None,
        }
    }

    /// Adds what the provider asks.
    pub(crate) fn with_approval(mut self, request: ApprovalRequest) -> Hold {
        let server = None;
        self.asked = Some(Box::new(Asked { request, server }));
        self
    }

    /// Creates the hold of a call that the provider runs.
    pub(crate) fn of_hosted(hosted: Hosted, number: u32, request: &ApprovalRequest) -> Hold {
        let reason = request.reason().to_owned();
        let kind = (number, false);
        let mut hold = Hold::new(&hosted.tool, &[], &hosted.arguments, reason, kind);
        hold.asked = Some(Box::new(Asked {
            request: request.clone(),
            server: Some(hosted.server),
        }));
        hold
    }

    pub(crate) fn with_key(mut self, key: String) -> Hold {
        self.key = Some(key);
        self
    }

    /// Returns the key that a tool gave to [`ToolError::held`](crate::ToolError::held) with the hold of a call that it
    /// made; `None` for a hold of the call itself.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Returns the server of the provider that runs the tool; `None` for a tool that runs here. The
    /// [name](Hold::tool) of the tool starts with it.
    pub fn server(&self) -> Option<&str> {
        self.asked.as_ref()?.server.as_deref()
    }

    /// Returns what the provider asks; `None` if a hook holds the call.
    pub fn approval(&self) -> Option<&ApprovalRequest> {
        self.asked.as_ref().map(|asked| &asked.request)
    }

    /// Returns the number of holds of this call so far, starting at 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns `true` if the owner of the call may decide on it, because the hook returned
    /// [`Gate::confirm`](crate::hooks::Gate::confirm). Otherwise it has to be somebody else.
    pub fn is_confirmation(&self) -> bool {
        self.is_confirmation
    }

    /// Returns the name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the arguments as a person has to see them, in their [one shown form](visible::json): JSON text on one line in
    /// which nothing is invisible, with `"[secret]"` for each [secret](macro@crate::tool#secrets) value. Arguments that
    /// differ are shown differently. Where [`Decision::change`] has `"[secret]"` in its place, the tool gets the secret.
    ///
    /// ```
    /// use tool_core::hooks::Gate;
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Pays somebody.
    /// #[tool]
    /// fn pay(to: &str) -> usize {
    ///     to.len()
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .tools(tools![pay])
    ///     .before(async |_| Gate::hold("it costs money"))
    ///     .build()?;
    /// let call = ToolCall::new("call_1", "pay", "{\"to\": \"Ada\u{202e}\"}");
    /// let result = registry.call_blocking(call);
    /// let hold = result.error().unwrap().hold().unwrap();
    /// assert_eq!(hold.arguments(), r#"{"to":"Ada\u202e"}"#);
    /// assert_eq!(hold.raw_arguments(), "{\"to\": \"Ada\u{202e}\"}");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn arguments(&self) -> &str {
        self.visible.as_deref().unwrap_or(self.raw_arguments())
    }

    /// Returns the JSON text that the tool would get, byte for byte, but with `"[secret]"` for each
    /// [secret](macro@crate::tool#secrets) value. It may hold invisible text: show [`arguments`](Hold::arguments).
    pub fn raw_arguments(&self) -> &str {
        self.shown.as_deref().unwrap_or(&self.arguments)
    }

    /// Returns the hold without the secrets in its arguments, so that you can show and save it. If the
    /// arguments have secrets, a decision on it does not count for the original.
    ///
    /// ```
    /// use tool_core::hooks::Gate;
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Signs in.
    /// #[tool]
    /// fn sign_in(user: &str, #[param(secret)] password: &str) -> usize {
    ///     user.len() + password.len()
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .tools(tools![sign_in])
    ///     .before(async |_| Gate::hold("it opens the account"))
    ///     .build()?;
    /// let call = ToolCall::new("call_1", "sign_in", r#"{"user":"ada","password":"hunter2"}"#);
    /// let result = registry.call_blocking(call);
    /// let hold = result.error().unwrap().hold().unwrap();
    /// let shown = hold.without_secrets();
    /// assert_ne!(shown, *hold);
    /// assert_eq!(shown.arguments(), r#"{"user":"ada","password":"[secret]"}"#);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn without_secrets(&self) -> Hold {
        Hold {
            arguments: self.raw_arguments().to_owned(),
            shown: None,
            ..self.clone()
        }
    }

    /// Returns a decision in which changed arguments have the secrets that a person could not see, in place
    /// of `"[secret]"`. [`ToolCall::decided`](crate::ToolCall::decided) does this too.
    pub fn restored(&self, decision: Decision) -> Decision {
        match decision {
            Decision::Change(arguments) => Decision::Change(self.restore(arguments)),
            other => other,
        }
    }

    fn restore(&self, changed: Arguments) -> Arguments {
        let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
        if !changed.clone().into_text().contains(HIDDEN) {
            return changed;
        }
        let Some(shown) = self.shown.as_deref().and_then(parse) else {
            return changed;
        };
        let (Some(own), Ok(mut members)) = (parse(&self.arguments), changed.to_object()) else {
            return changed;
        };
        for (key, value) in &mut members {
            restore(value, &shown[key], &own[key]);
        }
        Arguments::Json(Value::Object(members))
    }

    /// Returns the reason that the hook or the provider gave, with escapes for characters that
    /// [prose does not need](visible::escape).
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// Replaces the text that stands for a secret by the secret.
fn restore(changed: &mut Value, shown: &Value, own: &Value) {
    match changed {
        Value::String(text) if *text == HIDDEN && shown == HIDDEN => *changed = own.clone(),
        Value::Object(members) => {
            for (key, value) in members {
                restore(value, &shown[key], &own[key]);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter_mut().enumerate() {
                restore(value, &shown[at], &own[at]);
            }
        }
        _ => {}
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold")
            .field("tool", &self.tool)
            .field("arguments", &self.arguments())
            .field("reason", &self.reason)
            .field("number", &self.number)
            .field("is_confirmation", &self.is_confirmation)
            .finish_non_exhaustive()
    }
}

/// A person's decision on a [held](crate::hooks::Gate::hold) call.
///
/// ```
/// use tool_core::hooks::{Decision, Gate};
/// use tool_core::{Registry, ToolCall, tool, tools};
///
/// /// Pays an invoice.
/// #[tool]
/// fn pay(invoice: u32) -> u32 {
///     invoice
/// }
///
/// let registry = Registry::builder()
///     .tools(tools![pay])
///     .before(async |_| Gate::hold("it costs money"))
///     .build()?;
/// let call = ToolCall::new("call_1", "pay", r#"{"invoice":7}"#);
/// let result = registry.call_blocking(call.clone());
/// let hold = result.error().unwrap().hold().unwrap();
///
/// let denied = call.clone().decided(hold.clone(), Decision::deny("it is paid already"));
/// assert!(registry.call_blocking(denied).is_error());
/// let allowed = call.decided(hold.clone(), Decision::Allow);
/// assert_eq!(registry.call_blocking(allowed).content(), "7");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[doc(alias("human in the loop", "approval"))]
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Decision {
    /// Runs the call with the arguments that were held.
    Allow,
    /// Does not run the call. The model sees the reason.
    Deny(String),
    /// Runs the call with these arguments instead. They are validated, and all hooks see them.
    Change(Arguments),
    /// Does not run the tool: the call ends with this output.
    Answer(Answer),
}

impl Decision {
    /// Does not run the call. The model sees the reason.
    pub fn deny(reason: impl Into<String>) -> Decision {
        Decision::Deny(reason.into())
    }

    /// Runs the call with these arguments instead.
    pub fn change(arguments: impl Into<Arguments>) -> Decision {
        Decision::Change(arguments.into())
    }
}

/// The output of a call whose tool does not run; see
/// [`Gate::answer`](crate::hooks::Gate::answer) and [`Gate::fail`](crate::hooks::Gate::fail).
///
/// ```
/// use tool_core::hooks::Gate;
///
/// // The output of a cache, in place of the tool's.
/// let Gate::Answer(cached) = Gate::answer("21 degrees") else { unreachable!() };
/// let failed = Gate::fail("the service is down");
/// assert_ne!(failed, Gate::Answer(cached));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Answer(pub(crate) AnswerOutput);

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum AnswerOutput {
    Text(String),
    Json(String),
    WithParts {
        output: Box<AnswerOutput>,
        extra: Extra,
    },
    Failed {
        message: String,
        cause: Option<String>,
    },
    /// It can't be serialized.
    Unwritable {
        cause: String,
    },
}

/// The decisions on the holds of one call, and the people who made them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decided(Vec<(Hold, Decision, String)>);

impl Decided {
    /// Adds the decision of `by` on a hold.
    pub(super) fn add(&mut self, hold: Hold, decision: Decision, by: String) {
        let decision = hold.restored(decision);
        self.0.push((hold, decision, by));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Hold, &Decision, &str)> {
        let decisions = self.0.iter();
        decisions.map(|(hold, decision, by)| (hold, decision, &**by))
    }

    /// Returns the decisions on the call itself. The others are for its tool.
    fn own(&self) -> impl DoubleEndedIterator<Item = (&Hold, &Decision)> {
        let decisions = self.0.iter();
        let own = decisions.filter(|(hold, _, _)| hold.key.is_none());
        own.map(|(hold, decision, _)| (hold, decision))
    }

    /// Returns the last decision that does not just allow the call.
    pub(crate) fn other_than_allow(&self) -> Option<&Decision> {
        let mut decisions = self.own().rev().map(|(_, decision)| decision);
        decisions.find(|decision| **decision != Decision::Allow)
    }

    /// Returns `true` if `needed` was decided on in favour of the call. `changed` are the arguments of a
    /// [`Decision::Change`], as the tool gets them.
    pub(crate) fn allows(&self, needed: &Hold, changed: Option<&str>) -> bool {
        // A decision in the wrong role does not count: confirmations are for the owner of the call, holds
        // for somebody else.
        self.own().any(|(hold, decision)| {
            hold.is_confirmation == needed.is_confirmation
                && hold.tool == needed.tool
                && hold.server() == needed.server()
                && match decision {
                    Decision::Allow => {
                        hold.number == needed.number
                            && hold.arguments == needed.arguments
                            && hold.approval() == needed.approval()
                    }
                    // A person who changes the arguments has decided on the earlier holds too.
                    Decision::Change(_) => {
                        needed.number <= hold.number && changed == Some(&*needed.arguments)
                    }
                    Decision::Deny(_) | Decision::Answer(_) => false,
                }
        })
    }
}

impl Decided {
    /// Returns `true` if the call was allowed where the provider asks this.
    pub(crate) fn approves(&self, request: &ApprovalRequest) -> bool {
        self.own().any(|(hold, decision)| {
            hold.approval() == Some(request)
                && matches!(decision, Decision::Allow | Decision::Change(_))
        })
    }
}
