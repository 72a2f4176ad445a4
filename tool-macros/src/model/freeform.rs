//! `freeform` and `grammar`: tools whose argument is text.

use proc_macro2::{Ident, Span, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::{LitStr, parenthesized};

use super::parameter::Parameter;
use crate::attr::Keys;
use crate::util::errors::Errors;
use crate::util::pattern;

/// The keys of a free-form tool.
pub(crate) struct Freeform {
    /// The span of `freeform`.
    pub(crate) span: Span,
    pub(crate) grammar: Option<Grammar>,
}

pub(crate) enum Grammar {
    /// The pattern of the schema, and its translation for the `regex` crate. Both match whole strings.
    Regex {
        pattern: String,
        regex: String,
        span: Span,
    },
    /// An expression.
    Lark(TokenStream),
}

const FORM: &str = "invalid grammar; write `grammar = regex(\"…\")` or `grammar = lark(\"…\")`";

impl Freeform {
    /// `freeform, grammar = regex("…")`
    pub(super) fn read(keys: &mut Keys, errors: &mut Errors) -> Option<Freeform> {
        let freeform = keys.flag("freeform", errors);
        let grammar = keys.tokens("grammar", "regex(\"…\")", errors);
        let Some((true, span)) = freeform else {
            if let Some(grammar) = grammar {
                let message = "only a free-form tool has a grammar; add `freeform`";
                errors.at(grammar, message);
            }
            return None;
        };
        let grammar = grammar.and_then(|grammar| Grammar::read(grammar, errors));
        Some(Freeform { span, grammar })
    }

    /// Adds the pattern of the grammar to the parameter.
    pub(super) fn constrain(&self, parameters: &mut [Parameter], errors: &mut Errors) {
        let (
            [parameter],
            Some(Grammar::Regex {
                pattern,
                regex,
                span,
            }),
        ) = (parameters, &self.grammar)
        else {
            return;
        };
        if parameter.constraints.has_pattern() {
            errors.span(
                *span,
                "a parameter has one pattern; remove this one, or `#[param(pattern)]`",
            );
        } else {
            let pattern = pattern.clone();
            parameter
                .constraints
                .add_pattern(pattern, regex, (*span, *span));
        }
    }
}

impl Grammar {
    fn read(tokens: TokenStream, errors: &mut Errors) -> Option<Grammar> {
        let parser = |input: ParseStream<'_>| {
            let syntax: Ident = input.parse()?;
            let content;
            parenthesized!(content in input);
            let definition: TokenStream = content.parse()?;
            Ok((syntax, definition))
        };
        let Ok((syntax, definition)) = parser.parse2(tokens.clone()) else {
            errors.at(tokens, FORM);
            return None;
        };
        if definition.is_empty() {
            errors.at(tokens, FORM);
            None
        } else if syntax == "lark" {
            Some(Grammar::Lark(definition))
        } else if syntax == "regex" {
            Grammar::regex(definition, errors)
        } else {
            errors.at(syntax, FORM);
            None
        }
    }

    fn regex(definition: TokenStream, errors: &mut Errors) -> Option<Grammar> {
        let Ok(written) = syn::parse2::<LitStr>(definition.clone()) else {
            let message =
                "the expression must be a string literal, which is checked while compiling";
            errors.at(definition, message);
            return None;
        };
        let pattern = written.value();
        let problem = match pattern::translate(&pattern) {
            Err(problem) => problem,
            Ok(_) if pattern::is_lazy(&pattern) => {
                "which texts match does not depend on lazy quantifiers, and OpenAI rejects them; \
                 remove the `?` after the quantifier"
            }
            Ok(_) if pattern.contains('\n') => {
                "OpenAI rejects an expression of several lines; write `\\n` for a line break"
            }
            Ok(_) => {
                let pattern = pattern::anchored(pattern);
                let regex = pattern::translate(&pattern).unwrap_or_default();
                let span = written.span();
                return Some(Grammar::Regex {
                    pattern,
                    regex,
                    span,
                });
            }
        };
        errors.at(written, problem);
        None
    }
}

#[cfg(all(test, not(feature = "regex")))]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn a_regular_expression_requires_the_feature() {
        let mut errors = Errors::default();
        let keys = quote!(freeform, grammar = regex("[a-z]+"));
        let mut keys = Keys::of_arguments("#[tool]", keys, &mut errors);
        let freeform = Freeform::read(&mut keys, &mut errors).unwrap();
        assert!(freeform.grammar.is_none());
        let text = errors.into_tokens().to_string();
        assert!(text.contains("requires the feature `regex`"), "{text}");
    }
}
