//! [`Docs`]: a catalogue of all tools, as Markdown or as one HTML page (feature `docs`).
//!
//! ```
//! use tool_core::{Registry, tool, tools};
//!
//! /// Finds a word in the *notes*.
//! #[tool(read_only)]
//! fn search_notes(
//!     /// The word, such as `milk`.
//!     word: &str,
//!     #[param(range = 1..=50, default = 10)]
//!     limit: u8,
//! ) -> Vec<String> {
//!     # let _ = (word, limit);
//!     Vec::new()
//! }
//!
//! let registry = Registry::builder().tools(tools![search_notes]).build()?;
//! let docs = registry.docs().title("Notes");
//! let markdown = docs.to_markdown();
//! // It is shown as it was written, not as markup.
//! assert!(markdown.contains(r"Finds a word in the \*notes\*."));
//! assert!(markdown.contains("```json\n{\n  \"word\": \"milk\",\n  \"limit\": 10\n}\n```"));
//! assert!(docs.to_html().starts_with("<!DOCTYPE html>"));
//! # Ok::<(), tool_core::RegistryError>(())
//! ```
//!
//! A catalogue that is kept in version control stays true by [`Docs::check`] in a test.

mod error;
mod example;
mod html;
mod markdown;
mod notes;
mod page;
mod rows;

use std::path::Path;

use self::page::Page;
use crate::generated_file;
use crate::json::Json;
use crate::registry::Registry;
use crate::spec::ToolSpec;
use crate::tool::ToolEntry;

pub use error::{DocsError, DocsErrorKind};

/// A catalogue of tools: an index by group, and a section a tool with what a model reads of it, its
/// parameters at every depth, an example call that fits the schema, and what providers say to it.
#[derive(Clone, Debug)]
pub struct Docs {
    tools: Vec<ToolEntry>,
    title: String,
    introduction: String,
}

impl Registry {
    /// A catalogue of the tools that there are now.
    ///
    /// ```
    /// use tool_core::Registry;
    ///
    /// assert_eq!(Registry::new().docs().to_markdown(), "# Tools\n\nThere are no tools.\n");
    /// ```
    pub fn docs(&self) -> Docs {
        Docs {
            tools: self.specs(),
            title: "Tools".to_owned(),
            introduction: String::new(),
        }
    }
}

impl Docs {
    /// The same catalogue under another title than "Tools".
    pub fn title(mut self, title: impl Into<String>) -> Docs {
        self.title = title.into();
        self
    }

    /// The same catalogue with a text before its index, in paragraphs.
    ///
    /// ```
    /// use tool_core::Registry;
    ///
    /// let docs = Registry::new().docs().introduction("What our agents can do.");
    /// assert!(docs.to_markdown().starts_with("# Tools\n\nWhat our agents can do.\n"));
    /// ```
    pub fn introduction(mut self, text: impl Into<String>) -> Docs {
        self.introduction = text.into();
        self
    }

    /// Markdown for GitHub or mdBook. Whatever could be markup in the texts is escaped.
    pub fn to_markdown(&self) -> String {
        markdown::write(&self.title, &self.introduction, &Page::of(&self.tools))
    }

    /// One HTML page that needs no other file. It is read without a script; with one it has a
    /// search box and buttons that copy.
    pub fn to_html(&self) -> String {
        html::write(&self.title, &self.introduction, &Page::of(&self.tools))
    }

    /// Checks that a file says the same; in a test, its path is relative to the package. A name
    /// that ends in `.html` is that of a page, any other that of Markdown.
    ///
    /// With `TOOL_CORE_UPDATE=1` in the environment it writes the file instead.
    ///
    /// ```
    /// use tool_core::Registry;
    ///
    /// let error = Registry::new().docs().check("no/such/TOOLS.md").unwrap_err();
    /// assert!(error.to_string().contains("TOOL_CORE_UPDATE=1"));
    /// ```
    ///
    /// # Errors
    ///
    /// When the file says something else or does not exist; the first line that differs is told.
    pub fn check(&self, path: impl AsRef<Path>) -> Result<(), DocsError> {
        self.check_or_update(path.as_ref(), generated_file::is_updating())
    }

    fn check_or_update(&self, path: &Path, is_updating: bool) -> Result<(), DocsError> {
        let is_html = path
            .extension()
            .is_some_and(|name| name.eq_ignore_ascii_case("html"));
        let text = match is_html {
            true => self.to_html(),
            false => self.to_markdown(),
        };
        let failed = |kind| DocsError {
            path: path.to_owned(),
            kind,
        };
        let found = generated_file::read(path).map_err(|error| failed(DocsErrorKind::Io(error)))?;
        let kind = match found {
            Some(found) => match DocsErrorKind::stale(&found, &text) {
                Some(kind) => kind,
                None => return Ok(()),
            },
            None => DocsErrorKind::Missing,
        };
        if !is_updating {
            return Err(failed(kind));
        }
        generated_file::replace(path, &text).map_err(|error| failed(DocsErrorKind::Io(error)))
    }
}

/// The arguments of a call that a tool takes, as JSON, or why there are none to show.
///
/// They are made from the examples, defaults, enums and bounds of its schema, and from what its
/// descriptions name ("such as `Lisbon`"). What has a pattern needs an example of its own: none is
/// shown that the registry would refuse.
///
/// ```
/// use tool_core::{Tool, docs, tool};
///
/// /// Weather in a city.
/// #[tool]
/// fn get_weather(
///     /// The city, such as `Lisbon`.
///     city: &str,
///     #[param(range = 1..=14, example = 3)]
///     days: Option<u8>,
/// ) -> String {
///     # let _ = (city, days);
///     String::new()
/// }
///
/// assert_eq!(docs::example(&get_weather::SPEC).unwrap(), r#"{"city":"Lisbon","days":3}"#);
/// ```
///
/// # Errors
///
/// When none could be made, with the parameter that needs an example.
pub fn example(tool: &ToolSpec) -> Result<String, String> {
    let schema = Json::parse(tool.parameters_json()).map_err(|error| error.to_string())?;
    example::arguments(tool, &schema).map(|arguments| arguments.to_string())
}

/// Whether a text has letters that run from right to left, or marks that make others do so.
fn runs_to_the_left(text: &str) -> bool {
    text.chars().any(|character| {
        crate::json::is_bidi_control(character)
            || matches!(character, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}'
                | '\u{fe70}'..='\u{feff}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
    })
}

/// Whether a character makes letters run against their own direction. No text needs it, and one
/// that is shown so can't be read for what it is.
fn is_override(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}')
}

/// A character that must not be one: `[U+202E]`.
fn code_point(character: char) -> String {
    format!("[U+{:04X}]", u32::from(character))
}
