//! Rules over all tools of a request together.

use std::fmt;

use crate::provider::anthropic::rules as anthropic;
use crate::provider::check::check;
use crate::provider::gemini::rules as gemini;
use crate::provider::openai::rules as openai;
use crate::provider::rules::{Rule, Target, others};
use crate::schema::stats::SchemaStats;
use crate::tool::ToolEntry;

/// A rule that a set of tools breaks, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenRule {
    /// The rule.
    pub rule: &'static Rule,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (rule {})", self.message, self.rule.id)
    }
}

/// What a target refuses of these tools together, although it would take each of them alone.
///
/// ```
/// use tool_core::rules::{Target, broken};
///
/// let [none] = &broken(Target::Bedrock, &[])[..] else {
///     panic!("one rule");
/// };
/// assert_eq!(none.rule.id, "bedrock.tools_min");
/// assert!(none.to_string().starts_with("Amazon Bedrock wants at least 1 tool, and there are 0; "));
/// ```
pub fn broken(target: Target, tools: &[ToolEntry]) -> Vec<BrokenRule> {
    let mut found = Vec::new();
    let mut most = |rule: &'static Rule, count: usize, who: &str, unit: &str, remedy: &str| {
        let limit = rule.value.number();
        if count > limit {
            found.push(BrokenRule {
                rule,
                message: format!(
                    "{who} takes at most {limit} {unit}, and there are {count}; {remedy}"
                ),
            });
        }
    };
    match target {
        Target::OpenAiStrict => most(&openai::TOOLS_MAX, tools.len(), "OpenAI", TOOLS, FEWER),
        Target::AnthropicStrict => {
            let strict = fitting(target, tools);
            let total = total(&strict);
            let who = "Anthropic's strict mode";
            most(
                &anthropic::MAX_STRICT_TOOLS,
                strict.len(),
                who,
                TOOLS,
                FEWER,
            );
            most(
                &anthropic::MAX_OPTIONAL,
                total.optional,
                who,
                "parameters and fields that may be left out",
                "require some of them, or send fewer tools",
            );
            most(&anthropic::MAX_UNIONS, total.unions, who, "unions", FEWER);
        }
        Target::Gemini => most(&gemini::TOOLS_MAX, tools.len(), "Gemini", TOOLS, FEWER),
        Target::Cohere => {
            let total = total(&fitting(target, tools));
            most(
                &others::COHERE_FIELDS,
                total.keys,
                "Cohere",
                "fields",
                FEWER,
            );
        }
        Target::Bedrock => {
            let rule = &others::BEDROCK_TOOLS_MIN;
            if tools.len() < rule.value.number() {
                found.push(BrokenRule {
                    rule,
                    message: "Amazon Bedrock wants at least 1 tool, and there are 0; \
                              leave `toolConfig` out of the request"
                        .into(),
                });
            }
        }
        Target::XAi | Target::Mistral => {}
    }
    found
}

const TOOLS: &str = "tools";
const FEWER: &str = "send fewer tools";

/// What those tools hold that the target takes.
fn fitting(target: Target, tools: &[ToolEntry]) -> Vec<SchemaStats> {
    let tools = tools.iter();
    tools
        .filter_map(|tool| check(&tool.parameters(), target).ok())
        .collect()
}

fn total(tools: &[SchemaStats]) -> SchemaStats {
    tools
        .iter()
        .fold(SchemaStats::NONE, |sum, tool| sum.and(*tool))
}
