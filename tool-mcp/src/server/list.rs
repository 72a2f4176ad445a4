//! The list of tools, kept until the registry changes.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use rmcp::ErrorData;
use rmcp::model::{CacheScope, ListToolsResult, Tool};
use tool_core::Registry;
use tool_core::dialect::Mcp;

/// Before the name of the last tool of a page.
const CURSOR: &str = "after:";

/// The annotation of a parameter that is sent as an HTTP header too.
const HEADER_KEY: &str = "x-mcp-header";

pub(super) struct List {
    /// Sorted by name.
    tools: Vec<Tool>,
    /// The tools with parameters that are sent as headers.
    with_headers: HashMap<String, Tool>,
}

/// The last list, with the number of changes that it includes.
#[derive(Default)]
pub(super) struct ListCache(RwLock<Option<(u64, Arc<List>)>>);

impl ListCache {
    pub(super) fn get(&self, registry: &Registry, changes: u64) -> Arc<List> {
        let cached = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, list)) = cached.as_ref().filter(|(at, _)| *at == changes) {
            return list.clone();
        }
        drop(cached);
        // Without the lock. If the registry changes meanwhile, the list has the number of the change before,
        // and is replaced soon.
        let list = Arc::new(List::new(registry));
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some((changes, list.clone()));
        list
    }
}

impl List {
    pub(super) fn new(registry: &Registry) -> List {
        let rendered = registry.render(&Mcp::v2026_07_28());
        let mut tools: Vec<Tool> = match serde_json::from_str(rendered.as_str()) {
            Ok(tools) => tools,
            Err(error) => {
                tracing::error!(%error, "the list of tools is not what MCP allows; it is empty");
                Vec::new()
            }
        };
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        let with_headers = tools
            .iter()
            .filter(|tool| has_header(&tool.input_schema))
            .map(|tool| (tool.name.to_string(), tool.clone()))
            .collect();
        List {
            tools,
            with_headers,
        }
    }

    /// Returns a page of the list.
    pub(super) fn page(
        &self,
        cursor: Option<&str>,
        size: usize,
    ) -> Result<ListToolsResult, ErrorData> {
        let start = match cursor {
            None => 0,
            Some(cursor) => {
                let name = cursor
                    .strip_prefix(CURSOR)
                    .ok_or_else(|| ErrorData::invalid_params("unknown cursor", None))?;
                // The tool may be gone by now.
                self.tools.partition_point(|tool| &*tool.name <= name)
            }
        };
        let end = self.tools.len().min(start + size);
        let page = &self.tools[start..end];
        let mut result = ListToolsResult::with_all_items(page.to_vec());
        if end < self.tools.len() {
            result.next_cursor = page.last().map(|last| format!("{CURSOR}{}", last.name));
        }
        Ok(result)
    }

    /// Returns a tool whose parameters are sent as headers too.
    pub(super) fn with_headers(&self, name: &str) -> Option<&Tool> {
        self.with_headers.get(name)
    }
}

/// Adds how long clients may keep a result, and whether other users may see it.
pub(super) fn cached(
    result: ListToolsResult,
    time: std::time::Duration,
    scope: CacheScope,
) -> ListToolsResult {
    let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    result.with_ttl_ms(millis).with_cache_scope(scope)
}

fn has_header(schema: &serde_json::Map<String, serde_json::Value>) -> bool {
    schema.iter().any(|(key, value)| {
        key == HEADER_KEY
            || match value {
                serde_json::Value::Object(object) => has_header(object),
                serde_json::Value::Array(items) => items
                    .iter()
                    .filter_map(serde_json::Value::as_object)
                    .any(has_header),
                _ => false,
            }
    })
}
