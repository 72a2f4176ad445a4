//! The resources and prompts of a server: the functions behind them, in a registry of their own.

use std::collections::HashMap;
use std::fmt::Display;

use rmcp::ErrorData;
use rmcp::model::{Annotations, Icon, MetaObject};
use serde_json::{Map, Value};
use tool_core::runtime::BoxFuture;
use tool_core::{Registry, ToolEntry};

use super::app::App;
use super::request::UserId;
use super::template::Template;

#[derive(Default)]
pub(super) struct Offers {
    /// The functions, with the settings of the registry of the tools.
    registry: Option<Registry>,
    /// Sorted by template.
    pub(super) resources: Vec<Resource>,
    pub(super) apps: Vec<ServedApp>,
    /// The names of the prompts, sorted.
    pub(super) prompts: Vec<String>,
    pub(super) complete: Option<Box<Complete>>,
}

/// A resource, or the resources that a template describes.
pub(super) struct Resource {
    pub(super) template: Template,
    /// The name of the function.
    pub(super) name: String,
    pub(super) annotations: Option<Annotations>,
}

/// An app that is served.
pub(super) struct ServedApp {
    pub(super) uri: String,
    pub(super) app: App,
    /// The names of the tools whose results it shows.
    pub(super) tools: Vec<String>,
}

/// The call that reads a resource or gets a prompt.
pub(super) struct FoundCall {
    pub(super) registry: Registry,
    pub(super) function: ToolEntry,
    /// JSON text.
    pub(super) arguments: String,
    /// The description of a prompt.
    pub(super) description: Option<String>,
    /// `true` if the result is one of the protocol, from another server.
    pub(super) is_imported: bool,
}

pub(super) type Complete = dyn Fn(Completion) -> BoxFuture<Vec<String>> + Send + Sync;

/// An argument that a person types, as [`Server::complete`](crate::Server::complete) sees it.
///
/// ```
/// use tool_mcp::server::Completion;
///
/// async fn complete(completion: Completion) -> Vec<String> {
///     match &*completion.argument {
///         "city" => vec!["Lisbon".into(), "Porto".into()],
///         _ => Vec::new(),
///     }
/// }
/// # let _ = complete;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Completion {
    /// The name of the function behind the prompt or the resource.
    pub name: String,
    /// The name of the argument or the variable.
    pub argument: String,
    /// The text that is typed so far.
    pub value: String,
    /// The other arguments that the client knows already.
    pub others: HashMap<String, String>,
    /// The user of the request.
    pub user: Option<UserId>,
}

impl Offers {
    pub(super) fn add_resource(
        &mut self,
        tools: &Registry,
        template: &str,
        functions: Vec<ToolEntry>,
    ) -> Result<(), String> {
        let template = Template::parse(template)?;
        let source = template.source();
        let [function] = &*functions else {
            let count = functions.len();
            return Err(format!(
                "the resource `{source}` has {count} functions; it needs one"
            ));
        };
        for other in &self.resources {
            if other.template.overlaps(&template) {
                let (other, name) = (other.template.source(), &other.name);
                return Err(format!(
                    "the resources `{source}` and `{other}` ({name}) overlap: a URI may match both"
                ));
            }
        }
        if self
            .apps
            .iter()
            .any(|app| template.matches(&app.uri).is_some())
        {
            return Err(format!("the resource `{source}` has the URI of an app"));
        }
        check_variables(&template, function)?;
        let name = function.name.to_string();
        self.add(tools, functions, |name| format!("the resource {name}"))?;
        self.resources.push(Resource {
            template,
            name,
            annotations: None,
        });
        self.resources
            .sort_by(|one, other| one.template.source().cmp(other.template.source()));
        Ok(())
    }

    pub(super) fn add_prompts(
        &mut self,
        tools: &Registry,
        functions: Vec<ToolEntry>,
    ) -> Result<(), String> {
        let names: Vec<_> = functions
            .iter()
            .map(|function| function.name.to_string())
            .collect();
        self.add(tools, functions, |name| format!("the prompt {name}"))?;
        self.prompts.extend(names);
        self.prompts.sort();
        Ok(())
    }

    pub(super) fn add(
        &mut self,
        tools: &Registry,
        functions: Vec<ToolEntry>,
        what: impl Fn(&str) -> String,
    ) -> Result<(), String> {
        let names: Vec<_> = functions
            .iter()
            .map(|function| function.name.to_string())
            .collect();
        let text = |error: &dyn Display| format!("{}: {error}", what(&names.join(", ")));
        match &self.registry {
            Some(registry) => registry.add(functions).map_err(|error| text(&error)),
            None => {
                let registry = tools.with_other_tools(functions);
                self.registry = Some(registry.map_err(|error| text(&error))?);
                Ok(())
            }
        }
    }

    /// Returns the functions, if there are some.
    pub(super) fn functions(&self) -> Option<&Registry> {
        self.registry.as_ref()
    }

    /// Returns `true` if there is something to complete.
    pub(super) fn completes(&self) -> bool {
        let has_choices = |function: ToolEntry| {
            let properties = parameters(&function).map(|(properties, _)| properties);
            properties.is_some_and(|all| all.values().any(|schema| !choices(schema).is_empty()))
        };
        let functions = self.functions().map(Registry::specs).unwrap_or_default();
        self.complete.is_some() && !functions.is_empty() || functions.into_iter().any(has_choices)
    }
}

/// Checks that a function gets what it needs from a URI.
fn check_variables(template: &Template, function: &ToolEntry) -> Result<(), String> {
    let Some((properties, required)) = parameters(function) else {
        return Ok(());
    };
    let (source, name) = (template.source(), &function.name);
    let first = |variable: &str| variable.split('.').next().unwrap_or_default().to_owned();
    for variable in template.variables() {
        if !properties.contains_key(variable) && !properties.contains_key(&first(variable)) {
            return Err(format!(
                "the resource `{source}` has the variable `{variable}`, which is no parameter of {name}"
            ));
        }
    }
    for parameter in &required {
        let is_given = |variable| variable == parameter || first(variable) == *parameter;
        if !template.variables().any(is_given) {
            return Err(format!(
                "{name} requires `{parameter}`, which is no variable of the resource `{source}`"
            ));
        }
    }
    Ok(())
}

/// Returns the properties of a function and the names of its required properties; `None` if it has
/// alternatives.
pub(super) fn parameters(function: &ToolEntry) -> Option<(Map<String, Value>, Vec<String>)> {
    let mut schema: Map<String, Value> = serde_json::from_str(function.parameters_json()).ok()?;
    if ["anyOf", "oneOf", "allOf", "$ref"]
        .iter()
        .any(|key| schema.contains_key(*key))
    {
        return None;
    }
    let properties = match schema.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    Some((properties, required.map(ToOwned::to_owned).collect()))
}

/// Returns the values that a schema lists.
pub(super) fn choices(schema: &Value) -> Vec<String> {
    let listed = schema.get("enum").and_then(Value::as_array);
    let listed = listed.into_iter().flatten().chain(schema.get("const"));
    let listed = listed.filter(|value| !value.is_null());
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), ToOwned::to_owned)
    };
    let mut choices: Vec<_> = listed.map(text).collect();
    if schema.get("type").is_some_and(|name| name == "boolean") {
        choices.extend(["true".into(), "false".into()]);
    }
    choices
}

/// Returns the icons and the metadata of a function.
pub(super) fn for_clients(function: &ToolEntry) -> (Option<Vec<Icon>>, Option<MetaObject>) {
    let (icons, meta) = (function.icons_json(), function.meta_json());
    // Both were checked when the tool was built.
    (
        icons.and_then(|text| serde_json::from_str(text).ok()),
        meta.and_then(|text| serde_json::from_str(text).ok()),
    )
}

/// Begins the cursor of a page that the handler of the application lists.
pub(super) const INNER: &str = "inner:";

/// Returns the cursor for the handler of the application, if it lists this page. It is empty for the first page.
pub(super) fn inner_cursor(cursor: Option<&str>) -> Option<String> {
    let cursor = cursor?.strip_prefix(INNER)?;
    Some(cursor.to_owned())
}

/// Returns the error of a result that is one.
pub(super) fn refused(result: rmcp::model::CallToolResult) -> ErrorData {
    let text = result
        .content
        .into_iter()
        .filter_map(|block| Some(block.as_text()?.text.clone()));
    let data = result.meta.and_then(|meta| serde_json::to_value(meta).ok());
    ErrorData::invalid_request(text.collect::<Vec<_>>().join("\n"), data)
}
