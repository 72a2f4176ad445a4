//! Schemas of the types of `core`, `alloc` and `std`, and of `serde_json`'s values.

mod collections;
mod scalars;
mod structures;
