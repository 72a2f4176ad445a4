//! Mistakes in the eyes of a provider, and the words for them.
//!
//! `ui/<kind of mistake>/` is for builds with every target on, `ui-alone/<target>/` for those with
//! that target alone: of several mistakes in one parameter, the first is told.
//! `TRYBUILD=overwrite cargo test -p targets --features all --test ui` rewrites the words.

use tool_core::rules::Target;

#[path = "../../support/rustc_version.rs"]
mod rustc_version;

#[test]
fn every_refusal_has_its_words() {
    let on: Vec<_> = Target::ALL.into_iter().filter(|one| one.is_on()).collect();
    let cases = match on[..] {
        [] => return println!("no target is on; run with `--features all`"),
        [alone] => format!("ui-alone/{}/*.rs", alone.feature()),
        _ => {
            assert_eq!(on, Target::ALL, "one target, or all of them");
            "ui/*/*.rs".to_owned()
        }
    };
    match rustc_version::other_words() {
        None => trybuild::TestCases::new().compile_fail(cases),
        Some(reason) => println!("skipped: {reason}"),
    }
}
