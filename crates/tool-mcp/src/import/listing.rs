//! Lists the tools of a server, which may be any number.

use std::collections::{BTreeSet, HashSet};

use rmcp::model::{
    ClientRequest, ErrorCode, ListToolsRequest, PaginatedRequestParams, ServerResult,
};
use rmcp::service::ServiceError;
use serde_json::{Map, Value, json};

use super::error::{ImportError, ImportErrorKind};
use super::live::Live;
use super::pins::{self, Pin, digest};
use super::report::RejectedTool;
use super::request::{RequestError, describe, is_unauthorized, send};
use super::secrets::{Secrets, shorten};
use super::settings::Settings;
use super::transport::Request;
use crate::gateway::{GATEWAYS, MAX_GATEWAYS};

/// More pages than this are not read, even if they are empty.
pub(super) const MAX_PAGES: usize = 1000;

/// A longer name is not accepted.
const MAX_NAME: usize = 256;

/// A tool with more JSON values is not accepted. Compiling a schema takes far more memory than its JSON.
const MAX_VALUES: usize = 20_000;

/// A tool with more bytes of JSON is not accepted: providers accept less in a whole request.
const MAX_BYTES: usize = 1 << 20;

/// Icons or metadata with more bytes are not accepted: a picture may be among them.
const MAX_FOR_CLIENTS: usize = 64 << 10;

/// The most JSON values of all tools. Further tools are not accepted.
const MAX_ALL_VALUES: usize = 500_000;

/// The tools of a server.
#[derive(Clone, Default)]
pub(super) struct Listing {
    pub(super) tools: Vec<Listed>,
    pub(super) rejected: Vec<RejectedTool>,
    pub(super) notes: Vec<String>,
    /// The ids of the gateways that the tools may come from.
    pub(super) gateways: BTreeSet<String>,
}

/// A tool as the server lists it.
#[derive(Clone)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) tool: Map<String, Value>,
    pub(super) pin: Pin,
    /// The hash of the icons and the metadata, which change without being accepted again.
    pub(super) for_clients: String,
}

/// Reads all pages, within the limits.
pub(super) async fn list(
    live: &Live,
    settings: &Settings,
    secrets: &Secrets,
) -> Result<Listing, ImportError> {
    let limit = settings.list_timeout;
    let pages = pages(live, settings, secrets);
    let pages = live.in_flight.within(limit, pages).await;
    let (items, mut listing) = pages.ok_or_else(|| {
        let text = format!("the server did not list its tools within {limit:?}");
        ImportError::new(ImportErrorKind::List, text)
    })??;
    let mut names = HashSet::new();
    let mut all_values = 0;
    for item in items {
        let reject = |name: &str, reason: &str| RejectedTool {
            source: shorten(name, 100).into_owned(),
            reason: reason.to_owned(),
        };
        let Value::Object(mut tool) = item else {
            listing.rejected.push(reject("", "it is not an object"));
            continue;
        };
        let name = match tool.get("name").and_then(Value::as_str) {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => {
                listing.rejected.push(reject("", "it has no name"));
                continue;
            }
        };
        if name.len() > MAX_NAME {
            listing.rejected.push(reject(&name, "its name is too long"));
        } else if !names.insert(name.clone()) {
            listing
                .rejected
                .push(reject(&name, "another tool has its name"));
        } else {
            let is_large = |tool: &Map<String, Value>, key| {
                let value = tool.get(key);
                value.is_some_and(|value| size(value) > MAX_FOR_CLIENTS)
            };
            if is_large(&tool, "icons") {
                tool.remove("icons");
                let name = shorten(&name, 100);
                let note = format!("the icons of the tool {name} are too large, and were left out");
                listing.notes.push(note);
            }
            // Without its metadata, a tool for apps alone would be one for models.
            if is_large(&tool, "_meta") {
                listing
                    .rejected
                    .push(reject(&name, "its metadata is too large"));
                continue;
            }
            let tool = Value::Object(tool);
            let (values, bytes) = (values(&tool), size(&tool));
            let Value::Object(tool) = tool else {
                continue;
            };
            if values > MAX_VALUES || bytes > MAX_BYTES {
                listing.rejected.push(reject(&name, "it is too large"));
                continue;
            }
            all_values += values;
            if all_values > MAX_ALL_VALUES {
                let reason = "the tools before it are too large in all";
                listing.rejected.push(reject(&name, reason));
                continue;
            }
            let (pin, for_clients) = (Pin::of(&tool), pins::hash(&tool, &["icons", "_meta"]));
            listing.tools.push(Listed {
                name,
                tool,
                pin,
                for_clients,
            });
        }
    }
    Ok(listing)
}

async fn pages(
    live: &Live,
    settings: &Settings,
    secrets: &Secrets,
) -> Result<(Vec<Value>, Listing), ImportError> {
    let mut tools = Vec::new();
    let mut listing = Listing::default();
    let notes = &mut listing.notes;
    let mut cursor = None;
    let mut seen = HashSet::new();
    let mut bytes = 0;
    for page_number in 1.. {
        let (mut page, next) = match page(live, settings, cursor).await {
            Ok(page) => {
                listing.gateways.extend(gateways(page.meta.as_ref()));
                (page.tools, page.next)
            }
            Err(RequestError::Service(ServiceError::McpError(error)))
                if error.code == ErrorCode::METHOD_NOT_FOUND && page_number == 1 =>
            {
                notes.push("the server has no tools".into());
                break;
            }
            Err(error) => {
                let kind = if is_unauthorized(&error) {
                    ImportErrorKind::Unauthorized
                } else {
                    ImportErrorKind::List
                };
                let text = describe(&error, secrets);
                let text = format!("the tools can't be listed: {text}");
                return Err(ImportError::new(kind, text));
            }
        };
        let room = settings.max_tools - tools.len();
        let surplus = page.len().saturating_sub(room);
        page.truncate(room);
        bytes += page.iter().map(size).sum::<usize>();
        tools.append(&mut page);
        let mut stop = |reason: String| notes.push(format!("{reason}; the rest was left out"));
        if surplus > 0 {
            stop(format!(
                "the server lists more than {} tools",
                settings.max_tools
            ));
        } else if next.is_none() {
            break;
        } else if bytes > settings.max_message {
            stop(format!(
                "the list is longer than {} bytes",
                settings.max_message
            ));
        } else if !seen.insert(digest(next.as_deref().unwrap_or_default().as_bytes())) {
            stop("the server lists the same page again".into());
        } else if page_number == MAX_PAGES {
            stop(format!("the server lists more than {MAX_PAGES} pages"));
        } else {
            cursor = next;
            continue;
        }
        break;
    }
    Ok((tools, listing))
}

/// Reads the ids of gateways in the metadata of a list.
fn gateways(meta: Option<&Value>) -> impl Iterator<Item = String> {
    let ids = meta.and_then(|meta| meta[GATEWAYS].as_array());
    let ids = ids.into_iter().flatten().filter_map(Value::as_str);
    let ids = ids.take(MAX_GATEWAYS + 1);
    ids.map(|id| shorten(id, MAX_GATEWAYS).into_owned())
}

struct Page {
    tools: Vec<Value>,
    /// The cursor of the next page.
    next: Option<String>,
    meta: Option<Value>,
}

/// Reads one page.
async fn page(
    live: &Live,
    settings: &Settings,
    cursor: Option<String>,
) -> Result<Page, RequestError> {
    let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
    let request = ListToolsRequest {
        params,
        ..ListToolsRequest::default()
    };
    let (carried, events) = Request::new(None);
    let request = ClientRequest::ListToolsRequest(request);
    // Not by `Peer::list_tools`, which has a cache and rejects a page for one invalid tool.
    let result = send(live, request, carried, events, settings.list_timeout).await?;
    let unexpected = || RequestError::Service(ServiceError::UnexpectedResponse);
    match result {
        ServerResult::ListToolsResult(page) => {
            let tools = page.tools.into_iter().map(serde_json::to_value);
            let tools = tools.collect::<Result<_, _>>().map_err(|_| unexpected())?;
            let (next, meta) = (page.next_cursor, page.meta.map(|meta| json!(meta)));
            Ok(Page { tools, next, meta })
        }
        ServerResult::CustomResult(result) => {
            let Value::Object(mut page) = result.0 else {
                return Err(unexpected());
            };
            let Some(Value::Array(tools)) = page.remove("tools") else {
                return Err(unexpected());
            };
            let next = page.get("nextCursor").and_then(Value::as_str);
            Ok(Page {
                next: next.map(str::to_owned),
                tools,
                meta: page.remove("_meta"),
            })
        }
        _ => Err(unexpected()),
    }
}

/// Counts the JSON values in a value.
fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(values).sum(),
        Value::Object(members) => members.values().map(values).sum(),
        _ => 0,
    }
}

/// Returns about as many bytes as the JSON text of a value has.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 5,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(size).sum::<usize>() + 2,
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| key.len() + 4 + size(value));
            members.sum::<usize>() + 2
        }
    }
}
