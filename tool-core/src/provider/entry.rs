//! What the entries of tools in a request have in common: names, descriptions, schemas.

use serde_json::Value;

use crate::provider::reshape;
use crate::provider::rule_check;
use crate::provider::subset::Subset;
use crate::provider::target::Target;
use crate::provider::writer::JsonWriter;
use crate::spec::{Grammar, Programmatic, ToolSpec};
use crate::tool::ToolEntry;

/// Writes `name` and `description`, which have these keys with every provider.
///
/// The description has the grammar that no keyword of JSON Schema expresses.
pub(crate) fn write_head(tool: &ToolSpec, out: &mut JsonWriter) {
    out.quoted("\"name\":").string(&tool.name);
    let prompt = tool.prompt_with_grammar();
    // Bedrock rejects an empty description, and no provider requires one.
    if !(tool.is_dynamic() && prompt.trim().is_empty()) {
        out.quoted("\"description\":").string(&prompt);
    }
}

/// Writes `name` and `description` of a tool whose arguments are text. The description has what the
/// schema of the parameter says.
pub(crate) fn write_freeform_head(tool: &ToolSpec, out: &mut JsonWriter) {
    let mut prompt = tool.prompt();
    if let [property] = tool.properties() {
        let has_pattern = matches!(tool.grammar(), Some(Grammar::Regex(_)));
        let notes = reshape::text_notes(property, has_pattern);
        if !notes.is_empty() {
            let prompt = prompt.to_mut();
            prompt.push_str("\n\n");
            prompt.push_str(&notes);
        }
    }
    out.word("name").string(&tool.name);
    if !prompt.trim().is_empty() {
        out.word("description").string(&prompt);
    }
}

/// Writes who may call a tool: programs, which the provider names `program`, and perhaps the model.
#[cold]
pub(crate) fn write_callers(tool: &ToolSpec, program: &str, out: &mut JsonWriter) {
    let Some(programmatic) = tool.programmatic() else {
        return;
    };
    out.word("allowed_callers").array(|out| {
        if programmatic == Programmatic::Also {
            out.string("direct");
        }
        out.string(program);
    });
}

/// The names that a provider accepts.
pub(crate) struct NameRules {
    /// The longest name of a tool.
    pub(crate) max_len: usize,
    /// Set if a name must start with a letter or `_`.
    pub(crate) starts_with_letter: bool,
    /// The characters of a tool's name other than ASCII letters, digits, `_` and `-`.
    pub(crate) more: &'static str,
    /// The keys of objects: `None` for any, or the characters other than ASCII letters, digits and
    /// `_`.
    pub(crate) keys: Option<&'static str>,
}

impl NameRules {
    /// `^[a-zA-Z0-9_-]{1,64}$`, and any key.
    pub(crate) const COMMON: NameRules = NameRules {
        max_len: 64,
        starts_with_letter: false,
        more: "",
        keys: None,
    };

    /// Returns what a provider rejects in a tool.
    pub(crate) fn problem(&self, tool: &ToolSpec) -> Option<String> {
        let name = &*tool.name;
        if !self.accepts_name(name) {
            let start = if self.starts_with_letter {
                " that starts with a letter or `_`"
            } else {
                ""
            };
            let more: String = self
                .more
                .chars()
                .map(|more| format!(", `{more}`"))
                .collect();
            let length = self.max_len;
            return Some(format!(
                "its name must be 1 to {length} ASCII letters, digits, `_`, `-`{more}{start}"
            ));
        }
        let more = self.keys?;
        let keys = &tool.dynamic_parts()?.unusual_keys;
        let key = keys.iter().find(|key| !self.accepts(key, 64, "", more))?;
        Some(format!("it has the key {}", Value::from(&**key)))
    }

    /// Returns `true` for a name that a tool can have.
    pub(crate) fn accepts_name(&self, name: &str) -> bool {
        self.accepts(name, self.max_len, "-", self.more)
    }

    fn accepts(&self, name: &str, max_len: usize, hyphen: &str, more: &str) -> bool {
        let is_accepted = |character: char| {
            character.is_ascii_alphanumeric()
                || character == '_'
                || hyphen.contains(character)
                || more.contains(character)
        };
        let is_start = |character: char| character.is_ascii_alphabetic() || character == '_';
        (1..=max_len).contains(&name.len())
            && name.chars().all(is_accepted)
            && (!self.starts_with_letter || name.starts_with(is_start))
    }
}

/// Writes the schema under `key`, and `strict`. A schema that the target rejects is written unreduced
/// and not as strict: one tool must not make the whole request fail.
pub(crate) fn strict_or_plain(
    tool: &ToolSpec,
    target: Target,
    subset: &Subset,
    key: &str,
    out: &mut JsonWriter,
) {
    let is_strict = rule_check::check(&tool.parameters(), target).is_ok();
    out.key(key);
    if is_strict {
        reshape::write(&tool.parameters(), subset, out);
    } else {
        out.raw(tool.portable_json());
    }
    out.word("strict").boolean(is_strict);
}

/// Estimates the bytes of these tools in the longest dialect.
pub(crate) fn capacity(tools: &[ToolEntry]) -> usize {
    tools.iter().map(|tool| capacity_of(tool)).sum()
}

fn capacity_of(tool: &ToolSpec) -> usize {
    let sections = [tool.when_to_use(), tool.returns()].into_iter().flatten();
    let prompt = tool.description.len() + sections.map(str::len).sum::<usize>();
    let schemas = tool.parameters_json().len() + tool.output_json().map_or(0, str::len);
    // Plus the keys around them, and escapes in the prompt.
    schemas + prompt + prompt / 8 + 320
}
