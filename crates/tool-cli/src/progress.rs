//! The progress of a call, in the last row of the terminal.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tool_core::ToolCall;
use tool_core::call::Progress;

use crate::terminal::safe;

/// Maximum number of characters of a message. The row must not wrap, because the next message overwrites it.
const LONGEST: usize = 24;

/// The row that shows the progress of a call.
#[derive(Clone, Default)]
pub(crate) struct ProgressLine(Arc<AtomicBool>);

impl ProgressLine {
    /// Shows the progress of a call, if standard error is a terminal.
    pub(crate) fn of(&self, call: ToolCall) -> ToolCall {
        if !std::io::stderr().is_terminal() {
            return call;
        }
        let is_shown = self.0.clone();
        call.on_progress(move |progress| {
            is_shown.store(true, Ordering::Relaxed);
            // If the row can't be written, the call goes on.
            let _ = write!(std::io::stderr(), "\r\x1b[K{}", line(progress));
        })
    }

    /// Removes the progress from the terminal.
    pub(crate) fn clear(&self) {
        if self.0.swap(false, Ordering::Relaxed) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn line(progress: &Progress) -> String {
    let done = match progress.total {
        Some(total) if total > 0.0 => format!("{:.0} %", 100.0 * progress.done / total),
        _ => progress.done.to_string(),
    };
    let message = safe(progress.message.as_deref().unwrap_or_default()).replace(['\n', '\t'], " ");
    let message: String = message.chars().take(LONGEST).collect();
    format!("{done} {message}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_is_one_short_row() {
        assert_eq!(line(&Progress::of(1.0, 3.0)), "33 % ");
        let mut progress = Progress::new(7.0);
        progress.message = Some(format!("\x1b[2J\n{}", "x".repeat(100)));
        let line = line(&progress);
        assert!(
            line.starts_with("7 \\u001b[2J x") && line.len() < 40,
            "{line}"
        );
    }
}
