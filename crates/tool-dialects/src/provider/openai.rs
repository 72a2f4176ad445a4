//! OpenAI: Chat Completions, which many other providers and local servers speak too, and Responses.

mod accepts;
pub(crate) mod chat;
mod response;
pub(crate) mod responses;
mod stream;
pub mod trained;
mod trained_calls;

pub use self::chat::{ChatRules, OpenAiChat};
pub use self::responses::OpenAiResponses;
use tool_core::dialect::write::{JsonWriter, RequestParts, RequestWriter, Subset};
use tool_core::rules::Target;
use tool_core::spec::Grammar;

/// Returns the schema of the answer, and `true` if it is strict. If strict mode rejects it, it is described
/// to the model and not enforced by the provider, and a note says so.
fn answer_schema(parts: &RequestParts<'_>, out: &mut RequestWriter) -> Option<(String, bool)> {
    let format = parts.answer()?;
    match format.reduced(Target::OpenAiStrict, &Subset::OPENAI_STRICT) {
        Ok(schema) => Some((schema, true)),
        Err(problem) => {
            out.note(format!(
                "OpenAI's strict mode does not accept the schema of the answer ({problem}); it is \
                 sent as not strict"
            ));
            Some((format.schema().to_json(), false))
        }
    }
}

fn write_grammar(grammar: &Grammar, out: &mut JsonWriter) {
    out.word("syntax").string(grammar.syntax());
    out.word("definition").string(grammar.definition());
}
