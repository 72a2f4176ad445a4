//! Descriptions, some of which are known to rustc alone.

use proc_macro2::TokenStream;

use crate::attr::TextOrConstant;
use crate::util::docs::{Line, flow};
use crate::util::errors::Errors;

/// A description.
#[derive(Clone)]
pub(crate) enum Description {
    Text(String),
    /// Parts with a constant among them. rustc joins them.
    Constant(Vec<Part>),
}

/// A part of a description.
#[derive(Clone)]
pub(crate) enum Part {
    Text(String),
    /// An expression, whose text is trimmed.
    Constant(TokenStream),
    /// A macro in the docs of a function, whose text ends at its first heading.
    Docs(TokenStream),
}

impl Description {
    /// Returns the description from the key or the doc comment. Both together are an error.
    pub(crate) fn read(
        key: Option<TextOrConstant>,
        docs: Option<Description>,
        errors: &mut Errors,
    ) -> Option<Description> {
        let duplicate = "duplicate description, here and in the doc comment; remove one of the two";
        match key {
            None => docs,
            Some(TextOrConstant::Constant(tokens)) => {
                if docs.is_some() {
                    errors.at(&tokens, duplicate);
                }
                Some(Description::Constant(vec![Part::Constant(tokens)]))
            }
            Some(TextOrConstant::Text(key)) => {
                if docs.is_some() {
                    errors.at(&key, duplicate);
                }
                let text = key.value().trim().to_owned();
                if text.is_empty() {
                    errors.at(&key, "empty description; write a sentence");
                }
                Description::text(text)
            }
        }
    }

    /// Returns the description in the docs of a parameter, a type, a variant or a field.
    pub(crate) fn of_docs(lines: &[Line]) -> Option<Description> {
        Description::of(lines, Part::Constant)
    }

    /// Returns the description in one section of a function's docs.
    pub(crate) fn of_function(lines: &[Line]) -> Option<Description> {
        Description::of(lines, Part::Docs)
    }

    fn of(lines: &[Line], constant: fn(TokenStream) -> Part) -> Option<Description> {
        if lines.iter().all(|line| line.constant.is_none()) {
            return Description::text(flow(lines));
        }
        let mut parts = Vec::new();
        for chunk in lines.chunk_by(|one, next| one.constant.is_none() && next.constant.is_none()) {
            let is_blank =
                |line: Option<&Line>| line.is_some_and(|line| line.text.trim().is_empty());
            let text = flow(chunk);
            match &chunk[0].constant {
                Some(tokens) => parts.push(constant(tokens.clone())),
                None if text.is_empty() => parts.push(Part::Text(text)),
                None => {
                    let before = if is_blank(chunk.first()) { "\n" } else { "" };
                    let after = if is_blank(chunk.last()) { "\n" } else { "" };
                    parts.push(Part::Text(format!("{before}{text}{after}")));
                }
            }
        }
        // Each doc attribute starts a line.
        let last = parts.pop();
        let parts = parts
            .into_iter()
            .flat_map(|part| [part, Part::Text("\n".into())]);
        Some(Description::Constant(parts.chain(last).collect()))
    }

    /// Returns `None` if there is no text.
    fn text(text: String) -> Option<Description> {
        (!text.is_empty()).then_some(Description::Text(text))
    }

    /// Returns the parts, the text first.
    pub(crate) fn after(self, text: String) -> Vec<Part> {
        match self {
            Description::Text(own) => vec![Part::Text(text + &own)],
            Description::Constant(parts) => {
                let mut all = vec![Part::Text(text)];
                all.extend(parts);
                all
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;
    use crate::util::docs::lines;

    #[test]
    fn macros_in_docs_are_parts_on_their_own_lines() {
        let shown = |attrs: TokenStream| {
            let item: syn::ItemStruct = syn::parse2(quote!(#attrs struct X;)).unwrap();
            match Description::of_docs(&lines(&item.attrs)).unwrap() {
                Description::Text(text) => text,
                Description::Constant(parts) => parts
                    .into_iter()
                    .map(|part| match part {
                        Part::Text(text) => text,
                        Part::Constant(tokens) | Part::Docs(tokens) => format!("<{tokens}>"),
                    })
                    .collect(),
            }
        };
        let one = quote!(#[doc = " a"] #[doc = " b"]);
        let two = quote!(#[doc = m!()]);
        let blank = quote!(#[doc = ""]);
        assert_eq!(shown(quote!(#one)), "a b");
        assert_eq!(shown(quote!(#two)), "<m ! ()>");
        assert_eq!(shown(quote!(#one #two #two)), "a b\n<m ! ()>\n<m ! ()>");
        let paragraphs = quote!(#one #blank #two #blank #two #blank #one);
        assert_eq!(shown(paragraphs), "a b\n\n<m ! ()>\n\n<m ! ()>\n\na b");
    }
}
