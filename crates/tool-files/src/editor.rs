use tool_core::toolset;
use tool_dialects::anthropic::{self, EditorCommand};

use crate::commands::Commands;
use crate::error::FileError;
use crate::folder::Folder;

/// The body of Anthropic's text editor, `text_editor_20250728`, for the files of a folder.
///
/// [`RegistryBuilder::toolset`](tool_core::RegistryBuilder::toolset) adds one tool, `str_replace_based_edit_tool`. With
/// providers other than Anthropic it is an ordinary tool with a schema.
///
/// Paths are relative to the folder, or absolute below the prefix of [`mounted_at`](Editor::mounted_at). The folder's
/// limits and [writable](Folder::writable) paths apply.
///
/// ```
/// use tool_files::{Editor, Folder};
///
/// # let parent = std::env::temp_dir().join(format!("tool-files-editor-{}", std::process::id()));
/// # std::fs::create_dir_all(&parent)?;
/// let editor = Editor::new(Folder::open(&parent)?.writable("src/**")?).mounted_at("/repo");
/// editor.create("/repo/src/main.rs", "fn main() {}\n")?;
/// assert_eq!(
///     editor.str_replace("/repo/src/main.rs", "{}", "{ todo!() }")?,
///     "The file /repo/src/main.rs has been edited. Here is the snippet showing the change (with line numbers):\n     \
///      1\tfn main() { todo!() }\n     2\t"
/// );
/// assert!(editor.create("/repo/Cargo.toml", "").is_err());
/// # std::fs::remove_dir_all(&parent)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Editor(Commands);

impl Editor {
    /// Creates an editor for the files of a folder, with relative paths.
    pub fn new(folder: Folder) -> Editor {
        Editor(Commands::new(folder, ""))
    }

    /// Sets the prefix of paths, such as `/repo`, because models are used to absolute paths. Only the names change:
    /// nothing is read at this path of the system.
    pub fn mounted_at(mut self, root: &str) -> Editor {
        root.trim_end_matches('/').clone_into(&mut self.0.root);
        self
    }

    /// Sets the maximum number of characters of a view. The default is 50,000.
    pub fn max_characters(mut self, most: usize) -> Editor {
        self.0.most = most;
        self
    }

    /// Returns the numbered lines of a file, or the contents of a folder, two levels deep.
    ///
    /// A range is the first and last line, counted from 1; -1 is the end of the file.
    ///
    /// # Errors
    ///
    /// If the path is invalid or missing, the file is too large or not text, or the range is outside of it.
    pub fn view(&self, path: &str, range: Option<(i64, i64)>) -> Result<String, FileError> {
        self.0.view(path, range)
    }

    /// Creates a file. Existing files are not replaced.
    ///
    /// # Errors
    ///
    /// If the file exists, or [`Folder::create`] fails.
    pub fn create(&self, path: &str, file_text: &str) -> Result<String, FileError> {
        self.0.create(path, file_text)
    }

    /// Replaces a string that occurs once in a file. Pass an empty replacement to delete the string.
    ///
    /// # Errors
    ///
    /// If the string is missing or occurs several times, or the file can't be read or written.
    pub fn str_replace(
        &self,
        path: &str,
        old_str: &str,
        new_str: &str,
    ) -> Result<String, FileError> {
        let snippet = self.0.str_replace(path, old_str, new_str)?;
        Ok(format!(
            "The file {path} has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        ))
    }

    /// Inserts lines after a line, where 0 is the start of the file.
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
}

#[toolset]
impl Editor {
    /// Views and edits text files.
    #[tool(name = "str_replace_based_edit_tool", provides = anthropic::TextEditor20250728)]
    pub fn run(&self, command: EditorCommand) -> Result<String, FileError> {
        match command {
            EditorCommand::View { path, view_range } => {
                self.view(&path, view_range.map(Into::into))
            }
            EditorCommand::Create { path, file_text } => self.create(&path, &file_text),
            EditorCommand::StrReplace {
                path,
                old_str,
                new_str,
            } => self.str_replace(&path, &old_str, &new_str),
            EditorCommand::Insert {
                path,
                insert_line,
                insert_text,
            } => self.insert(&path, insert_line.into(), &insert_text),
        }
    }
}
