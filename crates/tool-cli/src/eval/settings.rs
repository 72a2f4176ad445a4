//! [`Settings`]: the program's settings for evaluations, which [`Cli`](crate::Cli) keeps.

use std::path::PathBuf;

use tool_agent::Agent;
use tool_core::Registry;
use tool_eval::Eval;

/// A model that the program adds.
pub(super) type OwnModel = (String, Box<dyn Fn(Registry) -> Agent>);

/// Registers a check with an evaluation.
pub(super) type Predicate = Box<dyn FnOnce(Eval) -> Eval>;

/// The program's settings for evaluations.
#[derive(Default)]
pub(crate) struct Settings {
    pub(super) file: Option<PathBuf>,
    pub(super) predicates: Vec<Predicate>,
    pub(super) models: Vec<OwnModel>,
}
