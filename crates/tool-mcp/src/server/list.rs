//! The list of tools, kept until the registry changes.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use rmcp::ErrorData;
use rmcp::model::{CacheScope, ListToolsResult, MetaObject, Tool};
use serde_json::json;
use tool_core::Registry;
use tool_dialects::Mcp;

#[cfg(feature = "client")]
use super::imported_apps::unlink;
use super::offers::ServedApp;
use super::options::Options;

/// Before the key of the last item of a page.
const CURSOR: &str = "after:";

/// The annotation of a parameter that is sent as an HTTP header too.
const HEADER_KEY: &str = "x-mcp-header";

pub(super) struct List {
    /// Sorted by name.
    tools: Vec<Tool>,
    /// Those for models, if some are for apps alone.
    for_models: Option<Vec<Tool>>,
    /// The tools with parameters that are sent as headers.
    with_headers: HashMap<String, Tool>,
}

/// The last list, with the number of changes that it includes.
#[derive(Default)]
pub(super) struct ListCache(RwLock<Option<(u64, Arc<List>)>>);

impl ListCache {
    /// Returns the list after a number of changes.
    pub(super) fn get(&self, changes: u64, list: impl FnOnce() -> List) -> Arc<List> {
        let cached = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, list)) = cached.as_ref().filter(|(at, _)| *at == changes) {
            return list.clone();
        }
        drop(cached);
        // Without the lock. If the registry changes meanwhile, the list has the number of the change before,
        // and is replaced soon.
        let list = Arc::new(list());
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some((changes, list.clone()));
        list
    }
}

impl List {
    pub(super) fn new(registry: &Registry, options: &Options) -> List {
        let rendered = registry.render(&Mcp::v2026_07_28());
        let mut tools: Vec<Tool> = match serde_json::from_str(rendered.as_str()) {
            Ok(tools) => tools,
            Err(error) => {
                tracing::error!(%error, "the list of tools is not what MCP allows; it is empty");
                Vec::new()
            }
        };
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        let apps = &options.offers.apps;
        if !apps.is_empty() {
            for tool in &mut tools {
                link(tool, apps);
            }
        }
        #[cfg(feature = "client")]
        unlink(&mut tools, registry, options);
        let is_hidden = |tool: &Tool| {
            let has_ui = tool
                .meta
                .as_ref()
                .is_some_and(|meta| meta.0.contains_key("ui"));
            let entry = has_ui.then(|| registry.get(&tool.name)).flatten();
            entry.is_some_and(|entry| !entry.is_for_models())
        };
        let for_models = tools.iter().any(is_hidden).then(|| {
            let tools = tools.iter().filter(|tool| !is_hidden(tool));
            tools.cloned().collect()
        });
        let with_headers = tools
            .iter()
            .filter(|tool| has_header(&tool.input_schema))
            .map(|tool| (tool.name.to_string(), tool.clone()))
            .collect();
        List {
            tools,
            for_models,
            with_headers,
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// Returns the names and the descriptions of the tools for models.
    pub(super) fn described(&self) -> Vec<(String, String)> {
        let tools = self.for_models.as_ref().unwrap_or(&self.tools).iter();
        let described = tools.map(|tool| {
            let description = tool.description.as_deref().unwrap_or_default();
            (tool.name.to_string(), description.to_owned())
        });
        described.collect()
    }

    /// Returns `true` if some tools are for apps alone.
    pub(super) fn has_hidden(&self) -> bool {
        self.for_models.is_some()
    }

    /// Returns a page of the list. A client without apps would send all of it to a model.
    pub(super) fn page(
        &self,
        cursor: Option<&str>,
        size: usize,
        has_apps: bool,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.for_models.as_ref().filter(|_| !has_apps);
        let tools = tools.unwrap_or(&self.tools);
        let (tools, next) = page_of(tools, |tool| &tool.name, cursor, size)?;
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor = next;
        Ok(result)
    }

    /// Returns a tool whose parameters are sent as headers too.
    pub(super) fn with_headers(&self, name: &str) -> Option<&Tool> {
        self.with_headers.get(name)
    }
}

/// Adds to a tool the URI of its app.
fn link(tool: &mut Tool, apps: &[ServedApp]) {
    let is_its = |app: &&ServedApp| app.tools.iter().any(|name| *name == tool.name);
    let Some(app) = apps.iter().find(is_its) else {
        return;
    };
    let MetaObject(meta) = tool.meta.get_or_insert_default();
    let ui = meta.entry("ui").or_insert_with(|| json!({}));
    if !ui.is_object() {
        *ui = json!({});
    }
    ui["resourceUri"] = app.uri.clone().into();
    if ui.get("visibility").is_none() {
        ui["visibility"] = json!(["model", "app"]);
    }
}

/// Returns a page of items that are sorted by their keys, and the cursor of the next page.
pub(super) fn page_of<T: Clone>(
    items: &[T],
    key: impl Fn(&T) -> &str,
    cursor: Option<&str>,
    size: usize,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let last = cursor
                .strip_prefix(CURSOR)
                .ok_or_else(|| ErrorData::invalid_params("unknown cursor", None))?;
            // The item may be gone by now.
            items.partition_point(|item| key(item) <= last)
        }
    };
    let end = items.len().min(start + size);
    let page = &items[start..end];
    let last = page.last().filter(|_| end < items.len());
    let next = last.map(|last| format!("{CURSOR}{}", key(last)));
    Ok((page.to_vec(), next))
}

/// Returns a time in milliseconds.
pub(super) fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Adds how long clients may keep a result, and whether other users may see it.
pub(super) fn cached(
    result: ListToolsResult,
    time: std::time::Duration,
    scope: CacheScope,
) -> ListToolsResult {
    result.with_ttl_ms(millis(time)).with_cache_scope(scope)
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
