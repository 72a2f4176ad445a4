//! The names, descriptions and schemas of tools in a request, for all formats.

use std::borrow::Cow;

use serde_json::Value;
use tool_core::ToolSpec;
use tool_core::dialect::write::{JsonWriter, RequestParts, RequestWriter, Subset};
use tool_core::rules::Target;
use tool_core::spec::Programmatic;

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
        let keys = tool.unusual_keys();
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
    let is_strict = target.check(&tool.parameters()).is_ok();
    out.key(key);
    if is_strict {
        subset.write(&tool.parameters(), out);
    } else {
        out.raw(tool.portable_json());
    }
    out.word("strict").boolean(is_strict);
}

/// Returns the schema of the answer in a subset. Without one that the target accepts, the parts have
/// a tool for the answer.
pub(crate) fn structured<'p, 'r>(
    parts: &'p RequestParts<'r>,
    target: Target,
    subset: &Subset,
    out: &mut RequestWriter,
) -> (Cow<'p, RequestParts<'r>>, Option<String>) {
    let Some(format) = parts.answer() else {
        return (Cow::Borrowed(parts), None);
    };
    match format.reduced(target, subset) {
        Ok(schema) => (Cow::Borrowed(parts), Some(schema)),
        Err(problem) => {
            let reason = format!("does not accept the schema of the answer ({problem})");
            (Cow::Owned(parts.with_answer_tool(&reason, out)), None)
        }
    }
}
