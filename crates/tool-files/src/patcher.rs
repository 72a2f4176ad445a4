use tool_core::toolset;
use tool_dialects::openai::{self, PatchOperation};

use crate::diff;
use crate::error::{FileError, Reason};
use crate::folder::Folder;

/// The body of OpenAI's `apply_patch`, for the files of a folder.
///
/// [`RegistryBuilder::toolset`](tool_core::RegistryBuilder::toolset) adds one tool, `apply_patch`. With providers other
/// than OpenAI it is an ordinary tool with a schema.
///
/// Paths are relative to the folder. The folder's limits and [writable](Folder::writable) paths apply.
///
/// ```
/// use tool_files::{Folder, Patcher};
///
/// # let parent = std::env::temp_dir().join(format!("tool-files-patcher-{}", std::process::id()));
/// # std::fs::create_dir_all(&parent)?;
/// let folder = Folder::open(&parent)?.writable("lists/*")?;
/// let patcher = Patcher::new(folder.clone());
/// patcher.create("lists/shopping.md", "+milk\n+bread")?;
/// patcher.update("lists/shopping.md", " milk\n-bread\n+butter")?;
/// assert_eq!(folder.read("lists/shopping.md")?, "milk\nbutter");
/// patcher.delete("lists/shopping.md")?;
/// # std::fs::remove_dir_all(&parent)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Patcher(Folder);

impl Patcher {
    /// Creates a patcher for the files of a folder.
    pub fn new(folder: Folder) -> Patcher {
        Patcher(folder)
    }

    /// Creates a file from a diff whose lines start with `+`.
    ///
    /// # Errors
    ///
    /// If a line does not start with `+`, the file exists, or [`Folder::create`] fails.
    pub fn create(&self, path: &str, diff: &str) -> Result<String, FileError> {
        let text = diff::create(diff).map_err(|error| not_applied(path, &error))?;
        self.0.create(path, &text)?;
        Ok(format!("Created {path}"))
    }

    /// Applies all hunks of a diff to a file, or none.
    ///
    /// # Errors
    ///
    /// If a hunk does not apply, or the file can't be read or written.
    pub fn update(&self, path: &str, diff: &str) -> Result<String, FileError> {
        let edited = self.0.edit(path, |text| {
            let text = diff::apply(text, diff).map_err(|error| Reason::Diff(error.to_string()))?;
            Ok((text, ()))
        });
        edited.map_err(|reason| FileError::new(path, reason))?;
        Ok(format!("Updated {path}"))
    }

    /// Deletes a file. Folders can't be deleted.
    ///
    /// # Errors
    ///
    /// If the file can't be read, or [`Folder::remove`] fails.
    pub fn delete(&self, path: &str) -> Result<String, FileError> {
        self.0.remove_file(path)?;
        Ok(format!("Deleted {path}"))
    }
}

#[toolset]
impl Patcher {
    /// Creates, changes or deletes a file by a diff.
    #[tool(name = "apply_patch", provides = openai::ApplyPatch)]
    pub fn run(&self, operation: PatchOperation) -> Result<String, FileError> {
        match operation {
            PatchOperation::CreateFile { path, diff } => self.create(&path, &diff),
            PatchOperation::UpdateFile { path, diff } => self.update(&path, &diff),
            PatchOperation::DeleteFile { path } => self.delete(&path),
        }
    }
}

fn not_applied(path: &str, error: &diff::DiffError) -> FileError {
    FileError::new(path, Reason::Diff(error.to_string()))
}
