//! What providers do not take of the tools.

use crate::provider::check::check;
use crate::provider::rules::{Target, broken};
use crate::schema::Kind;
use crate::spec::ToolSpec;
use crate::tool::ToolEntry;

/// What a provider refuses, in the words of its rule.
pub(super) struct Note {
    pub(super) provider: &'static str,
    pub(super) text: String,
}

/// What is refused of one tool. A dialect then sends it in a way that is taken, as one that is not
/// strict, where there is such a way.
pub(super) fn of(tool: &ToolSpec) -> Vec<Note> {
    // The schema of a tool that came at run time is not taken apart.
    let is_known = matches!(tool.parameters().kind(), Kind::Object(_));
    let targets = Target::ALL.into_iter().filter(|_| is_known);
    let refused = targets.filter_map(|target| {
        let why = check(&tool.parameters(), target).err()?;
        Some(Note {
            provider: name(target),
            text: without_remedy(&why).to_owned(),
        })
    });
    refused.collect()
}

/// What is refused of all tools of a request together.
pub(super) fn together(tools: &[ToolEntry]) -> Vec<Note> {
    let targets = Target::ALL.into_iter().filter(|_| !tools.is_empty());
    let broken = targets.flat_map(|target| {
        broken(target, tools).into_iter().map(move |broken| Note {
            provider: name(target),
            text: broken.to_string(),
        })
    });
    broken.collect()
}

/// The same up to its rule: what to do about it is for those who write the tool.
fn without_remedy(why: &str) -> &str {
    why.split_once("); ")
        .map_or(why, |(head, _)| &why[..=head.len()])
}

fn name(target: Target) -> &'static str {
    match target {
        Target::OpenAiStrict => "OpenAI, strict",
        Target::AnthropicStrict => "Anthropic, strict",
        Target::Gemini => "Gemini",
        Target::Bedrock => "Amazon Bedrock",
        Target::XAi => "xAI",
        Target::Cohere => "Cohere, `strict_tools`",
        Target::Mistral => "Mistral",
    }
}
