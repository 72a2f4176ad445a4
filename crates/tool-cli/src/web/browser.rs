//! `--open`: starts the person's browser.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use crate::terminal::Terminal;

/// Opens an address in the person's browser, and writes why that failed. The address of the page is already written, so
/// a failure ends nothing.
pub(crate) fn open(address: &str) {
    let mut command = if cfg!(windows) {
        let mut command = Command::new("cmd");
        // `start` takes a first word in quotes for the title of a window.
        command.args(["/C", "start", ""]);
        command
    } else if cfg!(target_os = "macos") {
        Command::new("open")
    } else {
        Command::new("xdg-open")
    };
    command.arg(address);
    // What a browser logs is not for the terminal of this program.
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Control-C ends the server, and not the browser.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let started = command.spawn();
    let name = command.get_program().display().to_string();
    // The program may run as long as the browser does.
    std::thread::spawn(move || {
        let ended = started.and_then(|mut program| program.wait());
        let why = match ended {
            Ok(status) if status.success() => return,
            Ok(status) => format!("`{name}` failed ({status})"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                format!("there is no `{name}`")
            }
            Err(error) => format!("`{name}`: {error}"),
        };
        // Nobody reads the log if this fails.
        let _ = writeln!(
            Terminal::stderr(),
            "can't open a browser: {why}; open the address above yourself"
        );
    });
}
