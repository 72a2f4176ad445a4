//! The catalogue page in a real browser, if Chromium is installed.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use tool_core::Registry;
use tool_docs::Docs;

const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Returns the document of a page after its scripts ran; `None` without a browser.
fn document(html: &str, name: &str) -> Option<String> {
    let folders = env::var_os("PATH")?;
    let found = env::split_paths(&folders).flat_map(|folder| NAMES.map(|name| folder.join(name)));
    let program = found.into_iter().find(|path| path.is_file())?;
    let folder = env::temp_dir().join(format!("tool-core-page-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a writable folder");
    let page = folder.join("page.html");
    fs::write(&page, html).expect("a writable folder");
    let document = dump(&program, &page, &folder.join("profile"));
    fs::remove_dir_all(&folder).expect("a removable folder");
    Some(document)
}

fn dump(program: &Path, page: &Path, profile: &Path) -> String {
    let output = Command::new(program)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .args([
            "--hide-scrollbars",
            "--virtual-time-budget=3000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts");
    let document = String::from_utf8(output.stdout).expect("a document is text");
    assert!(
        document.contains("</html>"),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    document
}

/// Appends a script that leaves a report in the document.
fn watched(html: &str, script: &str) -> String {
    let script = format!(
        "<script>addEventListener('load', async () => {{ const say = {{}};\ntry {{ {script} }} catch (e) {{ say.error = String(e); }}\n\
         top.document.documentElement.dataset.said = Object.entries(say).map(p => p.join('=')).join(';'); }});</script></body>"
    );
    // The policy of the page runs its own script only.
    let (before, after) = html.split_once("script-src ").expect("there is a policy");
    let (_, after) = after.split_once(';').expect("it goes on");
    format!("{before}script-src 'unsafe-inline';{after}").replace("</body>", &script)
}

fn said(document: &str) -> &str {
    let said = document
        .split_once("data-said=\"")
        .expect("the script ran")
        .1;
    said.split_once('"').expect("it ends").0
}

fn page(registry: &Registry) -> String {
    Docs::new(registry).title("All").to_html()
}

#[test]
fn hostile_texts_do_not_run_and_fit_every_width() {
    let script = "
        say.title = document.title;
        say.scripts = document.scripts.length;
        say.images = document.images.length;
        say.tools = document.querySelectorAll('main > section > details').length;
        say.width = innerWidth;
        say.fits = document.documentElement.scrollWidth <= innerWidth;";
    let html = watched(&page(&super::escaping::registry()), script);
    for width in [390, 1280] {
        // The minimum window width exceeds that of a phone; a frame can be as narrow.
        let inner = html.replace('&', "&amp;").replace('"', "&quot;");
        let outer = format!(
            "<!DOCTYPE html><iframe style=\"border: 0; width: {width}px; height: 900px\" srcdoc=\"{inner}\"></iframe>"
        );
        let Some(document) = document(&outer, &width.to_string()) else {
            return eprintln!("skipped: no Chromium");
        };
        assert_eq!(
            said(&document),
            format!("title=All;scripts=3;images=0;tools=1;width={width};fits=true")
        );
    }
}

#[test]
fn the_search_box_filters_the_list_and_counts_the_matches() {
    let script = "
        const box = document.getElementById('search');
        say.shown = box.checkVisibility();
        const look = (words) => {
            box.value = words;
            box.dispatchEvent(new Event('input'));
            const left = [...document.querySelectorAll('section > details:not([hidden]) summary h2')];
            return left.map((name) => name.textContent).join('+') + '/'
                + document.querySelectorAll('nav li:not([hidden])').length + '/'
                + document.getElementById('count').textContent;
        };
        say.one = look('KILOMETRES way');
        say.none = look('nothing of this');
        say.rest = [...document.querySelectorAll('section h2, li')].every((part) => !part.checkVisibility());
        say.all = look('').split('+').length;";
    let html = watched(&page(&super::registry()), script);
    let Some(document) = document(&html, "search") else {
        return eprintln!("skipped: no Chromium");
    };
    assert_eq!(
        said(&document),
        "shown=true;one=find_way/1/1 of 4;none=/0/0 of 4;rest=true;all=4"
    );
}

#[test]
fn the_page_is_readable_without_scripts() {
    let html = page(&super::registry());
    let (before, after) = html
        .split_once("<script>\n\"use strict\"")
        .expect("there is one");
    let after = after.split_once("</script>").expect("it ends").1;
    let script = "
        say.search = document.querySelector('nav').checkVisibility();
        location.hash = 'tool-plant';
        await new Promise((done) => setTimeout(done, 0));
        // The browser opens the tool that an address leads to.
        say.shown = document.getElementById('tool-plant').checkVisibility();
        say.buttons = document.querySelectorAll('button').length;";
    let Some(document) = document(&watched(&format!("{before}{after}"), script), "plain") else {
        return eprintln!("skipped: no Chromium");
    };
    assert_eq!(said(&document), "search=false;shown=true;buttons=0");
}
