//! Identifiers for names of a server: Rust has neither `create-issue` nor `3d`.
//!
//! What an identifier can't have separates words, a digit at the start gets a `_`, and so does a keyword that can't be raw.
//! Of two equal identifiers, the later one gets `_2`.

use std::collections::HashSet;

use proc_macro2::Ident;
use quote::ToTokens;

use crate::util::site::site;

/// The identifiers of one scope.
#[derive(Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// Returns the name of a function or a field.
    pub(super) fn value(&mut self, name: &str) -> Ident {
        self.unique(words(name).join("_").to_lowercase(), "unnamed")
    }

    /// Returns the name of a type or a variant.
    pub(super) fn ty(&mut self, name: &str) -> Ident {
        self.unique(pascal(name), "Unnamed")
    }

    fn unique(&mut self, mut name: String, fallback: &str) -> Ident {
        if name.is_empty() {
            fallback.clone_into(&mut name);
        }
        if name.starts_with(|first: char| first.is_numeric()) {
            name.insert(0, '_');
        }
        // Not every letter of Unicode is one for Rust.
        if !name.is_ascii() && syn::parse_str::<Ident>(&format!("{name}_")).is_err() {
            fallback.clone_into(&mut name);
        }
        let mut unique = name.clone();
        let mut count = 1;
        while !self.0.insert(unique.clone()) {
            count += 1;
            unique = format!("{name}_{count}");
        }
        ident(&unique)
    }
}

fn ident(name: &str) -> Ident {
    match name {
        "self" | "Self" | "super" | "crate" => Ident::new(&format!("{name}_"), site()),
        // Parsing text takes rustc longer.
        _ if syn::parse2::<Ident>(Ident::new(name, site()).into_token_stream()).is_err() => {
            Ident::new_raw(name, site())
        }
        _ => Ident::new(name, site()),
    }
}

/// Returns a name as one word of a type.
pub(super) fn pascal(name: &str) -> String {
    let words = words(name).into_iter().map(|word| {
        let mut letters = word.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).collect::<String>()
    });
    words.collect()
}

/// Splits at what is no letter or digit, and before the first capital letter of a word.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        let is_capital = letter.is_uppercase() && (before.is_lowercase() || before.is_numeric());
        if is_capital || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.push(letter);
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_mapped() {
        for (name, value, ty) in [
            ("create-issue", "create_issue", "CreateIssue"),
            ("perPage", "per_page", "PerPage"),
            ("HTMLPage", "htmlpage", "HTMLPage"),
            ("type", "r#type", "Type"),
            ("3d", "_3d", "_3d"),
            ("self", "self_", "Self_"),
            ("a.b/c d", "a_b_c_d", "ABCD"),
            ("", "unnamed", "Unnamed"),
            ("🦀", "unnamed", "Unnamed"),
            ("größe", "größe", "Größe"),
            ("async", "r#async", "Async"),
            ("²", "unnamed", "Unnamed"),
        ] {
            assert_eq!(Names::default().value(name).to_string(), value);
            assert_eq!(Names::default().ty(name).to_string(), ty);
        }
    }

    #[test]
    fn names_that_collide_are_numbered() {
        let mut names = Names::default();
        let mapped = ["a-b", "a_b", "aB", "a_b_2"].map(|name| names.value(name).to_string());
        assert_eq!(mapped, ["a_b", "a_b_2", "a_b_3", "a_b_2_2"]);
    }
}
