//! Puts the tools of a server into a registry.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use tool_core::dynamic::DynamicTool;
use tool_core::spec::Annotations;
use tool_core::{ToolEntry, visible};

use super::call::{Target, call};
use super::error::{ImportError, ImportErrorKind};
use super::listing::{Listed, Listing};
use super::live::Live;
use super::pins::{Pin, Pins};
use super::report::{HeldTool, RejectedTool, Report, TakenTool};
use super::secrets::shorten;
use super::shared::Shared;

/// The tools of a server, as last listed.
pub(super) struct Toolbox {
    pub(super) shared: Arc<Shared>,
    pub(super) listing: Listing,
    /// By the name at the server. A tool that did not change keeps its entry.
    built: HashMap<String, Built>,
    /// The server's name, version and instructions.
    identity: (Option<(String, String)>, String),
}

#[derive(Clone)]
struct Built {
    pin: Pin,
    for_clients: String,
    tool: DynamicTool,
}

impl Toolbox {
    pub(super) fn new(shared: Arc<Shared>) -> Toolbox {
        Toolbox {
            shared,
            listing: Listing::default(),
            built: HashMap::new(),
            identity: Default::default(),
        }
    }

    pub(super) fn set_listing(&mut self, live: &Live, listing: Listing) {
        self.listing = listing;
        self.identity = (live.server.clone(), live.protocol.clone());
    }

    /// Removes the tools, which are no tools of the server itself.
    pub(super) fn clear(&mut self) {
        self.listing = Listing::default();
        self.built.clear();
        // A subset of valid tools is valid, so this never fails.
        let _ = self
            .shared
            .replace_tools(&self.shared.registry, &HashMap::new());
        self.shared.publish(Report::default());
    }

    /// Accepts a held tool, unless it has changed since.
    pub(super) fn accept(&mut self, held: &HeldTool) -> Result<(), ImportError> {
        let error = |text: String| Err(ImportError::new(ImportErrorKind::Pins, text));
        let Some(path) = &self.shared.settings.pins else {
            return error("the import has no file of accepted tools".into());
        };
        let name = &held.source;
        let mut listed = self.listing.tools.iter();
        let Some(current) = listed.find(|tool| tool.name == *name && tool.pin == held.pin) else {
            return error(format!("the tool {name:?} has changed again, or is gone"));
        };
        let mut pins = Pins::read(path)
            .map_err(|text| ImportError::new(ImportErrorKind::Pins, text))?
            .unwrap_or_default();
        pins.insert(name, &current.tool);
        pins.write(path)
            .map_err(|text| ImportError::new(ImportErrorKind::Pins, text))?;
        self.apply()
    }

    /// Returns the tools of the listing as if they were accepted.
    pub(super) fn pins(&self) -> Pins {
        let mut pins = Pins::default();
        for listed in &self.listing.tools {
            pins.insert(&listed.name, &listed.tool);
        }
        pins
    }

    /// Makes the registry have the tools of the listing, in one step, and publishes a report.
    pub(super) fn apply(&mut self) -> Result<(), ImportError> {
        let (server, protocol) = self.identity.clone();
        let mut report = Report {
            server,
            protocol,
            rejected: self.listing.rejected.clone(),
            notes: self.listing.notes.clone(),
            ..Report::default()
        };
        let accepted = self.accepted(&mut report)?;
        let mut built = HashMap::new();
        let start = Instant::now();
        let limit = self.shared.settings.list_timeout;
        for listed in &self.listing.tools {
            if let Some(pins) = &accepted
                && pins.get(&listed.name).as_ref() != Some(&listed.pin)
            {
                report.held.push(held(listed, pins));
                continue;
            }
            let before = self.built.get(&listed.name);
            let is_same =
                |built: &&Built| built.pin == listed.pin && built.for_clients == listed.for_clients;
            let tool = match before.filter(is_same) {
                Some(built) => Ok(built.tool.clone()),
                None if start.elapsed() > limit => {
                    Err(format!("the tools before it took longer than {limit:?}"))
                }
                None => build(&self.shared, listed),
            };
            match tool {
                Ok(tool) => {
                    report.taken.push(taken(listed, &tool));
                    let new = Built {
                        pin: listed.pin.clone(),
                        for_clients: listed.for_clients.clone(),
                        tool,
                    };
                    built.insert(listed.name.clone(), new);
                }
                Err(reason) => report.rejected.push(rejected(listed, &reason)),
            }
        }
        self.exchange(&mut built, &mut report)?;
        self.note_lookalikes(&mut report);
        self.built = built;
        self.shared.publish(report);
        Ok(())
    }

    /// Notes tools with names that a person or a model may confuse with names of other tools.
    fn note_lookalikes(&self, report: &mut Report) {
        let own: HashSet<_> = report.taken.iter().map(|tool| tool.name.clone()).collect();
        let mut names: HashMap<String, String> = HashMap::new();
        for entry in self.shared.registry.specs() {
            if !own.contains(&*entry.spec().name) {
                names.insert(skeleton(&entry.spec().name), entry.spec().name.to_string());
            }
        }
        for tool in &report.taken {
            let name = &tool.name;
            // People who know the server know the tool by its name there.
            let source = format!("{}{}", self.shared.settings.prefix, tool.source);
            let skeletons = [skeleton(name), skeleton(&visible::remove(&source))];
            let other = skeletons.iter().find_map(|skeleton| names.get(skeleton));
            match other.filter(|other| *other != name) {
                Some(other) => report
                    .notes
                    .push(format!("the name {name} looks like {other}")),
                None => names.extend(skeletons.map(|skeleton| (skeleton, name.clone()))),
            }
        }
    }

    /// Returns the accepted tools, all if the file does not exist yet.
    fn accepted(&self, report: &mut Report) -> Result<Option<Pins>, ImportError> {
        let Some(path) = &self.shared.settings.pins else {
            return Ok(None);
        };
        let error = |text| ImportError::new(ImportErrorKind::Pins, text);
        if let Some(pins) = Pins::read(path).map_err(error)? {
            return Ok(Some(pins));
        }
        let pins = self.pins();
        pins.write(path).map_err(error)?;
        let count = pins.len();
        report.notes.push(format!(
            "{count} tools were accepted into {}",
            path.display()
        ));
        Ok(Some(pins))
    }

    /// Replaces the tools in the registry. Leaves out tools with names that are taken.
    fn exchange(
        &self,
        built: &mut HashMap<String, Built>,
        report: &mut Report,
    ) -> Result<(), ImportError> {
        let registry = &self.shared.registry;
        loop {
            let entries: HashMap<_, _> = built
                .iter()
                .map(|(name, built)| (name.clone(), ToolEntry::from(built.tool.clone())))
                .collect();
            let Err(error) = self.shared.replace_tools(registry, &entries) else {
                return Ok(());
            };
            let taken: HashSet<_> = error.duplicate_names().map(str::to_owned).collect();
            let prefix = &self.shared.settings.prefix;
            let before = built.len();
            for listed in &self.listing.tools {
                let is_taken = built.get(&listed.name).is_some_and(|built| {
                    taken.contains(&*built.tool.spec().name)
                        || taken.contains(&format!("{prefix}{}", listed.name))
                });
                if is_taken {
                    built.remove(&listed.name);
                    report.taken.retain(|tool| tool.source != listed.name);
                    let reason = "another tool of the registry has its name; use a prefix";
                    report.rejected.push(rejected(listed, reason));
                }
            }
            if built.len() == before {
                let text = format!("the registry rejects the tools: {error}");
                return Err(ImportError::new(ImportErrorKind::Registry, text));
            }
        }
    }
}

/// Returns what names that look alike have in common: without case and separators, and with one of the letters and
/// digits that look the same.
fn skeleton(name: &str) -> String {
    let mut skeleton = String::with_capacity(name.len());
    for c in name.chars() {
        match c.to_ascii_lowercase() {
            '_' | '-' | '.' | '/' => {}
            'i' | 'l' | '1' | '|' => skeleton.push('l'),
            '0' => skeleton.push('o'),
            '5' => skeleton.push('s'),
            other => skeleton.push(other),
        }
    }
    skeleton.replace("rn", "m").replace("vv", "w")
}

fn build(shared: &Arc<Shared>, listed: &Listed) -> Result<DynamicTool, String> {
    let settings = &shared.settings;
    let mut tool = listed.tool.clone();
    tool.insert(
        "name".into(),
        format!("{}{}", settings.prefix, listed.name).into(),
    );
    if tool
        .get("inputSchema")
        .is_some_and(|schema| !schema.is_object())
    {
        return Err("its parameter schema is not an object".into());
    }
    let claims = if settings.trusts_annotations {
        claims(listed)
    } else {
        tool.remove("annotations");
        Annotations::default()
    };
    let mut builder = DynamicTool::from_mcp(&Value::Object(tool)).tags(settings.tags.clone());
    if settings.trusts_annotations {
        builder = builder.trust_annotations();
    }
    let target = Arc::new(Target {
        shared: shared.clone(),
        name: listed.name.clone(),
        has_output_schema: listed
            .tool
            .get("outputSchema")
            .is_some_and(|schema| !schema.is_null()),
        is_repeatable: claims.read_only == Some(true) || claims.idempotent == Some(true),
    });
    let built = builder.build(move |arguments, context| call(target.clone(), arguments, context));
    built.map_err(|error| {
        let text = shared.secrets.redact(error.to_string());
        shorten(&text, 1000).into_owned()
    })
}

fn claims(listed: &Listed) -> Annotations {
    let hints = &listed.tool.get("annotations").cloned().unwrap_or_default();
    let mut claims = Annotations::default();
    claims.read_only = hints["readOnlyHint"].as_bool();
    claims.destructive = hints["destructiveHint"].as_bool();
    claims.idempotent = hints["idempotentHint"].as_bool();
    claims.open_world = hints["openWorldHint"].as_bool();
    claims
}

fn taken(listed: &Listed, tool: &DynamicTool) -> TakenTool {
    TakenTool {
        name: tool.spec().name.to_string(),
        source: listed.name.clone(),
        repairs: tool.repairs().to_vec(),
        claims: claims(listed),
    }
}

fn rejected(listed: &Listed, reason: &str) -> RejectedTool {
    RejectedTool {
        source: listed.name.clone(),
        reason: reason.to_owned(),
    }
}

/// Returns JSON with invisible characters in its strings and keys escaped.
fn escaped(value: &Value) -> Value {
    match value {
        Value::String(text) => visible::escape(text).into(),
        Value::Array(items) => items.iter().map(escaped).collect(),
        Value::Object(members) => {
            let members = members.iter();
            let escaped =
                members.map(|(key, value)| (visible::escape(key).into_owned(), escaped(value)));
            Value::Object(escaped.collect())
        }
        other => other.clone(),
    }
}

fn held(listed: &Listed, pins: &Pins) -> HeldTool {
    let old = pins.get(&listed.name);
    HeldTool {
        source: listed.name.clone(),
        changes: old.map_or_else(Vec::new, |old| old.changes(&listed.pin)),
        listed: escaped(&Value::Object(listed.tool.clone())),
        pin: listed.pin.clone(),
    }
}

#[cfg(all(test, feature = "server"))]
mod tests {
    use std::sync::Mutex;

    use tool_core::Registry;

    use super::*;
    use crate::{Import, Server, lock};

    #[tokio::test]
    async fn a_tool_in_the_registry_is_known_to_be_imported_at_once() {
        let draw = DynamicTool::builder("draw").description("Draws.");
        let draw = draw.build(async |_, _| Ok::<_, String>(())).unwrap();
        let theirs = Registry::builder().tool(draw).build().unwrap();
        let registry = Registry::new();
        let import = Import::stream(move || {
            let server = Server::new(theirs.clone());
            async move {
                let (near, far) = tokio::io::duplex(64 * 1024);
                let (input, output) = tokio::io::split(far);
                tokio::spawn(server.serve_stream(input, output));
                Ok::<_, std::io::Error>(near)
            }
        });
        let import = Arc::new(import.start(&registry, "gateway").unwrap());
        let known = Arc::new(Mutex::new(Vec::new()));
        let (noted, imported, own) = (known.clone(), import.clone(), registry.clone());
        let listener = registry.on_change(move |_, _| {
            let is_same = |tool: &ToolEntry| {
                let listed = own.get("draw");
                listed.is_some_and(|listed| std::ptr::eq(listed.spec(), tool.spec()))
            };
            let tools = imported.tools();
            lock(&noted).push(
                tools
                    .iter()
                    .any(|(name, tool)| name == "draw" && is_same(tool)),
            );
        });
        import.connected().await.unwrap();
        assert_eq!(*lock(&known), [true]);
        // It holds the import.
        drop(listener);
    }
}
