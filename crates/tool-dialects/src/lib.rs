#![doc = include_str!("../README.md")]
// Items show their feature on docs.rs.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Modules of `provider`, from the bottom up. A module imports only from those above it.
//
// forms                        tells the responses of providers apart by their keys, for errors
// media, hosted_tool, entry    what the parts of requests have in common
// unanswered, usage, response, latest, stream    what responses have in common
// history                      how a request repeats the calls and results of earlier messages
// chat                         the format of chat completions, which several providers share
// <provider>                   its dialects; in its folder, what it accepts, its responses and its streams
//
// Above them:
//
// server, server::rows         servers by name: their dialects with what differs
// prompted::format, prompted::scanner, prompted::stream, prompted    calls in the text of models without tools

mod prompted;
mod provider;
pub mod server;

use tool_core::dialect::NamedDialect;

pub use prompted::{CallFormat, Prompted};
pub use provider::anthropic::{Anthropic, trained as anthropic};
pub use provider::bedrock::Bedrock;
pub use provider::cohere::Cohere;
pub use provider::gemini::{Gemini, GeminiInteractions};
pub use provider::history::IdRules;
pub use provider::mcp::Mcp;
pub use provider::mistral::Mistral;
pub use provider::openai::{ChatRules, OpenAiChat, OpenAiResponses, trained as openai};
pub use provider::xai::XAi;

/// The dialects with their names: by provider, those without strict mode first.
const NAMED: &[&[NamedDialect]] = &[
    OpenAiChat::NAMED,
    OpenAiResponses::NAMED,
    Anthropic::NAMED,
    Gemini::NAMED,
    GeminiInteractions::NAMED,
    Bedrock::NAMED,
    XAi::NAMED,
    Cohere::NAMED,
    Mistral::NAMED,
    Mcp::NAMED,
];

/// Returns every dialect, for lists to choose from: by provider, those without strict mode first.
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
/// let registry = Registry::builder().tools(tools![add]).build()?;
/// for known in tool_dialects::all() {
///     let sent = registry.render(known.dialect);
///     println!("{}: {} bytes", known.title, sent.as_str().len());
/// }
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
pub fn all() -> impl Iterator<Item = &'static NamedDialect> {
    NAMED.iter().copied().flatten()
}

/// Returns the dialect with this [name](NamedDialect::name), such as one that a user has typed. Returns `None` if there is
/// none, or if it is to be strict and has no such mode.
///
/// ```
/// let interactions = tool_dialects::find("gemini-interactions", false).unwrap();
/// assert_eq!(interactions.title, "Gemini Interactions");
/// assert!(tool_dialects::find("openai-chat", true).unwrap().is_strict);
/// assert!(tool_dialects::find("openai", false).is_none());
/// ```
pub fn find(name: &str, is_strict: bool) -> Option<&'static NamedDialect> {
    all().find(|known| known.name == name && known.is_strict == is_strict)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use tool_core::Registry;

    use crate::{all, find};

    /// The other promise, that each dialect is there, is kept by the next test.
    #[test]
    fn each_dialect_is_found_by_its_name() {
        let (mut names, mut titles) = (BTreeSet::new(), BTreeSet::new());
        for known in all() {
            assert!(names.insert((known.name, known.is_strict)), "{known:?}");
            assert!(titles.insert(known.title), "{known:?}");
            let found = find(known.name, known.is_strict).unwrap();
            assert_eq!(found.title, known.title);
            // A strict dialect is one of two.
            assert!(find(known.name, false).is_some(), "{known:?}");
            assert_eq!(known.title.ends_with(", strict"), known.is_strict);
            let rendered = Registry::new().render(known.dialect);
            let written: Result<Value, _> = serde_json::from_str(rendered.as_str());
            assert!(written.is_ok(), "{known:?}");
        }
        assert!(find("openai", false).is_none());
        assert!(find("gemini", true).is_none());
    }

    #[test]
    fn every_dialect_of_the_crate_is_listed() {
        /// Returns the files in a folder, at every depth.
        fn files(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    files(&path, found);
                } else {
                    found.push(path);
                }
            }
        }
        let mut paths = Vec::new();
        files(
            std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/provider")),
            &mut paths,
        );
        let code = paths
            .iter()
            .map(|path| std::fs::read_to_string(path).unwrap());
        let written = code.map(|code| code.matches("\nimpl Dialect for ").count());
        let listed = all().filter(|known| !known.is_strict);
        assert_eq!(written.sum::<usize>(), listed.count());
    }
}
