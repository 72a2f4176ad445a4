//! [`Budget`]: how much of a request the tools are (feature `docs`).
//!
//! Every request repeats all tools, so that a long description is paid for in every turn.
//!
//! ```
//! use tool_core::{Registry, tool, tools};
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! let budget = Registry::builder().tools(tools![add]).build()?.budget();
//! assert_eq!(budget.bytes(), 190);
//! assert!(budget.dialects().iter().any(|(name, bytes)| *name == "Anthropic" && *bytes < 210));
//! println!("{budget}");
//! # Ok::<(), tool_core::RegistryError>(())
//! ```

use std::fmt;

use crate::provider::DIALECTS;
use crate::provider::dialect::{JsonWriter, Rendered};
use crate::provider::hosted_tool::HostedTool;
use crate::registry::Registry;
use crate::tool::ToolEntry;

/// The cost of some tools: what each of them is in bytes, and all of them in each dialect.
///
/// A tool is counted as what all providers are told of it: an object with its name, its text and
/// the schema of its arguments. Its `Display` is a table, the costliest tool first.
#[derive(Clone, Debug)]
pub struct Budget {
    tools: Vec<Cost>,
    dialects: Vec<(&'static str, usize)>,
}

/// What one tool costs in every request.
#[derive(Clone, Debug)]
pub struct Cost {
    name: String,
    json: String,
    dialects: Vec<(&'static str, usize)>,
}

impl Registry {
    /// What the tools cost in every request.
    pub fn budget(&self) -> Budget {
        let tools = self.specs();
        let dialects = by_dialect(&tools, &self.hosted());
        let mut tools: Vec<_> = tools.iter().map(Cost::of).collect();
        tools.sort_by_key(|tool| std::cmp::Reverse(tool.bytes()));
        Budget { tools, dialects }
    }
}

/// The bytes of the `tools` field of a request by dialect.
fn by_dialect(tools: &[ToolEntry], hosted: &[HostedTool]) -> Vec<(&'static str, usize)> {
    let dialects = DIALECTS.iter().copied().flatten();
    let bytes = dialects.map(|&(name, dialect)| {
        let rendered = Rendered::new(dialect, tools, hosted);
        (name, rendered.as_str().len())
    });
    bytes.collect()
}

impl Budget {
    /// Each tool, the costliest first.
    pub fn tools(&self) -> &[Cost] {
        &self.tools
    }

    /// The bytes of all tools.
    pub fn bytes(&self) -> usize {
        self.tools.iter().map(Cost::bytes).sum()
    }

    /// The bytes of the `tools` field of a request by dialect, with its
    /// [hosted tools](crate::HostedTool).
    pub fn dialects(&self) -> &[(&'static str, usize)] {
        &self.dialects
    }

    /// The tokens of all tools.
    #[cfg(feature = "tokens")]
    pub fn tokens(&self) -> usize {
        self.tools.iter().map(Cost::tokens).sum()
    }
}

impl Cost {
    fn of(tool: &ToolEntry) -> Cost {
        let mut out = JsonWriter::new();
        out.object(|out| {
            out.key("name").string(&tool.name);
            out.key("description").string(&tool.prompt());
            out.key("parameters").raw(tool.parameters_json());
        });
        Cost {
            name: tool.name.to_string(),
            json: out.into_string(),
            dialects: by_dialect(std::slice::from_ref(tool), &[]),
        }
    }

    /// The name of the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The bytes that say what it is.
    pub fn bytes(&self) -> usize {
        self.json.len()
    }

    /// The bytes of the `tools` field of a request with this tool alone, by dialect.
    pub fn dialects(&self) -> &[(&'static str, usize)] {
        &self.dialects
    }

    /// The tokens that say what it is, by the encoding `o200k_base`. What a provider makes of its
    /// tools before a model reads them is not known, so this is near the truth and not the truth.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let budget = Registry::builder().tools(tools![add]).build()?.budget();
    /// assert!((20..60).contains(&budget.tools()[0].tokens()));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    #[cfg(feature = "tokens")]
    pub fn tokens(&self) -> usize {
        tiktoken_rs::o200k_base_singleton().count_ordinary(&self.json)
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.tools.iter().map(|tool| (tool.name(), Line::of(tool)));
        let total = Line {
            bytes: self.bytes(),
            #[cfg(feature = "tokens")]
            tokens: self.tokens(),
        };
        for (name, line) in rows.chain([("all of them", total)]) {
            writeln!(f, "{name:<32} {line}")?;
        }
        for (name, bytes) in &self.dialects {
            write!(f, "\n{name:<32} {bytes:>7} bytes")?;
        }
        Ok(())
    }
}

/// The figures of a line.
struct Line {
    bytes: usize,
    #[cfg(feature = "tokens")]
    tokens: usize,
}

impl Line {
    fn of(tool: &Cost) -> Line {
        Line {
            bytes: tool.bytes(),
            #[cfg(feature = "tokens")]
            tokens: tool.tokens(),
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>7} bytes", self.bytes)?;
        #[cfg(feature = "tokens")]
        write!(f, " {:>6} tokens", self.tokens)?;
        Ok(())
    }
}
