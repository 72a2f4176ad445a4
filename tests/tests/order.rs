//! Files of a crate import in one direction, so that one of them can be read first.
//!
//! The tests of a file may import anything. A `pub use` is the way out of a module and counts for nothing, but an
//! item that a file takes from its parent counts, since the parent usually imports the file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use tests::{library_folders, sources};

/// The files of a crate, each with the files that it imports from.
type Imports = BTreeMap<String, BTreeSet<String>>;

#[test]
fn files_import_in_one_direction() {
    let mut wrong = Vec::new();
    for folder in library_folders() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let found = circles(&imports(&read(&folder)));
        wrong.extend(found.into_iter().map(|file| format!("{name}/src/{file}")));
    }
    assert!(
        wrong.is_empty(),
        "these files import each other, directly or through others; move what both use into a file below them: \
         {wrong:#?}"
    );
}

#[test]
fn circles_are_found() {
    let source = |file: &str, text: &str| (file.to_owned(), text.to_owned());
    let sources = BTreeMap::from([
        source("lib.rs", "mod a;\nmod b;\nmod c;\npub use self::a::A;\n"),
        source(
            "a.rs",
            "mod below;\n\nuse crate::b::{\n    B,\n    self as other,\n};\n",
        ),
        source("a/below.rs", "use super::super::c::C;\n// use super::A;\n"),
        source("b.rs", "use crate::{a::below::{Below, Lower}, c};\n"),
        source(
            "c.rs",
            "struct C;\n\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n",
        ),
    ]);
    assert!(circles(&imports(&sources)).is_empty());
    for (file, text, expected) in [
        (
            "c.rs",
            "use super::b::B;\n",
            &["a/below.rs", "b.rs", "c.rs"][..],
        ),
        (
            "c.rs",
            "fn f() {\n    use crate::a;\n}\n",
            &["a.rs", "a/below.rs", "b.rs", "c.rs"],
        ),
        (
            "a/below.rs",
            "use super::A;\n",
            &["a.rs", "a/below.rs", "b.rs"],
        ),
        (
            "c.rs",
            "use crate::{b::{B}, c::C};\n",
            &["a/below.rs", "b.rs", "c.rs"],
        ),
    ] {
        let mut sources = sources.clone();
        sources.insert(file.to_owned(), text.to_owned());
        let found = circles(&imports(&sources));
        assert!(found.iter().any(|one| one == file), "{text}: {found:?}");
        assert!(
            found.iter().all(|one| expected.contains(&&**one)),
            "{found:?}"
        );
    }
}

/// Reads the files of a crate, by their paths below `src`.
fn read(folder: &Path) -> BTreeMap<String, String> {
    let below = folder.join("src");
    let place = |file: &Path| {
        let file = file.strip_prefix(&below).unwrap().to_str().unwrap();
        file.replace('\\', "/")
    };
    let files = sources(folder).into_iter();
    files
        .map(|file| (place(&file), fs::read_to_string(&file).unwrap()))
        .collect()
}

fn imports(sources: &BTreeMap<String, String>) -> Imports {
    let of_file = |(file, text): (&String, &String)| {
        // The tests of a file may need a feature.
        let is_tests = |start: &usize| {
            let mut lines = text[start + 1..].lines();
            let is_of_tests =
                |line: &str| line == "#[cfg(test)]" || line.starts_with("#[cfg(all(test, ");
            lines.next().is_some_and(is_of_tests)
                && lines.next().is_some_and(|line| line.starts_with("mod "))
        };
        let mut starts = text.match_indices("\n#[cfg(").map(|(start, _)| start);
        let code = &text[..starts.find(is_tests).unwrap_or(text.len())];
        let lines = code
            .lines()
            .map(|line| line.split("//").next().unwrap().trim());
        let code = lines.collect::<Vec<_>>().join("\n");
        let mut imported = BTreeSet::new();
        for (start, _) in format!("\n{code}").match_indices("\nuse ") {
            let tree = code[start + "use ".len()..].split(';').next().unwrap();
            // A line of a text may start with the word, too.
            if ["crate::", "self::", "super::"]
                .iter()
                .any(|root| tree.starts_with(root))
            {
                paths(tree, "", &mut |path| {
                    imported.extend(file_of(path, file, sources));
                });
            }
        }
        imported.remove(file);
        (file.clone(), imported)
    };
    sources.iter().map(of_file).collect()
}

/// Calls a function with each path of a tree such as `a::{b, c::{self, d}}`.
fn paths(tree: &str, prefix: &str, each: &mut impl FnMut(&str)) {
    let tree = tree.trim();
    let Some((before, inside)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap().trim();
        each(&format!("{prefix}{path}"));
        return;
    };
    let inside = &inside[..inside.rfind('}').unwrap()];
    let (mut depth, mut start) = (0, 0);
    for (at, character) in inside.char_indices().chain([(inside.len(), ',')]) {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !inside[start..at].trim().is_empty() {
                    paths(&inside[start..at], &format!("{prefix}{before}"), each);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// Returns the file that contains the item of a path, if it is one of the crate.
fn file_of(path: &str, importer: &str, sources: &BTreeMap<String, String>) -> Option<String> {
    let mut module: Vec<&str> = match importer {
        "lib.rs" => Vec::new(),
        file => file.trim_end_matches(".rs").split('/').collect(),
    };
    let mut names = path.split("::").map(str::trim).peekable();
    match names.next()? {
        "crate" => module.clear(),
        "self" => {}
        "super" => {
            module.pop();
            while names.next_if_eq(&"super").is_some() {
                module.pop();
            }
        }
        _ => return None,
    }
    let file = |module: &[&str]| match module {
        [] => "lib.rs".to_owned(),
        names => names.join("/") + ".rs",
    };
    for name in names {
        module.push(name);
        if !sources.contains_key(&file(&module)) {
            module.pop();
            break;
        }
    }
    Some(file(&module)).filter(|file| sources.contains_key(file))
}

/// Returns the files that reach themselves.
fn circles(imports: &Imports) -> Vec<String> {
    let reaches_itself = |file: &&String| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![*file]);
        while let Some(next) = open.pop() {
            for imported in &imports[next] {
                if imported == *file {
                    return true;
                }
                if reached.insert(imported) {
                    open.push(imported);
                }
            }
        }
        false
    };
    imports.keys().filter(reaches_itself).cloned().collect()
}
