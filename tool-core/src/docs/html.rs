//! The catalogue as one HTML file that needs no other and no script to be read.
//!
//! Every text goes through [`text`], which leaves no character that could begin markup, and stands
//! in an element of its own direction. The page may load nothing.

use super::page::{Page, Section};
use super::rows::Row;
use crate::json::{Json, is_bidi_control, quoted};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

pub(super) fn write(title: &str, introduction: &str, page: &Page) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        text(title)
    );
    out.push_str(&format!(
        "<header>\n<h1 dir=\"auto\">{}</h1>\n",
        text(title)
    ));
    push_text(&mut out, introduction);
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
            out.push_str(&format!("<h2>{}</h2>\n", apart(group)));
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
    out.push_str("<nav aria-label=\"Tools\">\n");
    for (group, sections) in &page.groups {
        out.push_str("<div class=\"part\">\n");
        if page.groups.len() > 1 {
            out.push_str(&format!("<h2>{}</h2>\n", apart(group)));
        }
        out.push_str("<ul>\n");
        for section in sections {
            let first = section.description.lines().next().unwrap_or_default();
            out.push_str(&format!(
                "<li data-tool=\"{}\"><a href=\"#{}\"><code>{}</code></a> {}</li>\n",
                section.anchor,
                section.anchor,
                apart(&section.name),
                apart(first),
            ));
        }
        out.push_str("</ul>\n</div>\n");
    }
    if page.groups.is_empty() {
        out.push_str("<p>There are no tools.</p>\n");
    }
    if !page.together.is_empty() {
        out.push_str("<h2>All tools together</h2>\n");
        push_notes(out, &page.together);
    }
    out.push_str("</nav>\n");
}

fn push_section(out: &mut String, section: &Section, level: u8) {
    let anchor = &section.anchor;
    let below = level + 1;
    let head = |text: &str| format!("<h{below}>{text}</h{below}>\n");
    out.push_str(&format!(
        "<article id=\"{anchor}\">\n<h{level} class=\"name\"><a href=\"#{anchor}\"><code>{}</code></a>",
        apart(&section.name)
    ));
    if let Some(title) = &section.title {
        out.push_str(&format!(" <span class=\"title\">{}</span>", apart(title)));
    }
    out.push_str(&format!("</h{level}>\n"));
    if !section.flags.is_empty() {
        out.push_str("<ul class=\"flags\">");
        for flag in &section.flags {
            out.push_str(&format!("<li>{flag}</li>"));
        }
        out.push_str("</ul>\n");
    }
    push_text(out, &section.description);
    if let Some(text) = &section.when_to_use {
        out.push_str(&head("When to use"));
        push_text(out, text);
    }
    if section.parameters.is_empty() {
        out.push_str("<p>No parameters.</p>\n");
    } else {
        out.push_str(&head("Parameters"));
        push_table(out, &section.parameters, "Required");
    }
    push_types(out, &section.types, "Required", level + 2);
    if section.returns.is_some() || section.output.is_some() {
        out.push_str(&head("Returns"));
    }
    if let Some(text) = &section.returns {
        push_text(out, text);
    }
    if let Some(rows) = &section.output {
        push_table(out, rows, "Always there");
    }
    push_types(out, &section.output_types, "Always there", level + 2);
    out.push_str(&head("Example call"));
    match &section.example {
        Ok(arguments) => push_json(out, arguments),
        Err(why) => {
            out.push_str(&format!(
                "<p>None that is sure to be taken: {}.</p>\n",
                apart(why)
            ));
        }
    }
    if !section.notes.is_empty() {
        out.push_str(&head("Providers"));
        push_notes(out, &section.notes);
    }
    out.push_str("<details>\n<summary>Schema of the arguments</summary>\n");
    push_json(out, &section.schema);
    out.push_str("</details>\n</article>\n");
}

fn push_notes(out: &mut String, notes: &[super::notes::Note]) {
    out.push_str("<ul>\n");
    for note in notes {
        out.push_str(&format!(
            "<li>{}: {}</li>\n",
            text(note.provider),
            apart(&note.text)
        ));
    }
    out.push_str("</ul>\n");
}

fn push_types(out: &mut String, types: &[(String, Vec<Row>)], must: &str, level: u8) {
    for (name, rows) in types {
        out.push_str(&format!(
            "<h{level}><code>{}</code></h{level}>\n",
            apart(name)
        ));
        push_table(out, rows, must);
    }
}

/// A table whose cells name their columns, for narrow screens.
fn push_table(out: &mut String, rows: &[Row], must: &str) {
    out.push_str(&format!(
        "<table>\n<thead><tr><th>Name</th><th>Type</th><th>{must}</th><th>Rules</th>\
         <th>Description</th></tr></thead>\n<tbody>\n"
    ));
    for row in rows {
        let rules: Vec<_> = row.rules.iter().map(|rule| apart(rule)).collect();
        let is_required = match row.is_required {
            Some(true) => "yes",
            Some(false) => "no",
            None => "",
        };
        let cells = [
            ("Type", apart(&row.kind)),
            (must, is_required.to_owned()),
            ("Rules", rules.join("<br>")),
            ("Description", apart(&row.description)),
        ];
        out.push_str(&format!(
            "<tr><th scope=\"row\"><code>{}</code></th>",
            apart(&row.name)
        ));
        for (name, cell) in cells {
            out.push_str(&format!("<td data-name=\"{name}\">{cell}</td>"));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n");
}

fn push_json(out: &mut String, json: &Json) {
    let json = json.lines(&|string| apart(&quoted(string)));
    out.push_str(&format!(
        "<div class=\"code\"><pre dir=\"ltr\"><code>{json}</code></pre></div>\n"
    ));
}

/// Paragraphs, whose lines the style keeps.
fn push_text(out: &mut String, whole: &str) {
    for paragraph in whole.split("\n\n").filter(|text| !text.trim().is_empty()) {
        out.push_str(&format!(
            "<p dir=\"auto\" class=\"text\">{}</p>\n",
            text(paragraph.trim())
        ));
    }
}

/// A text among others, which it can't reorder.
fn apart(whole: &str) -> String {
    match whole.is_ascii() {
        true => text(whole),
        false => format!("<bdi>{}</bdi>", text(whole)),
    }
}

/// A text without markup.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(character),
            _ if super::is_override(character) => out.push_str(&super::code_point(character)),
            _ if character.is_control() => out.push('\u{fffd}'),
            // What it does ends with the element that it stands in.
            _ if is_bidi_control(character) => {
                out.push_str(&format!("&#x{:x};", u32::from(character)));
            }
            _ => out.push(character),
        }
    }
    out
}
