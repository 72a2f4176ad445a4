//! [`Constraint`]: one key of `#[param(…)]`, or one keyword of `schema = "…"`, about a schema.

use proc_macro2::TokenStream;

use crate::util::literal::Literal;
use crate::util::tokens::Ends;

/// One key, as a call of a function of `tool_core::__private::constrain`.
pub(crate) struct Constraint {
    pub(crate) function: &'static str,
    /// The ends of its value, or its key if it has none.
    pub(crate) ends: Ends,
    /// The arguments after the schema or the property.
    pub(crate) arguments: Vec<TokenStream>,
    /// Its value, if that is checked against the schema or the schema against it.
    pub(crate) literal: Option<Literal>,
    /// The JSON Schema keywords and their values.
    pub(crate) keywords: Vec<(&'static str, String)>,
    /// Its text in the table of arguments, as Markdown.
    pub(crate) summary: String,
}

impl Constraint {
    pub(super) fn new(
        function: &'static str,
        ends: Ends,
        arguments: Vec<TokenStream>,
    ) -> Constraint {
        Constraint {
            function,
            ends,
            arguments,
            literal: None,
            keywords: Vec::new(),
            summary: String::new(),
        }
    }

    /// Returns the JSON text of the value of a keyword.
    pub(crate) fn keyword_value(&self, keyword: &str) -> Option<&str> {
        let found = self.keywords.iter().find(|(name, _)| *name == keyword);
        found.map(|(_, value)| &**value)
    }

    /// Returns `true` if some types can't have the constraint.
    pub(crate) fn can_misfit(&self) -> bool {
        !matches!(self.function, "secret" | "example")
    }

    pub(super) fn keyword(
        mut self,
        keyword: &'static str,
        value: Option<impl ToString>,
    ) -> Constraint {
        self.keywords
            .extend(value.map(|value| (keyword, value.to_string())));
        self
    }

    pub(super) fn summary(mut self, summary: impl Into<String>) -> Constraint {
        self.summary = summary.into();
        self
    }
}
