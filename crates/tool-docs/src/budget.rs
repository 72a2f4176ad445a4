//! [`Budget`]: the size of the tools in a request.

use std::cmp::Reverse;
use std::{fmt, slice};

use tool_core::__docs::{listed, rendered, rendered_alone};
use tool_core::dialect::write::JsonWriter;
use tool_core::dialect::{Dialect, Rendered};
use tool_core::{Registry, ToolEntry};

/// The size of a set of tools: of each tool in bytes, and of all tools in each dialect.
///
/// Every request repeats all tools, so a long description costs tokens in every turn.
///
/// A tool is counted as an object with its name, its description and the schema of its parameters,
/// which every provider receives. `Display` writes a table, the largest tool first.
///
/// ```
/// use tool_core::{Registry, tool, tools};
/// use tool_docs::Budget;
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let registry = Registry::builder().tools(tools![add]).build()?;
/// let budget = Budget::new(&registry);
/// println!("{budget}");
/// assert_eq!(budget.bytes(), 190);
/// assert!(budget.dialects().iter().any(|(name, bytes)| *name == "Anthropic" && *bytes < 210));
/// assert_eq!(budget.tools()[0].name(), "add");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Budget {
    tools: Vec<Cost>,
    dialects: Vec<(&'static str, usize)>,
}

/// The size of one tool in a request.
///
/// ```
/// use tool_core::{Registry, tool, tools};
/// use tool_docs::Budget;
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let registry = Registry::builder().tools(tools![add]).build()?;
/// let budget = Budget::new(&registry);
/// let largest = &budget.tools()[0];
/// assert_eq!(largest.name(), "add");
/// assert!(largest.dialects().iter().all(|(_, bytes)| *bytes > 100));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cost {
    name: String,
    json: String,
    dialects: Vec<(&'static str, usize)>,
}

/// Returns the bytes of a request's `tools` field with one tool in each dialect.
fn by_dialect(render: impl Fn(&'static dyn Dialect) -> Rendered) -> Vec<(&'static str, usize)> {
    let bytes =
        tool_dialects::all().map(|known| (known.title, render(known.dialect).as_str().len()));
    bytes.collect()
}

impl Budget {
    /// Measures the size of a registry's tools in a request. In place of [deferred](tool_core::RegistryBuilder::defer) tools
    /// it has `search_tools` and `call_tool`; [`dialects`](Budget::dialects) has what each dialect sends.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_docs::Budget;
    ///
    /// assert_eq!(Budget::new(&Registry::new()).bytes(), 0);
    /// ```
    pub fn new(registry: &Registry) -> Budget {
        let dialects = by_dialect(|dialect| rendered(registry, dialect));
        let mut tools: Vec<_> = listed(registry).iter().map(Cost::new).collect();
        tools.sort_by_key(|tool| Reverse(tool.bytes()));
        Budget { tools, dialects }
    }

    /// Returns the tools, the largest first.
    pub fn tools(&self) -> &[Cost] {
        &self.tools
    }

    /// Returns the number of bytes of all tools.
    pub fn bytes(&self) -> usize {
        self.tools.iter().map(Cost::bytes).sum()
    }

    /// Returns the bytes of a request's `tools` field in each dialect, including
    /// [hosted tools](tool_core::dialect::HostedTool).
    pub fn dialects(&self) -> &[(&'static str, usize)] {
        &self.dialects
    }

    /// Returns the number of tokens of all tools.
    #[cfg(feature = "tokens")]
    pub fn tokens(&self) -> usize {
        self.tools.iter().map(Cost::tokens).sum()
    }
}

impl Cost {
    fn new(tool: &ToolEntry) -> Cost {
        let mut out = JsonWriter::new();
        out.object(|out| {
            out.key("name").string(&tool.name);
            out.key("description").string(&tool.prompt());
            out.key("parameters").raw(tool.portable_json());
        });
        Cost {
            name: tool.name.to_string(),
            json: out.into_string(),
            dialects: by_dialect(|dialect| rendered_alone(tool, dialect)),
        }
    }

    /// Returns the name of the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of bytes of the tool.
    pub fn bytes(&self) -> usize {
        self.json.len()
    }

    /// Returns the bytes of a request's `tools` field with only this tool, in each dialect.
    pub fn dialects(&self) -> &[(&'static str, usize)] {
        &self.dialects
    }

    /// Returns the number of tokens of the tool in the encoding `o200k_base`. This is an estimate:
    /// providers don't document how they present tools to a model.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    /// use tool_docs::Budget;
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![add]).build()?;
    /// let budget = Budget::new(&registry);
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
        for tool in &self.tools {
            write_row(f, tool.name(), slice::from_ref(tool))?;
        }
        write_row(f, "all tools", &self.tools)?;
        for (name, bytes) in &self.dialects {
            write!(f, "\n{name:<32} {bytes:>7} bytes")?;
        }
        Ok(())
    }
}

fn write_row(f: &mut fmt::Formatter<'_>, name: &str, tools: &[Cost]) -> fmt::Result {
    let bytes: usize = tools.iter().map(Cost::bytes).sum();
    write!(f, "{name:<32} {bytes:>7} bytes")?;
    #[cfg(feature = "tokens")]
    {
        let tokens: usize = tools.iter().map(Cost::tokens).sum();
        write!(f, " {tokens:>6} tokens")?;
    }
    writeln!(f)
}

#[cfg(all(test, feature = "tokens"))]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::Value;

    use tool_core::dynamic::DynamicTool;
    use tool_core::{Registry, ToolCall};

    use super::Budget;

    /// Prints the tokens that 200 functions of the Berkeley Function Calling Leaderboard take in each request,
    /// listed and deferred. `BFCL` is the folder with its `BFCL_v4_*.json`.
    #[test]
    #[ignore = "prints figures"]
    fn figures() {
        let folder = std::env::var("BFCL").expect("`BFCL` is a folder");
        let text = std::fs::read_to_string(format!("{folder}/BFCL_v4_multiple.json")).unwrap();
        let mut functions = BTreeMap::new();
        for line in text.lines() {
            let asked: Value = serde_json::from_str(line).unwrap();
            for function in asked["function"].as_array().unwrap() {
                functions.insert(
                    function["name"].as_str().unwrap().replace('.', "_"),
                    function.clone(),
                );
            }
        }
        let mut builder = Registry::builder();
        for (name, function) in functions.into_iter().take(200) {
            let mut schema = function["parameters"].to_string();
            for (theirs, own) in [("dict", "object"), ("float", "number"), ("tuple", "array")] {
                schema = schema.replace(
                    &format!("\"type\":\"{theirs}\""),
                    &format!("\"type\":\"{own}\""),
                );
            }
            let schema = schema.replace("\"type\":\"any\",", "");
            let tool = DynamicTool::foreign(name)
                .description(function["description"].as_str().unwrap())
                .parameters_json(schema)
                .build(|_, _| async { Ok::<_, std::fmt::Error>("") })
                .unwrap();
            builder = builder.tool(tool);
        }
        let listed = builder.clone().build().unwrap();
        let deferred = builder.defer(|_| true).build().unwrap();
        let budget = Budget::new;
        let (all, fewer) = (budget(&listed), budget(&deferred));
        println!("{} tools: {} tokens", listed.len(), all.tokens());
        println!("deferred: {} tokens", fewer.tokens());
        for ((name, all), (_, fewer)) in all.dialects().iter().zip(fewer.dialects()) {
            println!("{name}: {all} bytes, {fewer} deferred");
        }
        let call = ToolCall::new(
            "1",
            "search_tools",
            r#"{"query":"area of a triangle with three sides"}"#,
        );
        let found = deferred.call_blocking(call);
        let tokens = tiktoken_rs::o200k_base_singleton().count_ordinary(found.content());
        println!("one search: {tokens} tokens\n{}", found.content());
    }
}
