//! Results and documents, for people and programs.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use serde_json::{Map, Value, json};
use tool_core::ToolResult;
use tool_core::content::Content;
use tool_core::files;
use tool_core::schema::Json;

use crate::failure::Failure;
use crate::terminal::{NAME, Terminal, columns, safe};

/// The folder for pictures and files in results.
pub(crate) struct Saved {
    folder: PathBuf,
}

impl Saved {
    pub(crate) fn to(folder: PathBuf) -> Saved {
        Saved { folder }
    }

    /// Saves bytes to a new file, and returns its path.
    fn save(&self, tool: &str, media_type: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
        let ending = media_type.rsplit('/').next().unwrap_or_default();
        // The type `svg+xml` gets the ending `svg`.
        let ending = ending.split(['+', ';']).next().unwrap_or_default();
        let ending: String = ending
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(8)
            .collect();
        for number in 1..10_000 {
            let path = self.folder.join(format!("{tool}-{number}.{ending}"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    let written = file.write_all(bytes);
                    return written
                        .map(|()| path.clone())
                        .map_err(|error| cant_write(&path, &error));
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cant_write(&path, &error)),
            }
        }
        Err(Failure::failed(format!(
            "{} has too many files of {tool}",
            self.folder.display()
        )))
    }

    /// Saves the bytes of a part, if any. Returns the file and its media type.
    fn part(&self, tool: &str, part: &Content) -> Result<Option<(PathBuf, String)>, Failure> {
        let (media_type, bytes) = match part {
            Content::Image(image) => (image.media_type(), image.bytes()),
            Content::Audio(audio) => (audio.media_type(), audio.bytes()),
            Content::File(file) => (file.media_type(), file.bytes()),
            _ => return Ok(None),
        };
        let Some(bytes) = bytes else {
            return Ok(None);
        };
        let media_type = media_type.unwrap_or("application/octet-stream").to_owned();
        Ok(Some((self.save(tool, &media_type, bytes)?, media_type)))
    }
}

fn cant_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("can't write {}: {error}", path.display()))
}

/// Writes a page to standard output, or to the file given by `--output`.
pub(crate) fn document(matches: &ArgMatches, page: &str) -> Result<(), Failure> {
    match matches.get_one::<PathBuf>("output") {
        Some(path) => save(path, page),
        None => Ok(std::io::stdout().write_all(page.as_bytes())?),
    }
}

/// Writes a file.
pub(crate) fn save(path: &Path, page: &str) -> Result<(), Failure> {
    files::replace(path, page.as_bytes()).map_err(|error| cant_write(path, &error))
}

/// Returns a result as JSON: its structured value, a string, or a list of its parts. An error is an object with
/// `error`.
pub(crate) fn json(result: &ToolResult, saved: &Saved) -> Result<Value, Failure> {
    if let Some(error) = result.error() {
        let violations = error.violations().iter();
        let violations: Vec<_> = violations
            .map(|violation| json!({"path": violation.path(), "message": violation.message()}))
            .collect();
        let mut fields = Map::new();
        fields.insert("kind".into(), error.kind().as_str().into());
        fields.insert("message".into(), error.message().into());
        if !violations.is_empty() {
            fields.insert("violations".into(), violations.into());
        }
        return Ok(json!({ "error": fields }));
    }
    if !result.parts().is_empty() {
        let parts = result.parts().iter().map(|part| {
            Ok(match saved.part(result.name(), part)? {
                Some((path, media_type)) => {
                    json!({"file": path.to_string_lossy(), "media_type": media_type})
                }
                None => Value::String(part.line()),
            })
        });
        return Ok(Value::Array(parts.collect::<Result<_, Failure>>()?));
    }
    match result.structured_json().map(serde_json::from_str) {
        Some(Ok(value)) => Ok(value),
        _ => Ok(Value::String(result.content().to_owned())),
    }
}

/// Writes a result for people. Leaves out the error of a failed call, which is written when the program ends.
pub(crate) fn people(result: &ToolResult, saved: &Saved) -> Result<(), Failure> {
    if result.is_error() {
        return Ok(());
    }
    let mut out = Terminal::stdout();
    if !result.parts().is_empty() {
        for part in result.parts() {
            match saved.part(result.name(), part)? {
                Some((path, _)) => writeln!(out, "saved {} to {}", part.line(), path.display())?,
                None => writeln!(out, "{}", part.line())?,
            }
        }
        return Ok(());
    }
    match result.structured_json().map(Json::parse) {
        Some(Ok(Json::Array(rows))) if is_table(&rows) => table(&rows, &mut out)?,
        Some(Ok(value @ (Json::Array(_) | Json::Object(_)))) => {
            out.unwrapped(&format!("{value:#}\n"))?;
        }
        _ => writeln!(out, "{}", result.content())?,
    }
    Ok(())
}

/// Returns `true` if no object contains another object or list.
fn is_table(rows: &[Json]) -> bool {
    let is_flat = |(_, value): &(String, Json)| !matches!(value, Json::Array(_) | Json::Object(_));
    !rows.is_empty()
        && rows
            .iter()
            .all(|row| !row.members().is_empty() && row.members().iter().all(is_flat))
}

/// Writes a row for each object. If the rows are wider than the terminal, writes a block for each instead.
fn table(rows: &[Json], out: &mut Terminal<std::io::Stdout>) -> Result<(), Failure> {
    let mut heads: Vec<&str> = Vec::new();
    for (key, _) in rows.iter().flat_map(Json::members) {
        if !heads.contains(&key.as_str()) {
            heads.push(key);
        }
    }
    let cell = |row: &Json, head: &str| match row.get(head) {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => safe(text).replace(['\n', '\t'], " "),
        Some(other) => other.to_string(),
    };
    let widths = heads.iter().map(|head| {
        let cells = rows.iter().map(|row| columns(&cell(row, head)));
        cells.chain([columns(head)]).max().unwrap_or_default()
    });
    let widths: Vec<_> = widths.collect();
    if out
        .width()
        .is_some_and(|width| widths.iter().sum::<usize>() + 2 * widths.len() > width)
    {
        for (row, at) in rows.iter().zip(0..) {
            if at > 0 {
                writeln!(out)?;
            }
            for head in &heads {
                out.styled(NAME, head)?;
                writeln!(out, ": {}", cell(row, head))?;
            }
        }
        return Ok(());
    }
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| {
            let pad = width + 2 - columns(cell);
            format!("{cell}{:pad$}", "")
        });
        padded.collect::<String>().trim_end().to_owned()
    };
    let names: Vec<_> = heads.iter().map(|&head| head.to_owned()).collect();
    out.styled(NAME, &line(&names))?;
    writeln!(out)?;
    for row in rows {
        let cells: Vec<_> = heads.iter().map(|head| cell(row, head)).collect();
        writeln!(out, "{}", line(&cells))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_ends_like_its_kind() {
        let folder = std::env::temp_dir().join(format!("tool-cli-endings-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let saved = Saved::to(folder.clone());
        for (media_type, name) in [
            ("image/svg+xml", "draw-1.svg"),
            ("image/png", "draw-1.png"),
            ("text/plain; charset=utf-8", "draw-1.plain"),
            ("application/../x", "draw-1.x"),
        ] {
            let path = saved.save("draw", media_type, b"x").ok().unwrap();
            assert_eq!(path, folder.join(name), "{media_type}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
