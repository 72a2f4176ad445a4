//! Shared parts of the property tests: a table of types, a sampler of values that a schema
//! describes,
//! mutations of such values, and the documented exceptions.
//!
//! The tests are in `tests/`; `tool-core/fuzz` runs the same probes under libFuzzer.

pub mod exceptions;
pub mod mutate;
pub mod probe;
pub mod random;
pub mod sample;
pub mod schemas;
pub mod subject;
pub mod table;
pub mod typed;
pub mod value;
pub mod written;

/// Returns the number of rounds: few in `cargo test`, many under `TOOL_CORE_LONG=1`.
pub fn rounds(short: usize, long: usize) -> usize {
    match std::env::var_os("TOOL_CORE_LONG") {
        Some(value) if value != "0" => long,
        _ => short,
    }
}
