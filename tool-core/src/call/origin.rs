//! [`Origin`]: where a call comes from.

use serde_json::Value;

use crate::call::approval::ApprovalRequest;
use crate::call::head::CallHead;
use crate::call::position::CallPosition;

/// The origin of a call: the code that made it, if not the model itself, and its position.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Origin {
    /// The code that made the call.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) caller: Option<Value>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) namespace: Option<String>,
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub(crate) position: Option<CallPosition>,
    /// The item that answers the call, before the result is added to it, if the provider has one for its
    /// tool.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub(crate) answer: Option<Value>,
    /// The server of the provider that runs the tool.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub(crate) server: Option<String>,
    /// Of a call: the approvals that the provider asks for. Of a result: the approvals that were given.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty")
    )]
    pub(crate) approvals: Vec<ApprovalRequest>,
    /// The name in the model's call, if a lenient registry runs another one.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub(crate) written_name: Option<String>,
    /// Set if the provider takes the result in any later request.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "std::ops::Not::not")
    )]
    pub(crate) is_async: bool,
}

/// Compares the provider's data alone.
impl PartialEq for Origin {
    fn eq(&self, other: &Origin) -> bool {
        self.caller == other.caller
            && self.namespace == other.namespace
            && self.answer == other.answer
            && self.server == other.server
            && self.approvals == other.approvals
            && self.is_async == other.is_async
    }
}

impl Origin {
    /// Returns `true` if a program made the call.
    pub(super) fn is_programmatic(&self) -> bool {
        let caller = self.caller.as_ref();
        caller.is_some_and(|caller| caller["type"] != "direct")
    }
}

/// A call in its result.
#[derive(Clone)]
pub(crate) struct ResultHead {
    pub(crate) call: CallHead,
    /// Boxed, because few calls have one.
    pub(crate) origin: Option<Box<Origin>>,
}

/// The methods of a call and its result about the origin.
macro_rules! origin {
    ($type:ty) => {
        impl $type {
            /// Returns the JSON that says what made the call, as the provider sent it.
            pub fn caller(&self) -> Option<&Value> {
                self.origin()?.caller.as_ref()
            }

            /// Returns `true` if a program of the model made the call: code that runs at the provider. The model
            /// may not see the result, and the program may make many such calls.
            ///
            /// ```
            /// use serde_json::json;
            /// use tool_core::dialect::Dialect;
            /// use tool_dialects::Anthropic;
            ///
            /// let response = json!({
            ///     "role": "assistant",
            ///     "content": [{"type": "tool_use", "id": "toolu_1", "name": "list_alarms", "input": {},
            ///                  "caller": {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}}],
            ///     "stop_reason": "tool_use",
            /// });
            /// assert!(Anthropic::default().read(&response)?.calls[0].is_programmatic());
            /// # Ok::<(), tool_core::dialect::ResponseError>(())
            /// ```
            pub fn is_programmatic(&self) -> bool {
                self.origin().is_some_and(Origin::is_programmatic)
            }

            /// Returns the namespace in which the model called the tool, if the provider sent one.
            pub fn namespace(&self) -> Option<&str> {
                self.origin()?.namespace.as_deref()
            }

            /// Returns the server of the provider that runs the tool, if it is not run here; see
            /// [`ToolCall::hosted_by`].
            pub fn server(&self) -> Option<&str> {
                self.origin()?.server.as_deref()
            }

            /// Returns the position of the call in its conversation, if it is known; see [`CallPosition`].
            pub fn position(&self) -> Option<&CallPosition> {
                self.origin()?.position.as_ref()
            }
        }
    };
}

pub(super) use origin;
