//! How a call ends: its result, or an error of the protocol.

use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ClientCapabilities, ContentBlock, ErrorCode, Resource};
use tool_core::dialect::Dialect;
use tool_core::{ToolErrorKind, ToolResult};
use tool_dialects::Mcp;

use super::ask::Asker;
use super::tasks::Finished;
use crate::protocol_error::ProtocolError;

/// The purpose of a function's call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Tool,
    Resource,
    Prompt,
}

impl Purpose {
    /// Returns the function's name in signed states and approvals. A tool and a resource with the same name
    /// differ here: no name has a space.
    pub(super) fn bound_name(self, name: &str) -> Cow<'_, str> {
        match self {
            Purpose::Tool => name.into(),
            Purpose::Resource => format!("resource {name}").into(),
            Purpose::Prompt => format!("prompt {name}").into(),
        }
    }
}

/// Converts a result.
pub(super) fn finished(
    result: ToolResult,
    asker: Option<&Arc<Asker>>,
    purpose: Purpose,
) -> Finished {
    let link = kept(&result).filter(|_| purpose == Purpose::Tool);
    if let Some(error) = result.error() {
        if let Some(error) = protocol_error(error) {
            return Err(error);
        }
        if asker.is_some_and(|asker| asker.lacks_capability()) {
            return Err(ErrorData::missing_required_client_capability(
                ClientCapabilities::builder().enable_elicitation().build(),
            ));
        }
        if purpose != Purpose::Tool {
            return Err(ErrorData::new(
                code_of(error.kind()),
                error.message().to_owned(),
                None,
            ));
        }
        let mut content = vec![ContentBlock::text(error.message())];
        content.extend(link);
        return Ok(Box::new(CallToolResult::error(content)));
    }
    let mut wire = if result.parts().is_empty() {
        let structured = result.structured();
        let text = result.into_result().unwrap_or_default();
        let mut wire = CallToolResult::success(vec![ContentBlock::text(text)]);
        wire.structured_content = structured;
        wire
    } else {
        with_parts(&result)
    };
    wire.content.extend(link);
    Ok(Box::new(wire))
}

/// The start of the URI of a kept result. Its handle follows.
pub(super) const KEPT: &str = "tool-result:///";

/// Returns a link to the whole text of a result that was too long.
fn kept(result: &ToolResult) -> Option<ContentBlock> {
    let (handle, bytes) = result.kept()?;
    let name = format!("the whole result of {}", result.name());
    let link = Resource::new(format!("{KEPT}{handle}"), name).with_mime_type(TEXT);
    Some(ContentBlock::resource_link(link.with_size(bytes as u64)))
}

/// The media type of kept results.
pub(super) const TEXT: &str = "text/plain";

/// Returns the code for an error of a function that is no tool.
fn code_of(kind: ToolErrorKind) -> ErrorCode {
    match kind {
        ToolErrorKind::MalformedJson | ToolErrorKind::InvalidArguments => ErrorCode::INVALID_PARAMS,
        ToolErrorKind::Denied | ToolErrorKind::Held => ErrorCode::INVALID_REQUEST,
        _ => ErrorCode::INTERNAL_ERROR,
    }
}

/// Converts a result with images and the like, in the form of the dialect.
fn with_parts(result: &ToolResult) -> CallToolResult {
    let mut responses = Mcp::v2026_07_28().results(std::slice::from_ref(result));
    let written = responses
        .first_mut()
        .map(|response| response["result"].take());
    serde_json::from_value(written.unwrap_or_default()).unwrap_or_else(|error| {
        tracing::error!(%error, "a result is not what MCP allows; its text is sent");
        CallToolResult::success(vec![ContentBlock::text(result.content())])
    })
}

/// Returns the error of the protocol that a tool asked for.
fn protocol_error(error: &dyn Error) -> Option<ErrorData> {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<ProtocolError>() {
            let ProtocolError {
                code,
                message,
                data,
            } = error.clone();
            return Some(ErrorData::new(ErrorCode(code), message, data));
        }
        source = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::state::Binding;

    #[test]
    fn what_is_signed_for_a_tool_is_not_for_a_resource_of_its_name() {
        let purposes = [Purpose::Tool, Purpose::Resource, Purpose::Prompt];
        let bindings = purposes.map(|purpose| {
            let name = purpose.bound_name("note");
            Binding::new(&name, None, Some("ada")).digest().to_vec()
        });
        assert!(
            bindings[0] != bindings[1] && bindings[1] != bindings[2] && bindings[0] != bindings[2]
        );
    }
}
