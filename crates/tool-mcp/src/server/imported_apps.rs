//! Apps of imported servers: whose page a URI is, and which tool an app calls.
//!
//! A page is shown only for results of its server's tools. If several servers have the same URI, the page
//! comes from the first server whose tools the request can see, and the tools of the others lose their
//! link.

use std::collections::HashMap;

use rmcp::model::Tool;
use serde_json::{Map, Value};
use tool_core::{Registry, ToolEntry};

use super::imports::Imported;
use super::options::Options;

/// The start of the URI of a page.
const SCHEME: &str = "ui://";

/// The key of the URI of a page in metadata that is older than the extension.
const OLD_KEY: &str = "ui/resourceUri";

/// Returns the URI of the page that metadata links to.
fn page(meta: &Map<String, Value>) -> Option<&str> {
    let uri = meta
        .get("ui")
        .and_then(|ui| ui.get("resourceUri")?.as_str());
    uri.or_else(|| meta.get(OLD_KEY)?.as_str())
}

/// Returns `true` if a registry has a tool, and not another one of its name.
pub(super) fn has(registry: &Registry, tool: &ToolEntry) -> bool {
    let other = registry.get(&tool.name);
    other.is_some_and(|other| std::ptr::eq(other.spec(), tool.spec()))
}

/// Removes links from tools of a registry to pages of other servers.
pub(super) fn unlink(tools: &mut [Tool], registry: &Registry, options: &Options) {
    let servers = options.imports.servers();
    // The number of the server of each imported tool.
    let mut imported = HashMap::new();
    for (server, number) in servers.iter().zip(1..) {
        for (_, tool) in server.import.tools() {
            if has(registry, &tool) {
                imported.insert(tool.name.to_string(), number);
            }
        }
    }
    if imported.is_empty() {
        return;
    }
    let number = |tool: &Tool| imported.get(&*tool.name).copied().unwrap_or(0);
    let mut owners = HashMap::new();
    for tool in &mut *tools {
        let number = number(tool);
        let Some(meta) = &mut tool.meta else {
            continue;
        };
        if let Some(uri) = page(&meta.0).map(str::to_owned) {
            // Hosts read either key, so both are the same.
            if number > 0 && meta.0.get(OLD_KEY).is_some_and(|old| *old != *uri) {
                meta.0.remove(OLD_KEY);
            }
            let owner = owners.entry(uri).or_insert(number);
            *owner = number.min(*owner);
        }
    }
    let is_own = |uri: &str| {
        let mut resources = options.offers.resources.iter();
        resources.any(|resource| resource.template.matches(uri).is_some())
    };
    for tool in tools {
        let number = number(tool);
        let Some(meta) = &mut tool.meta else {
            continue;
        };
        if let Some(uri) = page(&meta.0)
            && (owners.get(uri).is_some_and(|owner| *owner < number) || number > 0 && is_own(uri))
        {
            meta.0.remove(OLD_KEY);
            if let Some(Value::Object(ui)) = meta.0.get_mut("ui") {
                ui.remove("resourceUri");
            }
        }
    }
}

/// The tools of each imported server that link to pages, by the URI of the page.
pub(super) struct Links(Vec<HashMap<String, Vec<ToolEntry>>>);

/// Whether a server has a resource, for users who can see some of its tools.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shows {
    Never,
    /// If it lists the resource, or a template for it.
    Listed,
    /// Whether it lists it or not.
    Always,
}

impl Links {
    pub(super) fn of(servers: &[Imported]) -> Links {
        let links = servers.iter().map(|server| {
            let mut links: HashMap<String, Vec<ToolEntry>> = HashMap::new();
            for (_, tool) in server.import.tools() {
                let meta = tool.meta_json().map(serde_json::from_str);
                if let Some(Ok(meta)) = meta
                    && let Some(uri) = page(&meta)
                {
                    links.entry(uri.to_owned()).or_default().push(tool);
                }
            }
            links
        });
        Links(links.collect())
    }

    /// Returns the links to a resource, and none if it is no page.
    pub(super) fn to(uri: &str, servers: &[Imported]) -> Links {
        let is_page = uri.starts_with(SCHEME);
        Links::of(if is_page { servers } else { &[] })
    }

    /// Says whether server `number` shows a resource to users who can see the tools of a registry.
    pub(super) fn shows(&self, number: usize, tools: &Registry, uri: &str) -> Shows {
        if !uri.starts_with(SCHEME) {
            return Shows::Listed;
        }
        let sees = |links: &HashMap<_, Vec<_>>| {
            let linking = links.get(uri).into_iter().flatten();
            linking.into_iter().any(|tool| has(tools, tool))
        };
        match self.0.iter().position(sees) {
            Some(owner) if owner == number => Shows::Always,
            Some(_) => Shows::Never,
            // A user who can't see the tool can't see its page.
            None if self
                .0
                .get(number)
                .is_some_and(|links| links.contains_key(uri)) =>
            {
                Shows::Never
            }
            None => Shows::Listed,
        }
    }
}
