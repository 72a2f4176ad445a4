//! The lines of a file: what one append has saved, with a hash.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::failed;
use crate::run::{Increment, JournalError, RunHead};

/// One append. Its line has a hash before it, because a crash may leave a part of a line, or the whole with a hole in it.
#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    /// The number of the last increment.
    last: u64,
    head: RunHead,
    pub(super) increments: Vec<Increment>,
}

/// A record without its increments.
#[derive(Deserialize)]
struct RecordHead {
    last: u64,
    head: RunHead,
}

/// The bytes of a hash in a line: enough to find a fault, not to resist an attacker, who can write the file.
const HASH: usize = 16;

/// How the JSON of a record starts.
const RECORD: &[u8] = br#"{"last":"#;

impl Record {
    /// Returns the line of an append.
    pub(super) fn line(
        last: u64,
        head: RunHead,
        increments: Vec<Increment>,
    ) -> Result<Vec<u8>, JournalError> {
        let record = Record {
            last,
            head,
            increments,
        };
        let json = serde_json::to_vec(&record).map_err(JournalError::failed)?;
        let mut line = hash(&json).into_bytes();
        line.push(b' ');
        line.extend(json);
        line.push(b'\n');
        Ok(line)
    }
}

fn hash(json: &[u8]) -> String {
    let hash = Sha256::digest(json);
    let hash = hash.iter().take(HASH / 2);
    hash.map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the JSON of a line without its end, or `None` if it is damaged.
fn json(line: &[u8]) -> Option<&[u8]> {
    let (found, rest) = line.split_at_checked(HASH)?;
    let json = rest.strip_prefix(b" ")?;
    (hash(json).as_bytes() == found).then_some(json)
}

/// What the end of a file says.
pub(super) struct Tail {
    /// The number of the last increment; 0 if there is none.
    pub(super) last: u64,
    pub(super) head: Option<RunHead>,
    /// The length of the file up to its last complete line.
    pub(super) end: u64,
    /// Set if there is more, which a crash has left.
    pub(super) is_torn: bool,
}

impl Tail {
    /// Reads the last line, or the whole file if a crash has damaged it.
    pub(super) fn read(file: &mut File, path: &Path) -> Result<Tail, JournalError> {
        let line = last_line(file).map_err(|error| failed(path, error))?;
        if let Some(json) = line.as_deref().and_then(json) {
            let length = file.metadata().map_err(|error| failed(path, error))?.len();
            return Tail::of(json, length, false).map_err(|error| unreadable(path, error));
        }
        let bytes = read(file, path)?;
        let lines = complete(&bytes, path)?;
        let is_torn = lines.end < bytes.len();
        match lines.json.last() {
            Some(json) => {
                let tail = Tail::of(json, lines.end as u64, is_torn);
                tail.map_err(|error| unreadable(path, error))
            }
            None => Ok(Tail {
                last: 0,
                head: None,
                end: 0,
                is_torn,
            }),
        }
    }

    fn of(json: &[u8], end: u64, is_torn: bool) -> Result<Tail, serde_json::Error> {
        let record: RecordHead = serde_json::from_slice(json)?;
        Ok(Tail {
            last: record.last,
            head: Some(record.head),
            end,
            is_torn,
        })
    }
}

/// Returns the last line without its end, if the file ends with a complete one.
fn last_line(file: &mut File) -> std::io::Result<Option<Vec<u8>>> {
    let length = file.metadata()?.len();
    let mut window = 16 << 10;
    loop {
        let start = length.saturating_sub(window);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::with_capacity((length - start).try_into().unwrap_or_default());
        file.take(length - start).read_to_end(&mut bytes)?;
        if bytes.pop() != Some(b'\n') {
            return Ok(None);
        }
        let before = bytes.iter().rposition(|byte| *byte == b'\n');
        match before {
            Some(at) => return Ok(Some(bytes.split_off(at + 1))),
            None if start == 0 => return Ok(Some(bytes)),
            None => window *= 4,
        }
    }
}

fn read(file: &mut File, path: &Path) -> Result<Vec<u8>, JournalError> {
    let mut bytes = Vec::new();
    let read = file
        .seek(SeekFrom::Start(0))
        .and_then(|_| file.read_to_end(&mut bytes));
    read.map_err(|error| failed(path, error))?;
    Ok(bytes)
}

/// The complete lines of a file.
struct Lines<'b> {
    json: Vec<&'b [u8]>,
    end: usize,
}

/// Finds the complete lines. What follows the last one was never saved; damage before a complete line is an error.
fn complete<'b>(bytes: &'b [u8], path: &Path) -> Result<Lines<'b>, JournalError> {
    let mut lines = Lines {
        json: Vec::new(),
        end: 0,
    };
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let start = at;
        at += line.len();
        let Some(json) = line.strip_suffix(b"\n").and_then(json) else {
            continue;
        };
        if lines.end != start {
            let number = lines.json.len() + 1;
            return Err(failed(path, format!("line {number} is damaged")));
        }
        lines.json.push(json);
        lines.end = at;
    }
    if lines.end == 0 && !may_start_line(bytes) {
        return Err(failed(
            path,
            "it is not a file of this journal; move it away, or give the journal another folder",
        ));
    }
    // One append leaves one line. In strings the quotes are escaped.
    let torn = &bytes[lines.end..];
    let starts = torn.windows(RECORD.len()).filter(|bytes| *bytes == RECORD);
    if starts.count() > 1 {
        return Err(failed(path, "the end of a line is damaged"));
    }
    Ok(lines)
}

/// Returns `true` if a crash may have left this of a first line, holes included.
fn may_start_line(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .take(HASH + 1 + RECORD.len())
        .enumerate()
        .all(|(at, &byte)| {
            let is_own = match at.checked_sub(HASH) {
                None => byte.is_ascii_hexdigit(),
                Some(0) => byte == b' ',
                Some(at) => byte == RECORD[at - 1],
            };
            is_own || byte == 0
        })
}

/// Returns the error of a line that is complete, and not a record.
fn unreadable(path: &Path, error: serde_json::Error) -> JournalError {
    let problem = "a line has another form, perhaps of a newer version of this program";
    failed(path, format!("{problem}: {error}"))
}

/// Reads all complete lines of a file.
pub(super) fn read_all(file: &mut File, path: &Path) -> Result<Vec<Record>, JournalError> {
    let bytes = read(file, path)?;
    let lines = complete(&bytes, path)?;
    let records = lines.json.into_iter().map(serde_json::from_slice);
    let records: Result<_, _> = records.collect();
    records.map_err(|error| unreadable(path, error))
}
