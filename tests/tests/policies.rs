//! What `POLICIES.md`, the tables of `ARCHITECTURE.md` and those of `src/README.md` in each crate say, compared with the manifests and the code.

use std::fs;

use tests::{PUBLISHED, files, folder_of, has_extension, root};

const POLICIES: &str = include_str!("../../POLICIES.md");
const ARCHITECTURE: &str = include_str!("../../ARCHITECTURE.md");
const MANIFEST: &str = include_str!("../../Cargo.toml");

fn read_of(package: &str, file: &str) -> String {
    fs::read_to_string(folder_of(package).join(file)).unwrap()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the value of a key that stands at the start of a line.
fn value<'t>(text: &'t str, key: &str) -> &'t str {
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    line.unwrap_or_else(|| panic!("no line starts with {key}"))
        .trim_start_matches([' ', '=', '"'])
        .trim_end_matches('"')
}

/// Returns what is in backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns the cells of the rows of tables, without their heads.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = text
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.map(|row| row.split('|').map(str::trim).collect())
}

/// Returns the part of a page between a heading and the next one, or nothing.
fn section<'t>(page: &'t str, heading: &str) -> &'t str {
    let (_, rest) = page
        .split_once(&format!("\n{heading}\n"))
        .unwrap_or_default();
    rest.split("\n## ").next().unwrap_or_default()
}

#[test]
fn every_page_names_the_minimum_version_of_rust() {
    let version = value(MANIFEST, "rust-version");
    assert!(POLICIES.contains(&format!("**Rust {version}** is the minimum")));
    for package in PUBLISHED {
        assert!(
            read_of(package, "README.md").contains(&format!("Rust {version} or newer.")),
            "{package}"
        );
    }
}

#[test]
fn the_table_lists_every_file_with_unsafe_code() {
    assert!(MANIFEST.contains("\nunsafe_code = \"deny\"\n"));
    let mut exceptions = Vec::new();
    for package in PUBLISHED {
        assert!(
            read_of(package, "Cargo.toml").contains("[lints]\nworkspace = true"),
            "{package} has lints of its own"
        );
        let mut rust = files(&folder_of(package).join("src"));
        rust.retain(|path| has_extension(path, "rs"));
        for file in rust {
            let text = fs::read_to_string(&file).unwrap();
            if text.contains("allow(unsafe_code") || text.contains("expect(unsafe_code") {
                let path = file.strip_prefix(root()).unwrap().to_str().unwrap();
                exceptions.push(path.replace('\\', "/"));
            }
        }
    }
    let section = POLICIES.split_once("## `unsafe`").unwrap().1;
    let section = section.split_once("\n## ").unwrap().0;
    let rows = section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let mut rows: Vec<_> = rows.map(str::to_owned).collect();
    exceptions.sort();
    rows.sort();
    assert_eq!(rows, exceptions);
}

#[test]
fn the_licences_and_the_number_of_packages_are_those_that_are_checked() {
    let deny = read("deny.toml");
    let allowed = deny.split_once("\nallow = [").unwrap().1;
    let allowed = allowed.split_once(']').unwrap().0;
    let allowed: Vec<_> = allowed
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.split('"').next())
        .collect();
    let (last, others) = allowed.split_last().unwrap();
    let sentence = format!("only {} and {last} (step `deny`)", others.join(", "));
    assert!(POLICIES.contains(&sentence), "{sentence}");
    for name in ["openssl-sys", "native-tls"] {
        assert!(deny.contains(&format!("crate = \"{name}\"")), "{name}");
    }

    let bounds = read("tests/size.txt");
    let limit = value(&bounds, "default crates of tool-core");
    assert!(POLICIES.contains(&format!("at most {limit} packages")));
}

#[test]
fn every_step_that_is_named_exists() {
    let steps = read(".ci/run");
    for part in POLICIES.split("tep `").skip(1) {
        let name = part.split('`').next().unwrap();
        assert!(steps.contains(&format!("\nstep_{name}() ")), "{name}");
    }
}

#[test]
fn the_table_of_crates_names_folders_and_packages() {
    let table = section(ARCHITECTURE, "## Crates");
    let mut published = Vec::new();
    for row in rows(table).skip(1) {
        for folder in code(row[0]) {
            assert!(root().join(folder).exists(), "no {folder}");
            if let Some(package) = code(row[1]).next() {
                let manifest = read(&format!("{folder}/Cargo.toml"));
                assert_eq!(value(&manifest, "name"), package);
                published.push(folder.trim_start_matches("crates/"));
            }
        }
    }
    published.sort_unstable();
    let mut expected = PUBLISHED;
    expected.sort_unstable();
    assert_eq!(published, expected);
}

#[test]
fn the_tables_of_modules_name_each_module_and_no_other() {
    for package in PUBLISHED {
        let page = read_of(package, "src/README.md");
        let text = page.split("\n## ").next().unwrap();
        let source = folder_of(package).join("src");
        for row in rows(text).skip(1) {
            for module in code(row[0]) {
                let path = module.trim_start_matches('_');
                let path = path.replace("::", "/").replace("/*.py", "");
                let exists =
                    source.join(&path).exists() || source.join(format!("{path}.rs")).exists();
                assert!(exists, "{package} has no {module}");
            }
        }
        for entry in fs::read_dir(&source).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "lib") {
                let is_named = code(text).any(|word| word.trim_start_matches('_') == module);
                assert!(is_named, "no table has `{module}` of {package}");
            }
        }
    }
}

/// A path of these tables may start at any folder, such as that of the provider before it.
#[test]
fn the_table_of_what_to_change_names_files() {
    let files = files(root());
    let mut seen = 0;
    let mut pages = vec![ARCHITECTURE.to_owned()];
    let inner = PUBLISHED.map(|package| read_of(package, "src/README.md"));
    pages.extend(inner);
    let tables = pages.iter().map(|page| section(page, "## Where to add"));
    for row in tables.flat_map(|table| rows(table).skip(1)) {
        for path in code(row[1]).filter(|word| !word.contains(['<', ' '])) {
            let ends = [".rs", ".md", ".toml", ".py", ".js"]
                .iter()
                .any(|end| path.ends_with(end));
            if ends {
                seen += 1;
                assert!(files.iter().any(|file| file.ends_with(path)), "no {path}");
            } else if path.contains('/') {
                assert!(root().join(path).exists(), "no {path}");
            }
        }
    }
    assert!(seen > 50, "only {seen} files");
}
