//! The lines, sections and text of doc comments.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use super::literal;

/// One line of a doc comment.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) span: Span,
    /// The macro whose text follows here.
    pub(crate) constant: Option<TokenStream>,
}

/// The part of a doc comment under one heading.
pub(crate) struct Section {
    /// The heading in lower case; empty before the first heading.
    pub(crate) title: String,
    pub(crate) span: Span,
    pub(crate) lines: Vec<Line>,
}

/// Returns the lines of all doc comments. A macro such as `include_str!`, which rustc expands later,
/// is a line without text.
pub(crate) fn lines(attrs: &[Attribute]) -> Vec<Line> {
    let mut lines = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("doc")) {
        let Meta::NameValue(pair) = &attr.meta else {
            continue;
        };
        let mut value = &pair.value;
        while let Expr::Group(group) = value {
            value = &group.expr;
        }
        let (value, span) = match value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => (literal::text_of(text), text.span()),
            Expr::Lit(ExprLit {
                lit: Lit::Verbatim(text),
                ..
            }) => match literal::simple(&text.to_string()) {
                Some(value) => (value.to_owned(), text.span()),
                None => continue,
            },
            Expr::Macro(_) => {
                lines.push(Line {
                    text: String::new(),
                    span: value.span(),
                    constant: Some(value.to_token_stream()),
                });
                continue;
            }
            _ => continue,
        };
        let line = |text: &str, span| Line {
            text: text.to_owned(),
            span,
            constant: None,
        };
        // Only the source distinguishes `/** … */` from an attribute whose text has stars.
        let starred = value.contains('\n')
            && (attr.span().source_text()).is_some_and(|source| source.starts_with("/**"));
        if value.is_empty() {
            lines.push(line("", span));
        }
        lines.extend(value.lines().enumerate().map(|(at, text)| {
            let text = match text.trim_start().strip_prefix('*') {
                Some(rest) if starred && at > 0 => rest,
                _ => text,
            };
            line(text.strip_prefix(' ').unwrap_or(text), span)
        }));
    }
    lines
}

/// Splits at headings outside code blocks.
pub(crate) fn sections(lines: Vec<Line>) -> Vec<Section> {
    let span = lines.first().map_or_else(Span::call_site, |line| line.span);
    let mut sections = vec![Section {
        title: String::new(),
        span,
        lines: Vec::new(),
    }];
    let mut fence = Fence::default();
    let mut level = usize::MAX;
    for line in lines {
        let code = fence.covers(&line.text);
        match heading(&line.text) {
            // A deeper heading belongs to the section.
            Some((depth, title)) if !code && depth <= level => {
                level = depth;
                sections.push(Section {
                    title: title.to_lowercase(),
                    span: line.span,
                    lines: Vec::new(),
                });
            }
            _ => sections
                .last_mut()
                .expect("there is a first section")
                .lines
                .push(line),
        }
    }
    sections
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let depth = line.len() - title.len();
    let title = title.strip_prefix(' ')?;
    let title = title.trim().trim_end_matches('#').trim_end();
    ((1..=6).contains(&depth) && !title.is_empty()).then_some((depth, title))
}

/// Joins soft-wrapped lines. Paragraphs, lists, tables, quotes and code keep their lines.
pub(crate) fn flow(lines: &[Line]) -> String {
    let mut text = String::new();
    let mut fence = Fence::default();
    let mut joins = false;
    // Code keeps its blank lines, so the line after it always starts on a new line.
    let mut after_code = false;
    for line in lines {
        let code = fence.covers(&line.text);
        let content = if code {
            line.text.trim_end()
        } else {
            line.text.trim()
        };
        if content.is_empty() && !code {
            // One blank line between paragraphs.
            if !text.is_empty() && !text.ends_with("\n\n") {
                text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
            }
            (joins, after_code) = (false, false);
            continue;
        }
        let breaks = code || starts_line(content);
        if joins && !breaks {
            text.push(' ');
        } else if after_code || (!text.is_empty() && !text.ends_with('\n')) {
            text.push('\n');
        }
        // Nested lists keep their indentation.
        if breaks && !code {
            let indent = line.text.len() - line.text.trim_start().len();
            text.extend(std::iter::repeat_n(' ', indent));
        }
        text.push_str(content);
        after_code = code;
        joins = !code && !line.text.ends_with("  ") && !content.starts_with('|');
    }
    text.truncate(text.trim_end().len());
    text
}

/// Returns `true` if a line cannot continue the line before it.
fn starts_line(line: &str) -> bool {
    let numbered = line
        .trim_start_matches(|c: char| c.is_ascii_digit())
        .strip_prefix(['.', ')'])
        .is_some_and(|rest| {
            rest.starts_with(' ') && line.starts_with(|c: char| c.is_ascii_digit())
        });
    numbered
        || ["- ", "* ", "+ ", "|", ">"]
            .iter()
            .any(|mark| line.starts_with(mark))
}

/// Finds the lines of fenced code blocks.
#[derive(Default)]
struct Fence {
    mark: Option<&'static str>,
}

impl Fence {
    /// Returns `true` if `line` belongs to a code block or is one of its fences.
    fn covers(&mut self, line: &str) -> bool {
        let line = line.trim_start();
        match self.mark {
            Some(mark) => {
                if line.starts_with(mark) {
                    self.mark = None;
                }
                true
            }
            None => {
                self.mark = ["```", "~~~"]
                    .into_iter()
                    .find(|mark| line.starts_with(mark));
                self.mark.is_some()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doc(text: &str) -> Vec<Line> {
        text.lines()
            .map(|text| Line {
                text: text.into(),
                span: Span::call_site(),
                constant: None,
            })
            .collect()
    }

    #[test]
    fn only_soft_wraps_are_joined() {
        for (written, read) in [
            ("one\ntwo\n\n\nthree", "one two\n\nthree"),
            (
                "list:\n- a\n  wrapped\n- b\n  - c",
                "list:\n- a wrapped\n- b\n  - c",
            ),
            (
                "```text\n a\n\n b\n```\nafter",
                "```text\n a\n\n b\n```\nafter",
            ),
            ("| a |\n|---|\n| b |\n\nend", "| a |\n|---|\n| b |\n\nend"),
            ("hard  \nbreak", "hard\nbreak"),
            ("1. one\n2. two\nis 3.5\nwide", "1. one\n2. two is 3.5 wide"),
            ("\n\n", ""),
        ] {
            assert_eq!(flow(&doc(written)), read);
        }
    }

    #[test]
    fn a_heading_in_code_is_ignored() {
        let found = sections(doc(
            "text\n```sh\n# comment\n```\n#hashtag\n# Returns\nx\n## more",
        ));
        let titles: Vec<_> = found.iter().map(|section| &*section.title).collect();
        assert_eq!(titles, ["", "returns"]);
        assert_eq!(found[1].lines.len(), 2);
    }
}
