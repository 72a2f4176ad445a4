//! For the tests of programs with an agent.

mod journal_contract;
mod scripted_model;

pub use self::journal_contract::assert_journal;
pub use self::scripted_model::ScriptedModel;
