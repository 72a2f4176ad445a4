//! Telemetry without the feature `tracing`: does nothing.

#![allow(clippy::unused_self)] // Matches the signatures of `enabled`.

use crate::call::{ToolCall, ToolResult};
use crate::provider::dialect::{Rendered, ToolRequest};
use crate::spec::ToolSpec;
use crate::telemetry::Settings;

pub(crate) struct Telemetry(Scope);

#[derive(Clone)]
pub(crate) struct Scope;

impl Scope {
    pub(crate) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        run()
    }
}

impl Telemetry {
    pub(crate) fn new(_: &ToolCall, _: Option<&ToolSpec>, _: &Settings) -> Telemetry {
        Telemetry(Scope)
    }

    pub(crate) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        run()
    }

    pub(crate) fn scope(&self) -> Scope {
        self.0.clone()
    }

    pub(crate) fn finish(self, _result: &ToolResult) {}
}

pub(crate) fn rendered(_: &Rendered) {}

pub(crate) fn requested(_: &ToolRequest) {}

pub(crate) fn noted(_: &str) {}
