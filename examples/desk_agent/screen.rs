//! The screen: texts in the width of the terminal, each under the name of who it is from.

use std::io::{self, Write};

use examples::terminal::{Terminal, pause};
use rustix::termios::tcgetwinsize;

pub(crate) struct Screen {
    /// The columns of the terminal; `usize::MAX` if the output is not one.
    width: usize,
    /// The lines of the terminal; `usize::MAX` if the output is not one.
    height: usize,
    /// The columns that the current line of streamed text has used.
    column: usize,
}

impl Screen {
    pub(crate) fn new() -> Screen {
        let size = tcgetwinsize(rustix::stdio::stdout()).ok();
        let at_least = |length: Option<u16>, least| {
            let length = length.map(usize::from).filter(|&length| length >= least);
            length.unwrap_or(usize::MAX)
        };
        Screen {
            width: at_least(size.map(|size| size.ws_col), 20),
            height: at_least(size.map(|size| size.ws_row), 5),
            column: 0,
        }
    }

    /// Writes lines with this indentation. What does not fit goes on further right in the next line, so that it can't
    /// look like a line of its own.
    /// Returns the number of lines.
    fn wrapped(&self, indent: usize, text: &str) -> io::Result<usize> {
        let mut out = Terminal::stdout();
        let mut count = 0;
        for line in text.lines() {
            let mut rest = line.trim_end();
            let start = rest.len() - rest.trim_start().len();
            let mut column = if rest.is_empty() { 0 } else { indent };
            loop {
                let (fits, after) = split(rest, self.width.saturating_sub(column).max(10));
                writeln!(out, "{:column$}{}", "", fits.trim_end())?;
                count += 1;
                if after.is_empty() {
                    break;
                }
                rest = after;
                column = indent + start.min(self.width / 4) + 4;
            }
        }
        Ok(count)
    }

    /// Writes lines with this indentation.
    pub(crate) fn lines(&self, indent: usize, text: &str) -> io::Result<()> {
        self.wrapped(indent, text).map(drop)
    }

    /// Writes the text of a tool behind a bar, so that no line of it looks like one of this program.
    pub(crate) fn quoted(&self, indent: usize, text: &str) -> io::Result<()> {
        text.lines()
            .try_for_each(|line| self.lines(indent, &format!("| {line}")))
    }

    /// Writes lines with this indentation, as many at a time as the terminal shows.
    pub(crate) fn pages(&self, indent: usize, text: &str) -> io::Result<()> {
        let mut shown = 0;
        for line in text.lines() {
            if shown + 3 > self.height {
                pause("(Enter shows more)")?;
                shown = 0;
            }
            shown += self.wrapped(indent, &format!("{line}\n"))?;
        }
        Ok(())
    }

    /// Writes a piece of a text that is still arriving.
    pub(crate) fn piece(&mut self, who: &str, text: &str) -> io::Result<()> {
        let mut out = Terminal::stdout();
        let indent = who.len() + 2;
        if self.column == 0 {
            write!(out, "{who}: ")?;
            self.column = indent;
        }
        for word in text.split_inclusive([' ', '\n']) {
            let width = columns(word.trim_end());
            if self.column + width > self.width && self.column > indent {
                write!(out, "\n{:indent$}", "")?;
                self.column = indent;
            }
            if let Some(word) = word.strip_suffix('\n') {
                write!(out, "{word}\n{:indent$}", "")?;
                self.column = indent;
            } else if self.column + columns(word) > self.width {
                // A space in the last column would start a line.
                write!(out, "{}", word.trim_end())?;
                self.column = self.width;
            } else {
                write!(out, "{word}")?;
                self.column += columns(word);
            }
        }
        out.flush()
    }

    /// Ends a text that has arrived in pieces, if there is one.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.column) > 0 {
            writeln!(Terminal::stdout())?;
        }
        Ok(())
    }
}

/// Returns the maximum width of a character, in columns.
fn columns_of(c: char) -> usize {
    match c {
        '\t' => 8,
        c if c.is_ascii() => 1,
        _ => 2,
    }
}

/// Returns the maximum width of a string, in columns.
fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// Splits a line before the word that does not fit, or within a word that is longer than a line.
fn split(line: &str, columns: usize) -> (&str, &str) {
    let mut left = columns;
    let mut fits = |c: char| match left.checked_sub(columns_of(c)) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let Some((end, _)) = line.char_indices().find(|&(_, c)| !fits(c)) else {
        return (line, "");
    };
    let start = line.len() - line.trim_start().len();
    let last = line[..end].rfind(' ').filter(|&space| space > start);
    match last {
        Some(space) => (&line[..space], &line[space + 1..]),
        None => line.split_at(end),
    }
}
