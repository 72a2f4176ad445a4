//! `skill`: a page that tells a coding agent how to use the program.

use std::fmt::Write;

use serde_json::Value;
use tool_core::Registry;

use crate::{example, flags, listing};

/// Returns the page, with the front matter that coding agents read.
pub(crate) fn page(registry: &Registry, program: &str) -> String {
    let mut tools = registry.specs();
    tools.retain(|tool| tool.is_for_models());
    let names: Vec<_> = tools.iter().take(12).map(|tool| &*tool.name).collect();
    let more = match tools.len().saturating_sub(names.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let description = format!(
        "Calls the tools of `{program}`: {}{more}.",
        names.join(", ")
    );
    // A JSON string is one of YAML as well, and may contain a colon.
    let description = Value::String(description);
    let mut page = format!(
        "---\nname: {}\ndescription: {description}\n---\n\n# {program}\n\n\
         Each tool is a command. The arguments are checked before the tool runs, and a message names each wrong flag.\n\n\
         ```sh\n{program} list                 # the tools, as JSON in a pipe\n\
         {program} show NAME            # the parameters and the result of one\n\
         {program} call NAME --help     # its flags\n\
         {program} call NAME --arguments '{{…}}'\n```\n\n\
         `call` writes the result to standard output, as JSON in a pipe. Exit codes: 0 done, 1 the tool failed, 2 the arguments \
         are wrong, 130 cancelled. A value `@FILE` is read from a file, and `-` from standard input.\n\n## Tools\n",
        name(program),
    );
    for tool in &tools {
        let description = listing::first_sentence(&tool.description).replace('\n', " ");
        let _ = write!(page, "\n- `{}`: {description}", tool.name);
        if tool.annotations.destructive == Some(true) {
            page.push_str(" Destructive: ask first.");
        }
        if let Some(example) = tool.examples().next() {
            let line = example::line(tool, &flags::of(tool), example);
            let _ = write!(page, " `{program} call {line}`");
        }
    }
    page.push('\n');
    page
}

/// Returns a name with only the characters that names of skills may have: lower-case letters, digits and hyphens.
fn name(program: &str) -> String {
    let name = program.to_lowercase();
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join("-")
}

#[cfg(test)]
mod tests {
    use tool_core::{Registry, tool, tools};

    /// Finds a note.
    #[tool(unlinked)]
    fn find_note() {}

    /// Turns a page.
    #[tool(unlinked, meta = r#"{"ui": {"visibility": ["app"]}}"#)]
    fn turn_page() {}

    #[test]
    fn a_tool_for_apps_alone_is_not_on_the_page() {
        let registry = Registry::builder().tools(tools![find_note, turn_page]);
        let page = super::page(&registry.build().unwrap(), "desk");
        assert!(
            page.contains("find_note") && !page.contains("turn_page"),
            "{page}"
        );
    }
}
