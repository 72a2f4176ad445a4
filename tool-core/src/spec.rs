//! [`ToolSpec`]: everything that is known of a tool besides how to run it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::schema::{Property, Schema};

/// What a tool is: its name, its texts, its schemas and its behaviour.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name that a model calls, unique in a registry: a letter or `_`, then at most 63
    /// letters, digits, `_` or `-`.
    pub name: Cow<'static, str>,
    /// A name for people.
    pub title: Option<Cow<'static, str>>,
    /// What the tool does: the doc comment up to its first heading.
    pub description: Cow<'static, str>,
    /// The `# When to use` section.
    pub when_to_use: Option<Cow<'static, str>>,
    /// The `# Returns` section.
    pub returns: Option<Cow<'static, str>>,
    /// How the tool behaves.
    pub annotations: Annotations,
    /// Where the function stands.
    pub location: Location,
    /// None where the schema came as JSON text.
    parameters: Option<&'static [Property]>,
    output: Option<&'static Schema>,
    texts: Texts,
}

/// Where the JSON texts of the schemas are.
#[derive(Clone, Debug)]
enum Texts {
    /// In the program.
    Static(fn() -> JsonTexts),
    /// With the tool, which came while the program ran: the arguments' and the result's.
    #[cfg_attr(not(feature = "dynamic"), allow(dead_code))]
    Own(Arc<[String; 2]>),
}

impl ToolSpec {
    /// The schema of the arguments: an object.
    ///
    /// That of a `DynamicTool` came as JSON, and [`parameters_json`](ToolSpec::parameters_json)
    /// alone has it; here it is [`Kind::Any`](crate::schema::Kind::Any).
    pub fn parameters(&self) -> Schema {
        match self.parameters {
            Some(parameters) => Schema::object(parameters),
            None => Schema::ANY,
        }
    }

    /// The members of the arguments' schema, if there is a tree of it.
    pub(crate) fn properties(&self) -> &'static [Property] {
        self.parameters.unwrap_or_default()
    }

    /// A tool that came while the program ran, with the JSON texts of its schemas; the one of the
    /// result may be empty.
    #[cfg(feature = "dynamic")]
    pub(crate) fn of_json(
        name: String,
        location: Location,
        schemas: [String; 2],
        takes_nothing: bool,
    ) -> ToolSpec {
        ToolSpec {
            name: Cow::Owned(name),
            title: None,
            description: Cow::Borrowed(""),
            when_to_use: None,
            returns: None,
            annotations: Annotations::default(),
            location,
            parameters: takes_nothing.then_some(&[]),
            output: None,
            texts: Texts::Own(Arc::new(schemas)),
        }
    }

    /// Whether the schemas came as JSON text, and there are no trees of them.
    pub(crate) fn is_of_json(&self) -> bool {
        matches!(self.texts, Texts::Own(_))
    }

    /// The schema of the arguments as JSON text.
    pub fn parameters_json(&self) -> &str {
        match &self.texts {
            Texts::Static(texts) => texts().parameters,
            Texts::Own(texts) => &texts[0],
        }
    }

    /// The schema of the result, when its type is a [`ToolType`](crate::ToolType).
    pub fn output(&self) -> Option<&Schema> {
        self.output
    }

    /// The schema of the result as JSON text.
    pub fn output_json(&self) -> Option<&str> {
        match &self.texts {
            Texts::Static(texts) => self.output.map(|_| texts().output),
            Texts::Own(texts) => Some(&*texts[1]).filter(|text| !text.is_empty()),
        }
    }

    /// The same tool, which promises nothing of its results.
    pub(crate) fn without_output(mut self) -> ToolSpec {
        self.output = None;
        if let Texts::Own(texts) = &self.texts {
            self.texts = Texts::Own(Arc::new([texts[0].clone(), String::new()]));
        }
        self
    }

    /// The text that a model reads: the description, when to use the tool, what it returns.
    pub fn prompt(&self) -> Cow<'_, str> {
        if self.when_to_use.is_none() && self.returns.is_none() {
            return Cow::Borrowed(&self.description);
        }
        let mut text = self.description.clone().into_owned();
        for (label, section) in [
            ("When to use", &self.when_to_use),
            ("Returns", &self.returns),
        ] {
            if let Some(section) = section {
                text.push_str("\n\n");
                text.push_str(label);
                text.push_str(": ");
                text.push_str(section);
            }
        }
        Cow::Owned(text)
    }
}

/// How a tool behaves, in MCP's meaning. `None` is "not said".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Annotations {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may delete or overwrite.
    pub destructive: Option<bool>,
    /// Doing it twice is doing it once.
    pub idempotent: Option<bool>,
    /// It reaches out to a world that others change too, such as the web.
    pub open_world: Option<bool>,
}

/// Where a tool's function stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Location {
    /// The path of the file, as the compiler was given it.
    pub file: &'static str,
    /// The line of the `#[tool]` attribute, from 1.
    pub line: u32,
    /// The module, beginning with the crate; empty for a `DynamicTool`.
    pub module: &'static str,
}

impl Location {
    /// The name of the crate.
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

/// A [`ToolSpec`] as `#[tool]` writes it.
#[doc(hidden)]
pub struct StaticSpec {
    pub name: &'static str,
    pub title: Option<&'static str>,
    pub description: &'static str,
    pub when_to_use: Option<&'static str>,
    pub returns: Option<&'static str>,
    /// read-only, destructive, idempotent, open world
    pub annotations: [Option<bool>; 4],
    pub location: Location,
    pub parameters: &'static [Property],
    pub output: Option<&'static Schema>,
}

impl StaticSpec {
    /// What a spec says when nothing is said.
    pub const EMPTY: StaticSpec = StaticSpec {
        name: "",
        title: None,
        description: "",
        when_to_use: None,
        returns: None,
        annotations: [None; 4],
        location: Location {
            file: "",
            line: 0,
            module: "",
        },
        parameters: &[],
        output: None,
    };

    /// The spec, with the JSON texts of its schemas.
    pub(crate) const fn build(self, texts: fn() -> JsonTexts) -> ToolSpec {
        const fn text(text: Option<&'static str>) -> Option<Cow<'static, str>> {
            match text {
                Some(text) => Some(Cow::Borrowed(text)),
                None => None,
            }
        }
        let [read_only, destructive, idempotent, open_world] = self.annotations;
        ToolSpec {
            name: Cow::Borrowed(self.name),
            title: text(self.title),
            description: Cow::Borrowed(self.description),
            when_to_use: text(self.when_to_use),
            returns: text(self.returns),
            annotations: Annotations {
                read_only,
                destructive,
                idempotent,
                open_world,
            },
            location: self.location,
            parameters: Some(self.parameters),
            output: self.output,
            texts: Texts::Static(texts),
        }
    }
}

/// The JSON texts of a tool's two schemas.
#[derive(Clone, Copy)]
pub(crate) struct JsonTexts {
    pub(crate) parameters: &'static str,
    /// Empty for none.
    pub(crate) output: &'static str,
}
