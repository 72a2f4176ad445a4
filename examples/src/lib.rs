//! Example programs. Run one with `cargo run --example NAME`; `README.md` describes each.
//!
//! | program | shows |
//! |---|---|
//! | `quickstart` | the way from functions to a request, and from a response to the next messages |
//! | `voice_home` | eleven tools of a voice assistant, and a benchmark of how well models call them |
//! | `dice` | a small schema for a nested list, and a notation that is checked |
//! | `desk_agent` | the loop around a model, with files, tools that it writes in Python, and helpers |
//! | `desk_service` | a service for several users, with roles, an inbox, streams and MCP, which survives a restart |
//! | `toolkit_docs` | a toolkit with a database, and its catalogue |
//! | `thermostat` | a failing sensor, with the types of another client crate |
//!
//! This library holds what the programs share: reading input, safe output, a scripted provider,
//! and running a program in a test.

pub mod folder;
pub mod input;
pub mod program;
pub mod provider;

pub use tool_cli::terminal;

#[cfg(test)]
mod tests {
    /// Reads the sources of all programs, except the cookbook and the tutorial, which do not depend on this package.
    #[test]
    fn every_program_prints_through_the_terminal() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut folders = vec![root.to_owned()];
        let mut programs = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                let is_ours = !["cookbook", "src", "tests", "tutorial"]
                    .iter()
                    .any(|name| path == root.join(name));
                if path.is_dir() && is_ours {
                    folders.push(path);
                } else if path.extension().is_some_and(|name| name == "rs") && is_ours {
                    let code = std::fs::read_to_string(&path).expect("text");
                    // The size of the terminal is only read.
                    let code = code.replace("tcgetwinsize(rustix::stdio::stdout())", "");
                    programs += usize::from(path.ends_with("main.rs"));
                    for unsafe_way in ["io::stdout", "io::stderr", "print!(", "println!("] {
                        assert!(
                            !code.contains(unsafe_way),
                            "{}: {unsafe_way}",
                            path.display()
                        );
                    }
                }
            }
        }
        assert_eq!(programs, 8);
    }
}
