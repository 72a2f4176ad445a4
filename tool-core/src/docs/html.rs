//! The catalogue as one self-contained HTML page that is readable without JavaScript.
//!
//! Every text passes through [`escape`]. The content security policy forbids loading anything.

use super::page::{Page, ProviderLimit, Section};
use super::rows::{Fields, Row};
use crate::ordered_json::{Json, is_bidi_control, quote};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A line in the head of every catalogue, which no other page has.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
    style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">";

/// Returns `true` if a text has the structure of a catalogue, so that it may be replaced.
pub(super) fn is_generated(text: &str) -> bool {
    let mut head = text.lines().take_while(|line| *line != "</head>");
    head.next() == Some("<!DOCTYPE html>")
        && head.any(|line| line == POLICY)
        && text.lines().any(|line| line == INDEX)
        && text.trim_end().ends_with("</html>")
}

const INDEX: &str = "<nav aria-label=\"Tools\">";

pub(super) fn write(title: &str, introduction: &str, page: &Page) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         {POLICY}\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escape(title)
    );
    out.push_str(&format!(
        "<header>\n<h1 dir=\"auto\">{}</h1>\n",
        escape(title)
    ));
    push_paragraphs(&mut out, introduction);
    out.push_str(
        "</header>\n<p class=\"search\" hidden><label>Search <input type=\"search\" id=\"search\" \
         autocomplete=\"off\" spellcheck=\"false\"></label> <output id=\"count\"></output></p>\n",
    );
    push_index(&mut out, page);
    out.push_str("<main>\n");
    let has_groups = page.groups.len() > 1;
    for (group, sections) in &page.groups {
        out.push_str("<section class=\"group\">\n");
        if has_groups {
            out.push_str(&format!("<h2>{}</h2>\n", isolate(group)));
        }
        for section in sections {
            push_section(&mut out, section, if has_groups { 3 } else { 2 });
        }
        out.push_str("</section>\n");
    }
    out.push_str(&format!(
        "</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    ));
    out
}

fn push_index(out: &mut String, page: &Page) {
    out.push_str(&format!("{INDEX}\n"));
    for (group, sections) in &page.groups {
        out.push_str("<div class=\"part\">\n");
        if page.groups.len() > 1 {
            out.push_str(&format!("<h2>{}</h2>\n", isolate(group)));
        }
        out.push_str("<ul>\n");
        for section in sections {
            let anchor = &section.anchor;
            out.push_str(&format!(
                "<li data-tool=\"{anchor}\"><a href=\"#{anchor}\"><code>{}</code></a> {}</li>\n",
                isolate(&section.name),
                isolate(section.summary()),
            ));
        }
        out.push_str("</ul>\n</div>\n");
    }
    if page.groups.is_empty() {
        out.push_str("<p>There are no tools.</p>\n");
    }
    if !page.limits.is_empty() {
        out.push_str("<h2>Provider limits for all tools together</h2>\n");
        push_limits(out, &page.limits);
    }
    out.push_str("</nav>\n");
}

fn push_section(out: &mut String, section: &Section, level: u8) {
    let anchor = &section.anchor;
    let below = level + 1;
    let heading = |text: &str| format!("<h{below}>{text}</h{below}>\n");
    out.push_str(&format!(
        "<article id=\"{anchor}\">\n<h{level} class=\"name\"><a href=\"#{anchor}\"><code>{}</code></a>",
        isolate(&section.name)
    ));
    if let Some(title) = &section.title {
        out.push_str(&format!(" <span class=\"title\">{}</span>", isolate(title)));
    }
    out.push_str(&format!("</h{level}>\n"));
    if !section.hints.is_empty() {
        out.push_str("<ul class=\"hints\">");
        for hint in &section.hints {
            out.push_str(&format!("<li>{hint}</li>"));
        }
        out.push_str("</ul>\n");
    }
    push_paragraphs(out, &section.description);
    if let Some(text) = &section.when_to_use {
        out.push_str(&heading("When to use"));
        push_paragraphs(out, text);
    }
    if section.parameters.rows.is_empty() {
        out.push_str("<p>No parameters.</p>\n");
    } else {
        out.push_str(&heading("Parameters"));
    }
    push_fields(out, &section.parameters, "Required", level + 2);
    if section.returns.is_some() || section.output.is_some() {
        out.push_str(&heading("Returns"));
    }
    if let Some(text) = &section.returns {
        push_paragraphs(out, text);
    }
    if let Some(fields) = &section.output {
        if fields.rows.is_empty() {
            out.push_str("<p>No properties.</p>\n");
        }
        push_fields(out, fields, "Always present", level + 2);
    }
    out.push_str(&heading("Example call"));
    match &section.example {
        Ok(arguments) => push_json(out, arguments),
        Err(reason) => {
            out.push_str(&format!("<p>Not available: {}.</p>\n", isolate(reason)));
        }
    }
    if !section.limits.is_empty() {
        out.push_str(&heading("Provider limits"));
        push_limits(out, &section.limits);
    }
    out.push_str("<details>\n<summary>JSON Schema of the parameters</summary>\n");
    push_json(out, &section.schema);
    out.push_str("</details>\n</article>\n");
}

fn push_limits(out: &mut String, limits: &[ProviderLimit]) {
    out.push_str("<ul>\n");
    for limit in limits {
        out.push_str(&format!(
            "<li>{}: {}</li>\n",
            escape(limit.provider),
            isolate(&limit.text)
        ));
    }
    out.push_str("</ul>\n");
}

fn push_fields(out: &mut String, fields: &Fields, required: &str, level: u8) {
    if !fields.rows.is_empty() {
        push_table(out, &fields.rows, required);
    }
    for (name, rows) in &fields.types {
        out.push_str(&format!(
            "<h{level}><code>{}</code></h{level}>\n",
            isolate(name)
        ));
        push_table(out, rows, required);
    }
}

/// Adds a table. Each cell also names its column, for narrow screens.
fn push_table(out: &mut String, rows: &[Row], required: &str) {
    out.push_str(&format!(
        "<table>\n<thead><tr><th>Name</th><th>Type</th><th>{required}</th><th>Constraints</th>\
         <th>Description</th></tr></thead>\n<tbody>\n"
    ));
    for row in rows {
        let constraints: Vec<_> = row.constraints.iter().map(|text| isolate(text)).collect();
        let cells = [
            ("Type", isolate(&row.kind)),
            (required, row.required().to_owned()),
            ("Constraints", constraints.join("<br>")),
            ("Description", isolate(&row.description)),
        ];
        out.push_str(&format!(
            "<tr><th scope=\"row\"><code>{}</code></th>",
            isolate(&row.name)
        ));
        for (name, cell) in cells {
            out.push_str(&format!("<td data-name=\"{name}\">{cell}</td>"));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n");
}

fn push_json(out: &mut String, json: &Json) {
    let json = json.pretty(&|string| isolate(&quote(string)));
    out.push_str(&format!(
        "<div class=\"code\"><pre dir=\"ltr\"><code>{json}</code></pre></div>\n"
    ));
}

/// Adds a text as paragraphs. The style sheet preserves line breaks.
fn push_paragraphs(out: &mut String, text: &str) {
    for paragraph in super::paragraphs(text) {
        out.push_str(&format!(
            "<p dir=\"auto\" class=\"text\">{}</p>\n",
            escape(paragraph.trim())
        ));
    }
}

/// Escapes a text and isolates its direction from the text around it.
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
