//! A parameter as written: its name or pattern, and its type.

use proc_macro2::{Ident, Punct, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Meta, Token, Type, TypeReference};

use crate::util::names::is_one_of;

/// One parameter of a function.
#[derive(Clone)]
pub(crate) struct Parameter {
    pub(crate) attrs: Vec<Attribute>,
    /// The parameter without its attributes.
    pub(crate) tokens: TokenStream,
    pub(crate) kind: ParameterKind,
}

/// The form of a parameter.
#[derive(Clone)]
pub(crate) enum ParameterKind {
    /// `name: Type` or `mut name: Type`
    Named(Ident, Box<Type>),
    /// `self` in one of its forms.
    Receiver(Receiver),
    /// `...` or `name: ...`
    Variadic(Token![...]),
    /// Any other pattern.
    Pattern(TokenStream),
}

/// The `self` of a method.
#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) token: Token![self],
    /// `true` for `&self`, which concurrent calls can share.
    pub(crate) is_shared: bool,
}

impl Parse for Parameter {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let tokens = until(input, |input| input.peek(Token![,]))?;
        let kind = kind.parse2(tokens.clone())?;
        Ok(Parameter {
            attrs,
            tokens,
            kind,
        })
    }
}

fn kind(input: ParseStream<'_>) -> syn::Result<ParameterKind> {
    if let Some(token) = input.parse()? {
        return Ok(ParameterKind::Variadic(token));
    }
    let fork = input.fork();
    let borrow = fork.parse::<Option<Token![&]>>()?;
    fork.parse::<Option<syn::Lifetime>>()?;
    let mutability = fork.parse::<Option<Token![mut]>>()?;
    if let Some(token) = fork.parse()? {
        let is_shared = match fork.parse::<Option<Token![:]>>()? {
            None => borrow.is_some() && mutability.is_none(),
            Some(_) => is_shared_self(&ty(&fork)?),
        };
        input.advance_to(&fork);
        return Ok(ParameterKind::Receiver(Receiver { token, is_shared }));
    }
    let mut pattern = Vec::new();
    while !at_colon(input) {
        if input.is_empty() {
            return Ok(ParameterKind::Pattern(pattern.into_iter().collect()));
        }
        pattern.push(input.parse::<TokenTree>()?);
        // The second half of `::` is not the colon before the type.
        if matches!(pattern.last(), Some(TokenTree::Punct(punct)) if is_joint_colon(punct)) {
            pattern.push(input.parse()?);
        }
    }
    input.parse::<Token![:]>()?;
    if let Some(token) = input.parse()? {
        return Ok(ParameterKind::Variadic(token));
    }
    let ty = Box::new(ty(input)?);
    Ok(match &pattern[..] {
        [TokenTree::Ident(name)] if name != "_" => ParameterKind::Named(name.clone(), ty),
        [TokenTree::Ident(mutability), TokenTree::Ident(name)] if mutability == "mut" => {
            ParameterKind::Named(name.clone(), ty)
        }
        _ => ParameterKind::Pattern(pattern.into_iter().collect()),
    })
}

/// `&Self`
fn is_shared_self(ty: &Type) -> bool {
    let Type::Reference(reference) = ty else {
        return false;
    };
    let is_self = matches!(&*reference.elem, Type::Path(path) if path.path.is_ident("Self"));
    is_self && reference.mutability.is_none()
}

fn at_colon(input: ParseStream<'_>) -> bool {
    input.peek(Token![:]) && !input.peek(Token![::])
}

pub(super) fn is_joint_colon(punct: &Punct) -> bool {
    punct.as_char() == ':' && punct.spacing() == Spacing::Joint
}

/// Parses a type that reaches to the end. Without its feature `full`, syn cannot parse expressions
/// such as that in `[u8; if WIDE { 8 } else { 4 }]`; these types are kept as tokens.
pub(super) fn ty(input: ParseStream<'_>) -> syn::Result<Type> {
    let fork = input.fork();
    if let Ok(ty) = fork.parse() {
        input.advance_to(&fork);
        return Ok(ty);
    }
    if input.peek(Token![&]) {
        return Ok(Type::Reference(TypeReference {
            attrs: Vec::new(),
            and_token: input.parse()?,
            lifetime: input.parse()?,
            mutability: input.parse()?,
            elem: Box::new(ty(input)?),
        }));
    }
    Ok(Type::Verbatim(input.parse()?))
}

/// Reads tokens up to the first that `ends` accepts outside angle brackets.
pub(super) fn until(
    input: ParseStream<'_>,
    ends: impl Fn(ParseStream<'_>) -> bool,
) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    let mut angles = 0_usize;
    let mut arrow = false;
    while !input.is_empty() && (angles > 0 || !ends(input)) {
        let tree: TokenTree = input.parse()?;
        if let TokenTree::Punct(punct) = &tree {
            match punct.as_char() {
                '<' => angles += 1,
                '>' if !arrow => angles = angles.saturating_sub(1),
                _ => {}
            }
            arrow = punct.as_char() == '-' && punct.spacing() == Spacing::Joint;
        } else {
            arrow = false;
        }
        tree.to_tokens(&mut tokens);
    }
    Ok(tokens)
}

/// Returns `true` for a `#[cfg_attr]` with an attribute that the macro reads. rustc does not expand it
/// on a parameter before the macro.
pub(crate) fn is_conditional(attr: &Attribute) -> bool {
    let Meta::List(list) = &attr.meta else {
        return false;
    };
    let is_comma =
        |tree: &TokenTree| matches!(tree, TokenTree::Punct(mark) if mark.as_char() == ',');
    let trees = list.tokens.clone().into_iter();
    let mut trees = trees.skip_while(|tree| !is_comma(tree));
    attr.path().is_ident("cfg_attr") && trees.any(|tree| is_one_of(&tree, &["doc", "param", "cfg"]))
}

#[cfg(test)]
mod tests {
    use syn::ReturnType;

    use super::*;
    use crate::attr::Function;

    /// Tokens without spaces.
    fn spelled(tokens: impl ToTokens) -> String {
        tokens.to_token_stream().to_string().replace(' ', "")
    }

    /// Returns the names of the parameters and their types.
    fn parsed(parameters: &str) -> Vec<(String, String)> {
        let source = format!("fn f({parameters}) {{}}");
        let function: Function = syn::parse_str(&source).unwrap();
        let shown = function.parameters.iter().map(|one| match &one.kind {
            ParameterKind::Named(name, ty) => (name.to_string(), spelled(ty)),
            ParameterKind::Receiver(_) => ("self".into(), String::new()),
            ParameterKind::Variadic(_) => ("...".into(), String::new()),
            ParameterKind::Pattern(pattern) => ("a pattern".into(), spelled(pattern)),
        });
        shown.collect()
    }

    #[test]
    fn commas_inside_a_type_do_not_end_a_parameter() {
        for ty in [
            "HashMap<String, [u8; 3]>",
            "Vec<Vec<(u8, u8)>>",
            "fn(u8, u8) -> Vec<u8>",
            "Box<dyn Fn(u8, u8) -> HashMap<u8, u8>>",
            "for<'a> fn(&'a str, u8) -> &'a str",
            "<T as Trait<u8, u8>>::X",
            "<<T as A<u8, u8>>::B as C<u8, u8>>::D",
            "a::b::<C, D>::E",
            "Sum<{ 1 < 2 }, 3>",
            "Sum<{ 8 >> 1 }, { 1 << 2 }>",
            "Sum<-1, 2>",
            "Iter<Item = u8, Other = Vec<u8>>",
            "impl Fn(u8) -> Vec<u8> + 'static",
            "[u8; { a < b, 2 }.1]",
            "[u8; if a < b { 1 } else { 2 }]",
            "&'a mut [u8; match a { b => 1, c => 2 }]",
            "(u8, u8)",
        ] {
            let found = parsed(&format!("a: {ty}, mut b: Vec<{ty}>, c: u8"));
            let names: Vec<_> = found.iter().map(|(name, _)| &**name).collect();
            assert_eq!(names, ["a", "b", "c"], "{ty}");
            let tokens: TokenStream = ty.parse().unwrap();
            assert_eq!(found[0].1, spelled(tokens));
        }
    }

    #[test]
    fn patterns_are_not_names() {
        for parameter in [
            "(x, y): (u8, u8)",
            "[x, ..]: [u8; 2]",
            "Point { x, y }: Point",
            "a::Point::<u8, u8> { x, .. }: a::Point<u8, u8>",
            "::a::B(c): ::a::B",
            "&x: &u8",
            "&mut x: &mut u8",
            "ref x: u8",
            "ref mut x: u8",
            "x @ 1..=2: u8",
            "_: u8",
        ] {
            let (pattern, _) = parameter.rsplit_once(": ").unwrap();
            let pattern: TokenStream = pattern.parse().unwrap();
            let found = parsed(&format!("{parameter}, z: u8"));
            assert_eq!(found[0], ("a pattern".to_owned(), spelled(pattern)));
            assert_eq!(found[1].0, "z");
        }
    }

    #[test]
    fn every_form_of_self_is_a_receiver() {
        for (receiver, is_shared) in [
            ("self", false),
            ("mut self", false),
            ("&self", true),
            ("&mut self", false),
            ("&'a self", true),
            ("&'a mut self", false),
            ("self: &Self", true),
            ("self: &'a Self", true),
            ("self: &mut Self", false),
            ("mut self: Box<Self>", false),
            ("self: Arc<Self>", false),
        ] {
            let source = format!("fn f({receiver}, z: u8) {{}}");
            let function: Function = syn::parse_str(&source).unwrap();
            let ParameterKind::Receiver(found) = &function.parameters[0].kind else {
                panic!("{receiver} was not found");
            };
            assert_eq!(found.is_shared, is_shared, "{receiver}");
            assert_eq!(parsed(&format!("{receiver}, z: u8"))[1].0, "z");
        }
        assert_eq!(parsed("selfish: u8")[0].0, "selfish");
    }

    #[test]
    fn variadic_parameters_may_have_names() {
        for parameter in ["...", "_: ...", "mut rest: ..."] {
            assert_eq!(parsed(parameter)[0].0, "...");
        }
    }

    #[test]
    fn a_return_type_ends_where_the_body_begins() {
        for (ty, rest) in [
            ("Sum<{ 1 + 2 }>", "{ body }"),
            ("[u8; if a { 1 } else { 2 }]", "{ body }"),
            ("impl Fn(u8) -> Vec<u8>", "where T: Copy { body }"),
            ("!", ";"),
        ] {
            let function: Function = syn::parse_str(&format!("fn f() -> {ty} {rest}")).unwrap();
            let ReturnType::Type(_, found) = &function.output else {
                panic!("{ty} was not found");
            };
            let tokens: TokenStream = ty.parse().unwrap();
            assert_eq!(spelled(found), spelled(tokens));
        }
    }
}
