//! [`Grammar`]: what the text of a free-form tool must look like.

use std::borrow::Cow;

use serde_json::Value;

use super::ToolSpec;

/// The only parameter of a free-form tool.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Freeform {
    pub key: Cow<'static, str>,
    pub grammar: Option<Grammar>,
}

impl Freeform {
    /// Returns the arguments as JSON text.
    pub(crate) fn arguments(&self, text: &str) -> String {
        let (key, text) = (Value::from(&*self.key), Value::from(text));
        format!("{{{key}:{text}}}")
    }
}

/// The grammar of the text of a [free-form](macro@crate::tool#free-form-tools) tool.
///
/// ```
/// use tool_core::spec::Grammar;
/// use tool_core::{Tool, tool};
///
/// /// Computes a sum.
/// #[tool(freeform, grammar = lark(r#"
/// start: NUMBER ("+" NUMBER)*
/// NUMBER: /[0-9]+/
/// "#))]
/// fn add(sum: &str) -> u64 {
///     sum.split('+').filter_map(|number| number.parse::<u64>().ok()).sum()
/// }
///
/// assert!(matches!(add::SPEC.grammar(), Some(Grammar::Lark(_))));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grammar {
    /// A regular expression that matches the whole text, in the syntax of the crate `regex`. Every call is
    /// validated against it.
    Regex(Cow<'static, str>),
    /// A grammar of [Lark](https://lark-parser.readthedocs.io). Only the provider enforces it.
    Lark(Cow<'static, str>),
}

impl Grammar {
    /// Returns the grammar with an expression that matches whole strings only.
    #[cfg(feature = "dynamic")]
    pub(crate) fn anchored(self) -> Grammar {
        match self {
            Grammar::Regex(regex) if !is_anchored(&regex) => {
                Grammar::Regex(format!("^(?:{regex})$").into())
            }
            other => other,
        }
    }

    /// Returns the name of the syntax.
    pub fn syntax(&self) -> &'static str {
        match self {
            Grammar::Regex(_) => "regex",
            Grammar::Lark(_) => "lark",
        }
    }

    /// Returns the expression or the rules.
    pub fn definition(&self) -> &str {
        let (Grammar::Regex(definition) | Grammar::Lark(definition)) = self;
        definition
    }
}

/// Returns `true` if an expression is known to match whole strings only.
#[cfg(feature = "dynamic")]
fn is_anchored(regex: &str) -> bool {
    let inside = regex
        .strip_prefix('^')
        .and_then(|rest| rest.strip_suffix('$'));
    inside.is_some_and(|inside| !inside.ends_with('\\') && !inside.contains('|'))
}

impl ToolSpec {
    /// Returns `true` if a model may write the argument as text and not as JSON:
    /// [`#[tool(freeform)]`](macro@crate::tool#free-form-tools).
    #[inline]
    pub fn is_freeform(&self) -> bool {
        self.freeform().is_some()
    }

    /// Returns the grammar of the text of a free-form tool.
    pub fn grammar(&self) -> Option<&Grammar> {
        self.freeform()?.grammar.as_ref()
    }

    #[inline]
    pub(crate) fn freeform(&self) -> Option<&Freeform> {
        self.details()?.freeform.as_ref()
    }

    /// Returns the same text with the grammar that no schema expresses.
    #[inline]
    pub(crate) fn prompt_with_grammar(&self) -> Cow<'_, str> {
        let Some(details) = self.details() else {
            return Cow::Borrowed(&self.description);
        };
        let mut text = details.prompt(&self.description);
        if let Some(Freeform {
            key,
            grammar: Some(Grammar::Lark(rules)),
        }) = &details.freeform
        {
            let note = format!("\n\n`{key}` must follow this Lark grammar:\n{rules}");
            text.to_mut().push_str(&note);
        }
        text
    }
}
