//! The page in a real browser, if Chromium is installed.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use examples::folder::Temporary;
use serde_json::{Value, json};

use super::Service;

const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Returns the path of a browser.
pub(super) fn program() -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
        .find(|path| path.is_file())
}

/// A page in a browser, controlled through a pipe.
struct Page {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: Option<String>,
    commands: u32,
}

impl Page {
    /// Returns `None` without a browser.
    fn open(profile: &Path) -> Option<Page> {
        let program = program()?;
        // The browser reads commands from descriptor 3 and answers on 4.
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 >/dev/null 2>&1"#])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args(["--disable-background-networking", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut page = Page {
            child,
            input,
            output,
            session: None,
            commands: 0,
        };
        let target = page.command("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = page.command("Target.attachToTarget", attach);
        page.session = session["sessionId"].as_str().map(str::to_owned);
        Some(page)
    }

    fn command(&mut self, method: &str, params: Value) -> Value {
        self.commands += 1;
        let mut command = json!({"id": self.commands, "method": method, "params": params});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        write!(self.input, "{command}\0").expect("the browser reads");
        loop {
            let mut message = Vec::new();
            self.output
                .read_until(0, &mut message)
                .expect("the browser answers");
            message.pop();
            let mut message: Value = serde_json::from_slice(&message).expect("JSON");
            if message["id"] == self.commands {
                assert_eq!(message["error"], Value::Null, "{method}");
                return message["result"].take();
            }
        }
    }

    fn run(&mut self, script: &str) -> Value {
        let params = json!({"expression": script, "returnByValue": true});
        let mut ran = self.command("Runtime.evaluate", params);
        assert_eq!(ran["exceptionDetails"], Value::Null, "{script}");
        ran["result"]["value"].take()
    }

    fn sign_in(&mut self, token: &str) {
        let script = "document.getElementById('token').value = ";
        self.run(&format!("{script}{}", json!(token)));
        self.run("document.querySelector('#sign-in button').click()");
    }

    /// Presses a key, which types a character if it is one.
    fn key(&mut self, key: &str, code: u32) {
        let text = if key.len() == 1 { key } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let event =
                json!({"type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code});
            self.command("Input.dispatchKeyEvent", event);
        }
    }

    fn wait(&mut self, condition: &str) {
        let began = Instant::now();
        while self.run(&format!("!!({condition})")) != true {
            let text = self.run("document.body.innerText");
            assert!(
                began.elapsed() < Duration::from_secs(30),
                "{condition}: {text}"
            );
            sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_page_goes_on_after_a_kill_at_every_width() {
    for (width, height) in [(390, 844), (1280, 800)] {
        let mut service = Service::start();
        let profile = Temporary::new().expect("a folder");
        let Some(mut page) = Page::open(profile.path()) else {
            return eprintln!("skipped: no Chromium");
        };
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500});
        page.command("Emulation.setDeviceMetricsOverride", size);
        let url = format!("http://{}", service.address);
        page.command("Page.navigate", json!({"url": url}));
        page.wait("document.getElementById('sign-in')?.hidden === false");
        page.sign_in("wrong");
        page.wait("document.getElementById('sign-in-error').textContent === 'the token is wrong'");
        page.sign_in(&service.tokens["clerk-1"]);
        page.wait("!!document.querySelector('#suggestions button')");
        assert_eq!(page.run("document.cookie"), "");
        // Texts are not markup.
        page.run(
            r#"document.getElementById('text').value = '<img src=x onerror="document.title=1">'"#,
        );
        page.run("document.getElementById('send').click()");
        page.wait("document.querySelectorAll('.model').length === 1 && !document.getElementById('send').hidden");
        assert_eq!(
            page.run("document.querySelectorAll('#items > p img').length"),
            0
        );
        assert_eq!(page.run("document.title"), "Desk");

        page.run("document.querySelector('#suggestions button').click()");
        page.wait("!!document.querySelector('.call')");
        service.kill();
        page.wait("document.getElementById('connection').textContent === 'not reachable'");
        assert_eq!(page.run("document.getElementById('send').disabled"), true);
        service.start_again();
        page.wait("!!document.querySelector('.call.waiting')");
        assert!(service.refunds().is_empty());
        let shown =
            "document.querySelector('.call.waiting .arguments').innerText.replace(/\\s+/g, ' ')";
        assert_eq!(
            page.run(shown),
            "order 1042 cents 4800 reason The lamp arrived broken."
        );
        page.wait("document.querySelector('.pictures img').naturalWidth === 640");
        let fits = "document.documentElement.scrollWidth <= innerWidth \
                    && [...document.querySelectorAll('#items *')].every(e => e.getBoundingClientRect().right <= innerWidth)";
        assert_eq!(page.run(fits), true, "at {width}");
        // Who asked can't decide.
        let buttons = "document.querySelector('.call.waiting .decision').hidden";
        assert_eq!(page.run(buttons), true);

        // Killed and started again: another user finds the call in the inbox.
        service.kill();
        page.wait("document.getElementById('connection').textContent === 'not reachable'");
        service.start_again();
        page.wait(
            "document.getElementById('connection').textContent === 'clerk-1: waits for a decision'",
        );
        page.run("document.getElementById('leave').click()");
        page.wait("!document.getElementById('sign-in').hidden");
        assert_eq!(page.run("document.querySelectorAll('.call').length"), 0);
        page.run("performance.now = () => 0");
        page.sign_in(&service.tokens["lead-1"]);
        page.wait("!!document.querySelector('#waiting .call')");
        // A click on what stood there before the call came.
        page.run("document.querySelector('#waiting [data-choice=allow]').click()");
        let is_open = "!document.querySelector('#waiting [data-choice=allow]').disabled";
        assert_eq!(page.run(is_open), true);
        page.run("performance.now = () => 499");
        page.run("document.querySelector('#waiting [data-choice=change]').click()");
        let focus = "document.activeElement.closest('label')?.className";
        assert_eq!(page.run(focus), "change");
        page.key("x", 88);
        let typed = "document.querySelector('#waiting .change textarea').value.includes('x')";
        page.wait(typed);
        page.key("Escape", 27);
        page.wait("document.querySelector('#waiting .change').hidden");
        assert_eq!(page.run("document.activeElement.dataset.choice"), "change");
        let small = "[...document.querySelectorAll('button, input, select, textarea, summary')] \
                     .filter(e => e.getClientRects().length && e.getBoundingClientRect().height < 44).length";
        assert_eq!(page.run(small), 0);
        // The second click on "Change …".
        page.run("performance.now = () => 998");
        page.run("document.querySelector('#waiting [data-choice=allow]').click()");
        assert_eq!(page.run(is_open), true);
        page.run("performance.now = () => 10_000");
        page.run("document.querySelector('#waiting [data-choice=allow]').focus()");
        page.run("document.querySelector('#waiting [data-choice=allow]').click()");
        page.wait("document.querySelectorAll('#waiting .call').length === 0");
        page.wait("document.activeElement.id === 'inbox-title'");

        page.run("document.getElementById('leave').click()");
        page.wait("!document.getElementById('sign-in').hidden");
        page.sign_in(&service.tokens["clerk-1"]);
        page.wait(
            "document.querySelector('#items').lastElementChild?.textContent.startsWith('Done')",
        );
        page.wait("!document.getElementById('send').hidden");
        assert_eq!(
            page.run("document.querySelectorAll('.call.waiting').length"),
            0
        );
        assert_eq!(page.run("document.querySelectorAll('.user').length"), 2);
        assert_eq!(service.refunds(), [4800]);
    }
}
