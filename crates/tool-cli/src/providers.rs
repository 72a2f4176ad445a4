//! `render`: shows the tools as sent to a provider.

use std::io::{IsTerminal, Write};

use clap::ArgMatches;
use tool_core::Registry;
use tool_core::schema::Json;
use tool_docs::Budget;

use crate::check::counted;
use crate::failure::Failure;
use crate::output;
use crate::terminal::{BAD, Terminal};

/// Returns the names of the dialects.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let known = tool_dialects::all().filter(|known| !known.is_strict);
    known.map(|known| known.name)
}

pub(crate) fn render(registry: &Registry, matches: &ArgMatches) -> Result<(), Failure> {
    let name = matches
        .get_one::<String>("provider")
        .map_or("", |name| name);
    if matches.get_flag("sizes") {
        return output::document(matches, &format!("{}\n", Budget::new(registry)));
    }
    let Some(known) = tool_dialects::find(name, matches.get_flag("strict")) else {
        return Err(Failure::wrong(format!(
            "{name} has no strict mode; remove --strict"
        )));
    };
    let rendered = registry.render(known.dialect);
    let mut json = rendered.as_str().to_owned();
    if std::io::stdout().is_terminal()
        && let Ok(value) = Json::parse(&json)
    {
        json = format!("{value:#}");
    }
    json.push('\n');
    output::document(matches, &json)?;
    let problems: Vec<String> = rendered
        .rejected()
        .iter()
        .map(|rejected| rejected.message.clone())
        .chain(rendered.broken_rules().iter().map(ToString::to_string))
        .collect();
    let mut out = Terminal::stderr();
    for problem in &problems {
        out.styled(BAD, name)?;
        writeln!(out, ": {problem}")?;
    }
    match problems.len() {
        0 => Ok(()),
        count => Err(Failure::failed(format!(
            "{name} has {} with the tools",
            counted(count, "problem")
        ))),
    }
}
