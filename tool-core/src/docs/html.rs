//! The catalogue as one self-contained HTML page that is readable without JavaScript.
//!
//! Every text passes through [`escape`]. The content security policy forbids loading anything.

use super::page::{Format, Page, ProviderLimit, Section};
use super::rows::Row;
use crate::ordered_json::{Json, is_bidi_control, quote};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A line in the head of every catalogue, which no other page has.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
    style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">";

/// Returns `true` if a page has the structure of a catalogue, so that it may be replaced.
pub(super) fn is_generated(text: &str) -> bool {
    let mut head = text.lines().take_while(|line| *line != "</head>");
    head.next() == Some("<!DOCTYPE html>")
        && head.any(|line| line == POLICY)
        && text.lines().any(|line| line == INDEX)
        && text.trim_end().ends_with("</html>")
}

const INDEX: &str = "<nav aria-label=\"Tools\">";

pub(super) fn write(title: &str, introduction: &str, page: &Page) -> String {
    let title = escape(title);
    let has_groups = page.groups.len() > 1;
    let mut html = Html {
        out: format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             {POLICY}\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <header>\n<h1 dir=\"auto\">{title}</h1>\n",
        ),
        level: if has_groups { 3 } else { 2 },
    };
    html.paragraphs(introduction);
    html.push(
        "</header>\n<p class=\"search\" hidden><label>Search <input type=\"search\" id=\"search\" \
         autocomplete=\"off\" spellcheck=\"false\"></label> <output id=\"count\"></output></p>\n",
    );
    html.index(page);
    html.push("<main>\n");
    for (group, sections) in &page.groups {
        html.push("<section class=\"group\">\n");
        if has_groups {
            html.push(&format!("<h2>{}</h2>\n", isolate(group)));
        }
        for section in sections {
            html.section(section);
        }
        html.push("</section>\n");
    }
    html.push(&format!(
        "</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    ));
    html.out
}

struct Html {
    out: String,
    /// The heading level of a tool.
    level: u8,
}

impl Html {
    fn push(&mut self, html: &str) {
        self.out.push_str(html);
    }

    fn index(&mut self, page: &Page) {
        self.push(&format!("{INDEX}\n"));
        for (group, sections) in &page.groups {
            self.push("<div class=\"part\">\n");
            if page.groups.len() > 1 {
                self.push(&format!("<h2>{}</h2>\n", isolate(group)));
            }
            self.push("<ul>\n");
            for section in sections {
                let anchor = &section.anchor;
                self.push(&format!(
                    "<li data-tool=\"{anchor}\"><a href=\"#{anchor}\"><code>{}</code></a> {}</li>\n",
                    isolate(&section.name),
                    isolate(section.summary()),
                ));
            }
            self.push("</ul>\n</div>\n");
        }
        if page.groups.is_empty() {
            self.sentence("There are no tools.");
        }
        if !page.limits.is_empty() {
            self.push("<h2>Provider limits for all tools together</h2>\n");
            self.limits(&page.limits);
        }
        self.push("</nav>\n");
    }

    fn section(&mut self, section: &Section) {
        let (anchor, level) = (&section.anchor, self.level);
        self.push(&format!(
            "<article id=\"{anchor}\">\n<h{level} class=\"name\"><a href=\"#{anchor}\"><code>{}</code></a>",
            isolate(&section.name)
        ));
        if let Some(title) = &section.title {
            self.push(&format!(" <span class=\"title\">{}</span>", isolate(title)));
        }
        self.push(&format!("</h{level}>\n"));
        if !section.hints.is_empty() {
            self.push("<ul class=\"hints\">");
            for hint in &section.hints {
                self.push(&format!("<li>{hint}</li>"));
            }
            self.push("</ul>\n");
        }
        section.write(self);
        self.push("</article>\n");
    }
}

impl Format for Html {
    fn heading(&mut self, text: &str) {
        let level = self.level + 1;
        self.push(&format!("<h{level}>{text}</h{level}>\n"));
    }

    fn sentence(&mut self, text: &str) {
        self.push(&format!("<p>{}</p>\n", isolate(text)));
    }

    /// The style sheet preserves line breaks.
    fn paragraphs(&mut self, text: &str) {
        for paragraph in super::paragraphs(text) {
            self.push(&format!(
                "<p dir=\"auto\" class=\"text\">{}</p>\n",
                escape(paragraph.trim())
            ));
        }
    }

    /// Each cell also names its column, for narrow screens.
    fn table(&mut self, rows: &[Row], required: &str) {
        self.push(&format!(
            "<table>\n<thead><tr><th>Name</th><th>Type</th><th>{required}</th>\
             <th>Constraints</th><th>Description</th></tr></thead>\n<tbody>\n"
        ));
        for row in rows {
            let constraints: Vec<_> = row.constraints.iter().map(|text| isolate(text)).collect();
            let cells = [
                ("Type", isolate(&row.kind)),
                (required, row.required().to_owned()),
                ("Constraints", constraints.join("<br>")),
                ("Description", isolate(&row.description)),
            ];
            self.push(&format!(
                "<tr><th scope=\"row\"><code>{}</code></th>",
                isolate(&row.name)
            ));
            for (name, cell) in cells {
                self.push(&format!("<td data-name=\"{name}\">{cell}</td>"));
            }
            self.push("</tr>\n");
        }
        self.push("</tbody>\n</table>\n");
    }

    fn type_name(&mut self, name: &str) {
        let level = self.level + 2;
        self.push(&format!(
            "<h{level}><code>{}</code></h{level}>\n",
            isolate(name)
        ));
    }

    fn limits(&mut self, limits: &[ProviderLimit]) {
        self.push("<ul>\n");
        for limit in limits {
            let (provider, text) = (escape(limit.provider), isolate(&limit.text));
            self.push(&format!("<li>{provider}: {text}</li>\n"));
        }
        self.push("</ul>\n");
    }

    fn json(&mut self, json: &Json) {
        let json = json.pretty(&|string| isolate(&quote(string)));
        self.push(&format!(
            "<div class=\"code\"><pre dir=\"ltr\"><code>{json}</code></pre></div>\n"
        ));
    }

    fn details(&mut self, summary: &str, json: &Json) {
        self.push(&format!("<details>\n<summary>{summary}</summary>\n"));
        self.json(json);
        self.push("</details>\n");
    }
}

/// Escapes a string and isolates its direction from the text around it.
fn isolate(text: &str) -> String {
    if text.is_ascii() {
        escape(text)
    } else {
        format!("<bdi>{}</bdi>", escape(text))
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(character),
            _ if super::is_bidi_override(character) => {
                out.push_str(&super::code_point(character));
            }
            _ if character.is_control() => out.push('\u{fffd}'),
            // Its effect ends with the element around it.
            _ if is_bidi_control(character) => {
                out.push_str(&format!("&#x{:x};", u32::from(character)));
            }
            _ => out.push(character),
        }
    }
    out
}
