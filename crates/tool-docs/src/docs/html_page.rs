//! [`HtmlPage`]: what pages of HTML have in common, whatever they are about.
//!
//! The content security policy forbids loading anything, and runs no script but the page's own.

use std::fmt;

use tool_core::__docs::is_bidi_control;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(include_str!("helpers.js"), include_str!("page.js"));

/// The digests of the style sheet and of the script between their tags; a test computes them.
const STYLE_DIGEST: &str = "sha256-Iiio863pvGHDvvHwLwSV1RyjFsSD9J3Wy/Jp5zDjYl0=";
const SCRIPT_DIGEST: &str = "sha256-WHHYhxhV2wEPIp7Pazw2JR5bAa+/DXx590m7HyPMXWg=";

/// The start of a line in the head of every page.
pub(super) const POLICY: &str =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ";

/// A self-contained page of HTML that looks and works as a [catalogue](super::Docs), about something else than tools.
///
/// It loads nothing from anywhere, and runs no script but its own: an index, a search and links to entries. Entries are
/// `section > details` in the [main](HtmlPage::main) part. The last element of each is a `div` with the `id` of the entry, its
/// `summary` has an `h3` with its name, and an `h2` in the section is the name of a group. Links to `#tag-…` in an entry are its
/// tags.
///
/// ```
/// use tool_docs::{HtmlPage, escape};
///
/// let page = HtmlPage::new("Rooms").entries("rooms", "Rooms").main(format!(
///     "<section><details><summary><h3>{}</h3></summary><div id=\"ada\">4 seats</div></details></section>",
///     escape("Ada & Alan"),
/// ));
/// assert!(page.to_html().contains("<h3>Ada &amp; Alan</h3>"));
/// ```
#[derive(Clone)]
#[must_use = "call `to_html`"]
pub struct HtmlPage {
    title: String,
    /// The word for the entries in a sentence, and as a heading.
    words: [String; 2],
    introduction: String,
    main: String,
    /// An element with the data that the script reads.
    pub(super) data: String,
    /// HTML for the head of a page of a server, which may load from its own origin.
    pub(super) head: Option<String>,
}

impl HtmlPage {
    /// Creates an empty page. The title is text.
    pub fn new(title: impl Into<String>) -> HtmlPage {
        HtmlPage {
            title: title.into(),
            words: ["entries", "Entries"].map(str::to_owned),
            introduction: String::new(),
            main: String::new(),
            data: String::new(),
            head: None,
        }
    }

    /// Sets what the entries are called, in a sentence and as a heading. The default is "entries" and "Entries".
    pub fn entries(mut self, word: impl Into<String>, heading: impl Into<String>) -> HtmlPage {
        self.words = [word.into(), heading.into()];
        self
    }

    /// Sets the HTML below the title. It is not escaped: texts in it are [escaped](escape) by you.
    pub fn introduction(mut self, html: impl Into<String>) -> HtmlPage {
        self.introduction = html.into();
        self
    }

    /// Sets the HTML of the main part. It is not escaped: texts in it are [escaped](escape) by you.
    pub fn main(mut self, html: impl Into<String>) -> HtmlPage {
        self.main = html.into();
        self
    }

    /// Returns the page.
    pub fn to_html(&self) -> String {
        let introduction = match &*self.introduction {
            "" => String::new(),
            html => format!("<div class=\"introduction\">{html}</div>\n"),
        };
        let [word, heading] = self.words.each_ref().map(|word| attribute(word));
        let slots = [
            ("policy", policy(self.head.is_some())),
            ("title", escape(&self.title)),
            ("style", STYLE.to_owned()),
            ("head", self.head.clone().unwrap_or_default()),
            ("introduction", introduction),
            ("entry", word),
            ("entries", heading),
            ("main", self.main.clone()),
            ("data", self.data.clone()),
            ("script", SCRIPT.to_owned()),
        ];
        fill(TEMPLATE, &slots)
    }
}

impl fmt::Debug for HtmlPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HtmlPage")
            .field("title", &self.title)
            .finish_non_exhaustive()
    }
}

fn policy(is_served: bool) -> String {
    let (own, more) = if is_served {
        (
            " 'self'",
            "; connect-src 'self'; img-src data:; media-src data:",
        )
    } else {
        ("", "")
    };
    format!(
        "{POLICY}style-src '{STYLE_DIGEST}'{own}; script-src '{SCRIPT_DIGEST}'{own}; base-uri 'none'; \
         form-action 'none'{more}\">"
    )
}

/// Replaces the slots of a template, such as `{{title}}`.
fn fill(template: &str, slots: &[(&str, String)]) -> String {
    let mut parts = template.split("{{");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").expect("a slot ends");
        let slot = slots.iter().find(|(slot, _)| *slot == name);
        out.push_str(&slot.expect("a known slot").1);
        out.push_str(rest);
    }
    out
}

/// Escapes a string and isolates its direction from the text around it.
pub(super) fn isolate(text: &str) -> String {
    if text.is_ascii() {
        escape(text)
    } else {
        format!("<bdi>{}</bdi>", escape(text))
    }
}

/// Escapes a string for use in an attribute.
fn attribute(text: &str) -> String {
    escape(text).replace('"', "&quot;")
}

/// Returns a text as HTML between tags. Hidden characters that prose does not [need](tool_core::visible) are shown as their numbers, and
/// control characters as `\u{fffd}`. It is not for attributes, because quotes stay as they are.
///
/// ```
/// use tool_docs::escape;
///
/// assert_eq!(escape("<b> & \u{202e}"), "&lt;b&gt; &amp; [U+202E]");
/// ```
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in super::with_code_points(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' | '\t' => out.push(character),
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

#[cfg(test)]
mod tests {
    use super::{HtmlPage, escape, isolate};

    #[test]
    fn words_stay_in_their_attributes() {
        let page = HtmlPage::new("Rooms").entries("\"><script>", "\" onfocus=x \"");
        let html = page.to_html();
        assert!(html.contains("aria-label=\"Search the &quot;&gt;&lt;script&gt;\""));
        assert!(html.contains("<nav aria-label=\"&quot; onfocus=x &quot;\" hidden>"));
        assert!(html.contains("<title>Rooms</title>"));
    }

    #[test]
    fn what_could_hide_or_reorder_text_is_visible_in_the_source() {
        assert_eq!(escape("a\u{7}\u{1b}[2J\n"), "a\u{fffd}\u{fffd}[2J\n");
        assert_eq!(escape("\u{202e}\u{2066}"), "[U+202E]&#x2066;");
        assert_eq!(isolate("a<b"), "a&lt;b");
        assert_eq!(isolate("שלום<"), "<bdi>שלום&lt;</bdi>");
    }

    #[test]
    fn a_page_has_no_empty_introduction() {
        let page = HtmlPage::new("Rooms").main("<p>None.</p>");
        assert!(!page.to_html().contains("<div class=\"introduction\">"));
        let page = page.introduction("<p>All.</p>");
        assert!(
            page.to_html()
                .contains("<div class=\"introduction\"><p>All.</p></div>")
        );
    }
}
