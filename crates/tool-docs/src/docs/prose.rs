//! Descriptions as HTML: the Markdown in them is rendered, and HTML in them is shown as text.

use pulldown_cmark::{Event, Options, Parser, Tag};

use super::html_page::escape;

const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH);

/// Returns the blocks of a text as HTML.
pub(super) fn blocks(text: &str) -> String {
    let html = Prose::default().write(text);
    if super::has_right_to_left(text) {
        format!("<div dir=\"auto\">{html}</div>")
    } else {
        html
    }
}

/// Returns a paragraph as HTML within a line, without links.
pub(super) fn line(paragraph: &str) -> String {
    let prose = Prose {
        is_inline: true,
        ..Prose::default()
    };
    prose.write(paragraph)
}

/// Returns the first paragraph of a text as HTML within a line, and the text after it. A text that starts with something else
/// is left whole, and its first line is returned.
pub(super) fn lead(text: &str) -> (String, &str) {
    let first = Parser::new_ext(text, OPTIONS).into_offset_iter().next();
    match first {
        Some((Event::Start(Tag::Paragraph), range)) => {
            (line(&text[range.clone()]), &text[range.end..])
        }
        _ => (escape(text.lines().next().unwrap_or_default()), text),
    }
}

#[derive(Default)]
struct Prose {
    out: String,
    /// The ends of the open elements.
    open: Vec<&'static str>,
    is_inline: bool,
    is_in_head: bool,
}

impl Prose {
    fn write(mut self, text: &str) -> String {
        for event in Parser::new_ext(text, OPTIONS) {
            match event {
                Event::Start(tag) => self.start(&tag),
                Event::End(_) => {
                    let end = self.open.pop().unwrap_or_default();
                    self.is_in_head &= end != HEAD;
                    self.out.push_str(end);
                }
                Event::Code(text) => {
                    self.out.push_str("<code>");
                    self.out.push_str(&escape(&text));
                    self.out.push_str("</code>");
                }
                Event::SoftBreak | Event::HardBreak if self.is_inline => self.out.push(' '),
                Event::SoftBreak | Event::HardBreak => self.out.push_str("<br>"),
                Event::Rule => self.out.push_str("<hr>"),
                // HTML is shown as text, too.
                Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                    self.out.push_str(&escape(&text));
                }
                // None of these without their options.
                Event::InlineMath(_)
                | Event::DisplayMath(_)
                | Event::FootnoteReference(_)
                | Event::TaskListMarker(_) => {}
            }
        }
        self.out
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let (start, end) = match tag {
            Tag::Paragraph | Tag::HtmlBlock if self.is_inline => ("", ""),
            Tag::Paragraph | Tag::HtmlBlock => ("<p>", "</p>"),
            // The page has headings of its own.
            Tag::Heading { .. } => ("<p><strong>", "</strong></p>"),
            Tag::BlockQuote(_) => ("<blockquote>", "</blockquote>"),
            Tag::CodeBlock(_) => ("<pre><code>", "</code></pre>"),
            Tag::List(None) => ("<ul class=\"list\">", "</ul>"),
            Tag::List(Some(first)) => {
                self.out.push_str(&format!("<ol start=\"{first}\">"));
                ("", "</ol>")
            }
            Tag::Item => ("<li>", "</li>"),
            Tag::Table(_) => ("<table>", "</tbody></table>"),
            Tag::TableHead => {
                self.is_in_head = true;
                ("<thead><tr>", HEAD)
            }
            Tag::TableRow => ("<tr>", "</tr>"),
            Tag::TableCell if self.is_in_head => ("<th>", "</th>"),
            Tag::TableCell => ("<td>", "</td>"),
            Tag::Emphasis => ("<em>", "</em>"),
            Tag::Strong => ("<strong>", "</strong>"),
            Tag::Strikethrough => ("<del>", "</del>"),
            Tag::Link { dest_url, .. } if !self.is_inline && is_address(dest_url) => {
                let address = escape(dest_url).replace('"', "%22");
                self.out
                    .push_str(&format!("<a href=\"{address}\" rel=\"noreferrer\">"));
                ("", "</a>")
            }
            // The page loads nothing, so a picture becomes its alternative text.
            _ => ("", ""),
        };
        self.out.push_str(start);
        self.open.push(end);
    }
}

const HEAD: &str = "</tr></thead><tbody>";

/// Returns `true` for an address that a browser opens and does not run.
fn is_address(address: &str) -> bool {
    ["https://", "http://", "mailto:"].iter().any(|scheme| {
        address
            .get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

#[cfg(test)]
mod tests {
    use super::{blocks, lead};

    #[test]
    fn markdown_is_rendered() {
        for (markdown, html) in [
            (
                "As `HH:MM`, *or* **not**.",
                "<p>As <code>HH:MM</code>, <em>or</em> <strong>not</strong>.</p>",
            ),
            ("a\n\nb", "<p>a</p><p>b</p>"),
            ("a\nb", "<p>a<br>b</p>"),
            (
                "# A\n\n2. b",
                "<p><strong>A</strong></p><ol start=\"2\"><li>b</li></ol>",
            ),
            ("- a", "<ul class=\"list\"><li>a</li></ul>"),
            ("    a\n", "<pre><code>a\n</code></pre>"),
            (
                "> ~~a~~\n\n---",
                "<blockquote><p><del>a</del></p></blockquote><hr>",
            ),
            (
                "|a|b|\n|-|-|\n|1|2|",
                "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
            ),
            (
                "[a](https://example.com/?a=1&b)",
                "<p><a href=\"https://example.com/?a=1&amp;b\" rel=\"noreferrer\">a</a></p>",
            ),
        ] {
            assert_eq!(blocks(markdown), html, "{markdown}");
        }
    }

    #[test]
    fn html_and_addresses_that_run_are_text() {
        assert_eq!(blocks("`<b>`"), "<p><code>&lt;b&gt;</code></p>");
        assert_eq!(
            blocks("<b onclick=x>a</b>"),
            "<p>&lt;b onclick=x&gt;a&lt;/b&gt;</p>"
        );
        assert_eq!(
            blocks("<script>\nx\n</script>"),
            "<p>&lt;script&gt;\nx\n&lt;/script&gt;</p>"
        );
        for hostile in [
            "[a](javascript:x)",
            "[a](JavaScript:x)",
            "[a](data:text/html,x)",
            "[a](/x)",
            "[a](é:x)",
        ] {
            assert_eq!(blocks(hostile), "<p>a</p>", "{hostile}");
        }
        assert_eq!(blocks("![a](https://example.com/x.png)"), "<p>a</p>");
        assert_eq!(
            blocks("[a](https://x/\"onclick=y)"),
            "<p><a href=\"https://x/%22onclick=y\" rel=\"noreferrer\">a</a></p>"
        );
    }

    #[test]
    fn the_lead_is_the_first_paragraph() {
        assert_eq!(
            lead("A `b`\nc [d](https://e).\n\nF."),
            ("A <code>b</code> c d.".into(), "\nF.")
        );
        assert_eq!(lead("- a\n- b"), ("- a".into(), "- a\n- b"));
        assert_eq!(lead(""), (String::new(), ""));
    }
}
