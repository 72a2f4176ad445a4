//! Texts that would be markup if they were not escaped.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde::Deserialize;
use tool_core::{Registry, ToolType, tool, tools};
use tool_docs::Docs;

/// Defines a tool that has one text in every place where a tool has text.
macro_rules! says {
    ($text:literal) => {
        const TEXT: &str = $text;

        #[derive(Deserialize, ToolType)]
        enum Value {
            #[serde(rename = $text)]
            One,
            Other,
        }

        #[tool(title = $text, description = $text)]
        fn show(
            #[param(description = $text, default = $text)] text: &str,
            #[param(description = $text, example = $text)] value: Value,
        ) {
            let _ = (text, matches!(value, Value::One | Value::Other));
        }
    };
}

says! {
    "<script>document.title = \"taken\"</script>
<img src=x onerror=\"document.title = 'taken'\"> </p></article> <!-- &amp; &lt;
| a | b | \\| c `code` ``two`` **bold** __bold__ ~~gone~~ $x^2$ \\( y \\)
[link](javascript:alert(1)) [x]: y ![i](j) [^1] <https://example.com> https://example.com/a_b www.example.com a@example.com
{{#include /etc/passwd}} {{ x }} {% raw %} :x:
# heading
- item
+ item
1. item
2) item
===
---
~~~
```
    code
: definition
> quote \\
'quotes' \"quotes\" שלום (abc) مرحبا 12 \u{202e}reversed\u{202c} é 🦀"
}

/// Returns a registry with a tool whose texts try to break out.
pub(crate) fn registry() -> Registry {
    let registry = Registry::builder().tools(tools![show]).build();
    registry.expect("there is one tool")
}

/// Renders Markdown to plain text: paragraphs and cells, and the markup around them.
fn shown(markdown: &str) -> (Vec<String>, Vec<String>) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM
        | Options::ENABLE_DEFINITION_LIST
        | Options::ENABLE_HEADING_ATTRIBUTES;
    let (mut texts, mut markup) = (Vec::new(), Vec::new());
    let mut text = String::new();
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Text(part) => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak => text.push('\n'),
            Event::InlineHtml(tag) if &*tag == "<br>" => text.push('\n'),
            Event::InlineHtml(tag) | Event::Html(tag) => markup.push(tag.trim().to_owned()),
            Event::Code(code) => markup.push(format!("`{code}`")),
            Event::Start(Tag::CodeBlock(_) | Tag::Paragraph | Tag::TableCell) => text.clear(),
            Event::End(
                TagEnd::Paragraph | TagEnd::TableCell | TagEnd::CodeBlock | TagEnd::Item,
            ) => {
                texts.push(std::mem::take(&mut text));
            }
            Event::Start(
                tag @ (Tag::Link { .. }
                | Tag::Image { .. }
                | Tag::Emphasis
                | Tag::BlockQuote(_)
                | Tag::Strikethrough
                | Tag::FootnoteDefinition(_)
                | Tag::DefinitionList),
            ) => {
                markup.push(format!("{tag:?}"));
            }
            Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::Rule
            | Event::TaskListMarker(_)
            | Event::FootnoteReference(_) => markup.push(format!("{event:?}")),
            _ => {}
        }
    }
    (texts, markup)
}

/// Makes bidirectional control characters visible.
fn visible(text: &str) -> String {
    text.replace('\u{202e}', "[U+202E]")
        .replace('\u{202c}', "[U+202C]")
}

#[test]
fn markdown_shows_texts_verbatim() {
    let markdown = Docs::new(&registry())
        .title(TEXT)
        .introduction(TEXT)
        .to_markdown();
    let (texts, markup) = shown(&markdown);
    // Leading spaces become non-breaking spaces.
    let expected = visible(TEXT).replace("    code", "\u{a0}\u{a0}\u{a0}\u{a0}code");
    let count = texts.iter().filter(|text| **text == expected).count();
    // The introduction, the title, the description and two cells.
    assert_eq!(count, 5, "{texts:#?}\n{markdown}");
    let unlike = |tag: &&String| {
        !["<code>", "</code>", "<bdi>", "</bdi>", "</a>", "<details>", "</details>"].contains(&&***tag)
            && !tag.starts_with("<a id=\"tool-show\">")
            && !tag.starts_with("<summary>JSON Schema of")
            // The index entry, and our own markup: the flags.
            && !tag.contains("dest_url: Borrowed(\"#tool-show\")")
    };
    let odd: Vec<_> = markup.iter().filter(unlike).collect();
    assert!(odd.is_empty(), "{odd:#?}\n{markdown}");
    assert!(!markdown.contains("{{"), "mdBook would run this");
    assert!(!markdown.contains('\u{202e}'), "this reverses what follows");
    let json = texts.iter().find(|text| text.starts_with("{\n  \"text\""));
    let call: serde_json::Value =
        serde_json::from_str(json.expect("there is a call")).expect("JSON");
    assert_eq!(call["text"], TEXT);
}

#[test]
fn a_page_shows_texts_verbatim() {
    let html = Docs::new(&registry())
        .title(TEXT)
        .introduction(TEXT)
        .to_html();
    assert_balanced(&html);
    let escaped = visible(TEXT)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    // Both titles of the page, the title of the tool, and the default of a parameter as JSON. Descriptions are Markdown.
    assert_eq!(html.matches(&escaped).count(), 3, "{html}");
    for part in [
        "&lt;script&gt;document.title = \"taken\"&lt;/script&gt;",
        "&lt;img src=x onerror=\"document.title = 'taken'\"&gt;",
        "[U+202E]reversed",
    ] {
        // The introduction, the description and that of two parameters show them as text, too.
        assert!(html.matches(part).count() >= 7, "{part} in {html}");
    }
    assert!(!html.contains("href=\"javascript"));
    assert!(!html.contains('\u{202e}') && !html.contains("&#x202e;"));
    assert_eq!(html.matches("<script>").count(), 1);
    assert!(!html.contains("<img"));
}

/// Checks that every element is closed in order and that we write it.
pub(crate) fn assert_balanced(html: &str) {
    const ALONE: [&str; 5] = ["!doctype", "meta", "br", "hr", "input"];
    const OURS: &str = "html head title style body header h1 h2 h3 h4 h5 p output nav ul ol li a code bdi b i em strong del \
        blockquote main section span table thead tbody tr th td div pre details summary script";
    let mut open: Vec<String> = Vec::new();
    let mut rest = html;
    while let Some((_, tail)) = rest.split_once('<') {
        let (tag, tail) = tail.split_once('>').expect("a tag ends");
        rest = tail;
        // Each attribute ends.
        assert_eq!(tag.matches('"').count() % 2, 0, "<{tag}>");
        let name = tag
            .trim_start_matches('/')
            .split([' ', '\n'])
            .next()
            .unwrap_or_default();
        let name = name.to_lowercase();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(&*name), "</{tag}>");
        } else if !ALONE.contains(&&*name) {
            assert!(OURS.split_whitespace().any(|ours| ours == name), "<{tag}>");
            if name == "script" || name == "style" {
                let end = format!("</{name}>");
                rest = rest.split_once(&end).expect("it ends").1;
            } else {
                open.push(name);
            }
        }
    }
    assert!(open.is_empty(), "{open:?}");
}
