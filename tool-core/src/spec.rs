//! [`ToolSpec`]: the description of a tool, without the code that runs it.

mod clients;
mod freeform;
mod need;
mod parts;
mod trained;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::schema::secret::any_secret;
use crate::schema::{Property, Schema};

#[doc(hidden)]
pub use self::clients::ForClients;
#[doc(hidden)]
pub use self::freeform::Freeform;
pub use self::freeform::Grammar;
#[doc(hidden)]
pub use self::need::Need;
#[doc(hidden)]
pub use self::parts::Details;
pub use self::parts::OutputValues;
pub use self::parts::SourceTool;
pub(crate) use self::parts::{DynamicParts, JsonTexts, Parts};
#[doc(hidden)]
pub use self::trained::Provided;
pub(crate) use self::trained::wrapped;
pub use self::trained::{Setting, Trained};

/// The description of a tool: its name, descriptions, schemas and behaviour.
///
/// ```
/// use tool_core::{Tool, tool};
///
/// /// The current temperature.
/// ///
/// /// # When to use
/// /// The user asks about the weather now.
/// #[tool(read_only, title = "Temperature")]
/// fn get_temperature(city: &str) -> f64 {
///     if city == "Oslo" { -3.0 } else { 21.5 }
/// }
///
/// const SPEC: tool_core::ToolSpec = get_temperature::SPEC;
/// assert_eq!(SPEC.title(), Some("Temperature"));
/// assert_eq!(SPEC.when_to_use(), Some("The user asks about the weather now."));
/// assert!(SPEC.parameters_json().starts_with(r#"{"type":"object","properties":{"city":"#));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name that a model calls, unique in a registry: a letter or `_`, then at most 63
    /// letters, digits, `_` or `-`. Dialects leave out a `DynamicTool` with another name.
    pub name: Cow<'static, str>,
    /// The purpose of the tool: the doc comment up to its first heading.
    pub description: Cow<'static, str>,
    /// How the tool behaves.
    pub annotations: Annotations,
    /// Where the function is defined.
    pub location: Location,
    /// `None` if the schema was given as JSON text.
    pub(crate) parameters: Option<&'static [Property]>,
    pub(crate) output: Option<&'static Schema>,
    /// The end of the first of the [`JsonTexts`]; 0 for a tool built at run time.
    pub(crate) json_middle: u32,
    pub(crate) parts: Parts,
}

/// How a tool with [`#[tool(programmatic)]`](macro@crate::tool#programmatic-calls) may be called.
///
/// ```
/// use tool_core::spec::Programmatic;
/// use tool_core::{Tool, tool};
///
/// /// The orders of a month.
/// #[tool(read_only, programmatic = only)]
/// fn list_orders(month: u8) -> Vec<u32> {
///     vec![month.into()]
/// }
///
/// assert_eq!(list_orders::SPEC.programmatic(), Some(Programmatic::Only));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Programmatic {
    /// By the model and by its programs.
    Also,
    /// By programs only, where the provider runs them.
    Only,
}

/// The most bytes of an example in an error.
const MAX_OFFERED: usize = 512;

impl ToolSpec {
    /// Returns the name to display to people, if there is one.
    #[inline]
    pub fn title(&self) -> Option<&str> {
        self.details()?.title.as_deref()
    }

    /// Returns `true` if calls may run concurrently with others of the same response: the
    /// tool is `read_only`, or `#[tool(parallel)]` says so.
    ///
    /// ```
    /// use tool_core::{Tool, tool};
    ///
    /// /// Appends a line to the log.
    /// #[tool(parallel)]
    /// fn log(line: &str) {
    ///     println!("{line}");
    /// }
    ///
    /// assert!(log::SPEC.is_parallel());
    /// ```
    pub fn is_parallel(&self) -> bool {
        let parallel = self.details().and_then(|details| details.parallel);
        parallel.unwrap_or(self.trusted(self.annotations.read_only))
    }

    /// Returns `true` if a call that succeeds ends a `Run` of the crate `tool-agent`: `#[tool(ends_run)]`.
    ///
    /// ```
    /// use tool_core::{Tool, tool};
    ///
    /// /// Submits the report, which is the result of the conversation.
    /// #[tool(ends_run)]
    /// fn submit_report(summary: String) -> String {
    ///     summary
    /// }
    ///
    /// assert!(submit_report::SPEC.ends_run());
    /// ```
    pub fn ends_run(&self) -> bool {
        let ends_run = self.details().and_then(|details| details.ends_run);
        ends_run.unwrap_or(false)
    }

    /// Returns `true` if the model goes on while a call runs, and gets the result later, in a `Run` of the crate
    /// `tool-agent`: `#[tool(background)]`. [`Registry::call`](crate::Registry::call) waits for the result in any case.
    ///
    /// ```
    /// use tool_core::{Tool, tool};
    ///
    /// /// Builds the project, which takes minutes.
    /// #[tool(background)]
    /// async fn build_project() -> String {
    ///     "built".into()
    /// }
    ///
    /// assert!(build_project::SPEC.is_background());
    /// ```
    pub fn is_background(&self) -> bool {
        self.details().is_some_and(|details| details.background)
    }

    /// Returns the [annotations](ToolSpec::annotations) and `background`, as far as the tool sets them, by the names that
    /// they have in `#[tool]`: what lists and lock files show.
    ///
    /// ```
    /// use tool_core::{Tool, tool};
    ///
    /// /// Builds the project, which takes minutes.
    /// #[tool(idempotent, open_world = false, background)]
    /// async fn build_project() -> String {
    ///     "built".into()
    /// }
    ///
    /// let flags: Vec<_> = build_project::SPEC.flags().collect();
    /// assert_eq!(flags, [("idempotent", true), ("open_world", false), ("background", true)]);
    /// ```
    pub fn flags(&self) -> impl Iterator<Item = (&'static str, bool)> + use<> {
        let annotations = self.annotations;
        let flags = [
            ("read_only", annotations.read_only),
            ("destructive", annotations.destructive),
            ("idempotent", annotations.idempotent),
            ("open_world", annotations.open_world),
            ("background", self.is_background().then_some(true)),
        ];
        let flags = flags.into_iter();
        flags.filter_map(|(name, value)| Some((name, value?)))
    }

    /// Returns how programs may call the tool:
    /// [`#[tool(programmatic)]`](macro@crate::tool#programmatic-calls).
    ///
    /// ```
    /// use tool_core::spec::Programmatic;
    /// use tool_core::{Tool, tool};
    ///
    /// /// Lists the orders of a customer.
    /// #[tool(programmatic)]
    /// fn list_orders(customer: u32) -> Vec<u32> {
    ///     vec![customer]
    /// }
    ///
    /// assert_eq!(list_orders::SPEC.programmatic(), Some(Programmatic::Also));
    /// ```
    pub fn programmatic(&self) -> Option<Programmatic> {
        self.details()?.programmatic
    }

    /// Returns the type of the provider's tool that the function [provides](macro@crate::tool#trained-tools).
    ///
    /// ```
    /// use tool_core::{tool, Tool};
    /// use tool_dialects::openai;
    ///
    /// /// Runs commands in a sandbox.
    /// #[tool(provides = openai::Shell)]
    /// fn run(action: openai::ShellAction) -> Vec<openai::ShellOutput> {
    ///     # let _ = action;
    ///     Vec::new()
    /// }
    ///
    /// assert_eq!(run::SPEC.provides(), Some("shell"));
    /// ```
    pub fn provides(&self) -> Option<&'static str> {
        Some(self.provided()?.tool.kind)
    }

    #[inline]
    pub(crate) fn provided(&self) -> Option<&'static Provided> {
        self.details()?.provides
    }

    /// Returns the tool of this provider that the function provides. There is none under another name than the provider's
    /// models know, such as the name of a method with a prefix: their calls would not find it.
    #[inline]
    pub fn trained(&self, provider: &str) -> Option<&'static Trained> {
        let trained = self.provided()?.tool;
        let is_found = trained.name.is_none_or(|known| known == self.name);
        (is_found && trained.provider == provider).then_some(trained)
    }

    /// Returns `Some(true)` if the tool is sent as strict where the provider has that, and `Some(false)`
    /// if it never is, as `#[tool(strict)]` and `#[tool(strict = false)]` say. Otherwise the dialect
    /// decides.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_dialects::{Anthropic, OpenAiChat};
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Pays a bill.
    /// #[tool(strict)]
    /// fn pay(bill: u32) {
    ///     # let _ = bill;
    /// }
    ///
    /// /// Takes a note.
    /// #[tool(strict = false)]
    /// fn take_note(text: &str) {
    ///     # let _ = text;
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![pay, take_note]).build()?;
    /// let tools = json!(registry.render(&Anthropic::default()));
    /// assert_eq!(tools[0]["strict"], true);
    /// let tools = json!(registry.render(&OpenAiChat::strict()));
    /// assert_eq!(tools[0]["function"]["strict"], true);
    /// assert!(tools[1]["function"]["strict"].is_null());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    #[inline]
    pub fn strict(&self) -> Option<bool> {
        self.details()?.strict
    }

    /// Returns `Some(true)` if the provider should stream the arguments of a call as the model writes
    /// them, before they are complete and valid JSON, and `Some(false)` if it never should, as
    /// `#[tool(eager_input)]` and `#[tool(eager_input = false)]` say. Otherwise the dialect decides.
    /// Only Anthropic has such a setting.
    pub fn eager_input(&self) -> Option<bool> {
        self.details()?.eager_input
    }

    /// Returns `true` if repeating a call does no harm: the tool is `read_only` or `idempotent`.
    pub fn is_repeatable(&self) -> bool {
        let annotations = self.annotations;
        self.trusted(annotations.read_only) || self.trusted(annotations.idempotent)
    }

    /// Returns `true` if an annotation says so, and is not just the claim of a server.
    fn trusted(&self, annotation: Option<bool>) -> bool {
        let is_untrusted = match &self.parts {
            Parts::Static { .. } => false,
            Parts::Dynamic(parts) => parts.is_untrusted,
        };
        annotation == Some(true) && !is_untrusted
    }

    /// Returns the `# When to use` section of the doc comment.
    pub fn when_to_use(&self) -> Option<&str> {
        self.details()?.when_to_use.as_deref()
    }

    /// Returns the `# Returns` section of the doc comment.
    pub fn returns(&self) -> Option<&str> {
        self.details()?.returns.as_deref()
    }

    /// Returns the tags, which an application uses to
    /// [select](crate::Registry::select_tags) tools. Models never see them.
    ///
    /// ```
    /// use tool_core::{Tool, tool};
    ///
    /// /// Bans a user.
    /// #[tool(tags = ["admin", "users"])]
    /// fn ban(user: &str) {
    ///     # let _ = user;
    /// }
    ///
    /// assert!(ban::SPEC.tags().eq(["admin", "users"]));
    /// ```
    pub fn tags(&self) -> impl ExactSizeIterator<Item = &str> {
        let tags = self.details().map_or(&[][..], |details| &details.tags);
        tags.iter().map(|tag| &**tag)
    }

    /// Returns the example calls: the arguments of each as JSON text. Its schema accepts them.
    ///
    /// Anthropic's models get them, catalogues show them, and the error of a rejected call repeats one.
    ///
    /// ```
    /// use tool_core::{Tool, tool};
    ///
    /// /// Weather in a city.
    /// #[tool(example = r#"{"city": "Lisbon"}"#, example = r#"{"city": "Porto", "days": 3}"#)]
    /// fn get_weather(city: &str, #[param(range = 1..=14)] days: Option<u8>) -> String {
    ///     format!("{city} {days:?}")
    /// }
    ///
    /// let examples = [r#"{"city":"Lisbon"}"#, r#"{"city":"Porto","days":3}"#];
    /// assert!(get_weather::SPEC.examples().eq(examples));
    /// ```
    pub fn examples(&self) -> impl ExactSizeIterator<Item = &str> {
        let details = self.details();
        let examples = details.map_or(&[][..], |details| &details.examples);
        examples.iter().map(|example| &**example)
    }

    /// Returns the example that the error of a rejected call repeats: one that is short enough.
    #[cold]
    pub(crate) fn offered_example(&self) -> Option<&str> {
        // A model that writes text has no use for JSON.
        let mut examples = self.examples().filter(|_| !self.is_freeform());
        examples.find(|example| example.len() <= MAX_OFFERED)
    }

    /// Returns `true` if there are example calls, which is cheaper than to look at [`examples`](ToolSpec::examples).
    #[inline]
    pub fn has_examples(&self) -> bool {
        let details = self.details();
        details.is_some_and(|details| !details.examples.is_empty())
    }

    /// Returns the schema of the arguments: an object.
    ///
    /// For a `DynamicTool` this is [`Kind::Any`](crate::schema::Kind::Any), because its schema was
    /// given as JSON; use [`parameters_json`](ToolSpec::parameters_json) there.
    #[inline]
    pub fn parameters(&self) -> Schema {
        match self.parameters {
            Some(parameters) => Schema::object(parameters),
            None => Schema::ANY,
        }
    }

    /// Returns the schema of the arguments as JSON text.
    ///
    /// ```
    /// use tool_core::{Tool, tool};
    ///
    /// /// Rolls dice.
    /// #[tool]
    /// fn roll_dice(#[param(range = 1..=9)] number: u8) -> u8 {
    ///     number * 4
    /// }
    ///
    /// assert_eq!(
    ///     roll_dice::SPEC.parameters_json(),
    ///     r#"{"type":"object","properties":{"number":{"type":"integer","minimum":1,"maximum":9}},"required":["number"],"additionalProperties":false}"#
    /// );
    /// ```
    #[inline]
    pub fn parameters_json(&self) -> &str {
        match &self.parts {
            Parts::Static { json, .. } => self.json_texts(json).parameters(),
            Parts::Dynamic(parts) => &parts.parameters,
        }
    }

    /// Converts named strings to the JSON text of arguments, by the schema: variables of a URI, arguments of a
    /// prompt, flags of a command line.
    ///
    /// This only converts. A call with the result is validated like a model's call, and its violations name
    /// the strings.
    ///
    /// | the schema accepts | the string becomes |
    /// |---|---|
    /// | numbers, `true` and `false` | that value, if it is spelled as in JSON |
    /// | strings, enum values | a string |
    /// | arrays | an item; a name that occurs several times has several items. A single string with a JSON array is the whole array |
    /// | objects | an object, if it is one in JSON. `departure.city` is the property `city` of `departure` |
    /// | `null`, and no strings | `null`, if it is `null` |
    /// | any value | the value, if it is JSON |
    ///
    /// Everything else stays a string, so that the violation says what was expected. Where a union accepts strings and
    /// other types, an enum value comes first, then the other types, then strings. Names that the schema does not know are
    /// kept, and so are properties that are missing: validation reports both.
    ///
    /// The cost is bounded by the length of the strings and of the schema. Dotted names have at most 32 levels.
    ///
    /// ```
    /// use tool_core::{Registry, Tool, ToolCall, ToolType, tool, tools};
    ///
    /// #[derive(ToolType)]
    /// struct Window {
    ///     not_before: u8,
    /// }
    ///
    /// /// Finds trains.
    /// #[tool(unlinked)]
    /// fn find_trains(to: &str, departure: Window, classes: Vec<u8>) -> String {
    ///     format!("{to} from {} in {classes:?}", departure.not_before)
    /// }
    ///
    /// let flags = [("to", "007"), ("departure.not_before", "8"), ("classes", "1"), ("classes", "2")];
    /// let arguments = find_trains::SPEC.arguments_from_text(flags);
    /// assert_eq!(arguments, r#"{"to":"007","departure":{"not_before":8},"classes":[1,2]}"#);
    ///
    /// let registry = Registry::builder().tools(tools![find_trains]).build()?;
    /// let result = registry.call_blocking(ToolCall::new("", "find_trains", arguments));
    /// assert_eq!(result.content(), "007 from 8 in [1, 2]");
    ///
    /// let arguments = find_trains::SPEC.arguments_from_text([("to", "Faro"), ("departure.not_before", "noon")]);
    /// let result = registry.call_blocking(ToolCall::new("", "find_trains", arguments));
    /// assert!(result.content().contains("departure.not_before: expected an integer"));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn arguments_from_text<N: AsRef<str>, V: AsRef<str>>(
        &self,
        pairs: impl IntoIterator<Item = (N, V)>,
    ) -> String {
        crate::schema::object_from_text(self.parameters_json(), pairs)
    }

    /// Returns `true` if arguments may contain a [secret](macro@crate::tool#secrets).
    pub fn has_secrets(&self) -> bool {
        any_secret(self.properties())
    }

    /// Returns the schema of the result, if its type is a [`ToolType`](crate::ToolType).
    pub fn output(&self) -> Option<&Schema> {
        self.output
    }

    /// Returns the schema of the result as JSON text, if there is one.
    #[inline]
    pub fn output_json(&self) -> Option<&str> {
        match &self.parts {
            Parts::Static { json, .. } => self.output.map(|_| self.json_texts(json).output()),
            Parts::Dynamic(parts) => Some(&*parts.output).filter(|text| !text.is_empty()),
        }
    }

    /// Returns the text for the model: the description, when to use the tool, and what it returns.
    ///
    /// ```
    /// use tool_core::{Tool, tool};
    ///
    /// /// Rolls a die.
    /// ///
    /// /// # When to use
    /// /// The user wants a random number.
    /// #[tool]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// let tool = roll_die::SPEC;
    /// assert!(tool.prompt().starts_with("Rolls a die."));
    /// assert!(tool.prompt().contains("The user wants a random number."));
    /// ```
    #[inline]
    pub fn prompt(&self) -> Cow<'_, str> {
        match self.details() {
            Some(details) => details.prompt(&self.description),
            None => Cow::Borrowed(&self.description),
        }
    }

    /// Returns the properties of the arguments' schema; empty if it exists only as JSON text.
    #[inline]
    pub(crate) fn properties(&self) -> &'static [Property] {
        self.parameters.unwrap_or_default()
    }

    pub(crate) fn needs(&self) -> &'static [Need] {
        self.details().map_or(&[], |details| details.needs)
    }

    #[inline]
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.details()?.timeout
    }

    /// Returns `true` if `#[tool(defer)]` defers the tool.
    pub(crate) fn defers(&self) -> bool {
        self.details().is_some_and(|details| details.defer)
    }
}

/// How a tool behaves, with the meanings that MCP defines. `None` means unspecified.
///
/// ```
/// use tool_core::{Tool, tool};
///
/// /// Deletes a note.
/// #[tool(destructive, idempotent)]
/// fn delete_note(id: u32) -> u32 {
///     id
/// }
///
/// let annotations = delete_note::SPEC.annotations;
/// assert_eq!(annotations.destructive, Some(true));
/// assert_eq!(annotations.open_world, None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Annotations {
    /// The tool modifies nothing.
    pub read_only: Option<bool>,
    /// The tool may delete or overwrite something.
    pub destructive: Option<bool>,
    /// Repeating a call has no further effect.
    pub idempotent: Option<bool>,
    /// The tool interacts with external systems, such as the web.
    pub open_world: Option<bool>,
}

/// Where a tool's function is defined.
///
/// ```
/// use tool_core::{Tool, tool};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let location = add::SPEC.location;
/// println!("add is at {}:{}, in the crate {}", location.file, location.line, location.krate());
/// assert!(location.file.ends_with(".rs"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Location {
    /// The path of the file, as it was passed to the compiler.
    pub file: &'static str,
    /// The line of the `#[tool]` attribute, starting at 1.
    pub line: u32,
    /// The path of the module, starting with the crate; empty for a `DynamicTool`.
    pub module: &'static str,
}

impl Location {
    pub(crate) const EMPTY: Location = Location {
        file: "",
        line: 0,
        module: "",
    };

    /// Returns the name of the crate.
    pub fn krate(&self) -> &'static str {
        self.module.split(':').next().unwrap_or_default()
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.krate() {
            "" => Ok(()),
            krate => write!(f, " (crate {krate})"),
        }
    }
}

/// Every tool of a program costs this much. New fields that few tools set belong in [`Details`].
#[cfg(target_pointer_width = "64")]
#[test]
fn a_spec_does_not_grow() {
    // 8 bytes more if a target of the build limits the schemas of a whole tool.
    let stats = size_of::<crate::schema::stats::KnownStats>();
    assert_eq!(size_of::<Property>(), 48 + stats);
    // A function that returns the texts would be 8 bytes less, and some 70 of code.
    assert_eq!(size_of::<Parts>(), 24);
    assert_eq!(size_of::<ToolSpec>(), 144);
}
