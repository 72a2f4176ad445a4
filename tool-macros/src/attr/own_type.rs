//! `Self` in a signature, spelled out for code that stands outside of the block.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Type;
use syn::parse::Parser;

use super::parameter::{is_joint_colon, ty};
use crate::util::names::is_one_of;

/// Puts a type for `Self` in another. What an error underlines stays.
pub(super) fn spell_out(ty: &mut Type, own: &Type) {
    let tokens = ty.to_token_stream();
    if mentions_self(tokens.clone()) {
        let spelled = with_own(tokens, &own.to_token_stream());
        // It was a type before.
        *ty = self::ty.parse2(spelled).expect("tokens are a type");
    }
}

fn mentions_self(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match &tree {
        TokenTree::Group(group) => mentions_self(group.stream()),
        tree => is_one_of(tree, &["Self"]),
    })
}

fn with_own(tokens: TokenStream, own: &TokenStream) -> TokenStream {
    let mut spelled = TokenStream::new();
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match tree {
            TokenTree::Group(group) => {
                let mut inside = Group::new(group.delimiter(), with_own(group.stream(), own));
                inside.set_span(group.span());
                spelled.extend([TokenTree::Group(inside)]);
            }
            tree if is_one_of(&tree, &["Self"]) => {
                let own = own.clone().into_iter().map(|mut part| {
                    part.set_span(part.span().located_at(tree.span()));
                    part
                });
                let own: TokenStream = own.collect();
                match trees.peek() {
                    // `Self::LENGTH`
                    Some(TokenTree::Punct(colon)) if is_joint_colon(colon) => {
                        spelled.extend(quote!(<#own>));
                    }
                    _ => spelled.extend(own),
                }
            }
            tree => spelled.extend([tree]),
        }
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn self_is_spelled_out_wherever_it_stands() {
        for (ty, spelled_out) in [
            ("Self", "Home<u8>"),
            ("&'a Self", "&'a Home<u8>"),
            ("Vec<Option<Self>>", "Vec<Option<Home<u8>>>"),
            ("[u8; Self::LENGTH]", "[u8; <Home<u8>>::LENGTH]"),
            ("<Self as Trait>::Item", "<Home<u8> as Trait>::Item"),
            (
                "[u8; if Self::WIDE { 8 } else { 4 }]",
                "[u8; if <Home<u8>>::WIDE { 8 } else { 4 }]",
            ),
            ("Selfish", "Selfish"),
        ] {
            let mut found = ty_of(ty);
            spell_out(&mut found, &ty_of("Home<u8>"));
            let found = found.to_token_stream().to_string().replace(' ', "");
            assert_eq!(found, spelled_out.replace(' ', ""));
        }
    }

    fn ty_of(text: &str) -> Type {
        ty.parse_str(text).unwrap()
    }
}
