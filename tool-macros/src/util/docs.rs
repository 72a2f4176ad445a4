//! The lines, sections and text of doc comments.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use super::literal::value;

/// One line of a doc comment.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// The part of a doc comment under one heading.
pub(crate) struct Section {
    /// The heading in lower case; empty before the first heading.
    pub(crate) title: String,
    pub(crate) span: Span,
    pub(crate) lines: Vec<Line>,
}

/// Returns the lines of all doc comments, except those that [`from_macro`] finds.
pub(crate) fn lines(attrs: &[Attribute]) -> Vec<Line> {
    let mut lines = Vec::new();
    for attr in attrs {
        let Meta::NameValue(pair) = &attr.meta else {
            continue;
        };
        let Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) = &pair.value
        else {
            continue;
        };
        if !attr.path().is_ident("doc") {
            continue;
        }
        let value = value(text);
        // Only the source distinguishes `/** … */` from an attribute whose text has stars.
        let starred = value.contains('\n')
            && (attr.span().source_text()).is_some_and(|source| source.starts_with("/**"));
        let each = value.lines().enumerate().map(|(at, line)| {
            let line = match line.trim_start().strip_prefix('*') {
                Some(rest) if starred && at > 0 => rest,
                _ => line,
            };
            Line {
                text: line.strip_prefix(' ').unwrap_or(line).to_owned(),
                span: text.span(),
            }
        });
        if value.is_empty() {
            lines.push(Line {
                text: String::new(),
                span: text.span(),
            });
        }
        lines.extend(each);
    }
    lines
}

/// Returns the first docs from a macro such as `include_str!`, which rustc expands later.
pub(crate) fn from_macro(attrs: &[Attribute]) -> Option<&Expr> {
    attrs.iter().find_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            text @ Expr::Macro(_) => Some(text),
            _ => None,
        },
        _ => None,
    })
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
