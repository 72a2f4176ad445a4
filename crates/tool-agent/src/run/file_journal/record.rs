//! The lines of a file. Each has one append and a hash.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::error::failed;
use crate::run::{Increment, JournalError, RunHead, increment};

/// One append. A hash precedes it in the line, because a crash may leave a partial line, or one with a hole.
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

/// Number of hash bytes in a line. They detect damage, not attackers, who could write the file anyway.
const HASH: usize = 16;

/// The start of a record's JSON.
const RECORD: &[u8] = br#"{"last":"#;

impl Record {
    /// Returns the line for an append, to follow the existing lines.
    pub(super) fn line(
        tail: &Tail,
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
        let mut line = hash(tail.end, &tail.hash, &json).into_bytes();
        line.push(b' ');
        line.extend(json);
        line.push(b'\n');
        Ok(line)
    }
}

/// Returns the hash of a line, from its start in the file and the hash of the previous line. So a copied, moved or
/// missing line breaks the chain.
fn hash(start: u64, before: &[u8], json: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(start.to_le_bytes());
    hash.update(before);
    hash.update(json);
    let hash = hash.finalize();
    let hash = hash.iter().take(HASH / 2);
    hash.map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the hash written at the start of a line.
fn written_hash(line: &[u8]) -> &[u8] {
    &line[..line.len().min(HASH)]
}

/// Returns the JSON of a line without its end, or `None` if it is damaged.
fn json<'l>(line: &'l [u8], start: u64, before: &[u8]) -> Option<&'l [u8]> {
    let (found, rest) = line.split_at_checked(HASH)?;
    let json = rest.strip_prefix(b" ")?;
    (hash(start, before, json).as_bytes() == found).then_some(json)
}

/// The state at the end of a file.
pub(super) struct Tail {
    /// The number of the last increment, or 0.
    pub(super) last: u64,
    pub(super) head: Option<RunHead>,
    /// The length of the file up to its last complete line.
    pub(super) end: u64,
    /// The hash of the last complete line.
    hash: Vec<u8>,
    /// Set if an incomplete line follows, left by a crash.
    pub(super) is_torn: bool,
}

impl Tail {
    /// Reads the last line. If it is damaged or does not follow the previous line, reads the whole file.
    pub(super) fn read(file: &mut File, path: &Path) -> Result<Tail, JournalError> {
        let last = last_line(file).map_err(|error| failed(path, error))?;
        if let Some(last) = last
            && let Some(json) = json(&last.line, last.start, &last.before)
        {
            let tail = Tail::of(json, &last.line, last.start, false);
            return tail.map_err(|error| unreadable(path, error));
        }
        let bytes = read(file, path)?;
        let lines = complete(&bytes, path)?;
        let is_torn = lines.end < bytes.len();
        match lines.json.last() {
            Some(json) => {
                let start = lines.end - json.len() - HASH - 2;
                let tail = Tail::of(json, &bytes[start..], start as u64, is_torn);
                tail.map_err(|error| unreadable(path, error))
            }
            None => Ok(Tail {
                last: 0,
                head: None,
                end: 0,
                hash: Vec::new(),
                is_torn,
            }),
        }
    }

    fn of(json: &[u8], line: &[u8], start: u64, is_torn: bool) -> Result<Tail, serde_json::Error> {
        let record: RecordHead = serde_json::from_slice(json)?;
        Ok(Tail {
            last: record.last,
            head: Some(record.head),
            // Adds the hash, a space and the line end.
            end: start + (HASH + 2 + json.len()) as u64,
            hash: written_hash(line).to_vec(),
            is_torn,
        })
    }
}

/// The last line of a file, without its end.
struct LastLine {
    line: Vec<u8>,
    start: u64,
    /// The hash of the previous line. Empty if there is none.
    before: Vec<u8>,
}

/// Returns the last line, if it is complete.
fn last_line(file: &mut File) -> std::io::Result<Option<LastLine>> {
    let length = file.metadata()?.len();
    let mut window = 16 << 10;
    loop {
        let first = length.saturating_sub(window);
        file.seek(SeekFrom::Start(first))?;
        let mut bytes = Vec::with_capacity((length - first).try_into().unwrap_or_default());
        file.take(length - first).read_to_end(&mut bytes)?;
        if bytes.pop() != Some(b'\n') {
            return Ok(None);
        }
        let is_end = |byte: &u8| *byte == b'\n';
        // The ends of the previous line and of the line before that.
        let end = bytes.iter().rposition(is_end);
        let before = end.and_then(|end| bytes[..end].iter().rposition(is_end));
        if first > 0 && before.is_none() {
            window *= 4;
            continue;
        }
        let start = end.map_or(0, |end| end + 1);
        let before = before.map_or(0, |before| before + 1);
        return Ok(Some(LastLine {
            before: written_hash(&bytes[before..end.unwrap_or(before)]).to_vec(),
            line: bytes.split_off(start),
            start: first + start as u64,
        }));
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

/// Finds the complete lines. A partial line at the end was never saved. Damage before a complete line is an error.
fn complete<'b>(bytes: &'b [u8], path: &Path) -> Result<Lines<'b>, JournalError> {
    let mut lines = Lines {
        json: Vec::new(),
        end: 0,
    };
    let (mut at, mut before) = (0, &[][..]);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let start = at;
        at += line.len();
        let found = line.strip_suffix(b"\n");
        let found = found.and_then(|line| json(line, start as u64, before));
        before = written_hash(line);
        let Some(json) = found else {
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
    // Each append is one line, so its start must not occur twice. It can't occur within a string, where quotes are
    // escaped.
    let torn = &bytes[lines.end..];
    let starts = torn.windows(RECORD.len()).filter(|bytes| *bytes == RECORD);
    if starts.count() > 1 {
        return Err(failed(path, "the end of a line is damaged"));
    }
    // A crash leaves a partial line, or one with a hole.
    if torn.ends_with(b"\n") && !torn.contains(&0) {
        return Err(failed(
            path,
            "the last line is damaged, or in another place",
        ));
    }
    Ok(lines)
}

/// Returns `true` if these bytes may be a first line that a crash has left, including holes.
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

/// Returns the error for a complete line that is not a record.
fn unreadable(path: &Path, error: serde_json::Error) -> JournalError {
    let problem = "a line has another form, perhaps of a newer version of this program";
    failed(path, format!("{problem}: {error}"))
}

/// Reads all complete lines of a file.
pub(super) fn read_all(file: &mut File, path: &Path) -> Result<Vec<Record>, JournalError> {
    let bytes = read(file, path)?;
    let lines = complete(&bytes, path)?;
    let records = lines.json.iter().map(|json| serde_json::from_slice(json));
    let records: Result<_, _> = records.collect();
    records.map_err(|error| {
        let first = lines.json.first();
        let first: Option<Value> = first.and_then(|json| serde_json::from_slice(json).ok());
        let first = first.as_ref().map(|record| &record["increments"][0]);
        failed(path, increment::unreadable(first, &error))
    })
}
