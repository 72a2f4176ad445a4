//! `render`: what a provider is sent.

use std::io::{IsTerminal, Write};

use clap::ArgMatches;
use tool_core::Registry;
use tool_core::dialect::{
    Anthropic, Bedrock, Cohere, Dialect, Gemini, Mcp, Mistral, OpenAiChat, OpenAiResponses, XAi,
};
use tool_core::schema::Json;

use crate::cli::Failure;
use crate::output;
use crate::terminal::{BAD, Terminal};

pub(crate) const NAMES: [&str; 9] = [
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "bedrock",
    "cohere",
    "mistral",
    "xai",
    "mcp",
];

/// Returns the dialect; `None` if it has no strict mode and one is asked for.
fn dialect(name: &str, is_strict: bool) -> Option<Box<dyn Dialect>> {
    Some(match (name, is_strict) {
        ("openai-chat", true) => Box::new(OpenAiChat::strict()),
        ("openai-responses", true) => Box::new(OpenAiResponses::strict()),
        ("anthropic", true) => Box::new(Anthropic::strict()),
        (_, true) => return None,
        ("openai-chat", false) => Box::new(OpenAiChat::default()),
        ("openai-responses", false) => Box::new(OpenAiResponses::default()),
        ("anthropic", false) => Box::new(Anthropic::default()),
        ("gemini", false) => Box::new(Gemini::default()),
        ("bedrock", false) => Box::new(Bedrock::default()),
        ("cohere", false) => Box::new(Cohere::default()),
        ("mistral", false) => Box::new(Mistral::default()),
        ("xai", false) => Box::new(XAi::default()),
        ("mcp", false) => Box::new(Mcp::default()),
        _ => return None,
    })
}

pub(crate) fn render(registry: &Registry, matches: &ArgMatches) -> Result<(), Failure> {
    let name = matches
        .get_one::<String>("provider")
        .map_or("", |name| name);
    if matches.get_flag("sizes") {
        return output::document(matches, &format!("{}\n", registry.budget()));
    }
    let Some(dialect) = dialect(name, matches.get_flag("strict")) else {
        return Err(Failure::wrong(format!(
            "{name} has no strict mode; remove --strict"
        )));
    };
    let rendered = registry.render(&*dialect);
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
            "{name} has {count} problems with the tools"
        ))),
    }
}
