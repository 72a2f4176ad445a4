//! Mistakes and the words for them.
//!
//! `ui/<kind of mistake>/<case>.rs` holds the cases whose messages are our own words, and
//! `ui-rustc/` those that are mostly rustc's, which change with the toolchain. Each case has its
//! messages beside it; `TRYBUILD=overwrite cargo test --test ui` rewrites them.

#[test]
fn every_mistake_has_its_words() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui/*/*.rs");
    cases.compile_fail("ui-rustc/*/*.rs");
}
