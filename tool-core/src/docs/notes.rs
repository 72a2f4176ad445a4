//! What providers reject of the tools.

use crate::provider::check::check;
use crate::provider::rules::{Target, broken};
use crate::schema::Kind;
use crate::spec::ToolSpec;
use crate::tool::ToolEntry;

/// What a provider rejects, with the rule.
pub(super) struct Note {
    pub(super) provider: &'static str,
    pub(super) text: String,
}

/// Returns what is rejected of one tool. Its dialect sends such a tool in another way where it can:
/// not as a strict one.
pub(super) fn of(tool: &ToolSpec) -> Vec<Note> {
    // The schema of a tool that came at run time is not parsed.
    let is_known = matches!(tool.parameters().kind(), Kind::Object(_));
    let targets = Target::ALL.into_iter().filter(|_| is_known);
    let rejected = targets.filter_map(|target| {
        let why = check(&tool.parameters(), target).err()?;
        Some(Note {
            provider: target.profile().title,
            text: without_remedy(&why).to_owned(),
        })
    });
    rejected.collect()
}

/// Returns what is rejected of all tools of a request together.
pub(super) fn together(tools: &[ToolEntry]) -> Vec<Note> {
    let targets = Target::ALL.into_iter().filter(|_| !tools.is_empty());
    let broken = targets.flat_map(|target| {
        broken(target, tools).into_iter().map(move |broken| Note {
            provider: target.profile().title,
            text: broken.to_string(),
        })
    });
    broken.collect()
}

/// Cuts the text after its rule: what to do about it is for the author of the tool.
fn without_remedy(why: &str) -> &str {
    why.split_once("); ")
        .map_or(why, |(head, _)| &why[..=head.len()])
}
