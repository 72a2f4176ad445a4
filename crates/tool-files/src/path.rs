//! Paths as models write them: relative, with `/`, and valid on every system.
//!
//! Every system follows the rules of Windows, so a name means the same file after the folder moves.

use tool_core::visible;

use crate::error::Reason;

/// Maximum number of bytes of a path.
const LONGEST: usize = 1024;

/// Maximum number of names in a path.
const DEEPEST: usize = 32;

/// Device names on Windows, reserved in every folder and with any extension.
/// <https://learn.microsoft.com/windows/win32/fileio/naming-a-file>
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Splits a path into names. The folder itself, written as an empty path or `.`, has no names.
pub(crate) fn names(path: &str, allows_hidden: bool) -> Result<Vec<&str>, Reason> {
    if matches!(path, "" | ".") {
        return Ok(Vec::new());
    }
    if path.len() > LONGEST {
        return Err(Reason::Path("it is too long"));
    }
    if path.starts_with('/') {
        return Err(Reason::Path(
            "it must be relative, such as `notes/today.md`",
        ));
    }
    let names: Vec<_> = path.split('/').collect();
    if names.len() > DEEPEST {
        return Err(Reason::Path("it has too many folders"));
    }
    for name in &names {
        check(name).map_err(Reason::Path)?;
    }
    if !allows_hidden && names.iter().any(|name| is_hidden(name)) {
        return Err(Reason::Hidden);
    }
    Ok(names)
}

pub(crate) fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

/// Returns the reason if a name is invalid.
pub(crate) fn check(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("a name is empty; write `/` once between names, and not at the end");
    }
    if matches!(name, "." | "..") {
        return Err("`.` and `..` are not allowed");
    }
    if name.len() > 255 {
        return Err("a name is too long");
    }
    // On Windows, `\` separates names, and `:` is for drives and alternate streams.
    if name.contains(['\\', ':', '<', '>', '"', '|', '?', '*']) {
        return Err("a name must not contain `\\ : < > \" | ? *`");
    }
    // macOS ignores some of them when it compares names, so they would give a hidden file a second name.
    if name.contains(visible::is_hidden) {
        return Err("a name must not contain control characters or invisible characters");
    }
    // Windows opens the name without them.
    if name.ends_with(['.', ' ']) || name.starts_with(' ') {
        return Err("a name must not start with a space, or end with a space or `.`");
    }
    if is_device(name) {
        return Err("a name is reserved on Windows");
    }
    if is_short(name) {
        return Err("a name must not look like a short name of Windows, such as `NAME~1.TXT`");
    }
    Ok(())
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end_matches(' ');
    let stem = stem.to_lowercase();
    let is_numbered = ["com", "lpt"].iter().any(|device| {
        stem.strip_prefix(device)
            .is_some_and(|number| matches!(number, "¹" | "²" | "³") || is_digit(number))
    });
    is_numbered || DEVICES.contains(&&*stem)
}

fn is_digit(text: &str) -> bool {
    matches!(text.as_bytes(), [b'0'..=b'9'])
}

/// Returns `true` for names such as `GIT~1`, a second name of `.git` on Windows.
fn is_short(name: &str) -> bool {
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    let Some((start, number)) = stem.rsplit_once('~') else {
        return false;
    };
    stem.chars().count() <= 8
        && extension.chars().count() <= 3
        && !start.is_empty()
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_valid(path: &str) -> bool {
        names(path, true).is_ok()
    }

    #[test]
    fn a_path_is_split_into_names() {
        assert_eq!(
            names("a/b c/d.e.md", false).unwrap(),
            ["a", "b c", "d.e.md"]
        );
        for root in ["", "."] {
            assert!(names(root, false).unwrap().is_empty());
        }
        let odd = "ä/日本語/a~b/~x/com/com10/nul-1/aux_/v1..2/\u{ff0e}\u{ff0e}/a\u{2215}b";
        assert_eq!(names(odd, false).unwrap().len(), 11);
    }

    #[test]
    fn what_some_system_reads_otherwise_is_not_a_path() {
        let long = "a".repeat(256);
        let deep = ["a"; DEEPEST + 1].join("/");
        let very_long = ["abcdefgh"; 200].join("/");
        for path in [
            "/",
            "/etc/passwd",
            "//server/share",
            "\\\\server\\share",
            "\\\\?\\C:\\x",
            "C:",
            "C:\\x",
            "C:x",
            "c:/x",
            "a\\b",
            "..",
            "../a",
            "a/../b",
            "a/..",
            "./a",
            "a/.",
            "a//b",
            "a/",
            "a\0",
            "a\0/b",
            "a\nb",
            "a\u{7f}",
            "a:b",
            "a::$DATA",
            ".git::$INDEX_ALLOCATION",
            "a.",
            "a ",
            "a. .",
            "...",
            ".. ",
            " a",
            "a/ /b",
            "~1/a/GIT~1",
            "GIT~1",
            "git~1",
            "PROGRA~1.TXT",
            "a~12",
            "CON",
            "con",
            "con.txt",
            "Con .txt",
            "a/NUL/b",
            "aux.tar.gz",
            "COM1",
            "com0.md",
            "LPT9",
            "com¹",
            "LPT³.x",
            "CONIN$",
            "conout$.md",
            ".g\u{200c}it",
            "a\u{feff}",
            "a\u{202e}b",
            "a\u{ad}",
            "a\u{fe0f}",
            "a?",
            "*",
            "a|b",
            "<a>",
            "\"a\"",
            &long,
            &deep,
            &very_long,
        ] {
            assert!(!is_valid(path), "{path:?}");
        }
    }

    #[test]
    fn hidden_names_are_valid_only_if_they_are_allowed() {
        for path in [".env", "a/.git/config", ".a"] {
            assert!(is_valid(path), "{path}");
            assert!(matches!(names(path, false), Err(Reason::Hidden)), "{path}");
        }
    }
}
