//! Telemetry without the feature `tracing`: does nothing.

#![allow(clippy::unused_self)] // Matches the signatures of `enabled`.

use crate::call::{ToolCall, ToolResult};
use crate::provider::dialect::{Rendered, ToolRequest};
use crate::spec::ToolSpec;
use crate::telemetry::Settings;

pub(super) struct CallLog(Scope);

#[derive(Clone)]
pub(crate) struct Scope;

impl Scope {
    pub(crate) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        run()
    }
}

impl CallLog {
    pub(super) fn new(_: &ToolCall, _: Option<&ToolSpec>, _: &Settings) -> CallLog {
        CallLog(Scope)
    }

    pub(super) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        run()
    }

    pub(super) fn scope(&self) -> Scope {
        self.0.clone()
    }

    pub(super) fn finish(self, _result: &ToolResult) {}
}

pub(crate) fn rendered(_: &Rendered) {}

pub(crate) fn requested(_: &ToolRequest) {}
