//! Makes a text safe to review: invisible characters are rejected, and long empty space is shown as a count.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};
use std::sync::OnceLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// Marks, which are drawn over the preceding character.
const MARKS: &str = r"\p{M}";

/// Maximum number of marks over one character. Languages need up to three.
const MOST_MARKS: usize = 4;

/// Maximum number of columns of consecutive space that a review shows unchanged.
const SPACES: usize = 40;

/// Maximum number of consecutive empty lines that a review shows unchanged.
const LINES: usize = 2;

/// Returns `true` for characters that a reviewer can't see or tell apart, except tabs and line breaks.
fn is_hidden(c: char) -> bool {
    !matches!(c, '\n' | '\t') && tool_core::visible::is_unclear(c)
}

fn is_mark(c: char) -> bool {
    static CLASS: OnceLock<ClassUnicode> = OnceLock::new();
    let class = CLASS.get_or_init(|| {
        let parsed = regex_syntax::parse(MARKS).expect("the pattern is valid");
        match parsed.into_kind() {
            HirKind::Class(Class::Unicode(class)) => class,
            other => panic!("{MARKS} is {other:?}"),
        }
    });
    let compared = |range: &ClassUnicodeRange| {
        if range.end() < c {
            Ordering::Less
        } else if range.start() > c {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    };
    !c.is_ascii() && class.ranges().binary_search_by(compared).is_ok()
}

/// Rejects characters that a reviewer can't see.
pub(super) fn check(what: &str, text: &str) -> Result<(), String> {
    let mut marks = 0;
    for c in text.chars() {
        if is_hidden(c) {
            return Err(format!(
                "{what}: it contains the invisible character U+{:04X}; remove it, or write it as an escape in a string",
                u32::from(c)
            ));
        }
        marks = if is_mark(c) { marks + 1 } else { 0 };
        if marks > MOST_MARKS {
            return Err(format!(
                "{what}: it has more than {MOST_MARKS} combining marks in a row; remove them, or write them as escapes in a \
                 string"
            ));
        }
    }
    Ok(())
}

/// Writes a text by somebody else. Each line starts with a bar, so none can look like a line of the review. Invisible
/// characters are escaped, and long empty space is a count in `⟦⟧`, which the text itself can't contain.
pub(super) fn quote(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut empty = 0;
    for line in text.trim_end_matches('\n').split('\n') {
        if line.trim().is_empty() {
            empty += 1;
            continue;
        }
        empty_lines(empty, f)?;
        empty = 0;
        f.write_str("  | ")?;
        quote_line(line, f)?;
        f.write_char('\n')?;
    }
    empty_lines(empty, f)
}

fn empty_lines(count: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if count > LINES {
        return writeln!(f, "  | ⟦{count} empty lines⟧");
    }
    (0..count).try_for_each(|_| f.write_str("  |\n"))
}

fn quote_line(line: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_space = |c: char| matches!(c, ' ' | '\t');
    let mut rest = line;
    let mut marks = 0;
    while let Some(c) = rest.chars().next() {
        let spaces = rest.find(|c| !is_space(c)).unwrap_or(rest.len());
        let columns: usize = rest[..spaces]
            .chars()
            .map(|c| if c == '\t' { 8 } else { 1 })
            .sum();
        if columns > SPACES || (spaces > 1 && spaces == rest.len()) {
            write!(f, "⟦{columns} columns of space⟧")?;
            rest = &rest[spaces..];
            continue;
        }
        if spaces > 0 {
            f.write_str(&rest[..spaces])?;
            rest = &rest[spaces..];
            continue;
        }
        marks = if is_mark(c) { marks + 1 } else { 0 };
        if is_hidden(c) || matches!(c, '⟦' | '⟧') || marks > MOST_MARKS {
            write!(f, "{}", c.escape_unicode())?;
        } else {
            f.write_char(c)?;
        }
        rest = &rest[c.len_utf8()..];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Quoted<'a>(&'a str);

    impl fmt::Display for Quoted<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            quote(self.0, f)
        }
    }

    #[test]
    fn every_character_without_a_shape_is_hidden() {
        for named in [
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{115f}',
            '\u{17b4}',
            '\u{180b}',
            '\u{180e}',
            '\u{200b}',
            '\u{200d}',
            '\u{202e}',
            '\u{2060}',
            '\u{3164}',
            '\u{fe00}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff9}',
            '\u{e000}',
            '\u{e0041}',
            '\u{e0100}',
            '\u{e01ef}',
            '\u{f0000}',
            '\u{10fffd}',
            '\u{a0}',
            '\u{2003}',
            '\u{3000}',
            '\u{2028}',
            '\u{2029}',
            '\u{378}',
            '\u{ffff}',
            '\r',
            '\u{1b}',
            '\u{9b}',
            '\u{2800}',
        ] {
            assert!(is_hidden(named), "{named:?}");
            let error = check("code", &format!("a{named}b")).unwrap_err();
            assert!(
                error.contains(&format!("U+{:04X}", u32::from(named))),
                "{error}"
            );
        }
        check("code", "naïve = \"日本語 ✓ नमस्ते e\u{301}\" # שָׁלוֹם 🦀\n\tx").unwrap();
    }

    /// Invisible characters after a tick, which decode to a program.
    #[test]
    fn no_bytes_are_carried_unseen() {
        let selector = |byte: u8| match byte {
            0..16 => char::from_u32(0xfe00 + u32::from(byte)),
            _ => char::from_u32(0xe0100 + u32::from(byte) - 16),
        };
        let carried: String = b"import os"
            .iter()
            .filter_map(|&byte| selector(byte))
            .collect();
        let text = format!("x = '✓{carried}'");
        assert!(check("code", &text).is_err());
        let shown = Quoted(&text).to_string();
        assert!(shown.matches("\\u{e01").count() == 9 && shown.chars().all(|c| !is_hidden(c)));
        assert!(check("code", &format!("e{}", "\u{301}".repeat(5))).is_err());
        assert!(
            Quoted(&format!("e{}", "\u{301}".repeat(9)))
                .to_string()
                .contains("\\u{301}")
        );
    }

    #[test]
    fn emptiness_is_counted() {
        let code = format!(
            "a = 1{}; b = 2\n{}c = 3   \n⟦9⟧\n",
            " ".repeat(300),
            "\n".repeat(90)
        );
        assert_eq!(
            Quoted(&code).to_string(),
            "  | a = 1⟦300 columns of space⟧; b = 2\n  | ⟦90 empty lines⟧\n  | c = 3⟦3 columns of space⟧\n  \
             | \\u{27e6}9\\u{27e7}\n"
        );
        let tabs = format!("{}x\n \n\t\n\n\ny", "\t".repeat(9));
        assert_eq!(
            Quoted(&tabs).to_string(),
            "  | ⟦72 columns of space⟧x\n  | ⟦4 empty lines⟧\n  | y\n"
        );
        let plain = "def f(x):\n    if x:\n\n        return 1";
        assert_eq!(
            Quoted(plain).to_string(),
            "  | def f(x):\n  |     if x:\n  |\n  |         return 1\n"
        );
    }
}
