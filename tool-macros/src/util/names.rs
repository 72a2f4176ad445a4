//! Names without what only Rust needs, and names that were mistyped.

use proc_macro2::{Ident, TokenTree};
use syn::ext::IdentExt;

/// An identifier as text, without the `r#` that only Rust needs.
pub(crate) fn plain(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// Whether a token is one of these words.
pub(crate) fn is_one_of(tree: &TokenTree, words: &[&str]) -> bool {
    matches!(tree, TokenTree::Ident(ident) if words.iter().any(|word| ident == word))
}

/// `; did you mean …?` for the candidate that `name` most likely meant, or nothing.
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

/// Whether two names are so alike that one could be the other mistyped.
pub(crate) fn is_like(one: &str, other: &str) -> bool {
    strsim::damerau_levenshtein(one, other) <= one.len().max(other.len()) / 3
}

/// `a`, `b` and `c`.
pub(crate) fn list(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
