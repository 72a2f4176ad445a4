//! Rules that the source of the crates keeps, because a second way would differ from the first.

use std::fs;

use tests::{library_folders, root, sources};
use tool_core::visible::is_hidden;

/// Returns the lines of the crates that are no tests and no comments, each with its place.
fn lines() -> Vec<(String, String)> {
    let folders = library_folders().into_iter();
    let mut files: Vec<_> = folders.flat_map(|folder| sources(&folder)).collect();
    files.retain(|file| !file.ends_with("golden.rs"));
    assert!(files.len() > 200, "{}", files.len());
    let mut lines = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let text = text.split("\nmod tests {").next().unwrap();
        let place = file.strip_prefix(root()).unwrap().display().to_string();
        let code = text.lines().enumerate();
        let code = code.filter(|(_, line)| !line.trim_start().starts_with("//"));
        lines.extend(code.map(|(at, line)| (format!("{place}:{}", at + 1), line.to_owned())));
    }
    lines
}

/// Returns the characters of the escapes `\u{…}` in a line.
fn escapes(line: &str) -> impl Iterator<Item = char> {
    let escapes = line.split(r"\u{").skip(1);
    escapes.filter_map(|rest| {
        let (digits, _) = rest.split_once('}')?;
        char::from_u32(u32::from_str_radix(digits, 16).ok()?)
    })
}

#[test]
fn there_is_one_list_of_hidden_characters() {
    for (place, line) in lines() {
        let is_hidden = |c: char| !c.is_ascii_control() && is_hidden(c);
        let is_here = place.contains("tool-core/src/visible.rs");
        assert!(
            is_here || !escapes(&line).any(is_hidden),
            "{place}: use `tool_core::visible` in place of a list: {line}"
        );
    }
}

/// What they are may change with `tool-docs` alone.
#[test]
fn the_items_for_tool_docs_have_no_other_user() {
    const PLACES: [&str; 2] = ["tool-core/src/lib.rs", "crates/tool-docs/src/"];
    let users = lines()
        .into_iter()
        .filter(|(_, line)| line.contains("__docs"));
    let users: Vec<_> = users.map(|(place, _)| place.replace('\\', "/")).collect();
    assert!(users.len() > 10, "{users:?}");
    for place in users {
        let is_here = PLACES.iter().any(|allowed| place.starts_with(allowed));
        assert!(is_here, "{place}: use a public item of `tool-core`");
    }
}

/// A file that is opened to be written is followed through links.
#[test]
fn files_in_folders_of_others_are_written_in_one_place() {
    const PLACES: [&str; 8] = [
        "tool-core/src/files.rs",
        // Folders of the application.
        "crates/tool-agent/src/run/file_journal",
        "crates/tool-mcp/src/server/store/sqlite.rs",
        "crates/tool-python/src/linux",
        "crates/tool-python/src/extend/store.rs",
        // Single names in an open folder, without links.
        "crates/tool-files/src/folder.rs",
        // A new file under a name that is free.
        "crates/tool-cli/src/output.rs",
        // Locks a file, and follows no link.
        "crates/tool-mcp/src/import/oauth/store.rs",
    ];
    for (place, line) in lines() {
        let place = place.replace('\\', "/");
        let writes = ["fs::write(", "File::create", "OpenOptions::new()"];
        let is_here = PLACES.iter().any(|allowed| place.starts_with(allowed));
        assert!(
            is_here || !writes.iter().any(|write| line.contains(write)),
            "{place}: write by `tool_core::files`: {line}"
        );
    }
}
