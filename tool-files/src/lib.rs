#![doc = include_str!("../README.md")]
// Items show their feature on docs.rs.
#![cfg_attr(docsrs, feature(doc_cfg))]

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
