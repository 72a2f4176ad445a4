//! The catalogue as `CommonMark` with GitHub's tables.
//!
//! Markup in names and descriptions is escaped, including mdBook's directives. `<bdi>` isolates right-to-left
//! text.

use tool_core::__docs::is_bidi_control;
use tool_core::schema::Json;

use super::Docs;
use super::page::{Page, ProviderLimit, Section};
use super::rows::{Fields, Row};

pub(super) const NO_TOOLS: &str = "There are no tools. A linker leaves out a crate that nothing refers to; \
                                   write `use my_tools as _;` in the program.";

/// Returns `true` if a page has the structure of a catalogue, so that it may be replaced.
///
/// It has a title and an index with one entry for each section, in the same order; all markup
/// before the index is escaped; and it ends as a section does.
pub(super) fn is_generated(text: &str) -> bool {
    let mut lines = text.lines();
    if !lines.next().is_some_and(|line| line.starts_with("# ")) {
        return false;
    }
    let (mut index, mut sections) = (Vec::new(), Vec::new());
    let (mut fence, mut last) = (None, "");
    for line in lines.filter(|line| !line.is_empty()) {
        last = line;
        let ticks = line.len() - line.trim_start_matches('`').len();
        if fence.is_some() {
            fence = fence.filter(|fence| *fence != line);
        } else if ticks > 2 {
            fence = Some(&line[..ticks]);
        } else if let Some(anchor) = between(line, &["- ["], "](#", "): ") {
            index.push(anchor);
        } else if let Some(anchor) = between(line, &["## ", "### "], "<a id=\"", "\"></a>") {
            sections.push(anchor);
        } else if index.is_empty() && line != NO_TOOLS && !is_escaped(line) {
            return false;
        }
    }
    let end = if index.is_empty() {
        NO_TOOLS
    } else {
        "</details>"
    };
    index == sections && last == end
}

/// Returns the text between two others in a line that has one of these starts.
fn between<'t>(line: &'t str, starts: &[&str], before: &str, after: &str) -> Option<&'t str> {
    let rest = starts.iter().find_map(|start| line.strip_prefix(start))?;
    Some(rest.split_once(before)?.1.split_once(after)?.0)
}

/// Returns `true` for a line of an introduction, or for a group in the index.
fn is_escaped(line: &str) -> bool {
    let text = line
        .strip_prefix("**")
        .and_then(|rest| rest.strip_suffix("**"));
    let text = text.unwrap_or(line);
    let text = text.strip_suffix('\\').unwrap_or(text);
    let text = text.replace("<bdi>", "").replace("</bdi>", "");
    let text = text.replace("&nbsp;", "").replace("&#x", "");
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if is_markup(&text, at, character, true) {
            return false;
        }
    }
    true
}

pub(super) fn write(docs: &Docs) -> String {
    let page = Page::new(docs);
    let mut markdown = Markdown(format!("# {}\n", line(&docs.title)));
    markdown.paragraphs(&docs.introduction);
    let has_groups = page.groups.len() > 1;
    for (group, sections) in &page.groups {
        if has_groups {
            markdown.heading(group);
        }
        markdown.push("\n");
        for section in sections {
            let (name, anchor) = (line(&section.tool.name), &section.anchor);
            let summary = line(section.summary());
            markdown.push(&format!("- [{name}](#{anchor}): {summary}\n"));
        }
    }
    if page.groups.is_empty() {
        markdown.push(&format!("\n{NO_TOOLS}\n"));
    }
    if !page.limits.is_empty() {
        markdown.heading("Provider limits for all tools together");
        markdown.limits(&page.limits);
    }
    for (group, sections) in &page.groups {
        if has_groups {
            markdown.push(&format!("\n## {}\n", line(group)));
        }
        for section in sections {
            markdown.section(section, if has_groups { "###" } else { "##" });
        }
    }
    markdown.0
}

struct Markdown(String);

impl Markdown {
    fn push(&mut self, markdown: &str) {
        self.0.push_str(markdown);
    }

    fn section(&mut self, section: &Section<'_>, marks: &str) {
        let (name, anchor) = (line(&section.tool.name), &section.anchor);
        self.push(&format!("\n{marks} <a id=\"{anchor}\"></a>{name}\n"));
        if let Some(title) = section.tool.title() {
            self.heading(title);
        }
        if !section.hints.is_empty() {
            self.push(&format!("\n*{}*\n", section.hints.join(" · ")));
        }
        self.content(section);
    }

    /// Writes everything below the heading, the title and the hints.
    fn content(&mut self, section: &Section<'_>) {
        let tool = section.tool;
        self.paragraphs(&tool.description);
        if let Some(text) = tool.when_to_use() {
            self.heading("When to use");
            self.paragraphs(text);
        }
        let tags: Vec<_> = tool.tags().collect();
        if !tags.is_empty() {
            self.sentence(&format!("Tags: {}.", tags.join(", ")));
        }
        if section.parameters.rows.is_empty() {
            self.sentence("No parameters.");
        } else {
            self.heading("Parameters");
        }
        self.fields(&section.parameters, "Required");
        if tool.returns().is_some() || section.output.is_some() {
            self.heading("Returns");
        }
        self.paragraphs(tool.returns().unwrap_or_default());
        if let Some(fields) = &section.output {
            if fields.rows.is_empty() {
                self.sentence("No properties.");
            }
            self.fields(fields, "Always present");
        }
        self.heading(section.example_heading());
        match &section.examples {
            Ok(examples) => examples.iter().for_each(|arguments| self.json(arguments)),
            Err(reason) => self.sentence(&format!("Not available: {reason}.")),
        }
        if !section.limits.is_empty() {
            self.heading("Provider limits");
            self.limits(&section.limits);
        }
        self.details("JSON Schema of the parameters", &section.schema);
    }

    fn fields(&mut self, fields: &Fields, required: &str) {
        if !fields.rows.is_empty() {
            self.table(&fields.rows, required);
        }
        for (name, rows) in &fields.types {
            self.heading(name);
            self.table(rows, required);
        }
    }

    fn heading(&mut self, text: &str) {
        self.push(&format!("\n**{}**\n", line(text)));
    }

    fn sentence(&mut self, text: &str) {
        self.push(&format!("\n{}\n", line(text)));
    }

    fn paragraphs(&mut self, text: &str) {
        for paragraph in super::paragraphs(text) {
            let lines: Vec<_> = paragraph
                .trim_matches('\n')
                .lines()
                .map(|line| escape(line, true))
                .collect();
            self.push(&format!("\n{}\n", isolate(paragraph, &lines.join("\\\n"))));
        }
    }

    fn table(&mut self, rows: &[Row], required: &str) {
        self.push(&format!(
            "\n| Name | Type | {required} | Constraints | Description |\n|---|---|---|---|---|\n"
        ));
        for row in rows {
            let constraints: Vec<_> = row.constraints.iter().map(|text| line(text)).collect();
            self.push(&format!(
                "| <code>{}</code> | {} | {} | {} | {} |\n",
                line(&row.name),
                line(&row.kind),
                row.required(),
                constraints.join("<br>"),
                line(&row.description),
            ));
        }
    }

    fn limits(&mut self, limits: &[ProviderLimit]) {
        self.push("\n");
        for limit in limits {
            let (provider, text) = (line(limit.provider), line(&limit.text));
            self.push(&format!("- {provider}: {text}\n"));
        }
    }

    /// The code fence is longer than any in the text. mdBook's directives are escaped.
    fn json(&mut self, json: &Json) {
        let text = format!("{json:#}").replace("{{", "{\\u007b");
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        self.push(&format!("\n{fence}json\n{text}\n{fence}\n"));
    }

    fn details(&mut self, summary: &str, json: &Json) {
        self.push(&format!("\n<details>\n<summary>{summary}</summary>\n"));
        self.json(json);
        self.push("\n</details>\n");
    }
}

/// Escapes a string for use within a line.
fn line(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| escape(line, false)).collect();
    isolate(text, &lines.join("<br>"))
}

/// Isolates right-to-left text, so that it does not reorder the text around it.
fn isolate(text: &str, markdown: &str) -> String {
    if super::has_right_to_left(text) {
        format!("<bdi>{markdown}</bdi>")
    } else {
        markdown.to_owned()
    }
}

/// Escapes one line. At the start of a paragraph's line, more characters are markup.
fn escape(line: &str, is_at_start: bool) -> String {
    let line = super::with_code_points(line.trim_end());
    let text = line.trim_start_matches([' ', '\t']);
    let mut out = String::with_capacity(line.len() + 8);
    // Leading spaces would start a code block, or be dropped.
    for space in line[..line.len() - text.len()].chars() {
        out.push_str(&"&nbsp;".repeat(if space == '\t' { 4 } else { 1 }));
    }
    for (at, character) in text.char_indices() {
        if is_markup(text, at, character, is_at_start) {
            out.push('\\');
            out.push(character);
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

fn is_markup(line: &str, at: usize, character: char, is_at_start: bool) -> bool {
    let before = &line[..at];
    match character {
        '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '{' | '}' | '&' | '|' | '~' | '$' | '#'
        | '@' => true,
        // Not within a word.
        '_' => {
            let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !is_letter(before.chars().next_back()) || !is_letter(line[at + 1..].chars().next())
        }
        // Lists, rules, heading underlines, definitions.
        '-' | '+' | '=' => is_at_start && at == 0,
        // Some renderers turn addresses into links.
        ':' => is_at_start && at == 0 || line[at..].starts_with("://"),
        '.' if before.ends_with("www") => true,
        '.' | ')' => is_at_start && at > 0 && before.bytes().all(|byte| byte.is_ascii_digit()),
        _ => false,
    }
}
