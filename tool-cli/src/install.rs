//! `install`: writes the entry of this program into the file of an MCP client.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use tool_core::schema::Json;

use crate::cli::Failure;
use crate::terminal::{Terminal, confirm};

/// The clients: name, file in the folder of a project, and the key of the servers.
const CLIENTS: [(&str, &str, &str); 3] = [
    ("claude-code", ".mcp.json", "mcpServers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("vscode", ".vscode/mcp.json", "servers"),
];

pub(crate) fn command() -> Command {
    let client = Arg::new("client").value_name("CLIENT").required(true);
    Command::new("install")
        .about("Adds this program to the MCP servers of a client, in the folder of a project")
        .arg(client.value_parser(PossibleValuesParser::new(CLIENTS.map(|(name, ..)| name))))
        .arg(
            Arg::new("print")
                .long("print")
                .action(ArgAction::SetTrue)
                .help("Write the file to standard output, and change nothing"),
        )
}

pub(crate) fn run(matches: &ArgMatches, program: &str) -> Result<(), Failure> {
    let name = matches.get_one::<String>("client").map_or("", |name| name);
    let Some((_, path, key)) = CLIENTS.into_iter().find(|(client, ..)| *client == name) else {
        return Err(Failure::wrong(format!("there is no client `{name}`")));
    };
    let path = PathBuf::from(path);
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
        program,
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
    match confirm(&format!("Write {}?", path.display())) {
        Ok(Some(true)) => {}
        Ok(Some(false)) => return Err(Failure::Cancelled("nothing was written".into())),
        _ => {
            return Err(Failure::wrong(
                "nobody is there to ask; `--print` writes the file to standard output",
            ));
        }
    }
    let cant = |error| Failure::failed(format!("can't write {}: {error}", path.display()));
    if let Some((text, _)) = before {
        let backup = path.with_extension("json.bak");
        std::fs::write(&backup, text).map_err(cant)?;
        writeln!(
            Terminal::stdout(),
            "the file of before is {}",
            backup.display()
        )?;
    } else if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(cant)?;
    }
    let unfinished = path.with_extension("json.new");
    std::fs::write(&unfinished, after).map_err(cant)?;
    std::fs::rename(&unfinished, &path).map_err(cant)
}

/// Reads the file of a client, if there is one.
fn read(path: &Path) -> Result<Option<(String, Json)>, Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(Failure::failed(format!(
                "can't read {}: {error}",
                path.display()
            )));
        }
    };
    match Json::parse(&text) {
        Ok(json @ Json::Object(_)) => Ok(Some((text, json))),
        Ok(_) => Err(Failure::failed(format!(
            "{} is not an object; it stays as it is",
            path.display()
        ))),
        // Such as a comment, which would be lost.
        Err(error) => Err(Failure::failed(format!(
            "{} is not JSON ({error}); it stays as it is",
            path.display()
        ))),
    }
}

/// Returns the file with the entry of this program. All others stay, in their order.
fn with_entry(
    before: Option<&Json>,
    key: &str,
    program: &str,
    executable: &str,
    path: &Path,
) -> Result<Json, Failure> {
    let entry: Json = [
        ("command".to_owned(), Json::from(executable)),
        ("args".to_owned(), [Json::from("mcp")].into_iter().collect()),
    ]
    .into_iter()
    .collect();
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
    let servers = replaced(servers, program, entry);
    members = replaced(members, key, servers.into_iter().collect());
    Ok(members.into_iter().collect())
}

/// Replaces a member in its place, or adds it at the end.
fn replaced(mut members: Vec<(String, Json)>, key: &str, value: Json) -> Vec<(String, Json)> {
    match members.iter_mut().find(|(name, _)| name == key) {
        Some((_, old)) => *old = value,
        None => members.push((key.to_owned(), value)),
    }
    members
}
