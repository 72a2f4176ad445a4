//! Journals: the contract of all, and the files of the one in a folder.

use std::collections::HashSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use futures_util::FutureExt;
use serde_json::json;
use tool_agent::run::{
    FileJournal, Increment, Journal, JournalError, MemoryJournal, Page, Run, RunHead, SqliteJournal,
};
use tool_agent::testing::assert_journal;
use tool_core::runtime::BoxFuture;

use super::saving::{TempFolder, append, load, saved};
use super::{calling, dialect, holding, new_run, question, run_calls, turn};

#[test]
fn every_journal_keeps_the_contract() {
    let folder = TempFolder::new("contract");
    fs::create_dir_all(&folder.0).unwrap();
    let memory = MemoryJournal::new();
    assert_journal(|| memory.clone());
    assert_journal(|| FileJournal::new(folder.0.join("files")));
    assert_journal(|| SqliteJournal::open(folder.0.join("runs.sqlite")).unwrap());
    let shared = SqliteJournal::open(folder.0.join("shared.sqlite")).unwrap();
    assert_journal(|| shared.clone());
}

/// What a journal does wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    FoldsCase,
    AppendsAnything,
    KeepsTheFirstHead,
    ListsAllOwners,
    IgnoresPages,
    ForgetsNothing,
}

#[derive(Clone)]
struct Wrong(MemoryJournal, Mistake);

impl Journal for Wrong {
    fn append(
        &self,
        mut head: RunHead,
        mut increments: Vec<Increment>,
    ) -> BoxFuture<Result<(), JournalError>> {
        let saved = load(&self.0, &head.id);
        match self.1 {
            Mistake::FoldsCase => head.id = head.id.to_lowercase(),
            Mistake::AppendsAnything => {
                let last = saved.last().map_or(0, Increment::number);
                increments.retain(|increment| increment.number() > last);
            }
            Mistake::KeepsTheFirstHead if !saved.is_empty() => {
                let heads = self.0.runs(head.owner.as_deref(), Page::new(99));
                let heads = heads.now_or_never().unwrap().unwrap();
                head = heads.into_iter().find(|first| first.id == head.id).unwrap();
            }
            _ => {}
        }
        self.0.append(head, increments)
    }

    fn load(&self, run: &str) -> BoxFuture<Result<Vec<Increment>, JournalError>> {
        match self.1 {
            Mistake::FoldsCase => self.0.load(&run.to_lowercase()),
            _ => self.0.load(run),
        }
    }

    fn waiting(&self, mut page: Page) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        if self.1 == Mistake::IgnoresPages {
            page.limit = 99;
        }
        self.0.waiting(page)
    }

    fn runs(
        &self,
        owner: Option<&str>,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        match self.1 {
            Mistake::ListsAllOwners => self.0.runs(owner.map(|_| "ann"), page),
            _ => self.0.runs(owner, page),
        }
    }

    fn remove(&self, run: &str) -> BoxFuture<Result<(), JournalError>> {
        self.0.remove(run)
    }

    fn remove_before(&self, saved_ms: u64) -> BoxFuture<Result<usize, JournalError>> {
        match self.1 {
            Mistake::ForgetsNothing => self.0.remove_before(0),
            _ => self.0.remove_before(saved_ms),
        }
    }
}

#[test]
fn the_contract_finds_mistakes() {
    for mistake in [
        Mistake::FoldsCase,
        Mistake::AppendsAnything,
        Mistake::KeepsTheFirstHead,
        Mistake::ListsAllOwners,
        Mistake::IgnoresPages,
        Mistake::ForgetsNothing,
    ] {
        let journal = Wrong(MemoryJournal::new(), mistake);
        let checked = catch_unwind(AssertUnwindSafe(|| assert_journal(|| journal.clone())));
        assert!(checked.is_err(), "{mistake:?}");
    }
}

#[test]
fn a_database_of_another_program_is_not_touched() {
    let folder = TempFolder::new("other-database");
    fs::create_dir_all(&folder.0).unwrap();
    let path = folder.0.join("notes.sqlite");
    fs::write(&path, "These are notes, and no database. ".repeat(50)).unwrap();
    let error = SqliteJournal::open(&path).unwrap_err();
    assert!(error.to_string().contains("notes.sqlite"), "{error}");
}

#[test]
fn names_of_files_differ_on_every_file_system() {
    let folder = TempFolder::new("apart");
    let journal = FileJournal::new(&folder.0);
    let long = "A".repeat(300);
    let ids = [
        "a", "A", "..", "a/b", "a_2fb", "", "ä", "con", "a\0b", &long,
    ];
    for id in ids {
        assert!(load(&journal, id).is_empty(), "{id:?}");
        append(&journal, &mut Run::new(id)).unwrap();
        assert_eq!(Run::replay(load(&journal, id)).unwrap().id(), id);
    }
    let names = fs::read_dir(&folder.0).unwrap();
    let names: HashSet<_> = names
        .map(|entry| entry.unwrap().file_name().to_ascii_lowercase())
        .collect();
    assert_eq!(names.len(), ids.len());
    assert!(names.iter().all(|name| name.len() < 200), "{names:?}");
}

fn heads(journal: &FileJournal) -> Result<Vec<RunHead>, JournalError> {
    journal.runs(None, Page::new(99)).now_or_never().unwrap()
}

/// A crash leaves any part of the last line, or all of it with a hole.
#[test]
fn a_torn_end_was_never_saved_and_the_next_append_replaces_it() {
    let folder = TempFolder::new("torn");
    let journal = FileJournal::new(&folder.0);
    let path = folder.0.join("run-run-1.jsonl");
    let mut run = new_run();
    append(&journal, &mut run).unwrap();
    let first = fs::read(&path).unwrap();
    let saved_first = saved(&run);
    let first_head = heads(&journal).unwrap();
    run.push(question()).unwrap();
    let increments = run.unsaved().to_vec();
    append(&journal, &mut run).unwrap();
    let both = fs::read(&path).unwrap();
    let second = both.len() - first.len();
    let mut ends: Vec<Vec<u8>> = (0..second)
        .map(|length| both[..first.len() + length].to_vec())
        .collect();
    for at in first.len()..both.len() - 1 {
        let mut hole = both.clone();
        let end = (at + 7).min(both.len() - 1);
        hole[at..end].fill(0);
        ends.push(hole);
    }
    ends.push([&*first, &vec![0; second]].concat());
    ends.push([&*both, b"\n".as_slice()].concat()[..both.len()].to_vec());
    let complete = ends.pop().unwrap();
    for torn in ends {
        fs::write(&path, &torn).unwrap();
        let loaded = Run::replay(load(&journal, "run-1")).unwrap();
        assert_eq!(saved(&loaded), saved_first);
        assert_eq!(heads(&journal).unwrap(), first_head);
        let appended = journal.append(run.head(), increments.clone());
        appended.now_or_never().unwrap().unwrap();
        let loaded = Run::replay(load(&journal, "run-1")).unwrap();
        assert_eq!(saved(&loaded), saved(&run));
        assert_eq!(fs::read(&path).unwrap().len(), both.len());
    }
    fs::write(&path, complete).unwrap();
    assert_eq!(
        saved(&Run::replay(load(&journal, "run-1")).unwrap()),
        saved(&run)
    );
}

#[test]
fn damage_before_a_complete_line_is_an_error_that_names_the_file() {
    let folder = TempFolder::new("damaged");
    let journal = FileJournal::new(&folder.0);
    let path = folder.0.join("run-run-1.jsonl");
    let mut run = new_run();
    append(&journal, &mut run).unwrap();
    let first = fs::metadata(&path).unwrap().len();
    run.push(question()).unwrap();
    append(&journal, &mut run).unwrap();
    let whole = fs::read(&path).unwrap();
    for at in 0..usize::try_from(first).unwrap() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let error = journal.load("run-1").now_or_never().unwrap().unwrap_err();
        assert!(error.to_string().contains("run-run-1.jsonl"), "{error}");
    }
    // Files of others are ignored.
    fs::write(&path, &whole).unwrap();
    for foreign in ["notes.jsonl", ".run-2.jsonl", "run-2.jsonl~", "run-3.txt"] {
        fs::write(folder.0.join(foreign), "{}").unwrap();
    }
    assert_eq!(heads(&journal).unwrap().len(), 1);
}

#[test]
fn a_folder_that_can_not_be_written_loses_nothing() {
    let folder = TempFolder::new("unwritable");
    let journal = FileJournal::new(&folder.0);
    let run = new_run();
    let append = || {
        let appended = journal.append(run.head(), run.unsaved().to_vec());
        appended.now_or_never().unwrap()
    };
    let fails_at = |path: &Path| {
        let error = append().unwrap_err();
        assert!(matches!(error, JournalError::Failed(_)), "{error}");
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(error.to_string().contains(name), "{error}");
    };
    let file = folder.0.join("run-run-1.jsonl");
    // The folder is a file.
    fs::write(&folder.0, "").unwrap();
    fails_at(&folder.0);
    fs::remove_file(&folder.0).unwrap();
    // The file is a folder.
    fs::create_dir_all(&file).unwrap();
    fails_at(&file);
    fs::remove_dir(&file).unwrap();
    assert!(load(&journal, "run-1").is_empty());
    append().unwrap();
    assert_eq!(load(&journal, "run-1").len(), run.unsaved().len());
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn nobody_else_reads_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempFolder::new("permissions");
    append(&FileJournal::new(&folder.0), &mut new_run()).unwrap();
    let file = fs::metadata(folder.0.join("run-run-1.jsonl")).unwrap();
    assert_eq!(file.permissions().mode() & 0o077, 0);
}

/// Writes a run as the earlier form did: a folder, with a file for each append.
fn write_earlier_form(folder: &Path, run: &str, appends: &[&[Increment]]) {
    let of_run = folder.join(format!("run-{run}"));
    fs::create_dir_all(&of_run).unwrap();
    for increments in appends {
        let name = format!("{:020}.json", increments[0].number());
        fs::write(of_run.join(name), json!(increments).to_string()).unwrap();
    }
    for foreign in ["7-0.unfinished", "notes.json", "3.json", ".DS_Store"] {
        fs::write(of_run.join(foreign), "[{\"num").unwrap();
    }
}

#[test]
fn folders_of_the_earlier_form_are_read_and_continued() {
    let folder = TempFolder::new("earlier-form");
    let journal = FileJournal::new(&folder.0);
    let mut run = new_run();
    let response = turn(&calling(&[("delete_note", r#"{"id":7}"#)]));
    run.respond(&dialect(), &holding(), response).unwrap();
    run_calls(&mut run, &holding());
    let increments = run.unsaved().to_vec();
    run.mark_saved(u64::MAX);
    write_earlier_form(&folder.0, "run-1", &[&increments[..2], &increments[2..]]);

    let loaded = Run::replay(load(&journal, "run-1")).unwrap();
    assert_eq!(saved(&loaded), saved(&run));
    let waiting = journal
        .waiting(Page::new(9))
        .now_or_never()
        .unwrap()
        .unwrap();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].waiting, run.pending());
    let conflict = journal.append(run.head(), increments[2..].to_vec());
    assert!(matches!(
        conflict.now_or_never().unwrap(),
        Err(JournalError::Conflict(id)) if id == run.id()
    ));

    run.cancel(&dialect()).unwrap();
    append(&journal, &mut run).unwrap();
    let loaded = Run::replay(load(&journal, "run-1")).unwrap();
    assert_eq!(saved(&loaded), saved(&run));
    assert_eq!(
        journal
            .waiting(Page::new(9))
            .now_or_never()
            .unwrap()
            .unwrap(),
        []
    );
    assert_eq!(heads(&journal).unwrap().len(), 1);
    journal.remove("run-1").now_or_never().unwrap().unwrap();
    assert!(load(&journal, "run-1").is_empty());

    // A file that the disk has lost in part is named.
    write_earlier_form(&folder.0, "run-1", &[&increments]);
    let file = folder.0.join("run-run-1").join(format!("{:020}.json", 1));
    let json = fs::read(&file).unwrap();
    for length in [0, json.len() / 2, json.len() - 1] {
        fs::write(&file, &json[..length]).unwrap();
        let error = journal.load("run-1").now_or_never().unwrap().unwrap_err();
        assert!(error.to_string().contains("00001.json"), "{error}");
    }
}
