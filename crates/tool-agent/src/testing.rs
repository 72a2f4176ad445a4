//! Models for tests and demonstrations, which answer from a script or from recordings, a model that records another,
//! and a test for journals.

mod hidden;
mod journal_contract;
mod recorded_model;
mod recorder;
mod scripted_model;

pub use self::journal_contract::assert_journal;
pub use self::recorded_model::{RecordedModel, Recording};
pub use self::recorder::Recorder;
pub use self::scripted_model::ScriptedModel;
