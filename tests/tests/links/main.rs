//! The links of Markdown files, and of the pages that rustdoc wrote.
//!
//! Only links within the repository are followed, and links to the pages of its packages on docs.rs, which are looked
//! up in the pages on this machine. Step `rustdoc` of `.ci/run` names their folder in `TOOL_CORE_PAGES`.

mod cargo_add;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::{env, fs};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use tests::{PUBLISHED, crate_in, files, folder_of, has_extension, package_in, root};

/// Hidden items of public traits. rustdoc links to them where a type of another crate implements the trait.
const HIDDEN: [&str; 2] = ["tymethod.into_outcome", "associatedconstant.TOOLS"];

/// Returns `true` for a link in the documentation of another crate, which rustdoc shows where a type of ours implements
/// a trait of it. A path that rustdoc can't resolve in our own documentation is an error of rustdoc.
fn is_foreign(target: &str) -> bool {
    target.contains("::") || target == "dispatcher#setting-the-default-subscriber"
}

/// Returns `true` if a file is part of the documentation of a crate: rustdoc checks the links of those.
fn is_rustdoc(path: &Path) -> bool {
    let path = path.strip_prefix(root()).unwrap();
    path.components()
        .any(|part| part == Component::Normal("src".as_ref()))
}

/// Returns the documents that a reader opens as files.
fn documents() -> Vec<PathBuf> {
    let is_document = |path: &Path| {
        let is_markdown = has_extension(path, "md");
        (is_markdown || path.ends_with("llms.txt")) && !is_rustdoc(path)
    };
    let mut found = files(root());
    found.retain(|path| is_document(path));
    found
}

/// Returns the targets of the links in a text.
fn links(text: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                targets.push(dest_url.into_string());
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                for name in [" href=\"", " src=\"", " srcset=\""] {
                    let values = html.split(name).skip(1);
                    targets.extend(values.filter_map(|part| Some(part.split_once('"')?.0.into())));
                }
            }
            _ => {}
        }
    }
    targets
}

/// Returns the anchors in a text: those of HTML, and of its headings as GitHub makes them.
fn anchors(text: &str) -> HashSet<String> {
    let mut anchors = HashSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let words = heading.take().unwrap_or_default().to_lowercase();
                let kept = words
                    .chars()
                    .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
                let anchor: String = kept
                    .map(|letter| if letter == ' ' { '-' } else { letter })
                    .collect();
                let again = (1..).map(|number| format!("{anchor}-{number}"));
                let free = std::iter::once(anchor.clone())
                    .chain(again)
                    .find(|name| !anchors.contains(name));
                anchors.extend(free);
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                anchors.extend(Pages::values(&html, "id").map(str::to_owned));
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            _ => {}
        }
    }
    anchors
}

fn is_external(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:") || target.starts_with("data:")
}

/// Returns what is wrong with a link in a document, if anything is.
fn broken(document: &Path, target: &str) -> Option<&'static str> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = match path {
        "" => document.to_owned(),
        _ => document.parent().unwrap().join(path),
    };
    if !file.exists() {
        return Some("no such file");
    }
    let is_markdown = file.extension().is_some_and(|extension| extension == "md");
    if !anchor.is_empty() && is_markdown {
        let text = fs::read_to_string(&file).unwrap();
        if !anchors(&text).contains(anchor) {
            return Some("no such heading");
        }
    }
    None
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut problems = Vec::new();
    let mut seen = 0;
    for document in documents() {
        for target in links(&fs::read_to_string(&document).unwrap()) {
            if is_external(&target) {
                continue;
            }
            seen += 1;
            if let Some(problem) = broken(&document, &target) {
                let document = document.strip_prefix(root()).unwrap().display();
                problems.push(format!("{document}: {target}: {problem}"));
            }
        }
    }
    assert!(seen > 100, "only {seen} links were found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The README of a package is on docs.rs and crates.io, where a relative link leads nowhere.
#[test]
fn front_pages_of_packages_have_absolute_links_only() {
    // The package `tool-core` has the README of the repository, whose address crates.io completes.
    for package in PUBLISHED.into_iter().filter(|name| *name != "tool-core") {
        let text = fs::read_to_string(folder_of(package).join("README.md")).unwrap();
        let relative: Vec<_> = links(&text)
            .into_iter()
            .filter(|target| !is_external(target))
            .collect();
        assert!(relative.is_empty(), "{package}/README.md: {relative:?}");
    }
}

/// Returns the names of the guides of a crate, in the order of its code.
fn guides(folder: &str) -> Vec<String> {
    let code = fs::read_to_string(folder_of(folder).join("src/guide.rs")).unwrap_or_default();
    let names = code.lines().filter_map(|line| {
        let name = line.strip_prefix("pub mod ")?.strip_suffix(" {}")?;
        Some(name.to_owned())
    });
    names.collect()
}

/// The guides of all crates are on one page, those of `tool-core` in the order to learn.
#[test]
fn every_guide_is_listed() {
    let page = fs::read_to_string(root().join("tool-core/src/guide.rs")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("//! | ["));
    let rows: Vec<_> = rows.collect();
    let mut listed = 0;
    for (index, guide) in guides("tool-core").iter().enumerate() {
        let start = format!("//! | [`{guide}`] | ");
        assert!(rows[index].starts_with(&start), "{guide}: {}", rows[index]);
        listed += 1;
    }
    for folder in PUBLISHED.into_iter().filter(|own| *own != "tool-core") {
        for guide in guides(folder) {
            let address = format!("/{}/guide/{guide}/) | ", crate_in(folder));
            assert!(rows.iter().any(|row| row.contains(&address)), "{address}");
            listed += 1;
        }
    }
    // That of `tool-eval` is a page of its own.
    assert_eq!(listed + 1, rows.len());
}

/// The pages of rustdoc in a folder, each read once.
struct Pages {
    folder: PathBuf,
    anchors: HashMap<PathBuf, HashSet<String>>,
}

impl Pages {
    /// Returns the values of an attribute on a page.
    fn values<'t>(html: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
        let values = html.split(&format!(" {name}=")).skip(1).collect::<Vec<_>>();
        values.into_iter().filter_map(|part| {
            let mut letters = part.chars();
            match letters.next()? {
                quote @ ('"' | '\'') => letters.as_str().split(quote).next(),
                // Within a string of a script.
                '\\' => None,
                _ => part.split([' ', '>']).next(),
            }
        })
    }

    /// Returns what is wrong with a link from a page, if anything is.
    fn broken(&mut self, page: &Path, target: &str) -> Option<&'static str> {
        let target = target.replace("&amp;", "&").replace("%20", " ");
        let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let path = path.split('?').next().unwrap_or_default();
        let mut file = match path {
            "" => page.to_owned(),
            _ => normal(&page.parent().unwrap().join(path)),
        };
        if file.is_dir() {
            file.push("index.html");
        }
        if !file.exists() {
            return Some("no such page");
        }
        // Lines of source code are marked by a script.
        let is_source = file.starts_with(self.folder.join("src"));
        if anchor.is_empty() || is_source || HIDDEN.contains(&anchor) {
            return None;
        }
        if !self.anchors.contains_key(&file) {
            let html = fs::read_to_string(&file).unwrap_or_default();
            // An item that is exported elsewhere has a page that leads there, and keeps the anchor.
            if let Some((_, rest)) =
                html.split_once("<meta http-equiv=\"refresh\" content=\"0;URL=")
            {
                let there = rest.split('"').next().unwrap_or_default();
                return self.broken(&file, &format!("{there}#{anchor}"));
            }
            let ids = Pages::values(&html, "id").map(str::to_owned);
            self.anchors.insert(file.clone(), ids.collect());
        }
        let anchors = &self.anchors[&file];
        (!anchors.contains(anchor)).then_some("no such anchor")
    }

    /// Returns the page on this machine of an address on docs.rs. `None` if it is of another package.
    fn of_docs_rs(&self, address: &str) -> Option<PathBuf> {
        let rest = address.strip_prefix("https://docs.rs/")?;
        let (package, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let own = PUBLISHED
            .into_iter()
            .find(|own| package_in(own) == package)?;
        // After the version; without one, the front page.
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        Some(match path {
            "" => self.folder.join(crate_in(own)).join("index.html"),
            _ => self.folder.join(path),
        })
    }
}

/// Resolves `..` without the file system.
fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            result.pop();
        } else {
            result.push(part);
        }
    }
    result
}

#[test]
fn links_to_rustdoc_pages_lead_somewhere() {
    let Some(folder) = env::var_os("TOOL_CORE_PAGES") else {
        println!("skipped: TOOL_CORE_PAGES names no folder; `.ci/run rustdoc` sets it");
        return;
    };
    let folder = fs::canonicalize(folder).unwrap();
    let mut pages = Pages {
        folder: folder.clone(),
        anchors: HashMap::new(),
    };
    let mut problems = BTreeSet::new();
    let mut seen = 0;

    let folders = PUBLISHED.map(|own| folder.join(crate_in(own)));
    let found = folders.iter().flat_map(|folder| files(folder));
    for page in found.filter(|path| has_extension(path, "html")) {
        let html = fs::read_to_string(&page).unwrap();
        let targets: BTreeSet<_> = Pages::values(&html, "href").collect();
        for target in targets {
            let shown = page.strip_prefix(&folder).unwrap().display();
            let problem = match pages.of_docs_rs(target.split('#').next().unwrap_or_default()) {
                Some(own) => {
                    let anchor = target.split_once('#').map_or("", |(_, anchor)| anchor);
                    let target = format!("{}#{anchor}", own.display());
                    pages.broken(&page, &target)
                }
                None if is_external(target) || is_foreign(target) => continue,
                None => pages.broken(&page, target),
            };
            seen += 1;
            problems.extend(problem.map(|problem| format!("{shown}: {target}: {problem}")));
        }
    }
    for document in documents() {
        for target in links(&fs::read_to_string(&document).unwrap()) {
            let (address, anchor) = target.split_once('#').unwrap_or((&target, ""));
            if let Some(own) = pages.of_docs_rs(address) {
                seen += 1;
                let problem = pages.broken(&own, &format!("{}#{anchor}", own.display()));
                let shown = document.strip_prefix(root()).unwrap().display();
                problems.extend(problem.map(|problem| format!("{shown}: {target}: {problem}")));
            }
        }
    }
    let problems: Vec<_> = problems.into_iter().collect();
    assert!(seen > 1_000, "only {seen} links were found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
