//! Programs in `examples/`.
