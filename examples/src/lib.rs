//! One program for each idea, run with `cargo run --example NAME`.
//!
//! | program | idea |
//! |---|---|
//! | `quickstart` | from functions to a request, and from a provider's response to the next messages |
