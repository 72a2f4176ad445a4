//! Safe output to a terminal, and questions to the person at it.

use std::borrow::Cow;
use std::io::{self, BufRead, IsTerminal, Stderr, Stdout, Write};

/// Writes text for people, without the characters with which a text can take over their terminal.
///
/// A model and the tools write much of what the programs print. [`safe`] is applied to all of it, so
/// no print needs to care.
#[derive(Debug)]
pub struct Terminal<W>(W);

impl Terminal<Stdout> {
    /// Writes to the standard output.
    pub fn stdout() -> Terminal<Stdout> {
        Terminal(io::stdout())
    }
}

impl Terminal<Stderr> {
    /// Writes to the standard error.
    pub fn stderr() -> Terminal<Stderr> {
        Terminal(io::stderr())
    }
}

impl<W: Write> Write for Terminal<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // `write!` passes on whole strings, so no character is split.
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(safe(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Returns a text that is safe to print.
///
/// Escapes control characters, such as the one that starts an ANSI or OSC sequence, and those that
/// change the direction of text: `\u001b`, as JSON does. Keeps line breaks and tabs.
///
/// ```
/// use examples::terminal::safe;
///
/// assert_eq!(safe("two\nlines"), "two\nlines");
/// assert_eq!(safe("\u{1b}]0;title\u{7}\u{202e}"), r"\u001b]0;title\u0007\u202e");
/// ```
pub fn safe(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return text.into();
    }
    let escaped = text.chars().map(|character| {
        if is_unsafe(character) {
            format!("\\u{:04x}", u32::from(character))
        } else {
            character.to_string()
        }
    });
    escaped.collect::<String>().into()
}

fn is_unsafe(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => character.is_control(),
    }
}

/// Indents every line but the first, so that no line of a text looks like one of the program.
///
/// ```
/// use examples::terminal::indented;
///
/// assert_eq!(indented("one\ntwo", 4), "one\n    two");
/// ```
pub fn indented(text: &str, columns: usize) -> String {
    text.replace('\n', &format!("\n{}", " ".repeat(columns)))
}

/// Asks the person at the terminal a question and waits for the answer. Only `y` and `yes` agree.
///
/// Discards input that was typed before the question appeared.
///
/// Returns `None` if the standard input is not a terminal, so there is nobody to ask.
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

/// Waits until the person at the terminal wants to read on. Returns `false` if nobody is there.
///
/// # Errors
///
/// Returns an error if the terminal can't be read or written.
pub fn pause(said: &str) -> io::Result<bool> {
    let stdin = io::stdin();
    if !stdin.is_terminal() || !forget_typed()? {
        return Ok(false);
    }
    let mut out = Terminal::stderr();
    write!(out, "{said} ")?;
    out.flush()?;
    Ok(stdin.lock().read_line(&mut String::new())? > 0)
}

/// Throws away what was typed and not read. Returns `false` where that is not possible.
fn forget_typed() -> io::Result<bool> {
    #[cfg(unix)]
    rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush)?;
    Ok(cfg!(unix))
}

fn ask(question: &str, input: &mut impl BufRead, out: &mut impl Write) -> io::Result<bool> {
    write!(out, "{question} [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&&*answer.trim().to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_written_controls_the_terminal() {
        let all: String = ('\0'..=char::MAX).collect();
        let mut out = Terminal(Vec::new());
        write!(out, "{all}\n\u{1b}[2J").expect("memory");
        out.write_all(b"\xff\x9b\x1b[31m").expect("memory");
        let written = String::from_utf8(out.0).expect("text");
        let controls = written.chars().filter(|c| c.is_control());
        assert_eq!(controls.collect::<String>(), "\t\n\n");
        assert!(!written.contains(['\u{202e}', '\u{2066}', '\u{2028}', '\u{200f}']));
        assert!(written.contains('日') && written.contains('Ä'));
        assert!(written.ends_with(r"\u001b[31m"), "{written}");
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

    /// Reads the sources of all programs, except for the programs of the cookbook, which do not depend on this package.
    #[test]
    fn every_program_prints_through_this_module() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut folders = vec![root.to_owned()];
        let mut programs = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                let is_ours = !["cookbook", "src", "tests"]
                    .iter()
                    .any(|name| path == root.join(name));
                if path.is_dir() && is_ours {
                    folders.push(path);
                } else if path.extension().is_some_and(|name| name == "rs") && is_ours {
                    let code = std::fs::read_to_string(&path).expect("text");
                    // The size of the terminal is only read.
                    let code = code.replace("tcgetwinsize(rustix::stdio::stdout())", "");
                    programs += usize::from(path.ends_with("main.rs"));
                    for unsafe_way in ["io::stdout", "io::stderr", "print!(", "println!("] {
                        assert!(
                            !code.contains(unsafe_way),
                            "{}: {unsafe_way}",
                            path.display()
                        );
                    }
                }
            }
        }
        assert_eq!(programs, 7);
    }
}
