//! For tests and demonstrations: models that answer from a script or from recordings, and the contract of journals.

mod journal_contract;
mod recorded_model;
mod scripted_model;

pub use self::journal_contract::assert_journal;
pub use self::recorded_model::{RecordedModel, Recording};
pub use self::scripted_model::ScriptedModel;
