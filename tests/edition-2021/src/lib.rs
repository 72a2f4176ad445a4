//! Tools of every form in a crate that denies every lint: generated code must pass all of them.
//! `cargo clippy` checks that.

#![forbid(unsafe_code)]
#![deny(missing_docs, warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![deny(
    explicit_outlives_requirements,
    let_underscore_drop,
    missing_copy_implementations,
    missing_debug_implementations,
    non_ascii_idents,
    rust_2018_idioms,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unnameable_types,
    unreachable_pub,
    unused_import_braces,
    unused_lifetimes,
    unused_qualifications,
    unused_results,
    variant_size_differences
)]

pub mod tools;
