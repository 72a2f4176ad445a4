//! Reads a folder of recorded responses and of cases that were made after reports of bugs, and prints every difference
//! between what `tool-core` reads and what a second reading of the same JSON says, and how each case ends.
//!
//! ```text
//! cargo run -p wire -- FOLDER
//! ```
//!
//! The folder has one of these files, or both:
//!
//! - `responses.jsonl.gz`: a JSON object a line, with the strings `server`, `case`, `dialect`, `mode` (`whole` or
//!   `stream`, the latter with server-sent events) and `body`, and the number `status`
//! - `cases.json`: a list of objects with a `name` and `replies`: what a server answers to the first, second … request of
//!   one run. A reply is a JSON body; a stream (`{"sse": […]}`); or a `body` as it stands with its `type` or `status`.
//!   Other keys: `dialect`, `strict` (the server rejects what real ones reject), `again` (the user writes a second
//!   message), `stream`, `lenient`, `final` (what it answers in the end), `base`, `headers`, `key`, `model`, `fields`.
//!
//! It exits with 1 if something is unexplained, and with 2 if the arguments are wrong. `src/differences.rs` lists what differs on
//! purpose.

mod cases;
mod differences;
mod recorded;
mod report;
mod second;
mod server;

use std::path::Path;
use std::process::ExitCode;

use report::Report;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(folder), None) = (arguments.next(), arguments.next()) else {
        eprintln!("give one argument: a folder with `responses.jsonl.gz` or `cases.json`");
        return ExitCode::from(2);
    };
    let folder = Path::new(&folder);
    let (responses, cases) = (folder.join("responses.jsonl.gz"), folder.join("cases.json"));
    if !responses.is_file() && !cases.is_file() {
        eprintln!(
            "{} has neither `responses.jsonl.gz` nor `cases.json`",
            folder.display()
        );
        return ExitCode::from(2);
    }
    let mut report = Report::default();
    for (path, read) in [
        (
            &responses,
            recorded::compare as fn(&Path, &mut Report) -> std::io::Result<()>,
        ),
        (&cases, cases::play),
    ] {
        if !path.is_file() {
            continue;
        }
        if let Err(error) = read(path, &mut report) {
            eprintln!("can't read {}: {error}", path.display());
            return ExitCode::from(2);
        }
    }
    if report.sums() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
