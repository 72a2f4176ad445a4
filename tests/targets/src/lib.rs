//! Tests in `tests/`. A target of tool-core makes errors of tools that are fine without it, so each
//! run turns on what it is about:
//!
//! `cargo test --package targets --features all`, and `--features xai` for `ui-alone/xai/`.
