//! The screen: what each says, under the name of who it is.

use std::io::{self, Stdout, Write};

use examples::terminal::{BAD, GOOD, NAME, Terminal, indented, pause};
use rustix::termios::tcgetwinsize;

/// Writes lines with this indentation.
pub(crate) fn lines(indent: usize, text: &str) -> io::Result<()> {
    let mut out = Terminal::stdout();
    text.lines()
        .try_for_each(|line| line_of(&mut out, indent, line))
}

/// Writes what somebody says, after an empty line.
pub(crate) fn said(who: &str, text: &str) -> io::Result<()> {
    let mut out = Terminal::stdout();
    writeln!(out)?;
    out.styled(NAME, who)?;
    writeln!(out, ": {text}")
}

/// Writes the name of something, and what became of it.
pub(crate) fn verdict(indent: usize, name: &str, what: &str, is_good: bool) -> io::Result<()> {
    let mut out = Terminal::stdout();
    write!(out, "{:indent$}{name} ", "")?;
    out.styled(if is_good { GOOD } else { BAD }, what)?;
    writeln!(out)
}

/// Writes the text of a tool behind a bar, so that no line of it looks like one of this program.
pub(crate) fn quoted(indent: usize, text: &str) -> io::Result<()> {
    text.lines()
        .try_for_each(|line| lines(indent, &format!("| {line}")))
}

/// Writes lines with this indentation, as many at a time as the terminal shows.
pub(crate) fn pages(indent: usize, text: &str) -> io::Result<()> {
    let size = tcgetwinsize(rustix::stdio::stdout()).ok();
    let height = size.map(|size| usize::from(size.ws_row));
    // `usize::MAX` if the output is not a terminal.
    let height = height.filter(|&height| height >= 5).unwrap_or(usize::MAX);
    let mut out = Terminal::stdout();
    let mut before = 0;
    for line in text.lines() {
        if out.rows() - before + 3 > height {
            pause("(Enter shows more)")?;
            before = out.rows();
        }
        line_of(&mut out, indent, line)?;
    }
    Ok(())
}

/// A string that arrives in pieces.
#[derive(Default)]
pub(crate) struct Arriving(Option<Terminal<Stdout>>);

impl Arriving {
    /// Writes a piece.
    pub(crate) fn piece(&mut self, who: &str, text: &str) -> io::Result<()> {
        if self.0.is_none() {
            let mut out = Terminal::stdout();
            out.styled(NAME, who)?;
            write!(out, ": ")?;
            self.0 = Some(out);
        }
        if let Some(out) = &mut self.0 {
            write!(out, "{}", indented(text, who.len() + 2))?;
            out.flush()?;
        }
        Ok(())
    }

    /// Ends the text, if there is one.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        match self.0.take() {
            Some(mut out) => writeln!(out),
            None => Ok(()),
        }
    }
}

fn line_of(out: &mut Terminal<Stdout>, indent: usize, line: &str) -> io::Result<()> {
    let line = line.trim_end();
    let indent = if line.is_empty() { 0 } else { indent };
    writeln!(out, "{:indent$}{line}", "")
}
