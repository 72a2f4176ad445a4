//! What people start a project from, compiled with the crates of this repository: the projects in `templates`, filled in as
//! cargo-generate does, and the recipes of the cookbook, with the `cargo add` lines of their heads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use tests::{folder_of, root};

/// The folders of `templates`.
const TEMPLATES: [&str; 4] = ["server", "agent", "tools", "service"];

/// Returns the minor version of the packages, such as `0.1`.
fn version() -> String {
    let manifest = include_str!("../../Cargo.toml");
    let (_, rest) = manifest.split_once("\nversion = \"").unwrap();
    let version = rest.split('"').next().unwrap();
    version.rsplit_once('.').unwrap().0.to_owned()
}

/// Writes a project from a template, whose dependencies are those of this repository.
fn fill_in(template: &str) -> PathBuf {
    let from = root().join("templates").join(template);
    let to = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("templates")
        .join(template);
    fs::create_dir_all(to.join("src")).unwrap();
    for entry in fs::read_dir(from.join("src")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.join("src").join(path.file_name().unwrap())).unwrap();
    }
    let manifest = fs::read_to_string(from.join("Cargo.toml")).unwrap();
    let mut manifest = manifest.replace("{{project-name}}", &format!("my-{template}"));
    assert!(!manifest.contains("{{"), "{manifest}");
    for package in ["tool-core", "tool-docs", "tool-agent", "tool-mcp"] {
        let path = folder_of(package).display().to_string();
        let path = path.replace('\\', "/");
        manifest = manifest.replace(
            &format!("{package} = {{ version = \"{}\"", version()),
            &format!("{package} = {{ path = \"{path}\""),
        );
    }
    manifest += "\n[workspace]\n";
    fs::write(to.join("Cargo.toml"), manifest).unwrap();
    // The versions that the workspace uses, so that nothing is downloaded.
    fs::copy(root().join("Cargo.lock"), to.join("Cargo.lock")).unwrap();
    to
}

/// Returns a target folder for all projects, because they share most dependencies.
fn target() -> PathBuf {
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("templates-target");
    env::var_os("CARGO_TARGET_DIR").map_or(shared, PathBuf::from)
}

#[test]
fn templates_and_pages_name_the_current_version() {
    let version = version();
    let pages = TEMPLATES.map(|name| format!("templates/{name}/Cargo.toml"));
    for page in pages.iter().map(String::as_str).chain(["llms.txt"]) {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let named = text.split("tool-").skip(1).filter_map(|part| {
            let (_, rest) = part.lines().next()?.split_once(" = { version = \"")?;
            rest.split('"').next()
        });
        let named: Vec<_> = named.collect();
        assert!(!named.is_empty(), "{page}");
        assert!(
            named.iter().all(|named| *named == version),
            "{page}: {named:?}"
        );
    }
}

/// A project starts with a page that says how to run it, and leaves out what programs write.
#[test]
fn templates_have_a_page_and_ignore_what_is_built() {
    for name in TEMPLATES {
        let folder = root().join("templates").join(name);
        let read = |file| fs::read_to_string(folder.join(file)).unwrap();
        let page = read("README.md");
        assert!(page.starts_with("# {{project-name}}\n"), "{name}");
        assert!(page.contains("cargo test"), "{name}");
        let ignored = read(".gitignore");
        assert!(ignored.lines().any(|line| line == "/target"), "{name}");
        let main = fs::read_to_string(folder.join("src/main.rs")).unwrap_or_default();
        if let Some((_, rest)) = main.split_once("FileJournal::new(\"") {
            let (journal, _) = rest.split_once('"').unwrap();
            assert!(ignored.contains(&format!("\n/{journal}\n")), "{name}");
        }
    }
}

/// Returns the packages of a project with their features, as its builds or its tests have them.
fn packages(project: &Path, edges: &str) -> BTreeMap<String, String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--prefix=none", "--format={p}|{f}"])
        .args(["--edges", edges])
        .current_dir(project)
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    let list = String::from_utf8(output.stdout).unwrap();
    let packages = list.lines().filter_map(|line| {
        let (package, features) = line.trim_end_matches(" (*)").split_once('|')?;
        Some((package.to_owned(), features.to_owned()))
    });
    packages.collect()
}

/// A package with other features in tests is compiled again, and with it all that depend on it.
#[test]
fn tests_with_tool_docs_compile_no_package_again() {
    let project = fill_in("tools");
    let (builds, tests) = (
        packages(&project, "normal"),
        packages(&project, "normal,dev"),
    );
    assert!(builds.keys().any(|name| name.starts_with("serde_json ")));
    assert!(tests.keys().any(|name| name.starts_with("tool-docs ")));
    for (package, features) in builds {
        assert_eq!(tests.get(&package), Some(&features), "{package}");
    }
}

/// Compiles the projects with their dependencies, so it runs only on demand.
#[test]
fn each_template_compiles_and_passes_its_tests() {
    if env::var_os("TOOL_CORE_TEMPLATES").is_none() {
        println!("skipped: TOOL_CORE_TEMPLATES is not set; `.ci/run templates` sets it");
        return;
    }
    for template in TEMPLATES {
        let output = Command::new(env!("CARGO"))
            .args(["test", "--offline", "--color=never"])
            .env("CARGO_TARGET_DIR", target())
            .current_dir(fill_in(template))
            .output()
            .unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{template}: {words}");
        let warned = format!("warning: `my-{template}`");
        assert!(!words.contains(&warned), "{template}: {words}");
    }
}

/// Makes a project of a recipe by the `cargo add` lines of its head.
fn follow(recipe: &Path) -> PathBuf {
    let cookbook = root().join("examples/cookbook");
    let name = recipe.file_stem().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("recipes")
        .join(name);
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::copy(recipe, folder.join("src/main.rs")).unwrap();
    let manifest = folder.join("Cargo.toml");
    let package = "[package]\nname = \"recipe\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(&manifest, package).unwrap();

    let code = fs::read_to_string(recipe).unwrap();
    let lines = code
        .lines()
        .filter_map(|line| line.strip_prefix("//! cargo add "));
    for line in lines {
        let words = line.split('#').next().unwrap().split_whitespace();
        let words = words.map(|word| match word.strip_prefix("../") {
            Some(neighbour) => cookbook
                .join("crates")
                .join(neighbour)
                .display()
                .to_string(),
            None if word.starts_with("tool-") => format!("--path={}", folder_of(word).display()),
            None => word.to_owned(),
        });
        cargo(&folder, std::iter::once("add".to_owned()).chain(words));
    }

    // The versions of the cookbook, so that no release of others changes the result.
    let lock = fs::read_to_string(cookbook.join("Cargo.lock")).unwrap();
    let added = fs::read_to_string(&manifest).unwrap();
    let pinned = added.lines().map(|line| {
        let (name, rest) = line.split_once(" = ").unwrap_or_default();
        let locked = lock.split_once(&format!("name = \"{name}\"\nversion = \""));
        match (locked, rest.split('"').nth(1)) {
            (Some((_, locked)), Some(newest)) => {
                line.replacen(newest, locked.split('"').next().unwrap(), 1) + "\n"
            }
            _ => format!("{line}\n"),
        }
    });
    fs::write(&manifest, pinned.collect::<String>()).unwrap();
    fs::write(folder.join("Cargo.lock"), lock).unwrap();
    folder
}

/// Runs cargo in a folder.
fn cargo(folder: &Path, arguments: impl IntoIterator<Item = String>) {
    let mut command = Command::new(env!("CARGO"));
    command
        .args(arguments)
        .env("CARGO_TARGET_DIR", target())
        .current_dir(folder);
    let output = command.output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {words}");
}

/// Compiles the recipes with their dependencies, which need a newer compiler than this package.
#[test]
fn each_recipe_compiles_in_a_project_that_its_head_describes() {
    if env::var_os("TOOL_CORE_RECIPES").is_none() {
        println!("skipped: TOOL_CORE_RECIPES is not set; `.ci/run recipes` sets it");
        return;
    }
    for entry in fs::read_dir(root().join("examples/cookbook/src/bin")).unwrap() {
        let folder = follow(&entry.unwrap().path());
        cargo(&folder, ["check".to_owned()]);
    }
}
