//! Attempts to reach files outside of the folder, or to make the program hang or run out of memory.

mod support;

use std::fs;

use support::Place;
use tool_files::{Editor, FileError, FileErrorKind, Folder, Memory, Patcher};

fn kind<T>(result: Result<T, FileError>) -> Option<FileErrorKind> {
    result.err().map(|error| error.kind())
}

/// Checks that every operation on a path fails.
fn assert_unusable(folder: &Folder, path: &str) {
    let all = [
        ("read", folder.read(path).is_err()),
        ("write", folder.write(path, "mine").is_err()),
        ("create", folder.create(path, "mine").is_err()),
        ("append", folder.append(path, "mine").is_err()),
        ("create_folder", folder.create_folder(path).is_err()),
        ("remove", folder.remove(path).is_err()),
        ("rename to", folder.rename("plan.md", path).is_err()),
        ("rename from", folder.rename(path, "other.md").is_err()),
        (
            "patch",
            Patcher::new(folder.clone()).update(path, "+a").is_err(),
        ),
        (
            "insert",
            Editor::new(folder.clone()).insert(path, 0, "a").is_err(),
        ),
    ];
    for (what, is_error) in all {
        assert!(is_error, "{what} {path:?}");
    }
}

#[test]
fn no_path_leaves_the_folder() {
    let place = Place::new();
    let folder = place.folder();
    folder.write("plan.md", "fine\n").unwrap();
    let secret = place.outside("secret.md");
    let secret = secret.to_str().unwrap();
    let (long, deep) = ("a".repeat(5000), "a/".repeat(500) + "a");
    for path in [
        secret,
        "/plan.md",
        "//plan.md",
        "/proc/self/environ",
        "../secret.md",
        "./plan.md",
        "notes/../../secret.md",
        "notes/../plan.md",
        "notes//plan.md",
        "plan.md/",
        "..\\secret.md",
        "\\\\server\\share\\secret.md",
        "\\\\?\\C:\\secret.md",
        "C:\\secret.md",
        "C:secret.md",
        "plan.md\0",
        "plan.md\0.txt",
        "plan.md::$DATA",
        "plan.md:stream",
        "plan.md.",
        "plan.md ",
        "PLAN~1.MD",
        "CON",
        "nul.txt",
        "notes/com1.md",
        "..",
        "...",
        "~",
        &long,
        &deep,
    ] {
        if path == "~" {
            // A shell would read it as the home folder; here it is an ordinary name.
            assert_eq!(kind(folder.read(path)), Some(FileErrorKind::Missing));
            continue;
        }
        assert_eq!(
            kind(folder.read(path)),
            Some(FileErrorKind::Path),
            "{path:?}"
        );
        assert_eq!(
            kind(folder.list(path, 2)),
            Some(FileErrorKind::Path),
            "{path:?}"
        );
        assert_unusable(&folder, path);
    }
    for path in ["", "."] {
        assert_unusable(&folder, path);
    }
    // Characters that only look like special ones are ordinary.
    for path in [
        "\u{ff0e}\u{ff0e}\u{ff0f}secret.md",
        "\u{2024}\u{2024}\u{2215}secret.md",
    ] {
        folder.create(path, "mine").unwrap();
        assert!(place.inside(path).is_file(), "{path}");
        folder.remove(path).unwrap();
    }
    place.assert_secret();
    assert_eq!(folder.read("plan.md").unwrap(), "fine\n");
    assert_eq!(fs::read_dir(place.inside("")).unwrap().count(), 1);
}

#[test]
fn hidden_files_are_out_of_reach_unless_they_are_allowed() {
    let place = Place::new();
    let folder = place.folder();
    fs::create_dir(place.inside(".git")).unwrap();
    fs::write(place.inside(".git/config"), "key").unwrap();
    fs::write(place.inside(".env"), "key").unwrap();
    folder.write("plan.md", "fine\n").unwrap();
    for path in [".env", ".git/config", ".git/hooks/pre-commit", ".new"] {
        assert_eq!(
            kind(folder.read(path)),
            Some(FileErrorKind::Hidden),
            "{path}"
        );
        assert_unusable(&folder, path);
    }
    let shown = Memory::new(folder.clone()).view("/memories", None).unwrap();
    assert!(
        shown.contains("plan.md") && !shown.contains(".env"),
        "{shown}"
    );
    // A folder with hidden files is not moved or deleted.
    fs::create_dir_all(place.inside("repo/.git")).unwrap();
    assert_eq!(
        kind(folder.remove("repo")),
        Some(FileErrorKind::NotWritable)
    );
    assert_eq!(
        kind(folder.rename("repo", "other")),
        Some(FileErrorKind::NotWritable)
    );
    let folder = folder.hidden(true);
    assert_eq!(folder.read(".env").unwrap(), "key");
    folder.remove("repo").unwrap();
}

#[test]
fn nothing_is_writable_by_default() {
    let place = Place::new();
    place.folder().write("a.md", "old").unwrap();
    let folder = Folder::open(place.inside("")).unwrap();
    assert_unusable_for_writing(&folder, "a.md");
    assert_unusable_for_writing(&folder, "b.md");
    assert_eq!(folder.read("a.md").unwrap(), "old");
    assert_eq!(fs::read_dir(place.inside("")).unwrap().count(), 1);
}

fn assert_unusable_for_writing(folder: &Folder, path: &str) {
    for result in [
        folder.write(path, "mine"),
        folder.create(path, "mine"),
        folder.append(path, "mine"),
        folder.create_folder(path),
        folder.remove("a.md"),
        folder.rename("a.md", "c.md"),
    ] {
        let kind = kind(result);
        assert_eq!(kind, Some(FileErrorKind::NotWritable), "{path}");
    }
}

#[test]
fn only_listed_paths_are_writable() {
    let place = Place::new();
    let folder = Folder::open(place.inside("")).unwrap();
    let folder = folder
        .writable("memory.md")
        .unwrap()
        .writable("history/*")
        .unwrap();
    let folder = folder.writable("deep/**").unwrap();
    for path in [
        "plan.md",
        "history",
        "history/a/b.md",
        "memory.md.md",
        "Memory.md",
        "memory.md/a",
        "deep",
        "HISTORY/a",
    ] {
        assert_eq!(
            kind(folder.write(path, "mine")),
            Some(FileErrorKind::NotWritable),
            "{path}"
        );
    }
    for path in ["memory.md", "history/a.md", "deep/a.md", "deep/a/b/c.md"] {
        assert_eq!(folder.write(path, "mine"), Ok(()), "{path}");
    }
    // A folder that is only partly writable is neither moved nor deleted.
    for path in ["history", "deep"] {
        assert_eq!(
            kind(folder.remove(path)),
            Some(FileErrorKind::NotWritable),
            "{path}"
        );
        assert_eq!(
            kind(folder.rename(path, "deep/x")),
            Some(FileErrorKind::NotWritable),
            "{path}"
        );
    }
    assert_eq!(
        kind(folder.rename("deep/a", "history/a")),
        Some(FileErrorKind::NotWritable)
    );
    assert_eq!(
        kind(folder.rename("deep/a.md", "plan.md")),
        Some(FileErrorKind::NotWritable)
    );
    folder.rename("deep/a", "deep/b").unwrap();
    folder.remove("deep/b").unwrap();
    for pattern in [
        "", ".", "/", "/a", "../*", "a//b", "a/../*", "*.md", "a*", "**/a", "a/**/b", "C:/*", "a/",
    ] {
        let error = folder.clone().writable(pattern).unwrap_err();
        assert_eq!(error.kind(), FileErrorKind::Path, "{pattern}");
    }
}

#[test]
fn sizes_are_limited() {
    let place = Place::new();
    let folder = place.folder().max_file_bytes(100).max_entries(10);
    let fits = "a".repeat(100);
    let large = "a".repeat(101);
    assert_eq!(folder.write("a.md", &fits), Ok(()));
    for result in [
        folder.write("a.md", &large),
        folder.create("b.md", &large),
        folder.append("a.md", "a"),
        Editor::new(folder.clone())
            .insert("a.md", 0, "a")
            .map(|_| ()),
        Patcher::new(folder.clone())
            .create("b.md", &format!("+{large}"))
            .map(|_| ()),
    ] {
        assert_eq!(kind(result), Some(FileErrorKind::TooLarge));
    }
    assert_eq!(folder.read("a.md").unwrap(), fits);
    fs::write(place.inside("large"), large).unwrap();
    assert_eq!(kind(folder.read("large")), Some(FileErrorKind::TooLarge));
    // A file of many gigabytes costs no more than one that is a byte too large.
    fs::File::create(place.inside("huge"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    assert_eq!(kind(folder.read("huge")), Some(FileErrorKind::TooLarge));

    for number in 0..20 {
        fs::create_dir_all(place.inside(format!("many/{number}"))).unwrap();
    }
    let listing = folder.list("many", 1).unwrap();
    assert_eq!((listing.entries.len(), listing.is_complete), (10, false));
    assert_eq!(kind(folder.remove("many")), Some(FileErrorKind::TooLarge));
    assert!(place.inside("many/19").exists());
    let view = Memory::new(folder).view("/memories/many", None).unwrap();
    assert!(view.ends_with("[truncated: there are more]"), "{view}");
}

#[test]
fn only_text_is_read_and_written() {
    let place = Place::new();
    let folder = place.folder();
    fs::write(place.inside("image"), [0xFF, 0xD8]).unwrap();
    fs::write(place.inside("zero"), "a\0b").unwrap();
    for path in ["image", "zero"] {
        assert_eq!(
            kind(folder.read(path)),
            Some(FileErrorKind::NotText),
            "{path}"
        );
        assert_eq!(
            kind(folder.append(path, "a")),
            Some(FileErrorKind::NotText),
            "{path}"
        );
    }
    assert_eq!(kind(folder.write("a", "a\0")), Some(FileErrorKind::NotText));
    assert!(!place.inside("a").exists());
}

/// Readers never see half a text.
#[test]
fn a_write_is_seen_whole_or_not_at_all() {
    let place = Place::new();
    let folder = place.folder();
    let texts = ["a".repeat(100_000), "b".repeat(50_000)];
    folder.write("a.md", &texts[0]).unwrap();
    let reader = folder.clone();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..200 {
                folder.write("a.md", &texts[number % 2]).unwrap();
            }
        });
        while !writer.is_finished() {
            // On Windows a file that is being replaced may be denied for a moment.
            if let Ok(text) = reader.read("a.md") {
                assert!(texts.contains(&text), "{} bytes", text.len());
            }
        }
    });
    let names: Vec<_> = fs::read_dir(place.inside("")).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

/// Clones of a folder lose none of each other's changes.
#[test]
fn changes_at_the_same_time_are_all_there() {
    let place = Place::new();
    let folder = place.folder();
    std::thread::scope(|scope| {
        for name in ["a\n", "b\n", "c\n", "d\n"] {
            let folder = folder.clone();
            scope.spawn(move || {
                for _ in 0..25 {
                    folder.append("log.md", name).unwrap();
                }
            });
        }
    });
    let mut lines: Vec<_> = folder
        .read("log.md")
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    lines.sort_unstable();
    lines
        .chunk_by(|a, b| a == b)
        .for_each(|same| assert_eq!(same.len(), 25));
    assert_eq!(lines.len(), 100);
}

#[test]
fn what_a_write_replaces_may_be_a_folder_and_stays() {
    let place = Place::new();
    let folder = place.folder();
    folder.create_folder("a").unwrap();
    for result in [
        folder.write("a", "x"),
        folder.append("a", "x"),
        folder.create("a", "x"),
    ] {
        assert!(result.is_err());
    }
    folder.write("b.md", "b").unwrap();
    assert_eq!(
        kind(folder.write("b.md/c.md", "x")),
        Some(FileErrorKind::Missing)
    );
    assert_eq!(
        kind(folder.rename("a", "b.md")),
        Some(FileErrorKind::Exists)
    );
    assert_eq!(
        kind(folder.rename("b.md", "a")),
        Some(FileErrorKind::Exists)
    );
    assert_eq!(kind(folder.rename("a", "a/b")), Some(FileErrorKind::Path));
    assert_eq!(kind(folder.read("a")), Some(FileErrorKind::NotAFile));
    let patcher = Patcher::new(folder.clone());
    assert_eq!(kind(patcher.delete("a")), Some(FileErrorKind::NotAFile));
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};

    use super::*;

    #[test]
    fn links_are_not_followed_and_only_files_are_read() {
        let place = Place::new();
        let folder = place.folder();
        folder.write("plan.md", "fine\n").unwrap();
        symlink("../secret.md", place.inside("link.md")).unwrap();
        symlink(place.outside("secret.md"), place.inside("absolute.md")).unwrap();
        symlink("plan.md", place.inside("near.md")).unwrap();
        symlink("gone", place.inside("dangling.md")).unwrap();
        symlink("..", place.inside("up")).unwrap();
        // cap-std alone would follow this link.
        folder.write("real/plan.md", "fine\n").unwrap();
        symlink("real", place.inside("near")).unwrap();
        symlink("/proc/self", place.inside("proc")).unwrap();
        symlink("loop", place.inside("loop")).unwrap();
        for path in [
            "link.md",
            "absolute.md",
            "near.md",
            "dangling.md",
            "up",
            "loop",
            "up/secret.md",
            "up/inside/plan.md",
            "up/new.md",
            "near/plan.md",
            "near/new.md",
            "proc/environ",
            "proc/cwd/Cargo.toml",
            "loop/a",
        ] {
            assert_eq!(kind(folder.read(path)), Some(FileErrorKind::Link), "{path}");
            assert_unusable(&folder, path);
        }
        assert!(!place.outside("new.md").exists());
        let listing = folder.list("", 2).unwrap();
        assert_eq!((listing.entries.len(), listing.unusable), (3, 8));
        place.assert_secret();
    }

    #[test]
    fn a_file_with_a_second_name_is_not_used() {
        let place = Place::new();
        let folder = place.folder();
        fs::hard_link(place.outside("secret.md"), place.inside("memory.md")).unwrap();
        for result in [
            folder.read("memory.md").map(|_| ()),
            folder.write("memory.md", "mine"),
            folder.append("memory.md", "mine"),
            Editor::new(folder.clone())
                .insert("memory.md", 0, "mine")
                .map(|_| ()),
        ] {
            assert_eq!(kind(result), Some(FileErrorKind::Link));
        }
        place.assert_secret();
    }

    #[test]
    fn pipes_sockets_and_devices_are_not_opened() {
        let place = Place::new();
        let folder = place.folder();
        folder.write("plan.md", "fine\n").unwrap();
        // Reading a pipe without a writer would never end.
        mknodat(
            CWD,
            place.inside("pipe"),
            FileType::Fifo,
            Mode::from_raw_mode(0o644),
            0,
        )
        .unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(place.inside("socket")).unwrap();
        for path in ["pipe", "socket"] {
            assert_eq!(
                kind(folder.read(path)),
                Some(FileErrorKind::NotAFile),
                "{path}"
            );
            assert_unusable(&folder, path);
        }
        assert_eq!(folder.list("", 1).unwrap().unusable, 2);
        // A folder with such files is neither moved nor deleted.
        fs::create_dir(place.inside("with")).unwrap();
        fs::rename(place.inside("pipe"), place.inside("with/pipe")).unwrap();
        assert_eq!(
            kind(folder.remove("with")),
            Some(FileErrorKind::NotWritable)
        );
        fs::remove_file(place.inside("with/pipe")).unwrap();
        symlink("../../secret.md", place.inside("with/link")).unwrap();
        assert_eq!(
            kind(folder.remove("with")),
            Some(FileErrorKind::NotWritable)
        );
        place.assert_secret();
    }

    #[test]
    fn a_file_keeps_its_permissions_and_a_new_one_is_not_for_all() {
        let place = Place::new();
        let folder = place.folder();
        fs::write(place.inside("run"), "a\n").unwrap();
        fs::set_permissions(place.inside("run"), fs::Permissions::from_mode(0o700)).unwrap();
        folder.append("run", "b\n").unwrap();
        folder.write("new/file", "a").unwrap();
        let mode = |path| {
            fs::metadata(place.inside(path))
                .unwrap()
                .permissions()
                .mode()
                & 0o7777
        };
        assert_eq!(mode("run"), 0o700);
        assert_eq!([mode("new") & 0o022, mode("new/file") & 0o133], [0, 0]);
    }

    /// Keeps swapping `inside/notes` and `inside/other`, a link to the folder above, until the test is over.
    fn with_a_folder_that_moves(place: &Place, test: impl FnOnce()) {
        symlink("..", place.inside("other")).unwrap();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let (notes, other) = (place.inside("notes"), place.inside("other"));
                while !is_over.load(Ordering::Relaxed) {
                    renameat_with(CWD, &notes, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                }
            });
            test();
            is_over.store(true, Ordering::Relaxed);
        });
    }

    /// A check of the path before opening it would lose this race.
    #[test]
    fn a_folder_swapped_for_a_link_is_not_followed() {
        let place = Place::new();
        let folder = place.folder();
        folder.write("notes/secret.md", "fine\n").unwrap();
        with_a_folder_that_moves(&place, || {
            let (mut used, mut rejected, mut stolen) = (0, 0, 0);
            while stolen == 0 && (used + rejected < 2000 || used == 0 || rejected == 0) {
                match folder.read("notes/secret.md").as_deref() {
                    Ok("fine\n") => used += 1,
                    Ok(_) => stolen += 1,
                    Err(_) => rejected += 1,
                }
            }
            assert_eq!(stolen, 0);
        });
    }

    #[test]
    fn nothing_is_written_or_deleted_through_a_folder_that_is_swapped() {
        let place = Place::new();
        let folder = place.folder();
        folder.write("notes/secret.md", "fine\n").unwrap();
        let memory = Memory::new(folder.clone());
        with_a_folder_that_moves(&place, || {
            let (mut used, mut rejected) = (0, 0);
            while used + rejected < 1000 || used == 0 || rejected == 0 {
                let results = [
                    folder.write("notes/secret.md", "fine\n"),
                    folder.append("notes/new.md", "."),
                    folder.remove("notes/new.md"),
                    memory
                        .rename("/memories/notes/secret.md", "/memories/notes/secret2.md")
                        .map(|_| ()),
                    memory
                        .rename("/memories/notes/secret2.md", "/memories/notes/secret.md")
                        .map(|_| ()),
                ];
                used += results.iter().filter(|result| result.is_ok()).count();
                rejected += results.iter().filter(|result| result.is_err()).count();
            }
        });
        place.assert_secret();
        let mut outside: Vec<_> = fs::read_dir(place.outside(""))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        outside.sort_unstable();
        assert_eq!(outside, ["inside", "secret.md"]);
    }

    /// A file that becomes a link between the check and the write is replaced, not followed.
    #[test]
    fn a_file_swapped_for_a_link_is_not_followed() {
        let place = Place::new();
        let folder = place.folder();
        folder.write("a.md", "fine\n").unwrap();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let _ = symlink("../secret.md", place.inside("swap"));
                    let _ = fs::rename(place.inside("swap"), place.inside("a.md"));
                    let _ = fs::write(place.inside("swap"), "fine\n");
                    let _ = fs::rename(place.inside("swap"), place.inside("a.md"));
                }
            });
            let (mut used, mut rejected) = (0, 0);
            while used + rejected < 1000 || used == 0 || rejected == 0 {
                let results = [folder.append("a.md", "."), folder.write("a.md", "fine\n")];
                used += results.iter().filter(|result| result.is_ok()).count();
                rejected += results.iter().filter(|result| result.is_err()).count();
                if let Ok(text) = folder.read("a.md") {
                    assert_ne!(text, support::SECRET);
                }
            }
            is_over.store(true, Ordering::Relaxed);
        });
        place.assert_secret();
    }
}
