//! The tools reach no file outside of the desk, even if files move meanwhile.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::at_a_desk;
use super::desk::{DeskError, LARGEST, Lines};

const ALL: Lines = Lines {
    first: 1,
    most: 100,
    characters: 1000,
};

#[test]
fn no_path_leaves_the_desk() {
    at_a_desk(|around, desk| {
        let secret = around.path().join("secret.md");
        let secret = secret.to_str().expect("a path that is text");
        let paths = [
            secret,
            "/plan.md",
            "../secret.md",
            "./plan.md",
            "notes/../../secret.md",
            "notes/../plan.md",
            "notes//plan.md",
            "plan.md/",
            "..\\secret.md",
            "plan.md\0",
            ".",
            "..",
            "",
        ];
        for path in paths {
            assert_eq!(desk.read(path, &ALL), Err(DeskError::Path), "{path:?}");
            assert!(desk.write(path, "").is_err(), "{path:?}");
            assert!(desk.append(path, "").is_err(), "{path:?}");
        }
        assert_eq!(desk.read("plan.md", &ALL).as_deref(), Ok("fine\n"));
        assert_eq!(desk.read("gone.md", &ALL), Err(DeskError::Missing));
    });
}

#[test]
fn links_are_not_followed_and_only_files_are_read() {
    at_a_desk(|around, desk| {
        let on_desk = around.path().join("desk");
        symlink("../secret.md", on_desk.join("link.md")).expect("a link");
        symlink("..", on_desk.join("up")).expect("a link");
        symlink("plan.md", on_desk.join("memory.md")).expect("a link");
        symlink("..", on_desk.join("history")).expect("a link");
        fs::create_dir(on_desk.join("folder")).expect("a folder");
        // Reading a pipe without a writer would never end.
        let pipe = on_desk.join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o644), 0).expect("a pipe");
        for path in [
            "link.md",
            "up/secret.md",
            "up/desk/plan.md",
            "folder",
            "pipe",
        ] {
            let error = desk.read(path, &ALL).expect_err(path);
            assert!(
                matches!(error, DeskError::Link | DeskError::NotAFile),
                "{path}: {error}"
            );
        }
        for path in ["memory.md", "history/secret.md"] {
            assert!(desk.write(path, "mine").is_err(), "{path}");
            assert!(desk.append(path, "mine").is_err(), "{path}");
        }
        assert_eq!(desk.read("plan.md", &ALL).as_deref(), Ok("fine\n"));

        // A hard link to a file elsewhere is not a symbolic link, but writing to it has the same effect.
        fs::remove_file(on_desk.join("memory.md")).expect("it is there");
        let secret = around.path().join("secret.md");
        fs::hard_link(secret, on_desk.join("memory.md")).expect("a second name");
        assert_eq!(desk.write("memory.md", "mine"), Err(DeskError::Link));
        assert_eq!(desk.append("memory.md", "mine"), Err(DeskError::Link));
    });
}

/// A check of the path before opening it would lose this race.
#[test]
fn a_folder_swapped_for_a_link_is_not_followed() {
    at_a_desk(|around, desk| {
        let on_desk = around.path().join("desk");
        fs::create_dir(on_desk.join("notes")).expect("a folder");
        fs::write(on_desk.join("notes/secret.md"), "fine\n").expect("a file");
        symlink("..", on_desk.join("other")).expect("a link");
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let at = |name| on_desk.join(name);
                while !is_over.load(Ordering::Relaxed) {
                    for (from, to) in [("notes", "kept"), ("other", "notes")] {
                        fs::rename(at(from), at(to)).expect("a new name");
                    }
                    for (from, to) in [("notes", "other"), ("kept", "notes")] {
                        fs::rename(at(from), at(to)).expect("the old name");
                    }
                }
            });
            let (mut read, mut rejected, mut stolen) = (0, 0, 0);
            while stolen == 0 && (read + rejected < 2000 || read == 0 || rejected == 0) {
                match desk.read("notes/secret.md", &ALL).as_deref() {
                    Ok("fine\n") => read += 1,
                    Ok(_) => stolen += 1,
                    Err(_) => rejected += 1,
                }
            }
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(stolen, 0);
        });
    });
}

#[test]
fn reads_are_limited_by_lines_characters_and_size() {
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

        let largest = usize::try_from(LARGEST).expect("small");
        fs::write(on_desk.join("large"), vec![b'a'; largest + 1]).expect("a file");
        assert_eq!(desk.read("large", &ALL), Err(DeskError::TooLarge));
        fs::write(on_desk.join("image"), [0xFF, 0xD8]).expect("a file");
        assert_eq!(desk.read("image", &ALL), Err(DeskError::NotText));

        let half = "a".repeat(largest / 2);
        for is_room in [true, true, false] {
            assert_eq!(desk.append("memory.md", &half).is_ok(), is_room);
        }
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
        ] {
            assert!(desk.write(path, "mine").is_err(), "{path}");
        }
        assert_eq!(desk.write("memory.md", "first"), Ok(()));
        assert_eq!(desk.write("memory.md", "new"), Ok(()));
        assert_eq!(desk.append("memory.md", "er"), Ok(()));
        assert_eq!(desk.read("memory.md", &ALL).as_deref(), Ok("newer\n"));
        assert_eq!(desk.append("history/monday.md", "quiet"), Ok(()));
        assert!(around.path().join("desk/history/monday.md").is_file());
        assert!(!around.path().join("desk/history/a").exists());
    });
}
