//! V4A diffs, the format in which OpenAI's models write patches.
//!
//! A diff of a new file has `+` before each line. A diff of an existing file has hunks. A hunk starts with optional
//! headers (`@@ class Ship`), which are lines further up in the file, followed by lines to keep (` `), delete (`-`) or
//! add (`+`). There are no line numbers: a hunk applies where its lines are found, after the previous hunk. Spaces at
//! the ends of lines may differ. `*** End of File` after a hunk places it at the end.
//!
//! A diff gives the same result as with `apply_diff` in OpenAI's package `openai-agents`.
//!
//! ```
//! use tool_files::diff;
//!
//! let text = "fn main() {\n    println!(\"Hi\");\n}\n";
//! let changed = diff::apply(
//!     text,
//!     "@@ fn main() {\n-    println!(\"Hi\");\n+    println!(\"Hello\");\n }",
//! )?;
//! assert_eq!(changed, "fn main() {\n    println!(\"Hello\");\n}\n");
//!
//! assert_eq!(diff::create("+first\n+second")?, "first\nsecond");
//! # Ok::<(), diff::DiffError>(())
//! ```

use std::cell::OnceCell;
use std::collections::HashMap;
use std::error::Error;
use std::fmt;

use crate::error::shown;

/// Line starts that end a diff, because it is about one file.
const ENDS: [&str; 4] = [
    "*** End Patch",
    "*** Update File:",
    "*** Delete File:",
    "*** Add File:",
];

const END_OF_FILE: &str = "*** End of File";

/// Maximum number of line comparisons in the search for hunks. A file of 100,000 lines with 100 hunks needs a fifth of
/// them, so only a diff written to be slow exceeds the limit.
const COMPARISONS: usize = 50_000_000;

/// An error of a diff that does not apply, in the wording of `apply_diff` in `openai-agents`.
///
/// ```
/// let error = tool_files::diff::apply("one\n", "-two\n+three").unwrap_err();
/// assert_eq!(error.to_string(), "Invalid Context 0:\ntwo");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffError(String);

impl fmt::Display for DiffError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for DiffError {}

fn invalid_line(line: &str) -> DiffError {
    DiffError(format!("Invalid Line: {}", shown(line, 300)))
}

/// Returns the text of a new file.
///
/// # Errors
///
/// If a line does not start with `+`.
///
/// ```
/// use tool_files::diff;
///
/// assert_eq!(diff::create("+milk\n+bread\n")?, "milk\nbread");
/// assert!(diff::create("milk").is_err());
/// # Ok::<(), diff::DiffError>(())
/// ```
pub fn create(diff: &str) -> Result<String, DiffError> {
    let mut added = Vec::new();
    for line in lines_of(diff) {
        if is_end(line) {
            break;
        }
        let text = line.strip_prefix('+');
        added.push(
            text.ok_or_else(|| DiffError(format!("Invalid Add File Line: {}", shown(line, 300))))?,
        );
    }
    Ok(added.join(line_end(diff)))
}

/// Applies the hunks of a diff to a text. Line ends stay `\r\n` if the text has them.
///
/// # Errors
///
/// If the diff is malformed, its lines are not in the text in this order, or the search for them takes too many
/// comparisons.
///
/// ```
/// use tool_files::diff;
///
/// let changed = diff::apply("milk\r\nbread\r\n", " milk\n+butter\n bread")?;
/// assert_eq!(changed, "milk\r\nbutter\r\nbread\r\n");
/// # Ok::<(), diff::DiffError>(())
/// ```
pub fn apply(text: &str, diff: &str) -> Result<String, DiffError> {
    let end = line_end(if text.contains('\n') { text } else { diff });
    let normal = text.replace("\r\n", "\n");
    let file = File::new(normal.split('\n').collect());
    let chunks = chunks(&file, &lines_of(diff))?;

    let mut changed = Vec::with_capacity(file.lines.len());
    let mut at = 0;
    for chunk in chunks {
        let kept = file.lines.get(at..chunk.at);
        changed.extend(kept.ok_or_else(|| {
            DiffError(format!("overlapping chunk at {} (cursor {at})", chunk.at))
        })?);
        changed.extend(chunk.added);
        at = chunk.at + chunk.deleted;
    }
    changed.extend(file.lines.get(at..).unwrap_or_default());
    Ok(changed.join(end))
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn lines_of(diff: &str) -> Vec<&str> {
    let mut lines: Vec<_> = diff
        .split('\n')
        .map(|line| line.trim_end_matches('\r'))
        .collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    lines
}

fn is_end(line: &str) -> bool {
    ENDS.iter().any(|end| line.starts_with(end))
}

/// Lines to delete and lines to add at one place of a file or hunk.
struct Chunk<'d> {
    /// Index of the first line to delete.
    at: usize,
    deleted: usize,
    added: Vec<&'d str>,
}

/// The lines that a hunk expects in the file, and the changes among them.
#[derive(Default)]
struct Hunk<'d> {
    context: Vec<&'d str>,
    chunks: Vec<Chunk<'d>>,
    is_at_end: bool,
}

/// Returns the changes with their places in the file.
fn chunks<'d>(file: &File<'_>, mut diff: &[&'d str]) -> Result<Vec<Chunk<'d>>, DiffError> {
    let mut chunks = Vec::new();
    let mut search = Search {
        file,
        left: COMPARISONS,
    };
    let mut cursor = 0;
    while let Some(&line) = diff.first()
        && !is_end(line)
        && !line.starts_with(END_OF_FILE)
    {
        let (headers, rest) = headers(diff);
        if headers.is_empty() && cursor != 0 {
            return Err(DiffError(format!("Invalid Line:\n{}", shown(line, 300))));
        }
        diff = rest;
        let named = headers.iter().filter(|header| !is_blank(header));
        for (number, header) in named.enumerate() {
            cursor = match search.header(header, cursor, number > 0)? {
                Some(cursor) => cursor,
                None if headers.len() > 1 => {
                    return Err(DiffError(format!(
                        "Invalid Anchor {cursor}:\n{}",
                        shown(header, 300)
                    )));
                }
                // A single header that is not found is ignored.
                None => cursor,
            };
        }
        let (hunk, rest) = hunk(diff)?;
        diff = rest;
        let found = search.context(&hunk.context, cursor, hunk.is_at_end)?;
        let start = found.ok_or_else(|| {
            let end = if hunk.is_at_end { "EOF " } else { "" };
            let lines: Vec<_> = hunk
                .context
                .iter()
                .take(20)
                .map(|line| shown(line, 300))
                .collect();
            DiffError(format!(
                "Invalid {end}Context {cursor}:\n{}",
                lines.join("\n")
            ))
        })?;
        cursor = start + hunk.context.len();
        chunks.extend(hunk.chunks.into_iter().map(|chunk| Chunk {
            at: start + chunk.at,
            ..chunk
        }));
    }
    Ok(chunks)
}

/// Reads the headers of a hunk. A bare `@@` is an empty one.
fn headers<'a, 'd>(mut diff: &'a [&'d str]) -> (Vec<&'d str>, &'a [&'d str]) {
    let mut headers = Vec::new();
    while let [line, rest @ ..] = diff {
        match line.strip_prefix("@@ ") {
            Some(header) => headers.push(header),
            None if *line == "@@" => headers.push(""),
            None => break,
        }
        diff = rest;
    }
    (headers, diff)
}

/// Reads the lines of a hunk.
fn hunk<'a, 'd>(diff: &'a [&'d str]) -> Result<(Hunk<'d>, &'a [&'d str]), DiffError> {
    let mut hunk = Hunk::default();
    let (mut deleted, mut added) = (0, Vec::new());
    let mut end = diff.len();
    for (index, &line) in diff.iter().enumerate() {
        if line.starts_with("@@") || is_end(line) || line.starts_with(END_OF_FILE) || line == "***"
        {
            end = index;
            break;
        }
        if line.starts_with("***") {
            return Err(invalid_line(line));
        }
        if let Some(line) = line.strip_prefix('+') {
            added.push(line);
        } else if let Some(line) = line.strip_prefix('-') {
            deleted += 1;
            hunk.context.push(line);
        } else if line.is_empty() || line.starts_with(' ') {
            hunk.close(&mut deleted, &mut added);
            hunk.context.push(line.get(1..).unwrap_or_default());
        } else {
            return Err(invalid_line(line));
        }
    }
    hunk.close(&mut deleted, &mut added);
    if diff.get(end) == Some(&END_OF_FILE) {
        hunk.is_at_end = true;
        return Ok((hunk, &diff[end + 1..]));
    }
    if end == 0 {
        let line = diff.first().map_or(String::new(), |line| shown(line, 300));
        return Err(DiffError(format!("Nothing in this section: {line}")));
    }
    Ok((hunk, &diff[end..]))
}

impl<'d> Hunk<'d> {
    /// Ends a chunk before a line that is kept.
    fn close(&mut self, deleted: &mut usize, added: &mut Vec<&'d str>) {
        if *deleted > 0 || !added.is_empty() {
            self.chunks.push(Chunk {
                at: self.context.len() - *deleted,
                deleted: std::mem::take(deleted),
                added: std::mem::take(added),
            });
        }
    }
}

/// Whitespace as defined by Python's `str.strip`, which includes the ASCII separators.
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

fn is_blank(line: &str) -> bool {
    line.trim_matches(is_space).is_empty()
}

/// Ways to compare lines, from strict to loose.
#[derive(Clone, Copy)]
enum By {
    Exact,
    /// Ignores whitespace at the end.
    End,
    /// Ignores whitespace at both ends.
    Both,
}

impl By {
    fn key(self, line: &str) -> &str {
        match self {
            By::Exact => line,
            By::End => line.trim_end_matches(is_space),
            By::Both => line.trim_matches(is_space),
        }
    }
}

/// The lines of a file. Equal lines have equal numbers, so long lines compare as fast as short ones.
struct File<'f> {
    lines: Vec<&'f str>,
    numbers: [OnceCell<Numbers<'f>>; 3],
}

#[derive(Default)]
struct Numbers<'f> {
    of_lines: Vec<usize>,
    by_key: HashMap<&'f str, usize>,
}

impl<'f> File<'f> {
    fn new(lines: Vec<&'f str>) -> File<'f> {
        File {
            lines,
            numbers: Default::default(),
        }
    }

    fn numbers(&self, by: By) -> &Numbers<'f> {
        self.numbers[by as usize].get_or_init(|| {
            let mut numbers = Numbers::default();
            for line in &self.lines {
                let next = numbers.by_key.len();
                let number = *numbers.by_key.entry(by.key(line)).or_insert(next);
                numbers.of_lines.push(number);
            }
            numbers
        })
    }
}

struct Search<'a, 'f> {
    file: &'a File<'f>,
    /// Number of comparisons left before the search gives up.
    left: usize,
}

impl Search<'_, '_> {
    /// Returns the place after a header. Returns `None` if there is no such line.
    ///
    /// A header above the cursor counts, unless it follows another one, and leaves the cursor where it is.
    fn header(
        &mut self,
        header: &str,
        cursor: usize,
        is_further: bool,
    ) -> Result<Option<usize>, DiffError> {
        for by in [By::Exact, By::Both] {
            let numbers = self.file.numbers(by);
            let Some(wanted) = numbers.by_key.get(by.key(header)) else {
                continue;
            };
            self.pay(numbers.of_lines.len())?;
            let (above, below) = numbers.of_lines.split_at(cursor);
            if !is_further && above.contains(wanted) {
                return Ok(Some(cursor));
            }
            if let Some(index) = below.iter().position(|number| number == wanted) {
                return Ok(Some(cursor + index + 1));
            }
        }
        Ok(None)
    }

    /// Returns the index at which these lines first occur, searching from a place on.
    fn context(
        &mut self,
        context: &[&str],
        cursor: usize,
        is_at_end: bool,
    ) -> Result<Option<usize>, DiffError> {
        let count = self.file.lines.len();
        if !is_at_end {
            return self.lines(context, cursor, count);
        }
        // A line break at the end starts no further line.
        let count = if self.file.lines.last() == Some(&"") {
            count - 1
        } else {
            count
        };
        let last = self.lines(context, count.saturating_sub(context.len()), count)?;
        if last.is_some() {
            return Ok(last);
        }
        self.lines(context, cursor.min(count), count)
    }

    fn lines(
        &mut self,
        context: &[&str],
        from: usize,
        to: usize,
    ) -> Result<Option<usize>, DiffError> {
        if context.is_empty() {
            return Ok(Some(from));
        }
        for by in [By::Exact, By::End, By::Both] {
            let numbers = self.file.numbers(by);
            let wanted = context
                .iter()
                .map(|line| numbers.by_key.get(by.key(line)).copied());
            let Some(wanted) = wanted.collect::<Option<Vec<_>>>() else {
                continue;
            };
            for (index, window) in numbers.of_lines[from..to].windows(wanted.len()).enumerate() {
                let equal = window
                    .iter()
                    .zip(&wanted)
                    .take_while(|(a, b)| a == b)
                    .count();
                self.pay(equal + 1)?;
                if equal == wanted.len() {
                    return Ok(Some(from + index));
                }
            }
        }
        Ok(None)
    }

    fn pay(&mut self, comparisons: usize) -> Result<(), DiffError> {
        self.left = self.left.checked_sub(comparisons).ok_or_else(|| {
            DiffError("it takes too long to find its lines; write several smaller diffs".into())
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_apply_in_order_and_by_their_headers() {
        let text = "a\nb\nc\nb\nd\n";
        assert_eq!(apply(text, "@@ c\n-b\n+x").unwrap(), "a\nb\nc\nx\nd\n");
        assert_eq!(
            apply(text, "-b\n+x\n@@\n-b\n+y").unwrap(),
            "a\nx\nc\ny\nd\n"
        );
        assert_eq!(
            apply(text, "@@ a\n@@ c\n-b\n+x").unwrap(),
            "a\nb\nc\nx\nd\n"
        );
        assert_eq!(
            apply(text, "@@ nowhere\n-b\n+x").unwrap(),
            "a\nx\nc\nb\nd\n"
        );
        assert_eq!(apply("  a  \n", "-a\n+b").unwrap(), "b\n");
        assert_eq!(apply("a\n", "+b\n*** End of File").unwrap(), "a\nb\n");
        assert_eq!(apply("a\r\nb\r\n", "-b\n+c").unwrap(), "a\r\nc\r\n");
        assert_eq!(apply("", "+a\n+b\n").unwrap(), "a\nb\n");
        for diff in [
            "@@ a\n@@ x\n-b\n+y",
            "b",
            "*** What",
            "-z",
            "@@",
            "-b\n@@ d\n@@\n-a",
            "-d\n*** End of File\n-b",
            "***",
        ] {
            assert!(apply(text, diff).is_err(), "{diff:?}");
        }
        // A diff wrapped in a whole patch ends where the patch does.
        assert_eq!(
            apply("a\n", "-a\n+b\n*** End Patch\nnonsense").unwrap(),
            "b\n"
        );
    }

    #[test]
    fn a_diff_can_not_take_forever() {
        let file = "a\n".repeat(100_000);
        let hunk: String = " a\n".repeat(50_000) + "-b\n";
        assert!(apply(&file, &hunk).is_err());
        let file = format!("{}b\n", "a\n".repeat(100_000));
        let error = apply(&file, &hunk).unwrap_err();
        assert!(error.to_string().contains("too long"), "{error}");
        let stairs = " a\n@@\n".repeat(50_000);
        let file = " a \n".repeat(100_000);
        let _ = apply(&file, &stairs);
    }
}
