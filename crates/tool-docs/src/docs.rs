//! [`Docs`]: a catalogue of all tools, as Markdown or HTML.

mod example;
mod html;
mod html_page;
mod markdown;
mod page;
mod prose;
mod rows;
mod sent;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{error, fmt, io};

use tool_core::__docs::{is_bidi_control, is_bidi_override, replace_hidden};
use tool_core::schema::Json;
use tool_core::{Registry, ToolEntry, ToolSpec, files};

use crate::update::{UPDATE, is_updating};

pub use self::html_page::{HtmlPage, escape};

/// A catalogue of tools.
///
/// It has an index by group and a section for each tool: its description, its parameters at every
/// depth, its example calls or a generated one, and the provider limits that it exceeds.
///
/// ```
/// use tool_core::{Registry, tool, tools};
/// use tool_docs::Docs;
///
/// /// Finds a word in the *notes*.
/// #[tool(read_only)]
/// fn search_notes(
///     /// The word, such as `milk`.
///     word: &str,
///     #[param(range = 1..=50, default = 10)]
///     limit: u8,
/// ) -> Vec<String> {
///     # let _ = (word, limit);
///     Vec::new()
/// }
///
/// let registry = Registry::builder().tools(tools![search_notes]).build()?;
/// let docs = Docs::new(&registry).title("Notes").introduction("What our agent finds.");
/// let markdown = docs.to_markdown();
/// // Markup in descriptions is escaped.
/// assert!(markdown.contains(r"Finds a word in the \*notes\*."));
/// assert!(markdown.contains("```json\n{\n  \"word\": \"milk\",\n  \"limit\": 10\n}\n```"));
/// assert!(docs.to_html().starts_with("<!DOCTYPE html>"));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
///
/// To keep a committed catalogue up to date, call [`check`](Docs::check) in a test.
#[derive(Clone, Debug)]
pub struct Docs {
    registry: Registry,
    tools: Vec<ToolEntry>,
    /// The names of the tools whose calls people approve.
    approved: BTreeSet<String>,
    title: String,
    introduction: String,
    #[cfg(feature = "tokens")]
    has_tokens: bool,
}

impl Docs {
    /// Creates a catalogue of the current tools of a registry.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_docs::Docs;
    ///
    /// let docs = Docs::new(&Registry::new());
    /// assert!(docs.to_markdown().starts_with("# Tools\n\nThere are no tools."));
    /// ```
    pub fn new(registry: &Registry) -> Docs {
        Docs {
            registry: registry.clone(),
            tools: registry.specs(),
            approved: BTreeSet::new(),
            title: "Tools".to_owned(),
            introduction: String::new(),
            #[cfg(feature = "tokens")]
            has_tokens: false,
        }
    }

    /// Sets the title. The default is "Tools".
    pub fn title(mut self, title: impl Into<String>) -> Docs {
        self.title = title.into();
        self
    }

    /// Sets the text before the index. Blank lines separate paragraphs, and a page of HTML renders its Markdown.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_docs::Docs;
    ///
    /// let docs = Docs::new(&Registry::new()).introduction("What our agents can do.");
    /// assert!(docs.to_markdown().starts_with("# Tools\n\nWhat our agents can do.\n"));
    /// ```
    pub fn introduction(mut self, text: impl Into<String>) -> Docs {
        self.introduction = text.into();
        self
    }

    /// Marks the tools whose calls a person approves. A hook decides so for each call, so a catalogue can't know it.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    /// use tool_docs::Docs;
    ///
    /// /// Deletes a note.
    /// #[tool(destructive)]
    /// fn delete_note(id: u32) {
    ///     # let _ = id;
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![delete_note]).build()?;
    /// let docs = Docs::new(&registry);
    /// let docs = docs.approval(|tool| tool.annotations.destructive == Some(true));
    /// assert!(docs.to_markdown().contains("*destructive · approval*"));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn approval(mut self, is_approved: impl Fn(&ToolEntry) -> bool) -> Docs {
        let tools = self.tools.iter().filter(|tool| is_approved(tool));
        self.approved = tools.map(|tool| tool.name.to_string()).collect();
        self
    }

    /// Adds the number of tokens to each size on a page of HTML, in the encoding `o200k_base`.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    /// use tool_docs::Docs;
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![add]).build()?;
    /// let docs = Docs::new(&registry);
    /// assert!(docs.tokens().to_html().contains("<th>Tokens</th>"));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    #[cfg(feature = "tokens")]
    pub fn tokens(mut self) -> Docs {
        self.has_tokens = true;
        self
    }

    /// Returns the catalogue as Markdown for GitHub or mdBook. Markup in names and descriptions is escaped.
    pub fn to_markdown(&self) -> String {
        markdown::write(self)
    }

    /// Returns the catalogue as one self-contained HTML page, which loads nothing from anywhere.
    ///
    /// Markdown in descriptions is rendered, and HTML in them is shown as text. The page is readable without JavaScript,
    /// which adds the search, what each provider is sent, the words for a wrong call, and buttons to copy.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    /// use tool_docs::Docs;
    ///
    /// /// Finds <b>notes</b> with a *word*.
    /// #[tool]
    /// fn search_notes(word: &str) -> usize {
    ///     word.len()
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![search_notes]).build()?;
    /// let page = Docs::new(&registry).to_html();
    /// assert!(page.contains("Finds &lt;b&gt;notes&lt;/b&gt; with a <em>word</em>."));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn to_html(&self) -> String {
        html::write(self, None)
    }

    /// Returns the page for a server that adds to it: `head` is HTML for the end of its head, such as a script that calls the
    /// tools, and is not escaped.
    ///
    /// Unlike [`to_html`](Docs::to_html), the page may load scripts and styles from its own origin and send requests to it.
    /// A tool that is opened gets the event `tool`, which bubbles. Its `detail` has the `name`, the `schema` and an `example` of
    /// the arguments as JSON text. The global `helpers` has the functions that the script of the page shares with others.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_docs::Docs;
    ///
    /// let page = Docs::new(&Registry::new()).to_served_html("<script src=\"live.js\" defer></script>");
    /// assert!(page.contains("<script src=\"live.js\" defer></script></head>"));
    /// ```
    pub fn to_served_html(&self, head: &str) -> String {
        html::write(self, Some(head))
    }

    /// Checks that a file is up to date: HTML if its name ends in `.html`, otherwise Markdown.
    ///
    /// In a test, the path is relative to the package. If the environment variable
    /// `TOOL_CORE_UPDATE=1` is set, this [writes](Docs::write) the file instead.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_docs::Docs;
    ///
    /// let error = Docs::new(&Registry::new()).check("no/such/TOOLS.md").unwrap_err();
    /// assert!(error.to_string().contains("TOOL_CORE_UPDATE=1"));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing, can't be read or written, is out of date, or is not
    /// a catalogue. If it is out of date, the error shows the first line that differs.
    pub fn check(&self, path: impl AsRef<Path>) -> Result<(), DocsError> {
        self.check_or_write(path.as_ref(), is_updating())
    }

    /// Writes a file: HTML if its name ends in `.html`, otherwise Markdown.
    ///
    /// Replaces a catalogue, and keeps its permissions. Never replaces another file, unless it is
    /// empty: a catalogue is recognized by its structure.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_docs::Docs;
    ///
    /// let path = std::env::temp_dir().join(format!("{}-NOTES.md", std::process::id()));
    /// std::fs::write(&path, "# Notes\n\nWritten by hand.\n")?;
    /// let docs = Docs::new(&Registry::new());
    /// let error = docs.write(&path).unwrap_err();
    /// assert!(error.to_string().contains("was not written by tool-docs"));
    ///
    /// std::fs::remove_file(&path)?;
    /// docs.write(&path)?;
    /// assert_eq!(std::fs::read_to_string(&path)?, docs.to_markdown());
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the file can't be read or written, or is not a catalogue.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), DocsError> {
        self.check_or_write(path.as_ref(), true)
    }

    fn check_or_write(&self, path: &Path, is_writing: bool) -> Result<(), DocsError> {
        let is_html = path
            .extension()
            .is_some_and(|name| name.eq_ignore_ascii_case("html"));
        let (text, is_generated): (_, fn(&str) -> bool) = if is_html {
            (self.to_html(), html::is_generated)
        } else {
            (self.to_markdown(), markdown::is_generated)
        };
        let failed = |kind| DocsError {
            path: path.to_owned(),
            kind,
        };
        let io_failed = |error| failed(DocsErrorKind::Io(error));
        let comparable = |text: &str| {
            if is_html {
                html::comparable(text)
            } else {
                text.to_owned()
            }
        };
        let difference = match files::read(path).map_err(io_failed)? {
            Some(found) => match first_difference(&comparable(&found), &comparable(&text)) {
                None => return Ok(()),
                Some(_) if !found.trim().is_empty() && !is_generated(&found) => {
                    return Err(failed(DocsErrorKind::NotGenerated));
                }
                Some(stale) => stale,
            },
            None => DocsErrorKind::Missing,
        };
        if is_writing {
            files::replace(path, text.as_bytes()).map_err(io_failed)
        } else {
            Err(failed(difference))
        }
    }
}

/// The error of [`Docs::check`] and [`Docs::write`]. Its text says how to fix it.
///
/// ```
/// use tool_core::Registry;
/// use tool_docs::{Docs, DocsErrorKind};
///
/// let error = Docs::new(&Registry::new()).check("no/such/TOOLS.md").unwrap_err();
/// assert!(matches!(error.kind(), DocsErrorKind::Missing));
/// assert!(error.to_string().starts_with("no/such/TOOLS.md does not exist"));
/// ```
#[derive(Debug)]
pub struct DocsError {
    path: PathBuf,
    kind: DocsErrorKind,
}

/// The kinds of [`DocsError`].
///
/// ```
/// use tool_core::Registry;
/// use tool_docs::{Docs, DocsError, DocsErrorKind};
///
/// /// What a program that writes catalogues tells its user.
/// fn advice(error: &DocsError) -> String {
///     match error.kind() {
///         DocsErrorKind::Stale { line, .. } => format!("line {line} is old"),
///         DocsErrorKind::Missing => "write the file first".into(),
///         DocsErrorKind::NotGenerated => "choose another file: this one is written by hand".into(),
///         _ => error.to_string(),
///     }
/// }
///
/// let error = Docs::new(&Registry::new()).check("no/such/TOOLS.md").unwrap_err();
/// assert_eq!(advice(&error), "write the file first");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum DocsErrorKind {
    /// The file is out of date.
    #[non_exhaustive]
    Stale {
        /// The first line that differs, counted from 1.
        line: usize,
        /// The line in the file; empty after its end.
        found: String,
        /// The expected line; empty after the end of the expected text.
        expected: String,
    },
    /// The file does not exist.
    Missing,
    /// The file is not a catalogue, so it is left unchanged.
    NotGenerated,
    /// The file can't be read or written.
    Io(io::Error),
}

impl DocsError {
    /// Returns the kind of error.
    pub fn kind(&self) -> &DocsErrorKind {
        &self.kind
    }
}

impl fmt::Display for DocsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.kind {
            DocsErrorKind::Stale {
                line,
                found,
                expected,
            } => write!(
                f,
                "{path} is out of date; run this check with {UPDATE}=1 and commit the file. \
                 Line {line}:\n  found     {found}\n  expected  {expected}"
            ),
            DocsErrorKind::Missing => write!(
                f,
                "{path} does not exist; run this check with {UPDATE}=1 to create it, and commit it"
            ),
            DocsErrorKind::NotGenerated => write!(
                f,
                "{path} was not written by tool-docs and is left unchanged; choose another path, \
                 or delete the file if it may be replaced"
            ),
            DocsErrorKind::Io(error) => write!(f, "{path} can't be read or written: {error}"),
        }
    }
}

impl error::Error for DocsError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.kind {
            DocsErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// Finds the first line that differs, ignoring how lines end.
fn first_difference(found: &str, expected: &str) -> Option<DocsErrorKind> {
    let (mut found, mut expected) = (found.lines(), expected.lines());
    let mut line = 0;
    loop {
        line += 1;
        match (found.next(), expected.next()) {
            (None, None) => return None,
            (left, right) if left == right => {}
            (left, right) => {
                return Some(DocsErrorKind::Stale {
                    line,
                    found: left.unwrap_or_default().to_owned(),
                    expected: right.unwrap_or_default().to_owned(),
                });
            }
        }
    }
}

/// Returns valid arguments for a tool as JSON: its first [example](ToolSpec::examples).
///
/// Without one, they are made from the schema's examples, defaults, enums and bounds, and from examples in its
/// descriptions ("such as `Lisbon`"). A parameter with a pattern needs an explicit example. The
/// arguments are validated as in a call.
///
/// ```
/// use tool_core::{Tool, tool};
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
/// assert_eq!(tool_docs::example(&get_weather::SPEC).unwrap(), r#"{"city":"Lisbon","days":3}"#);
/// ```
///
/// # Errors
///
/// Returns an error that names the parameter that needs an example, if none can be generated.
pub fn example(tool: &ToolSpec) -> Result<String, String> {
    if let Some(example) = tool.examples().next() {
        return Ok(example.to_owned());
    }
    let schema = Json::parse(tool.parameters_json()).map_err(|error| error.to_string())?;
    example::arguments(tool, &schema).map(|arguments| arguments.to_string())
}

/// Returns a string of JSON, with its quotes.
fn quote(text: &str) -> String {
    Json::from(text).to_string()
}

/// Writes a number with commas between thousands.
fn by_thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns `true` if a string has right-to-left letters or bidirectional control characters.
fn has_right_to_left(text: &str) -> bool {
    text.chars().any(|character| {
        is_bidi_control(character)
            || matches!(character, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}'
                | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
    })
}

/// Returns prose with the number of each hidden character that it does not need: `[U+202E]`. Control characters stay, and
/// direction marks that end with the element around them.
fn with_code_points(text: &str) -> Cow<'_, str> {
    replace_hidden(text, |out, hidden| {
        if hidden.is_control() || is_bidi_control(hidden) && !is_bidi_override(hidden) {
            out.push(hidden);
        } else {
            out.push_str(&format!("[U+{:04X}]", u32::from(hidden)));
        }
    })
}

/// The paragraphs of a string, separated by blank lines.
fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").filter(|text| !text.trim().is_empty())
}
