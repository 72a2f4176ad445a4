//! Identifiers as text, and suggestions for mistyped names.

use proc_macro2::{Ident, TokenTree};
use syn::ext::IdentExt;

/// Returns an identifier as text, without `r#`.
pub(crate) fn plain(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// Returns `true` if a token is one of these words.
pub(crate) fn is_one_of(tree: &TokenTree, words: &[&str]) -> bool {
    matches!(tree, TokenTree::Ident(ident) if words.iter().any(|word| ident == word))
}

/// Returns `; did you mean …?` with the most similar candidate, or an empty text.
pub(crate) fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    candidates
        .into_iter()
        .filter(|candidate| is_like(name, candidate))
        .min_by_key(|candidate| strsim::damerau_levenshtein(name, candidate))
        .map_or_else(String::new, |candidate| {
            format!("; did you mean `{candidate}`?")
        })
}

/// Returns `true` if one name could be the other mistyped.
pub(crate) fn is_like(one: &str, other: &str) -> bool {
    strsim::damerau_levenshtein(one, other) <= one.len().max(other.len()) / 3
}

/// Returns `` `a`, `b` and `c` ``.
pub(crate) fn list(names: &[&str]) -> String {
    joined(names, "and")
}

/// Returns `` `a`, `b` or `c` ``.
pub(crate) fn choice(names: &[&str]) -> String {
    joined(names, "or")
}

fn joined(names: &[&str], word: &str) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {word} {last}", rest.join(", ")),
        None => String::new(),
    }
}
