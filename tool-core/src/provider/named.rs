//! [`NamedDialect`]: a dialect with its names, for lists to choose from.

use std::fmt;

use crate::provider::wire::Dialect;

/// A dialect with its names, for a program whose user chooses a provider. `tool_dialects::all` lists them, and
/// `tool_dialects::find` finds one.
///
/// ```
/// for known in tool_dialects::all().filter(|known| known.is_strict) {
///     println!("{}: {}", known.name, known.title);
/// }
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct NamedDialect {
    /// The name on command lines and in files, such as `openai-chat`. A strict dialect has the same name as
    /// the dialect that is not strict.
    pub name: &'static str,
    /// The name in texts for people, such as `OpenAI Chat, strict`.
    pub title: &'static str,
    /// `true` if the provider is asked to make calls follow the schema, where a dialect has the choice.
    pub is_strict: bool,
    /// The dialect with its default settings.
    pub dialect: &'static dyn Dialect,
}

impl NamedDialect {
    /// Creates one. `is_strict` is set for the strict one of two dialects with a name.
    pub const fn new(
        name: &'static str,
        title: &'static str,
        is_strict: bool,
        dialect: &'static dyn Dialect,
    ) -> NamedDialect {
        NamedDialect {
            name,
            title,
            is_strict,
            dialect,
        }
    }
}

impl fmt::Debug for NamedDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedDialect")
            .field("name", &self.name)
            .field("title", &self.title)
            .field("is_strict", &self.is_strict)
            .finish_non_exhaustive()
    }
}
