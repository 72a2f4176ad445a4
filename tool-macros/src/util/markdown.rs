//! Text in Markdown that rustdoc renders.

/// Returns text for a cell of a table. Code and emphasis are kept. Links, addresses and tags are
/// escaped, so that rustdoc does not warn about them.
pub(crate) fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let mut length = character.len_utf8();
        match character {
            '`' => {
                let marks = rest.len() - rest.trim_start_matches('`').len();
                match end_of_code(rest, marks) {
                    Some(end) => {
                        length = end;
                        cell.push_str(&in_code(&rest[..end]));
                    }
                    None => {
                        length = marks;
                        cell.push_str(&entity('`').repeat(marks));
                    }
                }
            }
            '\\' => match rest[1..].chars().next() {
                Some(mark) if mark.is_ascii_punctuation() => {
                    length = 2;
                    cell.push_str(&entity(mark));
                }
                _ => cell.push('\\'),
            },
            '\n' => cell.push_str("<br>"),
            '[' | ']' | '<' | '|' | '&' => cell.push_str(&entity(character)),
            ':' if rest.starts_with("://") => cell.push_str(&entity(':')),
            other => cell.push(other),
        }
        rest = &rest[length..];
    }
    cell
}

/// Returns inline code for a cell of a table.
pub(crate) fn code(text: &str) -> String {
    let marks = "`".repeat(longest_run(text) + 1);
    let pad = if text.contains('`') { " " } else { "" };
    in_code(&format!("{marks}{pad}{text}{pad}{marks}"))
}

/// Returns a code block.
pub(crate) fn block(language: &str, text: &str) -> String {
    let marks = "`".repeat(longest_run(text).max(2) + 1);
    format!("{marks}{language}\n{text}\n{marks}\n")
}

fn entity(character: char) -> String {
    format!("&#{};", u32::from(character))
}

/// Returns the end of the inline code at the start of a string, which opens with so many backticks.
fn end_of_code(text: &str, marks: usize) -> Option<usize> {
    let mut at = marks;
    while let Some(next) = text[at..].find('`') {
        let start = at + next;
        let run = text[start..].len() - text[start..].trim_start_matches('`').len();
        at = start + run;
        if run == marks {
            return Some(at);
        }
    }
    None
}

/// Code cannot contain entities, but a table accepts an escaped bar even in code.
fn in_code(code: &str) -> String {
    code.replace('|', "\\|").replace('\n', " ")
}

fn longest_run(text: &str) -> usize {
    let runs = text.split(|character| character != '`').map(str::len);
    runs.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_in_its_cell() {
        for (text, shown) in [
            ("see [x] or [y](z)", "see &#91;x&#93; or &#91;y&#93;(z)"),
            ("a | b", "a &#124; b"),
            ("Vec<u8> & co", "Vec&#60;u8> &#38; co"),
            ("a\n\nb", "a<br><br>b"),
            ("`[a] | <b>` [c]", "`[a] \\| <b>` &#91;c&#93;"),
            ("``a`b``", "``a`b``"),
            ("a ` b", "a &#96; b"),
            (r"\[x\] \a", r"&#91;x&#93; \a"),
            ("https://a.b: *c*", "https&#58;//a.b: *c*"),
            ("é\\", "é\\"),
        ] {
            assert_eq!(cell(text), shown);
        }
    }

    #[test]
    fn code_is_not_closed_by_its_content() {
        for (text, shown) in [("a|b", "`a\\|b`"), ("`", "`` ` ``"), ("", "``")] {
            assert_eq!(code(text), shown);
        }
        assert_eq!(
            block("text", "```\nx\n```"),
            "````text\n```\nx\n```\n````\n"
        );
    }
}
