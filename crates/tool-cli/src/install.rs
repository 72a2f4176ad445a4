//! `install`: adds this program to the configuration file of an MCP client.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use tool_core::files;
use tool_core::schema::Json;

use crate::failure::Failure;
use crate::terminal::{Terminal, confirm};

/// The clients: name, path in a project's folder, and the key for servers in the file.
const CLIENTS: [(&str, &str, &str); 4] = [
    ("claude-code", ".mcp.json", "mcpServers"),
    ("claude-desktop", DESKTOP, "mcpServers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("vscode", ".vscode/mcp.json", "servers"),
];

/// A path below the folder where applications of the user have their settings.
const DESKTOP: &str = "Claude/claude_desktop_config.json";

/// Returns the file of a client.
fn file(path: &str) -> Result<PathBuf, Failure> {
    if path != DESKTOP {
        return Ok(PathBuf::from(path));
    }
    let (variable, below) = match std::env::consts::OS {
        "windows" => ("APPDATA", ""),
        "macos" => ("HOME", "Library/Application Support"),
        _ => ("HOME", ".config"),
    };
    let home = std::env::var_os(variable).filter(|home| !home.is_empty());
    let home = home.ok_or_else(|| {
        Failure::wrong(format!(
            "{variable} is not set, so the file of the client is unknown"
        ))
    })?;
    Ok(Path::new(&home).join(below).join(path))
}

pub(crate) fn command() -> Command {
    let client = Arg::new("client").value_name("CLIENT").required(true);
    Command::new("install")
        .about("Adds this program to the MCP servers of a client: of the project in this folder, or of you for claude-desktop")
        .arg(client.value_parser(PossibleValuesParser::new(CLIENTS.map(|(name, ..)| name))))
        .arg(
            Arg::new("print")
                .long("print")
                .action(ArgAction::SetTrue)
                .help("Write the file to standard output, and change nothing"),
        )
}

/// `words` run the commands of this program: its name, and the subcommands above them.
pub(crate) fn run(matches: &ArgMatches, words: &[String]) -> Result<(), Failure> {
    let name = matches.get_one::<String>("client").map_or("", |name| name);
    let Some((_, path, key)) = CLIENTS.into_iter().find(|(client, ..)| *client == name) else {
        return Err(Failure::wrong(format!("there is no client `{name}`")));
    };
    let path = file(path)?;
    let cant = |error| Failure::failed(format!("can't write {}: {error}", path.display()));
    // The project may come from a stranger, so make sure that no link redirects the write that the user agrees to.
    files::check(&path).map_err(cant)?;
    let executable = std::env::current_exe().map_err(|error| {
        Failure::failed(format!("can't find the path of this program: {error}"))
    })?;
    let Some(executable) = executable.to_str() else {
        return Err(Failure::failed(format!(
            "the path {} is not UTF-8",
            executable.display()
        )));
    };
    let before = read(&path)?;
    let after = with_entry(
        before.as_ref().map(|(_, json)| json),
        key,
        words,
        executable,
        &path,
    )?;
    let after = format!("{after:#}\n");
    if matches.get_flag("print") {
        std::io::stdout().write_all(after.as_bytes())?;
        return Ok(());
    }
    if before.as_ref().is_some_and(|(text, _)| *text == after) {
        writeln!(
            Terminal::stdout(),
            "{} has the entry already",
            path.display()
        )?;
        return Ok(());
    }
    writeln!(Terminal::stdout(), "{}:\n{after}", path.display())?;
    let target = std::path::absolute(&path).map_err(cant)?;
    match confirm(&format!("Write {}?", target.display())) {
        Ok(Some(true)) => {}
        Ok(Some(false)) => return Err(Failure::Cancelled("nothing was written".into())),
        _ => {
            return Err(Failure::wrong(
                "nobody is there to ask; `--print` writes the file to standard output",
            ));
        }
    }
    write(&path, before.map(|(text, _)| text), &after).map_err(cant)
}

/// Writes the file. The first time, saves a backup of the old one. Follows no link.
fn write(path: &Path, before: Option<String>, after: &str) -> io::Result<()> {
    if let Some(text) = before {
        let backup = path.with_extension("json.bak");
        match files::create(&backup, text.as_bytes()) {
            // A backup exists, and keeps the oldest version. It must not be a link.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => files::check(&backup)?,
            created => created?,
        }
        writeln!(
            Terminal::stdout(),
            "the file of before the first time is {}",
            backup.display()
        )?;
    } else if let Some(folder) = path.parent().filter(|folder| *folder != Path::new("")) {
        std::fs::create_dir_all(folder)?;
    }
    files::replace(path, after.as_bytes())
}

/// Reads the file of a client, if there is one.
fn read(path: &Path) -> Result<Option<(String, Json)>, Failure> {
    let read = files::read(path)
        .map_err(|error| Failure::failed(format!("can't read {}: {error}", path.display())))?;
    let Some(text) = read else {
        return Ok(None);
    };
    match Json::parse(&text) {
        Ok(json @ Json::Object(_)) => Ok(Some((text, json))),
        Ok(_) => Err(Failure::failed(format!(
            "{} is not an object; it stays as it is",
            path.display()
        ))),
        // The file may contain comments, which would get lost.
        Err(error) => Err(Failure::failed(format!(
            "{} is not JSON ({error}); it stays as it is",
            path.display()
        ))),
    }
}

/// Returns the file with the entry of this program. Other entries stay in their order. In this program's entry,
/// additions of the user stay, such as variables and other arguments.
fn with_entry(
    before: Option<&Json>,
    key: &str,
    words: &[String],
    executable: &str,
    path: &Path,
) -> Result<Json, Failure> {
    let program = &*words.join("-");
    let mut members = before
        .map(|json| json.members().to_vec())
        .unwrap_or_default();
    let servers = match members.iter().find(|(name, _)| name == key) {
        Some((_, servers @ Json::Object(_))) => servers.members().to_vec(),
        Some(_) => {
            let message = format!(
                "`{key}` in {} is not an object; the file stays as it is",
                path.display()
            );
            return Err(Failure::Failed(message));
        }
        None => Vec::new(),
    };
    let old = servers.iter().find(|(name, _)| name == program);
    let mut entry = old.map_or_else(Vec::new, |(_, entry)| entry.members().to_vec());
    entry = replaced(entry, "command", executable.into());
    if entry.iter().all(|(name, _)| name != "args") {
        let above = words.iter().skip(1).map(|word| Json::from(&**word));
        let arguments = above.chain([Json::from("mcp")]).collect();
        entry.push(("args".to_owned(), arguments));
    }
    let servers = replaced(servers, program, entry.into_iter().collect());
    members = replaced(members, key, servers.into_iter().collect());
    Ok(members.into_iter().collect())
}

/// Replaces a member at its position, or adds it at the end.
fn replaced(mut members: Vec<(String, Json)>, key: &str, value: Json) -> Vec<(String, Json)> {
    match members.iter_mut().find(|(name, _)| name == key) {
        Some((_, old)) => *old = value,
        None => members.push((key.to_owned(), value)),
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry<const N: usize>(words: [&str; N], before: &str) -> String {
        let before = Json::parse(before).unwrap();
        let path = Path::new(".mcp.json");
        let words = words.map(str::to_owned);
        let after = with_entry(Some(&before), "mcpServers", &words, "/bin/desk", path);
        after.ok().unwrap().to_string()
    }

    #[test]
    fn a_second_time_keeps_what_the_user_added() {
        assert_eq!(
            entry(
                ["desk"],
                r#"{"mcpServers":{"desk":{"command":"/old","env":{"KEY":"1"},"args":["mcp","--quiet"]},"zoo":{}}}"#
            ),
            r#"{"mcpServers":{"desk":{"command":"/bin/desk","env":{"KEY":"1"},"args":["mcp","--quiet"]},"zoo":{}}}"#
        );
        assert_eq!(
            entry(["desk"], r#"{"mcpServers":{"desk":1}}"#),
            r#"{"mcpServers":{"desk":{"command":"/bin/desk","args":["mcp"]}}}"#
        );
        assert_eq!(
            entry(["desk", "tools"], "{}"),
            r#"{"mcpServers":{"desk-tools":{"command":"/bin/desk","args":["tools","mcp"]}}}"#
        );
    }

    #[test]
    fn the_first_file_is_kept() {
        let folder = std::env::temp_dir().join(format!("tool-cli-backup-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(".mcp.json");
        for (before, after) in [("first", "second"), ("second", "third")] {
            write(&path, Some(before.to_owned()), after).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
            let backup = std::fs::read_to_string(folder.join(".mcp.json.bak")).unwrap();
            assert_eq!(backup, "first");
        }
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        use std::os::unix::fs::symlink;

        let folder = std::env::temp_dir().join(format!("tool-cli-link-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (path, victim) = (folder.join(".mcp.json"), folder.join("bashrc"));
        std::fs::write(&victim, "mine").unwrap();
        for link in [".mcp.json.bak", ".mcp.json"] {
            let link = folder.join(link);
            symlink(&victim, &link).unwrap();
            let error = write(&path, Some("theirs".to_owned()), "theirs").unwrap_err();
            assert!(error.to_string().contains("is a link to"), "{error}");
            assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
            std::fs::remove_file(&link).unwrap();
        }
        // A link at a temporary name that is easy to guess must not be followed.
        symlink(&victim, folder.join(".mcp.json.new")).unwrap();
        write(&path, None, "theirs").unwrap();
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
