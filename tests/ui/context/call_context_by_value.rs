//! The context of a call, not borrowed, and a context value in an `Arc`.

#![allow(unused_variables)]

use std::sync::Arc;

use tool_core::{CallContext, tool};

pub struct Db;

/// Works.
#[tool]
fn work(call: CallContext, text: &str) {}

/// Counts.
#[tool]
fn count(#[param(context)] db: Arc<Db>) {}

fn main() {}
// 2 errors
