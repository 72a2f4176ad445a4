//! openai

pub(crate) mod chat;
pub(crate) mod responses;
pub(crate) mod rules;
