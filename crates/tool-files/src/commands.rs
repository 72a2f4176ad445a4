//! File commands shared by the memory and the text editor, with results in Anthropic's wording.

use crate::error::{FileError, Reason};
use crate::folder::{Entry, Folder, Listing};
use crate::text;

/// Maximum number of characters of a result, unless the program sets another limit.
const CHARACTERS: usize = 50_000;

/// Number of folder levels in a view.
const LEVELS: usize = 2;

#[derive(Debug, Clone)]
pub(crate) struct Commands {
    pub(crate) folder: Folder,
    /// The prefix of paths. If it is empty, paths are relative.
    pub(crate) root: String,
    /// Maximum number of characters of a result.
    pub(crate) most: usize,
}

impl Commands {
    pub(crate) fn new(folder: Folder, root: &str) -> Commands {
        Commands {
            folder,
            root: root.to_owned(),
            most: CHARACTERS,
        }
    }

    /// Converts a path of the model to a path in the folder.
    fn path<'p>(&self, path: &'p str) -> Result<&'p str, FileError> {
        let path_in_folder = if self.root.is_empty() {
            Some(path)
        } else {
            match path.strip_prefix(&self.root) {
                Some("") => Some(""),
                Some(rest) => rest.strip_prefix('/'),
                None => None,
            }
        };
        path_in_folder.ok_or_else(|| FileError::new(path, Reason::Outside(self.root.clone())))
    }

    /// Like [`path`](Commands::path), for paths of files or folders: models write folders with a `/` at the end.
    fn any_path<'p>(&self, path: &'p str) -> Result<&'p str, FileError> {
        let inner = self.path(path)?;
        Ok(inner.strip_suffix('/').unwrap_or(inner))
    }

    pub(crate) fn view(&self, path: &str, range: Option<(i64, i64)>) -> Result<String, FileError> {
        let inner = self.any_path(path)?;
        let view = || match self.folder.read(inner) {
            Ok(text) => {
                let lines = text::numbered(&text, range, self.most)
                    .map_err(|reason| FileError::new(path, reason))?;
                Ok(format!(
                    "Here's the content of {path} with line numbers:\n{lines}"
                ))
            }
            // Ranges are for files, so a folder is shown whole.
            Err(error) if error.is_about_no_file() => {
                Ok(self.listed(path, &self.folder.list(inner, LEVELS)?))
            }
            Err(error) => Err(error),
        };
        view().map_err(|error: FileError| error.at(path))
    }

    fn listed(&self, path: &str, listing: &Listing) -> String {
        let path = path.strip_suffix('/').unwrap_or(path);
        let mut shown = format!(
            "Here're the files and directories up to {LEVELS} levels deep in {path}, excluding hidden items:"
        );
        let inner = self.path(path).unwrap_or_default();
        let room = self.most.max(shown.len());
        for (
            number,
            Entry {
                path: below,
                bytes,
                is_folder,
            },
        ) in listing.entries.iter().enumerate()
        {
            let name = below
                .strip_prefix(inner)
                .unwrap_or(below)
                .trim_start_matches('/');
            let end = if *is_folder { "/" } else { "" };
            let line = format!("\n{}\t{path}/{name}{end}", size(*bytes));
            if shown.len() + line.len() > room {
                shown.push_str(&format!(
                    "\n[truncated: {} more]",
                    listing.entries.len() - number
                ));
                break;
            }
            shown.push_str(&line);
        }
        if listing.unusable > 0 {
            shown.push_str(&format!(
                "\n[left out: {}, which are links, special files or have unusual names]",
                listing.unusable
            ));
        }
        if !listing.is_complete {
            shown.push_str("\n[truncated: there are more]");
        }
        shown
    }

    pub(crate) fn create(&self, path: &str, text: &str) -> Result<String, FileError> {
        self.folder
            .create(self.path(path)?, text)
            .map_err(|error| error.at(path))?;
        Ok(format!("File created successfully at: {path}"))
    }

    /// Replaces the only occurrence of a string. Returns the lines around the change.
    pub(crate) fn str_replace(
        &self,
        path: &str,
        old: &str,
        new: &str,
    ) -> Result<String, FileError> {
        let replaced = self.folder.edit(self.path(path)?, |text| {
            text::replace(text, old, new, self.most)
        });
        replaced.map_err(|reason| FileError::new(path, reason))
    }

    pub(crate) fn insert(
        &self,
        path: &str,
        line: i64,
        inserted: &str,
    ) -> Result<String, FileError> {
        let edit = self.folder.edit(self.path(path)?, |text| {
            Ok((text::insert(text, line, inserted)?, ()))
        });
        edit.map_err(|reason| FileError::new(path, reason))?;
        Ok(format!("The file {path} has been edited."))
    }

    pub(crate) fn delete(&self, path: &str) -> Result<String, FileError> {
        let inner = self.any_path(path)?;
        check_not_root(path, inner, "delete")?;
        self.folder.remove(inner).map_err(|error| error.at(path))?;
        Ok(format!("Successfully deleted {path}"))
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<String, FileError> {
        let (old, new) = (self.any_path(from)?, self.any_path(to)?);
        check_not_root(from, old, "rename")?;
        self.folder.rename(old, new).map_err(|error| {
            let path = if error.path() == old { from } else { to };
            error.at(path)
        })?;
        Ok(format!("Successfully renamed {from} to {to}"))
    }
}

fn check_not_root(path: &str, inner: &str, verb: &'static str) -> Result<(), FileError> {
    if inner.is_empty() || inner == "." {
        return Err(FileError::new(path, Reason::Root(verb)));
    }
    Ok(())
}

/// Writes a size like `du -h`, as Anthropic's memory tool does.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["B", "K", "M", "G"];
    let unit = (bytes.max(1).ilog2() as usize / 10).min(UNITS.len() - 1);
    let scale = 1_u64 << (10 * unit);
    if bytes.is_multiple_of(scale) {
        return format!("{}{}", bytes / scale, UNITS[unit]);
    }
    #[allow(clippy::cast_precision_loss)]
    let size = bytes as f64 / scale as f64;
    format!("{size:.1}{}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let sizes = [0, 1, 1023, 1024, 1536, 4096, 1 << 20, 5 << 40].map(size);
        assert_eq!(
            sizes,
            ["0B", "1B", "1023B", "1K", "1.5K", "4K", "1M", "5120G"]
        );
    }
}
