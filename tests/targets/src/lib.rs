//! Tests are in `tests/`. A provider feature of tool-core rejects tools that compile without it, so
//! each
//! run enables the features that it tests:
//!
//! `cargo test --package targets --features all`, and `--features xai` for `ui-alone/xai/`.
