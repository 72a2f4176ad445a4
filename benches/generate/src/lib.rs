//! Writes the same functions, with the same docs and bodies, in the form that each contender needs.
//!
//! There are two sets: [`calls`] for calls, and [`build`] for compile times and sizes.

mod contender;
mod function;
mod program;
mod write;

pub use contender::Contender;
pub use function::{Function, Parameter, build, calls};
pub use program::program;
pub use write::{lean, modules, source};
