//! Safe output to a terminal, and questions to its user.

use std::borrow::Cow;
use std::io::{self, BufRead, IsTerminal, Stderr, Stdout, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use tool_core::visible;

/// Writes text for people, without the characters that could take over their terminal.
///
/// Models and tools write much of the text that programs print. Every print goes through [`safe`], so you don't have to
/// escape anything.
///
/// At a terminal, lines are wrapped at words. Continuation rows are indented, so they can't look like lines of their
/// own. A word is written once it is complete, so text may arrive in pieces.
///
/// ```
/// use std::io::Write;
/// use tool_cli::terminal::{GOOD, Terminal};
///
/// let mut out = Terminal::stdout();
/// out.styled(GOOD, "done")?;
/// writeln!(out, ": what a model wrote can't clear the screen: \u{1b}[2J")?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Terminal<W: Write> {
    out: W,
    /// The columns of the terminal. `None` if the output is not a terminal; then nothing is wrapped.
    width: Option<usize>,
    is_coloured: bool,
    /// The last word, which may be incomplete.
    word: String,
    /// The spaces before it.
    spaces: usize,
    /// The number of columns used in the current row.
    column: usize,
    /// The indentation of the next row of this line.
    hang: usize,
    /// The number of complete rows.
    rows: usize,
}

/// The style of success.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// The style of failure.
pub const BAD: Style = AnsiColor::Red.on_default();
/// The style of names, such as the speaker's in a chat.
pub const NAME: Style = Style::new().bold();

/// The indentation of continued rows.
const HANG: usize = 4;

/// A narrower terminal is treated as if it had this many columns.
const NARROWEST: usize = 20;

impl Terminal<Stdout> {
    /// Writes to the standard output.
    pub fn stdout() -> Terminal<Stdout> {
        let out = io::stdout();
        let choice = AutoStream::choice(&out);
        let width = width(&out);
        Terminal::new(out, width, choice != ColorChoice::Never)
    }
}

impl Terminal<Stderr> {
    /// Writes to the standard error.
    pub fn stderr() -> Terminal<Stderr> {
        let out = io::stderr();
        let choice = AutoStream::choice(&out);
        let width = width(&out);
        Terminal::new(out, width, choice != ColorChoice::Never)
    }
}

/// Returns the width of the terminal in columns, or `None` if the output is not a terminal.
#[cfg(unix)]
fn width(out: &impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(out).ok()?;
    Some(size.ws_col.into())
}

/// The standard library can't read the width.
#[cfg(not(unix))]
fn width<T>(_: &T) -> Option<usize> {
    None
}

impl<W: Write> Terminal<W> {
    fn new(out: W, width: Option<usize>, is_coloured: bool) -> Terminal<W> {
        Terminal {
            out,
            // Some terminals don't know their size.
            width: width
                .filter(|width| *width > 0)
                .map(|width| width.max(NARROWEST)),
            is_coloured,
            word: String::new(),
            spaces: 0,
            column: 0,
            hang: 0,
            rows: 0,
        }
    }

    /// Returns the columns of the terminal, or `None` if the output is not a terminal.
    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// Returns the number of complete rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Writes text in a style, if the terminal has colours and `NO_COLOR` is not set.
    ///
    /// # Errors
    ///
    /// Returns an error if the output can't be written.
    pub fn styled(&mut self, style: Style, text: &str) -> io::Result<()> {
        if !self.is_coloured {
            return self.write_all(text.as_bytes());
        }
        self.end_word()?;
        write!(self.out, "{style}")?;
        self.write_all(text.as_bytes())?;
        self.end_word()?;
        write!(self.out, "{style:#}")
    }

    /// Writes text whose lines must stay whole, such as JSON to be copied: a line break inside of a string would make it
    /// invalid. The terminal breaks long lines itself.
    pub(crate) fn unwrapped(&mut self, text: &str) -> io::Result<()> {
        self.end_word()?;
        self.out.write_all(safe(text).as_bytes())?;
        self.rows += text.matches('\n').count();
        if let Some(last) = text.rsplit('\n').next() {
            self.column = columns(last);
        }
        Ok(())
    }

    /// Writes text in rows of this width. Keeps the last word, which may be incomplete.
    fn wrap(&mut self, text: &str, width: usize) -> io::Result<()> {
        for character in text.chars() {
            match character {
                ' ' | '\t' | '\n' => self.end_word_within(width)?,
                _ => self.word.push(character),
            }
            match character {
                ' ' => self.spaces += 1,
                '\t' => self.spaces += HANG,
                '\n' => self.end_row(0)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn end_word(&mut self) -> io::Result<()> {
        match self.width {
            Some(width) => self.end_word_within(width),
            None => Ok(()),
        }
    }

    /// Writes the last word. Starts a new row if it does not fit, and uses several if it is longer than a row.
    fn end_word_within(&mut self, width: usize) -> io::Result<()> {
        if self.word.is_empty() {
            return Ok(());
        }
        let word = std::mem::take(&mut self.word);
        if self.column == 0 {
            self.spaces = self.spaces.min(width / 2);
            self.hang = self.spaces + HANG;
        } else if (self.column + self.spaces + columns(&word) > width
            && self.hang + columns(&word) <= width)
            || self.column + self.spaces >= width
        {
            self.end_row(self.hang)?;
        }
        self.pad(self.spaces)?;
        for character in word.chars() {
            if self.column + columns_of(character) > width {
                self.end_row(self.hang)?;
                self.pad(self.spaces)?;
            }
            write!(self.out, "{character}")?;
            self.column += columns_of(character);
        }
        Ok(())
    }

    fn pad(&mut self, spaces: usize) -> io::Result<()> {
        self.spaces = 0;
        self.column += spaces;
        write!(self.out, "{:spaces$}", "")
    }

    /// Ends a row. The next one starts with these spaces, if it is not empty.
    fn end_row(&mut self, spaces: usize) -> io::Result<()> {
        self.rows += 1;
        self.column = 0;
        self.spaces = spaces;
        writeln!(self.out)
    }
}

/// Returns the maximum width of a character, in columns. Terminals differ, so the actual width may be smaller.
///
/// ```
/// assert_eq!(tool_cli::terminal::columns_of('日'), 2);
/// ```
pub fn columns_of(c: char) -> usize {
    if c.is_ascii() { 1 } else { 2 }
}

/// Returns the maximum width of a string, in columns.
///
/// ```
/// assert_eq!(tool_cli::terminal::columns("Tokyo 東京"), 10);
/// ```
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

impl<W: Write> Write for Terminal<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // `write!` passes whole strings, so no character is split between two calls.
        let text = String::from_utf8_lossy(bytes);
        let text = safe(&text);
        match self.width {
            Some(width) => self.wrap(&text, width)?,
            None => self.out.write_all(text.as_bytes())?,
        }
        Ok(bytes.len())
    }

    /// Writes all complete words and the spaces after them.
    fn flush(&mut self) -> io::Result<()> {
        if let Some(width) = self.width
            && self.word.is_empty()
            && self.column > 0
            && self.column + self.spaces < width
        {
            self.pad(self.spaces)?;
        }
        self.out.flush()
    }
}

/// Writes the last word.
impl<W: Write> Drop for Terminal<W> {
    fn drop(&mut self) {
        // An error can't be reported here.
        let _ = self.end_word();
    }
}

/// Returns a text that is safe to print.
///
/// Escapes control characters, such as those that start ANSI and OSC sequences, and [other invisible
/// characters](tool_core::visible). The escapes look like JSON's: `\u001b`. Line breaks and tabs stay.
///
/// ```
/// use tool_cli::terminal::safe;
///
/// assert_eq!(safe("two\nlines"), "two\nlines");
/// assert_eq!(safe("\u{1b}]0;title\u{7}\u{202e}"), r"\u001b]0;title\u0007\u202e");
/// ```
pub fn safe(text: &str) -> Cow<'_, str> {
    visible::escape_json(text)
}

/// Indents every line except the first, so no line of the text looks like one of the program.
///
/// ```
/// use tool_cli::terminal::indented;
///
/// assert_eq!(indented("one\ntwo", 4), "one\n    two");
/// ```
pub fn indented(text: &str, columns: usize) -> String {
    text.replace('\n', &format!("\n{}", " ".repeat(columns)))
}

/// Asks the user at the terminal a question, and waits for the answer. Only `y` and `yes` agree.
///
/// Discards input that was typed before the question appeared.
///
/// Returns `None` if the standard input is not a terminal, so there is nobody to ask.
///
/// ```no_run
/// if tool_cli::terminal::confirm("Delete the note?")? == Some(true) {
///     println!("deleted");
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the terminal can't be read or written.
pub fn confirm(question: &str) -> io::Result<Option<bool>> {
    let stdin = io::stdin();
    if !stdin.is_terminal() || !forget_typed()? {
        return Ok(None);
    }
    ask(question, &mut stdin.lock(), &mut Terminal::stderr()).map(Some)
}

/// Asks for a line. Accepts a line that is already typed. Returns `None` at the end of the input.
pub(crate) fn line(question: &str) -> io::Result<Option<String>> {
    read_line(question, &mut io::stdin().lock(), &mut Terminal::stderr())
}

/// Waits until the user at the terminal wants to read on. Returns `false` if there is no terminal.
///
/// ```no_run
/// tool_cli::terminal::pause("Press Enter for the next call.")?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if the terminal can't be read or written.
pub fn pause(said: &str) -> io::Result<bool> {
    let stdin = io::stdin();
    if !stdin.is_terminal() || !forget_typed()? {
        return Ok(false);
    }
    let read = read_line(said, &mut stdin.lock(), &mut Terminal::stderr())?;
    Ok(read.is_some())
}

/// Discards typed input that was not read. Returns `false` on systems that can't do so.
pub(crate) fn forget_typed() -> io::Result<bool> {
    #[cfg(unix)]
    rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush)?;
    Ok(cfg!(unix))
}

fn ask(question: &str, input: &mut impl BufRead, out: &mut impl Write) -> io::Result<bool> {
    let answer = read_line(&format!("{question} [y/N]"), input, out)?.unwrap_or_default();
    Ok(["y", "yes"].contains(&&*answer.trim().to_ascii_lowercase()))
}

/// Writes a question and reads the line after it. Returns `None` at the end of the input.
fn read_line(
    question: &str,
    input: &mut impl BufRead,
    out: &mut impl Write,
) -> io::Result<Option<String>> {
    write!(out, "{question} ")?;
    out.flush()?;
    let mut answer = String::new();
    Ok((input.read_line(&mut answer)? > 0).then_some(answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_written_controls_the_terminal() {
        let all: String = ('\0'..=char::MAX).collect();
        let mut written = Vec::new();
        let mut out = Terminal::new(&mut written, None, false);
        write!(out, "{all}\n\u{1b}[2J").expect("memory");
        out.write_all(b"\xff\x9b\x1b[31m").expect("memory");
        drop(out);
        let written = String::from_utf8(written).expect("text");
        let controls = written.chars().filter(|c| c.is_control());
        assert_eq!(controls.collect::<String>(), "\t\n\n");
        for unseen in ['\u{202e}', '\u{2066}', '\u{2028}', '\u{200b}', '\u{e0041}'] {
            assert!(!written.contains(unseen), "{unseen:?}");
        }
        assert!(written.contains('日') && written.contains('Ä'));
        assert!(written.ends_with(r"\u001b[31m"), "{written}");
    }

    /// Returns the rows that a terminal of this width shows.
    fn shown(
        width: usize,
        is_coloured: bool,
        write: impl FnOnce(&mut Terminal<Vec<u8>>),
    ) -> String {
        let mut out = Terminal::new(Vec::new(), Some(width), is_coloured);
        write(&mut out);
        out.end_word().expect("memory");
        String::from_utf8(out.out.clone()).expect("text")
    }

    #[test]
    fn lines_are_wrapped_at_words() {
        let text = "user: a line that is longer than the terminal\n  done  short\n\n";
        let all = |out: &mut Terminal<Vec<u8>>| write!(out, "{text}").expect("memory");
        assert_eq!(shown(80, false, all), text);
        assert_eq!(
            shown(20, false, all),
            "user: a line that is\n    longer than the\n    terminal\n  done  short\n\n"
        );
        // Text that arrives in pieces is wrapped like text that arrives at once.
        for size in 1..9 {
            let pieces = text.as_bytes().chunks(size);
            let shown = shown(20, false, |out| {
                for piece in pieces {
                    out.write_all(piece).expect("memory");
                    out.flush().expect("memory");
                }
            });
            assert_eq!(
                shown.replace(" \n", "\n"),
                self::shown(20, false, all),
                "{size}"
            );
        }
        // A question is shown whole, with its last word and the space after it.
        let question = |out: &mut Terminal<Vec<u8>>| {
            write!(out, "Sure? ")
                .and_then(|()| out.flush())
                .expect("memory");
        };
        assert_eq!(shown(20, false, question), "Sure? ");
        assert_eq!(
            shown(20, false, |out| write!(out, "last").expect("memory")),
            "last"
        );
    }

    /// Only the first row of a line starts in the first column, where the program's own lines start.
    #[test]
    fn a_long_word_can_not_look_like_a_line_of_the_program() {
        for text in [
            "x".repeat(100),
            "日".repeat(50),
            " x".repeat(90),
            format!("{}x", " ".repeat(90)),
        ] {
            let shown = shown(20, false, |out| writeln!(out, "m: {text}").expect("memory"));
            let rows: Vec<_> = shown.lines().collect();
            assert!(rows.len() > 1, "{shown}");
            for (row, at) in rows.iter().zip(0..) {
                assert!(columns(row) <= 20, "{row:?}");
                assert!(at == 0 || row.starts_with("    "), "{row:?}");
            }
        }
    }

    #[test]
    fn a_row_that_goes_on_starts_further_right_than_its_line() {
        for spaces in 0..30 {
            let shown = shown(20, false, |out| {
                writeln!(out, "{:spaces$}{}", "", "word ".repeat(9)).expect("memory");
            });
            let starts = |row: &str| row.len() - row.trim_start().len();
            let rows: Vec<_> = shown.lines().map(starts).collect();
            assert!(
                rows[1..].iter().all(|start| *start == rows[0] + HANG),
                "{shown}"
            );
        }
    }

    #[test]
    fn styles_are_for_terminals_with_colours() {
        let write = |out: &mut Terminal<Vec<u8>>| {
            out.styled(BAD, "failed\u{1b}[0m")
                .and_then(|()| writeln!(out, ": why"))
                .expect("memory");
        };
        assert_eq!(
            shown(80, true, write),
            "\u{1b}[31mfailed\\u001b[0m\u{1b}[0m: why\n"
        );
        assert_eq!(shown(80, false, write), "failed\\u001b[0m: why\n");
    }

    #[test]
    fn only_a_clear_yes_agrees() {
        let answer = |text: &str| {
            let mut out = Vec::new();
            let agreed = ask("Sure?", &mut text.as_bytes(), &mut out).expect("memory");
            assert_eq!(out, b"Sure? [y/N] ");
            agreed
        };
        assert!(["y\n", "YES\r\n", " y \n", "y"].into_iter().all(answer));
        assert!(
            !["", "\n", "n\n", "yy\n", "no\ny\n", "tool_proposals/y\n"]
                .into_iter()
                .any(answer)
        );
    }
}
