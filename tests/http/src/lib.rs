//! Tests are in `tests/`.
