//! Tests in `tests/`. A target of tool-core makes compile errors of tools that are fine without it,
//! so each run enables what it tests:
//!
//! `cargo test --package targets --features all`, and `--features xai` for `ui-alone/xai/`.
