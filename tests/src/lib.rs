//! Tests in `tests/`.
