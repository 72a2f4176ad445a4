//! The catalogue as one self-contained HTML page that is readable without JavaScript.
//!
//! Every text passes through [`escape`](super::html_page::escape).

use std::collections::{BTreeMap, BTreeSet};

use tool_core::__docs::{decode_base64, encode_base64, pretty};
use tool_core::schema::Json;

use super::html_page::{HtmlPage, POLICY, escape, isolate};
use super::markdown::NO_TOOLS;
use super::page::{Page, ProviderLimit, Section};
use super::prose;
use super::rows::{Fields, Row};
use super::sent::{self, Sent};
use super::{Docs, by_thousands, quote};

/// A line that no other page has.
const INDEX: &str = "<nav aria-label=\"Tools\" hidden>";

/// A page with so few tools shows them open.
const FEW: usize = 3;

/// Returns `true` if a page has the structure of a catalogue, so that it may be replaced.
pub(super) fn is_generated(text: &str) -> bool {
    let mut head = text.lines().take_while(|line| *line != "</head>");
    head.next() == Some("<!DOCTYPE html>")
        && head.any(|line| line.starts_with(POLICY))
        && text.lines().any(|line| line == INDEX)
        && text.trim_end().ends_with("</html>")
}

/// Returns the text of a page, with the compressed data in place of its digits: two versions of the library that compress
/// differently write the same page.
pub(super) fn comparable(text: &str) -> String {
    let data = |line: &str| -> Option<String> {
        let digits = line.strip_prefix(DATA)?.strip_suffix("</script>")?;
        sent::inflate(&decode_base64(digits)?)
    };
    let lines = text
        .lines()
        .map(|line| data(line).unwrap_or_else(|| line.to_owned()));
    lines.collect::<Vec<_>>().join("\n")
}

const DATA: &str = "<script type=\"application/octet-stream\" id=\"data\">";

/// Writes the page. With a `head` it is for a server: it may load from its own origin, and show what scripts make.
pub(super) fn write(docs: &Docs, head: Option<&str>) -> String {
    let page = Page::new(docs);
    let sent = Sent::of(docs, &page);
    let count = page.sections().count();
    let mut writer = Writer {
        out: String::new(),
        level: if page.groups.len() > 1 { 3 } else { 2 },
        tags: tags(&page),
        is_open: count <= FEW,
    };
    let data = if count > 0 {
        let mut line = DATA.to_owned();
        encode_base64(&sent.compressed(), &mut line);
        line + "</script>\n"
    } else {
        String::new()
    };
    let mut html = HtmlPage::new(&*docs.title)
        .entries("tools", "Tools")
        .introduction(prose::blocks(&docs.introduction))
        .main(writer.part(|html| {
            html.groups(&page);
            html.cost(&page, &sent);
        }));
    html.data = data;
    html.head = head.map(str::to_owned);
    html.to_html()
}

/// The tags with their anchors. The script makes the list of tags of the links to them.
fn tags<'p>(page: &'p Page<'_>) -> BTreeMap<&'p str, String> {
    let tags = page.sections().flat_map(|section| section.tool.tags());
    let tags: BTreeSet<_> = tags.collect();
    let tags = tags.into_iter().enumerate();
    tags.map(|(number, tag)| (tag, format!("tag-{number}")))
        .collect()
}

struct Writer<'p> {
    out: String,
    /// The heading level of a tool.
    level: u8,
    tags: BTreeMap<&'p str, String>,
    is_open: bool,
}

impl Writer<'_> {
    /// Returns what a function writes.
    fn part(&mut self, write: impl FnOnce(&mut Self)) -> String {
        write(self);
        std::mem::take(&mut self.out)
    }

    fn push(&mut self, html: &str) {
        self.out.push_str(html);
    }

    fn groups(&mut self, page: &Page<'_>) {
        if page.groups.is_empty() {
            self.push(&prose::blocks(NO_TOOLS));
        }
        for (group, sections) in &page.groups {
            self.push("<section>\n");
            if page.groups.len() > 1 {
                self.push(&format!("<h2>{}</h2>\n", isolate(group)));
            }
            for section in sections {
                self.section(section);
            }
            self.push("</section>\n");
        }
    }

    fn section(&mut self, section: &Section<'_>) {
        let (tool, level) = (section.tool, self.level);
        let (lead, rest) = prose::lead(&tool.description);
        let open = if self.is_open { " open" } else { "" };
        self.push(&format!(
            "<details{open}><summary><h{level}>{}</h{level}>",
            isolate(&tool.name)
        ));
        if let Some(title) = tool.title() {
            self.push(&format!(" <em>{}</em>", isolate(title)));
        }
        for hint in &section.hints {
            let class = hint.split(' ').next().unwrap_or_default();
            self.push(&format!(" <b class=\"{class}\">{hint}</b>"));
        }
        let direction = if super::has_right_to_left(&lead) {
            " dir=\"auto\""
        } else {
            ""
        };
        self.push(&format!(
            " <span{direction}>{lead}</span></summary><div id=\"{}\"><div>",
            section.anchor
        ));
        self.text(rest);
        if let Some(text) = tool.when_to_use() {
            self.heading("When to use");
            self.text(text);
        }
        self.tags_of(section);
        if section.parameters.rows.is_empty() {
            self.push("<p>No parameters.</p>");
        } else {
            self.heading("Parameters");
        }
        self.fields(&section.parameters, &section.anchor, "required");
        if tool.returns().is_some() || section.output.is_some() {
            self.heading("Returns");
        }
        self.text(tool.returns().unwrap_or_default());
        if let Some(fields) = &section.output {
            if fields.rows.is_empty() {
                self.push("<p>No properties.</p>");
            }
            self.fields(fields, &format!("{}-result", section.anchor), "always");
        }
        if !section.limits.is_empty() {
            self.heading("Provider limits");
            self.limits(&section.limits);
        }
        self.push("</div><div>");
        self.heading(section.example_heading());
        match &section.examples {
            Ok(examples) => examples.iter().for_each(|arguments| self.json(arguments)),
            Err(reason) => self.push(&format!("<p>Not available: {}.</p>", prose::line(reason))),
        }
        self.push("</div></div></details>\n");
    }

    fn tags_of(&mut self, section: &Section<'_>) {
        if section.tool.tags().len() == 0 {
            return;
        }
        let links = section.tool.tags().filter_map(|tag| {
            let anchor = self.tags.get(tag)?;
            Some(format!("<a href=\"#{anchor}\">{}</a>", isolate(tag)))
        });
        let links: Vec<_> = links.collect();
        self.push(&links.join(" "));
    }

    fn heading(&mut self, text: &str) {
        let level = self.level + 1;
        self.push(&format!("<h{level}>{text}</h{level}>"));
    }

    fn text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.push(&prose::blocks(text));
        }
    }

    /// Writes the fields and their types as trees. The anchors of the types start with `prefix`.
    fn fields(&mut self, fields: &Fields, prefix: &str, required: &str) {
        let anchors = fields.types.iter().zip(1..);
        let anchors = anchors.map(|((name, _), number)| (&**name, format!("{prefix}-{number}")));
        let anchors: BTreeMap<_, _> = anchors.collect();
        self.tree(&fields.rows, &anchors, required);
        for (name, rows) in &fields.types {
            let level = self.level + 2;
            self.push(&format!(
                "<h{level} id=\"{}\"><code>{}</code></h{level}>\n",
                anchors[&**name],
                isolate(name)
            ));
            self.tree(rows, &anchors, required);
        }
    }

    fn tree(&mut self, rows: &[Row], anchors: &BTreeMap<&str, String>, required: &str) {
        let mut depth = 0;
        for (at, row) in rows.iter().enumerate() {
            if at == 0 {
                self.push("<ul>\n");
            }
            if row.depth > depth {
                self.push("<ul>\n");
            } else if at > 0 {
                self.push("</li>\n");
            }
            for _ in row.depth..depth {
                self.push("</ul></li>\n");
            }
            depth = row.depth;
            self.row(row, anchors, required);
        }
        if !rows.is_empty() {
            self.push("</li>\n");
            self.push(&"</ul></li>\n".repeat(depth));
            self.push("</ul>");
        }
    }

    /// Writes a row, and leaves its item open.
    fn row(&mut self, row: &Row, anchors: &BTreeMap<&str, String>, required: &str) {
        let anchor = row
            .refers_to
            .as_deref()
            .and_then(|name| Some((name, anchors.get(name)?)));
        let parts =
            anchor.and_then(|(name, anchor)| Some((row.kind.split_once(name)?, name, anchor)));
        let kind = match parts {
            Some(((before, after), name, anchor)) => format!(
                "{}<a href=\"#{anchor}\">{}</a>{}",
                escape(before),
                isolate(name),
                escape(after)
            ),
            None => isolate(&row.kind),
        };
        let constraints = row.constraints.iter().map(|text| isolate(text));
        let facts: Vec<_> = std::iter::once(kind).chain(constraints).collect();
        self.push(&format!(
            "<li>{} <i>{}</i>",
            isolate(&row.label),
            facts.join(" · ")
        ));
        if row.is_required == Some(true) {
            self.push(&format!(" <em>{required}</em>"));
        }
        self.text(&row.description);
    }

    fn limits(&mut self, limits: &[ProviderLimit]) {
        self.push("<ul class=\"list\">\n");
        for limit in limits {
            let provider = prose::line(limit.provider);
            let text = prose::line(&limit.text);
            self.push(&format!("<li>{provider}: {text}</li>\n"));
        }
        self.push("</ul>\n");
    }

    fn json(&mut self, json: &Json) {
        let json = pretty(json, &|string| isolate(&quote(string)));
        self.push(&format!("<pre>{json}</pre>"));
    }

    /// Writes what the list of all tools costs.
    fn cost(&mut self, page: &Page<'_>, sent: &Sent) {
        if page.groups.is_empty() {
            return;
        }
        let has_tokens = sent.providers.iter().any(|all| all.tokens.is_some());
        self.push(
            "<details>\n<summary><h2>What the list costs</h2> <span>What every request repeats, by provider and by tool\
             </span></summary><div id=\"cost\">\n<table>\n<thead><tr><th>Provider</th><th>Bytes</th>",
        );
        self.push(if has_tokens { "<th>Tokens</th>" } else { "" });
        self.push("</tr></thead>\n<tbody>\n");
        for all in &sent.providers {
            self.push(&format!(
                "<tr><th scope=\"row\">{}</th><td>{}</td>",
                all.name,
                by_thousands(all.bytes)
            ));
            if let Some(tokens) = all.tokens {
                self.push(&format!("<td>{}</td>", by_thousands(tokens)));
            }
            self.push("</tr>\n");
        }
        self.push("</tbody>\n</table>\n");
        if !page.limits.is_empty() {
            self.push("<h3>Provider limits for all tools together</h3>\n");
            self.limits(&page.limits);
        }
        self.push("</div>\n</details>\n");
    }
}
