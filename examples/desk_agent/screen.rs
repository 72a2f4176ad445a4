//! The screen: texts in the width of the terminal, each under the name of who it is from.

use std::io::{self, Write};

use examples::terminal::Terminal;
use rustix::termios::tcgetwinsize;

pub(crate) struct Screen {
    /// The columns of the terminal; `usize::MAX` if the output is not one.
    width: usize,
    /// The columns that the current line of streamed text has used.
    column: usize,
}

impl Screen {
    pub(crate) fn new() -> Screen {
        let size = tcgetwinsize(rustix::stdio::stdout()).ok();
        let width = size
            .map(|size| size.ws_col.into())
            .filter(|&columns| columns >= 20);
        Screen {
            width: width.unwrap_or(usize::MAX),
            column: 0,
        }
    }

    /// Writes lines with this indentation. What does not fit goes on further right in the next line, so that it can't
    /// look like a line of its own.
    pub(crate) fn lines(&self, indent: usize, text: &str) -> io::Result<()> {
        let mut out = Terminal::stdout();
        for line in text.lines() {
            let mut rest = line.trim_end();
            let start = rest.len() - rest.trim_start().len();
            let mut column = if rest.is_empty() { 0 } else { indent };
            loop {
                let (fits, after) = split(rest, self.width.saturating_sub(column).max(10));
                writeln!(out, "{:column$}{}", "", fits.trim_end())?;
                if after.is_empty() {
                    break;
                }
                rest = after;
                column = indent + start.min(self.width / 4) + 4;
            }
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
            let columns = word.trim_end().chars().count();
            if self.column + columns > self.width && self.column > indent {
                write!(out, "\n{:indent$}", "")?;
                self.column = indent;
            }
            if let Some(word) = word.strip_suffix('\n') {
                write!(out, "{word}\n{:indent$}", "")?;
                self.column = indent;
            } else if self.column + word.chars().count() > self.width {
                // A space in the last column would start a line.
                write!(out, "{}", word.trim_end())?;
                self.column = self.width;
            } else {
                write!(out, "{word}")?;
                self.column += word.chars().count();
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

/// Splits a line before the word that does not fit, or within a word that is longer than a line.
fn split(line: &str, columns: usize) -> (&str, &str) {
    let Some((end, _)) = line.char_indices().nth(columns) else {
        return (line, "");
    };
    let start = line.len() - line.trim_start().len();
    let last = line[..end].rfind(' ').filter(|&space| space > start);
    match last {
        Some(space) => (&line[..space], &line[space + 1..]),
        None => line.split_at(end),
    }
}
