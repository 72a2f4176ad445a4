#![doc = include_str!("../README.md")]
// Items show their feature on docs.rs.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Modules, from the bottom up. A module imports only from those above it.
//
// keywords    which keywords of JSON Schema restrict values
// update      whether tests rewrite files
// docs        catalogues
// lock        lock files
// budget      sizes
// testing     all of them in one test

mod budget;
mod docs;
mod keywords;
pub mod lock;
pub mod testing;
mod update;

pub use budget::{Budget, Cost};
pub use docs::{Docs, DocsError, DocsErrorKind, HtmlPage, escape, example};
