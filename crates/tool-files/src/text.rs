//! Views and edits of text in memory.
//!
//! Models see and write lines that end with `\n`. In files with `\r\n`, their `\n` matches `\r\n` and is written as
//! `\r\n`; the rest of the file stays as it is.

use std::borrow::Cow;
use std::fmt::Write;

use crate::error::{Reason, shown};

/// Maximum number of lines in a message about several matches.
const MATCHES: usize = 20;

/// Number of lines that a result shows before and after a change.
const AROUND: usize = 2;

/// Returns a text with its line ends as `\n`.
pub(crate) fn normal(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        text.replace("\r\n", "\n").into()
    } else {
        text.into()
    }
}

/// Converts the line ends of a text to the kind that the first line of a file has.
fn as_in(file: &str, text: &str) -> String {
    let text = normal(text);
    let is_windows = file
        .find('\n')
        .is_some_and(|end| file[..end].ends_with('\r'));
    if is_windows {
        text.replace('\n', "\r\n")
    } else {
        text.into_owned()
    }
}

/// Converts an offset in [`normal`] text to one in the original text.
fn place(text: &str, normal: usize) -> usize {
    let mut rest = normal;
    let mut bytes = text.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        let is_left_out = byte == b'\r' && bytes.peek().is_some_and(|(_, next)| *next == b'\n');
        if rest == 0 {
            return at;
        }
        if !is_left_out {
            rest -= 1;
        }
    }
    text.len()
}

/// Writes lines with their numbers, and a note if they were cut.
///
/// A range is the first and last line, counted from 1; -1 is the last line of the file.
pub(crate) fn numbered(
    text: &str,
    range: Option<(i64, i64)>,
    most: usize,
) -> Result<String, Reason> {
    let text = normal(text);
    let count = text.split('\n').count();
    let (first, last) = match range {
        None => (1, count),
        Some((first, last)) => {
            let wrong = || Reason::ViewRange {
                first,
                last,
                lines: count,
            };
            let start = usize::try_from(first).map_err(|_| wrong())?;
            let end = if last == -1 {
                count
            } else {
                usize::try_from(last).map_err(|_| wrong())?.min(count)
            };
            if start == 0 || start > count || end < start {
                return Err(wrong());
            }
            (start, end)
        }
    };
    Ok(lines(&text, first, last, most))
}

/// Writes lines with their numbers. Requires that the lines exist.
fn lines(normal: &str, first: usize, last: usize, most: usize) -> String {
    let mut shown = String::new();
    let mut room = most;
    for (number, line) in normal
        .split('\n')
        .enumerate()
        .map(|(index, line)| (index + 1, line))
    {
        if number < first {
            continue;
        }
        if number > last {
            break;
        }
        if number > first {
            shown.push('\n');
        }
        write!(shown, "{number:>6}\t").expect("a string");
        let length = line.chars().count();
        if length > room || room == 0 && number > first {
            shown.extend(line.chars().take(room));
            write!(
                shown,
                "\n[truncated in line {number}, after {most} characters; use `view_range` for the rest, up to line {last}]"
            )
            .expect("a string");
            break;
        }
        // Counts the number as well, because a file may have many empty lines.
        room = room.saturating_sub(length + 8);
        shown.push_str(line);
    }
    shown
}

/// Replaces the only occurrence of a string. Also returns the numbered lines around the change.
pub(crate) fn replace(
    file: &str,
    old: &str,
    new: &str,
    most: usize,
) -> Result<(String, String), Reason> {
    let (text, old) = (normal(file), normal(old));
    if old.is_empty() {
        return Err(Reason::EmptyMatch);
    }
    let mut starts = Vec::new();
    let mut from = 0;
    while let Some(found) = text[from..].find(&*old) {
        let start = from + found;
        starts.push(start);
        if starts.len() > MATCHES {
            break;
        }
        // Occurrences that overlap count as several.
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
    }
    let line = |start: usize| 1 + text[..start].matches('\n').count();
    let start = match starts[..] {
        [] => return Err(Reason::NoMatch(shown(&old, 300))),
        [start] => start,
        _ => {
            let more = starts.len() > MATCHES;
            starts.truncate(MATCHES);
            return Err(Reason::SeveralMatches {
                old: shown(&old, 300),
                lines: starts.into_iter().map(line).collect(),
                more,
            });
        }
    };
    let new = as_in(file, new);
    let (begin, end) = (place(file, start), place(file, start + old.len()));
    let changed = [&file[..begin], &new, &file[end..]].concat();
    let line = line(start);
    let last = line + new.matches('\n').count();
    let snippet = snippet(&changed, line, last, most);
    Ok((changed, snippet))
}

/// Inserts lines after a line, where 0 is the start of the file.
pub(crate) fn insert(file: &str, line: i64, inserted: &str) -> Result<String, Reason> {
    let last = file.lines().count();
    let after = usize::try_from(line)
        .ok()
        .filter(|after| *after <= last)
        .ok_or(Reason::InsertLine { line, last })?;
    let at: usize = file.split_inclusive('\n').take(after).map(str::len).sum();
    let inserted = normal(inserted);
    let inserted = inserted.strip_suffix('\n').unwrap_or(&inserted);
    let added = as_in(file, &format!("{inserted}\n"));
    let is_open = at > 0 && !file[..at].ends_with('\n');
    let before = if is_open {
        as_in(file, "\n")
    } else {
        String::new()
    };
    Ok([&file[..at], &before, &added, &file[at..]].concat())
}

/// Returns a range of lines with a few around it.
fn snippet(text: &str, first: usize, last: usize, most: usize) -> String {
    let text = normal(text);
    let count = text.split('\n').count();
    let first = first.saturating_sub(AROUND).max(1);
    lines(&text, first, (last + AROUND).min(count), most)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 10_000;

    #[test]
    fn lines_are_numbered_and_limited() {
        let all = numbered("a\r\nb\nc", None, MOST).unwrap();
        assert_eq!(all, "     1\ta\n     2\tb\n     3\tc");
        let part = |range| numbered("a\nb\nc\n", Some(range), MOST);
        assert_eq!(part((2, 3)).unwrap(), "     2\tb\n     3\tc");
        assert_eq!(part((3, -1)).unwrap(), "     3\tc\n     4\t");
        assert_eq!(part((4, 99)).unwrap(), "     4\t");
        for range in [
            (0, 2),
            (5, 6),
            (2, 1),
            (-1, 2),
            (1, 0),
            (1, -2),
            (i64::MAX, -1),
            (i64::MIN, i64::MIN),
        ] {
            assert!(
                matches!(part(range), Err(Reason::ViewRange { .. })),
                "{range:?}"
            );
        }
        assert_eq!(numbered("", None, MOST).unwrap(), "     1\t");
        let cut = numbered("öööö\nb", None, 3).unwrap();
        assert!(
            cut.starts_with("     1\tööö\n[truncated in line 1"),
            "{cut}"
        );
        let many = numbered(&"\n".repeat(100_000), None, 1000).unwrap();
        assert!(many.len() < 2000, "{}", many.len());
    }

    #[test]
    fn one_occurrence_is_replaced_and_the_rest_stays() {
        let (changed, snippet) = replace("a\nb\nc\nd\n", "b\nc", "x", MOST).unwrap();
        assert_eq!(changed, "a\nx\nd\n");
        assert_eq!(snippet, "     1\ta\n     2\tx\n     3\td\n     4\t");
        // Mixed line ends stay as they are, except in the replaced part.
        let (changed, _) = replace("a\r\nb\r\nc\nd\re", "b\nc", "x\ny", MOST).unwrap();
        assert_eq!(changed, "a\r\nx\r\ny\nd\re");
        let (changed, _) = replace("a\r\nb\r\n", "\n", "", MOST)
            .map_err(|_| ())
            .unwrap_or_default();
        assert_eq!(changed, "", "two matches");
        let (changed, _) = replace("a\r\nb", "\r\n", "-", MOST).unwrap();
        assert_eq!(changed, "a-b");
        let (changed, _) = replace("a\nb", "\n", "\r\n", MOST).unwrap();
        assert_eq!(changed, "a\nb");
    }

    #[test]
    fn no_or_several_occurrences_are_errors() {
        assert_eq!(
            replace("a", "b", "c", MOST).unwrap_err(),
            Reason::NoMatch("b".into())
        );
        assert_eq!(replace("", "", "c", MOST).unwrap_err(), Reason::EmptyMatch);
        let several = |text: &str, old| match replace(text, old, "x", MOST) {
            Err(Reason::SeveralMatches { lines, more, .. }) => (lines, more),
            other => panic!("{other:?}"),
        };
        assert_eq!(several("a\nb\na\n", "a"), (vec![1, 3], false));
        assert_eq!(several("ööö", "öö"), (vec![1, 1], false));
        let (lines, more) = several(&"a".repeat(100_000), &"a".repeat(50_000));
        assert_eq!((lines.len(), more), (MATCHES, true));
    }

    #[test]
    fn lines_are_inserted_after_a_line() {
        let inserted = insert;
        assert_eq!(inserted("a\nb\n", 0, "x"), Ok("x\na\nb\n".into()));
        assert_eq!(inserted("a\nb\n", 1, "x\n"), Ok("a\nx\nb\n".into()));
        assert_eq!(inserted("a\nb\n", 2, "x\ny"), Ok("a\nb\nx\ny\n".into()));
        assert_eq!(inserted("a\nb", 2, "x"), Ok("a\nb\nx\n".into()));
        assert_eq!(
            inserted("a\r\nb", 2, "x\ny"),
            Ok("a\r\nb\r\nx\r\ny\r\n".into())
        );
        assert_eq!(
            inserted("a\r\nb\r\n", 1, "x\r\n"),
            Ok("a\r\nx\r\nb\r\n".into())
        );
        assert_eq!(inserted("", 0, "x"), Ok("x\n".into()));
        assert_eq!(inserted("a\n", 0, "\n"), Ok("\na\n".into()));
        for line in [-1, 3, i64::MAX] {
            assert_eq!(
                inserted("a\nb\n", line, "x"),
                Err(Reason::InsertLine { line, last: 2 })
            );
        }
    }
}
