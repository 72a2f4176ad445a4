//! The catalogue as Markdown that every renderer shows alike: `CommonMark` with the tables of GitHub.
//!
//! Texts are shown, not run: whatever could be markup is escaped, down to the directives of
//! mdBook. A text with letters that run from right to left is set apart by `<bdi>`.

use super::page::{Page, Section};
use super::rows::Row;
use crate::json::{Json, is_bidi_control, quoted};

pub(super) fn write(title: &str, introduction: &str, page: &Page) -> String {
    let mut out = format!("# {}\n", line(title));
    push_text(&mut out, introduction);
    let has_groups = page.groups.len() > 1;
    for (group, sections) in &page.groups {
        if has_groups {
            out.push_str(&format!("\n**{}**\n", line(group)));
        }
        out.push('\n');
        for section in sections {
            let first = section.description.lines().next().unwrap_or_default();
            let (name, anchor) = (line(&section.name), &section.anchor);
            out.push_str(&format!("- [{name}](#{anchor}): {}\n", line(first)));
        }
    }
    if page.groups.is_empty() {
        out.push_str("\nThere are no tools.\n");
    }
    if !page.together.is_empty() {
        out.push_str("\n**All tools together**\n\n");
        for note in &page.together {
            out.push_str(&format!(
                "- {}: {}\n",
                line(note.provider),
                line(&note.text)
            ));
        }
    }
    for (group, sections) in &page.groups {
        if has_groups {
            out.push_str(&format!("\n## {}\n", line(group)));
        }
        for section in sections {
            push_section(&mut out, section, if has_groups { "###" } else { "##" });
        }
    }
    out
}

fn push_section(out: &mut String, section: &Section, marks: &str) {
    let (name, anchor) = (line(&section.name), &section.anchor);
    out.push_str(&format!("\n{marks} <a id=\"{anchor}\"></a>{name}\n"));
    if let Some(title) = &section.title {
        out.push_str(&format!("\n**{}**\n", line(title)));
    }
    if !section.flags.is_empty() {
        out.push_str(&format!("\n*{}*\n", section.flags.join(" · ")));
    }
    push_text(out, &section.description);
    if let Some(text) = &section.when_to_use {
        out.push_str("\n**When to use**\n");
        push_text(out, text);
    }
    if section.parameters.is_empty() {
        out.push_str("\nNo parameters.\n");
    } else {
        out.push_str("\n**Parameters**\n\n");
        push_table(out, &section.parameters, "Required");
    }
    push_types(out, &section.types, "Required");
    if section.returns.is_some() || section.output.is_some() {
        out.push_str("\n**Returns**\n");
    }
    if let Some(text) = &section.returns {
        push_text(out, text);
    }
    if let Some(rows) = &section.output {
        out.push('\n');
        push_table(out, rows, "Always there");
    }
    push_types(out, &section.output_types, "Always there");
    out.push_str("\n**Example call**\n\n");
    match &section.example {
        Ok(arguments) => push_json(out, arguments),
        Err(why) => out.push_str(&format!("None that is sure to be taken: {}.\n", line(why))),
    }
    if !section.notes.is_empty() {
        out.push_str("\n**Providers**\n\n");
        for note in &section.notes {
            out.push_str(&format!(
                "- {}: {}\n",
                line(note.provider),
                line(&note.text)
            ));
        }
    }
    out.push_str("\n<details>\n<summary>Schema of the arguments</summary>\n\n");
    push_json(out, &section.schema);
    out.push_str("\n</details>\n");
}

fn push_types(out: &mut String, types: &[(String, Vec<Row>)], must: &str) {
    for (name, rows) in types {
        out.push_str(&format!("\n**{}**\n\n", line(name)));
        push_table(out, rows, must);
    }
}

fn push_table(out: &mut String, rows: &[Row], must: &str) {
    out.push_str(&format!("| Name | Type | {must} | Rules | Description |\n"));
    out.push_str("|---|---|---|---|---|\n");
    for row in rows {
        let rules: Vec<_> = row.rules.iter().map(|rule| line(rule)).collect();
        let must = match row.is_required {
            Some(true) => "yes",
            Some(false) => "no",
            None => "",
        };
        out.push_str(&format!(
            "| <code>{}</code> | {} | {must} | {} | {} |\n",
            line(&row.name),
            line(&row.kind),
            rules.join("<br>"),
            line(&row.description),
        ));
    }
}

/// JSON in a fence that it can't close, without what mdBook would take for a directive.
fn push_json(out: &mut String, json: &Json) {
    let text = json.lines(&quoted).replace("{{", "{\\u007b");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    out.push_str(&format!("{fence}json\n{text}\n{fence}\n"));
}

/// Paragraphs and lines, as they are.
fn push_text(out: &mut String, text: &str) {
    for paragraph in text.split("\n\n").filter(|text| !text.trim().is_empty()) {
        let lines: Vec<_> = paragraph
            .trim_matches('\n')
            .lines()
            .map(|line| one_line(line, true))
            .collect();
        out.push_str(&format!("\n{}\n", isolated(paragraph, &lines.join("\\\n"))));
    }
}

/// A text in one line, behind something else.
fn line(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| one_line(line, false)).collect();
    isolated(text, &lines.join("<br>"))
}

/// Sets apart what runs from right to left, so that what stands beside it keeps its place.
fn isolated(text: &str, markdown: &str) -> String {
    match super::runs_to_the_left(text) {
        true => format!("<bdi>{markdown}</bdi>"),
        false => markdown.to_owned(),
    }
}

/// One line with everything escaped that could be markup, perhaps because it starts a line.
fn one_line(line: &str, starts: bool) -> String {
    let line = line.trim_end();
    let text = line.trim_start_matches([' ', '\t']);
    let mut out = String::with_capacity(line.len() + 8);
    // Spaces at the start would begin code, or be dropped.
    for space in line[..line.len() - text.len()].chars() {
        out.push_str(&"&nbsp;".repeat(if space == '\t' { 4 } else { 1 }));
    }
    for (at, character) in text.char_indices() {
        if is_markup(text, at, character, starts) {
            out.push('\\');
            out.push(character);
        } else if super::is_override(character) {
            out.push_str(&one_line(&super::code_point(character), false));
        } else if is_bidi_control(character) {
            out.push_str(&format!("&#x{:x};", u32::from(character)));
        } else if character.is_control() {
            out.push('\u{fffd}');
        } else {
            out.push(character);
        }
    }
    out
}

fn is_markup(line: &str, at: usize, character: char, starts: bool) -> bool {
    let before = &line[..at];
    match character {
        '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '{' | '}' | '&' | '|' | '~' | '$' | '#'
        | '@' => true,
        // Inside of a word it is none.
        '_' => {
            let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !is_letter(before.chars().next_back()) || !is_letter(line[at + 1..].chars().next())
        }
        // Lists, rules, underlines of headings, definitions.
        '-' | '+' | '=' => starts && at == 0,
        // Addresses, which some renderers make links of.
        ':' => starts && at == 0 || line[at..].starts_with("://"),
        '.' if before.ends_with("www") => true,
        '.' | ')' => starts && at > 0 && before.bytes().all(|byte| byte.is_ascii_digit()),
        _ => false,
    }
}
