//! The journals of tool-agent, beside a plain append to a file and a plain `INSERT` of the same bytes. All make what they
//! write survive a crash of the system.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use harness::Work;
use harness::now::now;
use rusqlite::{Connection, params};
use serde_json::json;
use tool_agent::run::{FileJournal, Increment, Journal, Run, RunHead, SqliteJournal};

pub const CASES: &[&str] = &["file", "file, plain", "sqlite", "sqlite, plain"];

/// The increments of a run, which are appended one by one. No case is repeated more often.
const INCREMENTS: usize = 5000;

/// Returns a case, which writes to an empty folder.
pub fn work(case: &str, folder: &Path) -> Work {
    std::fs::create_dir_all(folder).expect("a folder");
    match case {
        "file" => appended(FileJournal::new(folder)),
        "sqlite" => appended(SqliteJournal::open(folder.join("runs.sqlite")).expect("a database")),
        "file, plain" => plain_file(folder),
        "sqlite, plain" => plain_row(folder),
        _ => panic!("no case {case}"),
    }
}

/// Returns a run with many messages of 200 bytes.
fn run() -> (RunHead, Vec<Increment>) {
    let mut run = Run::builder("conversation-1").owner("user-7").build();
    let text = "The committee met at nine and adjourned until spring. ".repeat(3);
    for _ in 1..INCREMENTS {
        let message = json!({"role": "user", "content": text});
        run.push(message).expect("nothing was requested");
    }
    (run.head(), run.unsaved().to_vec())
}

/// Appends the next increment each time.
fn appended(journal: impl Journal + 'static) -> Work {
    let (head, increments) = run();
    let mut increments = increments.into_iter();
    Work::new(1, move || {
        let next = increments.next().expect("few repeats");
        now(journal.append(head.clone(), vec![next])).expect("an append");
    })
}

/// Appends the line of an increment, as the journal has written it.
fn plain_file(folder: &Path) -> Work {
    let (head, increments) = run();
    let journal = FileJournal::new(folder.join("model"));
    for increment in increments.into_iter().take(2) {
        now(journal.append(head.clone(), vec![increment])).expect("an append");
    }
    let mut files = std::fs::read_dir(folder.join("model")).expect("a folder");
    let file = files.next().expect("a file").expect("an entry").path();
    let text = std::fs::read_to_string(file).expect("a file");
    let line = format!("{}\n", text.lines().last().expect("a line"));
    let path = folder.join("plain.jsonl");
    File::create(&path).expect("a file");
    Work::new(1, move || {
        let mut file = OpenOptions::new().append(true).open(&path).expect("a file");
        file.write_all(line.as_bytes()).expect("a write");
        file.sync_data().expect("a sync");
    })
}

/// Inserts the JSON of an increment and of its head.
fn plain_row(folder: &Path) -> Work {
    let (head, increments) = run();
    let head = serde_json::to_string(&head).expect("JSON");
    let increment = serde_json::to_string(&increments[1]).expect("JSON");
    let connection = Connection::open(folder.join("plain.sqlite")).expect("a database");
    connection
        .busy_timeout(Duration::from_secs(10))
        .expect("a setting");
    for (pragma, value) in [("journal_mode", "wal"), ("synchronous", "full")] {
        let set = connection.pragma_update(None, pragma, value);
        set.expect("a setting");
    }
    let table =
        "CREATE TABLE increment (number INTEGER PRIMARY KEY, head TEXT, increment TEXT) STRICT";
    connection.execute_batch(table).expect("a table");
    let mut number = 0;
    Work::new(1, move || {
        number += 1;
        let insert = "INSERT INTO increment VALUES (?1, ?2, ?3)";
        let inserted = connection.execute(insert, params![number, head, increment]);
        inserted.expect("a row");
    })
}

/// A folder beside the program, on its disk, which is removed at the end.
pub struct Folder(PathBuf);

impl Folder {
    /// Returns a folder that no other process uses.
    pub fn new() -> Folder {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let program = std::env::current_exe().expect("a program");
        let name = format!("journals-{}-{number}", std::process::id());
        Folder(program.with_file_name(name))
    }
}

impl Default for Folder {
    fn default() -> Folder {
        Folder::new()
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
