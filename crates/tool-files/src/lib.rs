#![doc = include_str!("../README.md")]

mod commands;
pub mod diff;
mod editor;
mod error;
mod folder;
#[cfg(any(doc, doctest))]
pub mod guide;
mod memory;
mod patcher;
mod path;
pub mod shell;
mod text;

pub use editor::Editor;
pub use error::{FileError, FileErrorKind};
pub use folder::{Entry, Folder, Listing};
pub use memory::Memory;
pub use patcher::Patcher;
