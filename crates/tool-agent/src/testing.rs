//! Models for tests and demonstrations, which answer from a script or from recordings, a model that records another,
//! and tests for journals and for stores of results.

mod hidden;
mod journal_contract;
mod recorded_model;
mod recorder;
mod result_contract;
mod scripted_model;

pub use self::journal_contract::assert_journal;
pub use self::recorded_model::{RecordedModel, Recording};
pub use self::recorder::Recorder;
pub use self::result_contract::assert_results;
pub use self::scripted_model::ScriptedModel;
