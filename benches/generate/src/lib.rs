//! Writes the same functions, with the same docs and bodies, the way each contender wants them.
//!
//! Two sets: [`calls`], which is called, and [`build`], which is only compiled.

mod contender;
mod function;
mod program;
mod write;

pub use contender::Contender;
pub use function::{Function, Parameter, build, calls};
pub use program::program;
pub use write::source;
