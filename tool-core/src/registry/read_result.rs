//! The tool `read_result`, by which a model reads on in results that were too long for it. A registry that
//! [keeps](crate::RegistryBuilder::spill) results has it among its tools.

use std::error::Error;
use std::fmt;

use crate::call::context::CallContext;
use crate::output::{IntoOutput, Outcome, kind};
use crate::results::{
    Page, ResultScope, ResultStoreError, Spill, is_secret, line_count, line_start, search,
};
use crate::schema::messages::floor_char_boundary;
use crate::tool::ToolEntry;

/// The name of the tool that reads on in results that were too long. No other tool of a registry that
/// [keeps](crate::RegistryBuilder::spill) results can have it.
pub const READ_RESULT: &str = "read_result";

/// Reads on in a result that was too long. Shows the part from a line or a byte on, or where a text is found in it.
#[crate::tool(unlinked, read_only, idempotent)]
async fn read_result(
    /// The handle in the note at the end of the result.
    handle: &str,
    /// The first line, from 1.
    line: Option<u64>,
    /// The first byte, from 0, in place of a line.
    byte: Option<u64>,
    /// The number of lines; by default as many as fit.
    #[param(range = 1..)]
    lines: Option<u64>,
    /// A text to find, exactly as written.
    #[param(length = 1..=200)]
    search: Option<&str>,
    #[param(context)] spill: &Spill,
    call: &CallContext,
) -> Result<Shown, Box<dyn Error + Send + Sync>> {
    let found = match call.get::<ResultScope>() {
        Some(scope) => spill.store.read(scope, handle).await.map_err(Unread)?,
        None => None,
    };
    // A result of another scope is as unknown as one that never was.
    let text = found
        .ok_or("no result has this handle; results are not kept forever, so repeat the call")?;
    let start = start(&text, line, byte)?;
    let text = match search {
        Some(wanted) => self::search(&text, wanted, start, spill.limit),
        None => {
            let lines = lines.map(|lines| usize::try_from(lines).unwrap_or(usize::MAX));
            let page = Page::of(&text, start, lines, spill.limit, handle);
            [&text[page.bytes], &page.note].concat()
        }
    };
    Ok(Shown {
        text,
        is_secret: is_secret(handle),
    })
}

/// Returns the byte at which to start: before the character that has the given one.
fn start(text: &str, line: Option<u64>, byte: Option<u64>) -> Result<usize, String> {
    let (size, lines) = (text.len(), line_count(text));
    let found = match (line, byte) {
        (Some(_), Some(_)) => return Err("give a line or a byte, not both".into()),
        (None, None) => Some(0),
        (Some(line), None) => usize::try_from(line)
            .ok()
            .and_then(|line| line_start(text, line)),
        (None, Some(byte)) => usize::try_from(byte)
            .ok()
            .filter(|byte| *byte < size)
            .map(|byte| floor_char_boundary(text, byte)),
    };
    found.ok_or_else(|| {
        format!(
            "the result has the lines 1 to {lines} and the bytes 0 to {}, so start at one of them",
            size.saturating_sub(1)
        )
    })
}

/// A part of a result, which has secrets if the result has some.
struct Shown {
    text: String,
    is_secret: bool,
}

impl IntoOutput<kind::Parts> for Shown {
    fn into_outcome(self) -> Outcome {
        let outcome = Outcome::Text(self.text);
        if self.is_secret {
            outcome.secret()
        } else {
            outcome
        }
    }
}

/// A store that can't be read. The operator sees why.
#[derive(Debug)]
struct Unread(ResultStoreError);

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the result can't be read at the moment")
    }
}

impl Error for Unread {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

pub(super) fn entry() -> ToolEntry {
    ToolEntry::of::<read_result>()
}

pub(super) fn is_read_result(tool: &ToolEntry) -> bool {
    tool.is_same(&entry())
}
