//! Generated tokens have the hygiene of the user's tokens.
//!
//! rustc hashes the hygiene of a macro call with the absolute position of the call. A token with it
//! compiles its item again when another part of the file changes.

/// The location of a tool, which does change with its position, and the struct of a handler, which
/// lints must ignore.
const EXCEPTIONS: [&str; 3] = [
    "__tool_core :: location(:: core :: module_path! ())",
    "struct",
    "{}",
];

#[test]
fn generated_tokens_have_the_hygiene_of_the_user() {
    let expansions = macro_spans::tokens_of_the_call!(user);
    assert!(expansions.len() > 20, "inputs are missing");
    let mut found = Vec::new();
    for (item, runs) in expansions {
        for run in *runs {
            if !EXCEPTIONS.contains(run) {
                found.push(format!("{item}: {run}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
