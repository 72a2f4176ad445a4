//! The folder of the desk: what the model may read and write, and where proposals go.

use std::error::Error;
use std::path::Path;

use tool_files::{FileError, FileErrorKind, Folder};

/// The writable paths of the model.
const WRITABLE: [&str; 2] = ["memory.md", "history/*"];

/// An open folder. Clones share it.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) files: Folder,
    /// The same folder, opened so that this program can write proposals and nothing else.
    pub(crate) proposals: Folder,
}

/// The lines of a file to read.
pub(crate) struct Lines {
    /// Number of the first line, from 1.
    pub(crate) first: usize,
    /// Maximum number of lines.
    pub(crate) most: usize,
    /// Maximum number of characters of all lines.
    pub(crate) characters: usize,
}

impl Desk {
    pub(crate) fn open(path: &Path) -> Result<Desk, Box<dyn Error>> {
        let folder = Folder::open(path)?;
        let mut files = folder.clone();
        for pattern in WRITABLE {
            files = files.writable(pattern)?;
        }
        let proposals = folder.writable("tool_proposals/**")?;
        Ok(Desk { files, proposals })
    }

    /// Reads lines of a text file. A note says what is left out.
    pub(crate) fn read(&self, path: &str, lines: &Lines) -> Result<String, FileError> {
        Ok(excerpt(&self.files.read(path)?, lines))
    }

    /// Creates a folder with these files, under the first of these names that is free.
    pub(crate) fn propose(
        &self,
        names: impl Iterator<Item = String>,
        files: &[(&str, &str)],
    ) -> Result<String, FileError> {
        let mut taken = None;
        for folder in names {
            match self.proposals.create_folder(&folder) {
                Err(error) if error.kind() == FileErrorKind::Exists => taken = Some(error),
                created => {
                    created?;
                    for (name, text) in files {
                        self.proposals.create(&format!("{folder}/{name}"), text)?;
                    }
                    return Ok(folder);
                }
            }
        }
        Err(taken.expect("at least one name"))
    }
}

fn excerpt(text: &str, lines: &Lines) -> String {
    let all = text.lines().count();
    let wanted = text.lines().skip(lines.first - 1).take(lines.most);
    let mut shown = String::new();
    let mut count = 0;
    for line in wanted {
        let room = lines.characters - shown.chars().count().min(lines.characters);
        if line.chars().count() >= room {
            shown.extend(line.chars().take(room));
            shown.push_str("\n[truncated: the rest of this line and all further lines]");
            return shown;
        }
        shown.push_str(line);
        shown.push('\n');
        count += 1;
    }
    let last = lines.first - 1 + count;
    if last < all {
        shown.push_str(&format!("[lines {} to {last} of {all}]", lines.first));
    }
    shown
}
