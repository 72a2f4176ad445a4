//! For the tests of programs with an agent.

mod scripted_model;

pub use self::scripted_model::ScriptedModel;
