//! The rules of the desk. What holds for every folder is tested in the crate `tool-files`.

use std::fs;
use std::os::unix::fs::symlink;

use tool_files::{FileError, FileErrorKind};

use super::at_a_desk;
use super::desk::Lines;

const ALL: Lines = Lines {
    first: 1,
    most: 100,
    characters: 1000,
};

fn kind<T>(result: Result<T, FileError>) -> Option<FileErrorKind> {
    result.err().map(|error| error.kind())
}

#[test]
fn no_path_leaves_the_desk() {
    at_a_desk(|around, desk| {
        let on_desk = around.path().join("desk");
        symlink("..", on_desk.join("history")).expect("a link");
        for path in ["../secret.md", "/plan.md", "history/secret.md", ""] {
            let read = kind(desk.read(path, &ALL));
            assert!(read.is_some(), "{path}");
            assert!(desk.files.write(path, "mine").is_err(), "{path}");
            assert!(desk.files.append(path, "mine").is_err(), "{path}");
        }
        assert_eq!(desk.read("plan.md", &ALL).as_deref(), Ok("fine\n"));
    });
}

#[test]
fn reads_are_limited_by_lines_and_characters() {
    at_a_desk(|around, desk| {
        let on_desk = around.path().join("desk");
        let lines: String = (1..=50).map(|line| format!("line {line} é\n")).collect();
        fs::write(on_desk.join("long.md"), lines).expect("a file");
        let read = |first, most, characters| {
            let lines = Lines {
                first,
                most,
                characters,
            };
            desk.read("long.md", &lines).expect("text")
        };
        assert_eq!(read(2, 2, 100), "line 2 é\nline 3 é\n[lines 2 to 3 of 50]");
        assert_eq!(read(50, 5, 100), "line 50 é\n");
        assert_eq!(read(90, 5, 100), "");
        let cut = read(1, 50, 13);
        assert!(cut.starts_with("line 1 é\nline\n[truncated"), "{cut}");
    });
}

#[test]
fn only_listed_paths_are_writable() {
    at_a_desk(|around, desk| {
        for path in [
            "plan.md",
            "history",
            "history/a/b.md",
            "memory.md.md",
            "Memory.md",
            "tool_proposals/mine/1/tool.json",
        ] {
            let written = kind(desk.files.write(path, "mine"));
            assert_eq!(written, Some(FileErrorKind::NotWritable), "{path}");
        }
        assert_eq!(desk.files.write("memory.md", "first"), Ok(()));
        assert_eq!(desk.files.write("memory.md", "new"), Ok(()));
        assert_eq!(desk.files.append("memory.md", "er"), Ok(()));
        assert_eq!(desk.read("memory.md", &ALL).as_deref(), Ok("newer\n"));
        assert_eq!(desk.files.append("history/monday.md", "quiet"), Ok(()));
        assert!(around.path().join("desk/history/monday.md").is_file());
        assert!(!around.path().join("desk/history/a").exists());
        // Proposals go where the model can't write, and nowhere else.
        let name = || std::iter::once("history/1".to_owned());
        assert_eq!(
            kind(desk.propose(name(), &[])),
            Some(FileErrorKind::NotWritable)
        );
    });
}
