//! Constrained decoding; see `tests/decoding.rs`.
