//! Compile errors of tools that break a provider's rules.
//!
//! `ui/<kind of mistake>/` is for builds with every target enabled, `ui-alone/<target>/` for those
//! with that target only: a parameter shows its first broken rule only.
//! `TRYBUILD=overwrite cargo test -p targets --features all --test ui` rewrites the expected errors.

use tool_core::rules::Target;

#[path = "../../support/rustc_version.rs"]
mod rustc_version;

#[test]
fn rejected_tools_have_the_expected_errors() {
    let enabled: Vec<_> = Target::ALL
        .into_iter()
        .filter(|one| one.is_enabled())
        .collect();
    let cases = match enabled[..] {
        [] => return println!("no target is enabled; run with `--features all`"),
        [alone] => format!("ui-alone/{}/*.rs", alone.feature()),
        _ => {
            assert_eq!(enabled, Target::ALL, "one target, or all of them");
            "ui/*/*.rs".to_owned()
        }
    };
    match rustc_version::other_words() {
        None => trybuild::TestCases::new().compile_fail(cases),
        Some(reason) => println!("skipped: {reason}"),
    }
}
