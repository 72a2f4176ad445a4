//! The parts of a [`ToolSpec`]: its JSON texts, and the fields that few tools set.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "dynamic")]
use super::{Annotations, Location};
use super::{ForClients, Freeform, Need, Programmatic, Provided, ToolSpec};
use crate::schema::{Direction, Kind, Schema};

/// The JSON texts of the schemas and the rarely used fields.
#[derive(Clone, Debug)]
pub(crate) enum Parts {
    /// Of a tool written with `#[tool]`.
    Static {
        json: &'static str,
        details: Option<&'static Details>,
    },
    /// Of a tool built at run time.
    #[cfg_attr(not(feature = "dynamic"), allow(dead_code))]
    Dynamic(Arc<DynamicParts>),
}

/// The owned parts of a tool built at run time.
#[cfg_attr(not(feature = "dynamic"), allow(dead_code))]
#[derive(Clone, Debug)]
pub(crate) struct DynamicParts {
    /// JSON text of the arguments' schema.
    pub(crate) parameters: Arc<str>,
    /// JSON text of the result's schema; empty if there is none.
    pub(crate) output: Arc<str>,
    /// The output schema's values, as [`Mcp`](https://docs.rs/tool-dialects/latest/tool_dialects/struct.Mcp.html) needs to know them.
    pub(crate) output_values: OutputValues,
    /// JSON text of the arguments' schema without what some provider rejects, if that differs.
    pub(crate) portable: Option<String>,
    /// Set if every dialect writes the schema in the subset of its provider.
    pub(crate) is_reduced: bool,
    /// The keys of the arguments' schema that some provider rejects.
    pub(crate) unusual_keys: Vec<String>,
    /// The tool as its server lists it, if the spec differs.
    pub(crate) source: Option<SourceTool>,
    pub(crate) for_clients: Option<Box<ForClients>>,
    /// Set if the annotations are the claims of a server.
    pub(crate) is_untrusted: bool,
    pub(crate) details: Details,
}

/// A tool as another server lists it. [`ToolSpec::source`] returns it.
///
/// ```
/// use tool_core::{Tool, tool};
///
/// /// Rolls a die.
/// #[tool]
/// fn roll_die() -> u8 {
///     4
/// }
///
/// // No other server has this tool.
/// assert!(roll_die::SPEC.source().is_none());
/// ```
#[cfg_attr(not(feature = "dynamic"), allow(dead_code))]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SourceTool {
    /// The name.
    pub name: String,
    /// The name that [`ToolSpec::name`] is made from. It has a suffix if two tools have this name.
    pub valid_name: String,
    /// The description.
    pub description: String,
    /// JSON text of the arguments' schema.
    pub parameters: Arc<str>,
}

/// The JSON types of a tool's results, for dialects that send results as values.
///
/// ```
/// use tool_core::spec::OutputValues;
/// use tool_core::{Tool, tool};
///
/// /// Rolls a die.
/// #[tool]
/// fn roll_die() -> u8 {
///     4
/// }
///
/// assert_eq!(roll_die::SPEC.output_values(), OutputValues::Structured);
/// ```
#[cfg_attr(not(feature = "dynamic"), allow(dead_code))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputValues {
    /// Objects.
    Objects,
    /// No strings and no `null`, which are sent as text.
    Structured,
    /// Any value, or no schema says it.
    Any,
}

impl OutputValues {
    /// Returns the types of what a schema accepts.
    fn of(schema: &Schema) -> OutputValues {
        let form = schema.form(Direction::Result);
        if !is_structured(schema) || !fits_values(schema) {
            OutputValues::Any
        } else if matches!(form.kind, Kind::Object(_) | Kind::Map(_)) {
            OutputValues::Objects
        } else {
            OutputValues::Structured
        }
    }
}

/// Returns `true` if a `Value` holds every integer of the schema. It rounds integers of more than 64
/// bits, which are sent as text instead.
fn fits_values(schema: &Schema) -> bool {
    let direction = Direction::Result;
    match schema.form(direction).kind {
        Kind::Integer(range) => {
            range.minimum >= i128::from(i64::MIN) && range.maximum <= i128::from(u64::MAX)
        }
        _ => (0..)
            .map_while(|at| schema.child(direction, at))
            .all(fits_values),
    }
}

/// Returns `true` if every value of the schema is sent as structured content. A string is not.
fn is_structured(schema: &Schema) -> bool {
    match schema.form(Direction::Result).kind() {
        Kind::Boolean
        | Kind::Integer(_)
        | Kind::Number(_)
        | Kind::Array(_)
        | Kind::Tuple(_)
        | Kind::Map(_)
        | Kind::Object(_) => true,
        Kind::Nullable(inner) => is_structured(inner),
        Kind::AnyOf(schemas) => schemas.iter().all(|schema| is_structured(schema)),
        // Strings and `()` are sent as text.
        _ => false,
    }
}

/// The rarely used fields of a spec. They are behind one pointer, so that a tool without them does
/// not grow with every field added here.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Details {
    pub title: Option<Cow<'static, str>>,
    pub when_to_use: Option<Cow<'static, str>>,
    pub returns: Option<Cow<'static, str>>,
    pub tags: Cow<'static, [Cow<'static, str>]>,
    /// JSON texts of arguments, without white space.
    pub examples: Cow<'static, [Cow<'static, str>]>,
    /// The types of the context values that a call needs.
    pub needs: &'static [Need],
    pub timeout: Option<Duration>,
    /// `true` if calls may run concurrently with others of a run.
    pub parallel: Option<bool>,
    /// `true` if a model gets the tool only when it searches for it.
    pub defer: bool,
    /// Set if a model writes the arguments as text and not as JSON.
    pub freeform: Option<Freeform>,
    /// Set if programs may call the tool.
    pub programmatic: Option<Programmatic>,
    /// `true` if the provider makes calls follow the schema, whatever the dialect says.
    pub strict: Option<bool>,
    /// `true` if the provider streams arguments before it has validated them.
    pub eager_input: Option<bool>,
    /// `true` if a success ends a run.
    pub ends_run: Option<bool>,
    /// `true` if the model goes on while a call runs.
    pub background: bool,
    /// Set if the tool is one on which a provider trained its models.
    pub provides: Option<&'static Provided>,
    /// Set if the tool has `meta` or `icons`. A tool built at run time has them in [`DynamicParts`].
    pub for_clients: Option<&'static ForClients>,
}

impl Details {
    pub const EMPTY: Details = Details {
        title: None,
        when_to_use: None,
        returns: None,
        tags: Cow::Borrowed(&[]),
        examples: Cow::Borrowed(&[]),
        needs: &[],
        timeout: None,
        parallel: None,
        defer: false,
        freeform: None,
        programmatic: None,
        strict: None,
        eager_input: None,
        ends_run: None,
        background: false,
        provides: None,
        for_clients: None,
    };

    /// Adds the sections for the model to a description.
    #[inline]
    pub(super) fn prompt<'s>(&'s self, description: &'s str) -> Cow<'s, str> {
        let mut text = Cow::Borrowed(description);
        for (label, section) in [
            ("When to use", &self.when_to_use),
            ("Returns", &self.returns),
        ] {
            if let Some(section) = section {
                let text = text.to_mut();
                text.push_str("\n\n");
                text.push_str(label);
                text.push_str(": ");
                text.push_str(section);
            }
        }
        text
    }
}

/// The JSON texts of a tool's two schemas, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonTexts {
    pub(crate) both: &'static str,
    /// The end of the first.
    pub(crate) middle: u32,
}

impl JsonTexts {
    #[inline]
    pub(crate) const fn parameters(self) -> &'static str {
        self.both.split_at(self.middle as usize).0
    }

    /// Returns the text of the result's schema; empty if there is none.
    #[inline]
    pub(crate) const fn output(self) -> &'static str {
        self.both.split_at(self.middle as usize).1
    }
}

impl ToolSpec {
    /// Creates the spec of a tool built at run time.
    #[cfg(feature = "dynamic")]
    pub(crate) fn dynamic(
        name: String,
        description: String,
        annotations: Annotations,
        location: Location,
        has_parameters: bool,
        parts: DynamicParts,
    ) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            description: description.into(),
            annotations,
            location,
            parameters: (!has_parameters).then_some(&[]),
            output: None,
            json_middle: 0,
            parts: Parts::Dynamic(Arc::new(parts)),
        }
    }

    #[inline]
    pub(super) fn json_texts(&self, both: &'static str) -> JsonTexts {
        JsonTexts {
            both,
            middle: self.json_middle,
        }
    }

    /// Returns `true` if the tool has one of the rare settings: a title, examples, tags or the like.
    #[inline]
    pub fn has_details(&self) -> bool {
        self.details().is_some()
    }

    #[inline]
    pub(crate) fn details(&self) -> Option<&Details> {
        match &self.parts {
            Parts::Static { details, .. } => *details,
            Parts::Dynamic(parts) => Some(&parts.details),
        }
    }

    /// Returns the parts of a tool built at run time.
    #[inline]
    pub(crate) fn dynamic_parts(&self) -> Option<&DynamicParts> {
        match &self.parts {
            Parts::Static { .. } => None,
            Parts::Dynamic(parts) => Some(parts),
        }
    }

    /// Returns the keys of objects that some providers reject, of a tool built at run time.
    pub fn unusual_keys(&self) -> &[String] {
        self.dynamic_parts()
            .map_or(&[], |parts| &parts.unusual_keys)
    }

    /// Returns the JSON types of the results, if the tool has an [output schema](ToolSpec::output_json).
    pub fn output_values(&self) -> OutputValues {
        match (self.dynamic_parts(), self.output()) {
            (Some(parts), _) => parts.output_values,
            (None, Some(schema)) => OutputValues::of(schema),
            (None, None) => OutputValues::Any,
        }
    }

    /// Returns `true` if the schemas exist only as JSON text.
    #[inline]
    pub fn is_dynamic(&self) -> bool {
        matches!(self.parts, Parts::Dynamic(_))
    }

    /// Returns the tool as its server lists it, if that differs.
    #[inline]
    pub fn source(&self) -> Option<&SourceTool> {
        self.dynamic_parts()?.source.as_ref()
    }

    /// Returns the name of the tool where it comes from.
    pub(crate) fn source_name(&self) -> &str {
        self.source().map_or(&*self.name, |source| &*source.name)
    }

    /// Returns the schema of the arguments as dialects send it: without what some provider rejects.
    #[inline]
    pub fn portable_json(&self) -> &str {
        match self
            .dynamic_parts()
            .and_then(|parts| parts.portable.as_deref())
        {
            Some(portable) => portable,
            None => self.parameters_json(),
        }
    }

    /// Removes the schema of the result.
    pub(crate) fn without_output(mut self) -> ToolSpec {
        self.output = None;
        if let Parts::Dynamic(parts) = &mut self.parts {
            Arc::make_mut(parts).output = Arc::default();
        }
        self
    }
}
