use crate::commands::Commands;
use crate::error::FileError;
use crate::folder::Folder;

/// What paths of the memory start with.
const ROOT: &str = "/memories";

/// The body of Anthropic's memory tool, `memory_20250818`: files below `/memories`, which are those of a folder.
///
/// The folder's limits and [writable](Folder::writable) paths apply. `**` lets the model write everything.
///
/// ```
/// use tool_files::{Folder, Memory};
///
/// # let parent = std::env::temp_dir().join(format!("tool-files-memory-{}", std::process::id()));
/// # std::fs::create_dir_all(&parent)?;
/// let memory = Memory::new(Folder::open(&parent)?.writable("**")?);
/// memory.create("/memories/likes.md", "coffee\n")?;
/// memory.str_replace("/memories/likes.md", "coffee", "tea")?;
/// assert_eq!(
///     memory.view("/memories/likes.md", None)?,
///     "Here's the content of /memories/likes.md with line numbers:\n     1\ttea\n     2\t"
/// );
/// let error = memory.view("/memories/../secret", None).unwrap_err();
/// assert!(error.to_string().contains("`..` are not allowed"));
/// # std::fs::remove_dir_all(&parent)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Memory(Commands);

impl Memory {
    /// Creates a memory in a folder.
    pub fn new(folder: Folder) -> Memory {
        Memory(Commands::new(folder, ROOT))
    }

    /// Sets the maximum number of characters of a view. The default is 50,000.
    pub fn max_characters(mut self, most: usize) -> Memory {
        self.0.most = most;
        self
    }

    /// Returns the lines of a file with their numbers, or what is in a folder, two levels deep.
    ///
    /// A range has the first and the last line, from 1; -1 is the end of the file.
    ///
    /// # Errors
    ///
    /// If the path is not valid or missing, the file is not text or too large, or the range is not in it.
    pub fn view(&self, path: &str, range: Option<(i64, i64)>) -> Result<String, FileError> {
        self.0.view(path, range)
    }

    /// Creates a file.
    ///
    /// # Errors
    ///
    /// If it exists, or [`Folder::create`] fails.
    pub fn create(&self, path: &str, file_text: &str) -> Result<String, FileError> {
        self.0.create(path, file_text)
    }

    /// Replaces a string that is in a file once.
    ///
    /// # Errors
    ///
    /// If the string is not there or several times, or the file can't be read or written.
    pub fn str_replace(
        &self,
        path: &str,
        old_str: &str,
        new_str: &str,
    ) -> Result<String, FileError> {
        let snippet = self.0.str_replace(path, old_str, new_str)?;
        Ok(format!(
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        ))
    }

    /// Inserts lines after a line; 0 is the start of the file.
    ///
    /// # Errors
    ///
    /// If there is no such line, or the file can't be read or written.
    pub fn insert(
        &self,
        path: &str,
        insert_line: i64,
        insert_text: &str,
    ) -> Result<String, FileError> {
        self.0.insert(path, insert_line, insert_text)
    }

    /// Deletes a file, or a folder with everything in it.
    ///
    /// # Errors
    ///
    /// If the path is `/memories`, or [`Folder::remove`] fails.
    pub fn delete(&self, path: &str) -> Result<String, FileError> {
        self.0.delete(path)
    }

    /// Renames or moves a file or a folder.
    ///
    /// # Errors
    ///
    /// If the new path exists, the old one is `/memories`, or [`Folder::rename`] fails.
    pub fn rename(&self, old_path: &str, new_path: &str) -> Result<String, FileError> {
        self.0.rename(old_path, new_path)
    }
}
