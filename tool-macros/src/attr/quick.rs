//! Reads the functions that most tools are, without syn.
//!
//! syn copies the tokens into a buffer, again for each part that is parsed apart, and visits every
//! character of a doc comment. Cargo compiles macros without optimisation, so that took a quarter
//! of the macro's time. A function with generics, patterns or anything else is left to syn.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{
    AngleBracketedGenericArguments, AttrStyle, Attribute, Expr, ExprLit, GenericArgument, Generics,
    Lit, Meta, MetaNameValue, Path, PathArguments, PathSegment, ReturnType, Token, Type, TypePath,
    TypeReference, Visibility, token,
};

use super::function::{Function, Written};
use super::parameter::{self, Parameter, ParameterKind};
use crate::util::literal::simple;
use crate::util::site::Trees;

impl Function {
    /// Parses an item. Its body, whose tokens syn would visit, is left out and put back.
    pub(crate) fn new(item: TokenStream) -> syn::Result<Function> {
        if let Some(function) = function(item.clone()) {
            return Ok(function);
        }
        let mut trees: Vec<_> = item.into_iter().collect();
        let body = match trees.last_mut() {
            Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => {
                let mut empty = Group::new(Delimiter::Brace, TokenStream::new());
                empty.set_span(body.span());
                Some(std::mem::replace(body, empty))
            }
            _ => None,
        };
        let mut function: Function = syn::parse2(trees.into_iter().collect())?;
        if let Some(body) = body {
            function.body = TokenTree::Group(body);
        }
        Ok(function)
    }
}

/// Parses a function, or returns `None` if syn has to.
fn function(item: TokenStream) -> Option<Function> {
    let mut trees = item.into_iter();
    let (attrs, first) = attributes(&mut trees)?;
    // They are misplaced, and removed where the function is written anew.
    if attrs
        .iter()
        .any(|attr| matches!(&*attr.name, "param" | "tool"))
    {
        return None;
    }
    let mut next = first?;
    let written = attrs.iter().flat_map(|attr| attr.trees.clone()).collect();
    let mut head = Trees::default();
    let mut take = |tree: TokenTree| head.put(tree);
    let mut vis = Visibility::Inherited;
    let (mut asyncness, mut qualifiers) = (None, TokenStream::new());
    let fn_token = loop {
        let TokenTree::Ident(word) = &next else {
            return None;
        };
        let span = word.span();
        match &*word.to_string() {
            "pub" => {
                take(next);
                next = trees.next()?;
                vis = Visibility::Public(Token![pub](span));
                if let TokenTree::Group(scope) = &next {
                    let words = [word_of("pub", span), TokenTree::Group(scope.clone())];
                    vis = syn::parse2(words.into_iter().collect()).ok()?;
                    take(next);
                    next = trees.next()?;
                }
                continue;
            }
            "async" => {
                asyncness = Some(Token![async](span));
                qualifiers.extend([next.clone()]);
            }
            "fn" => {
                take(next);
                break Token![fn](span);
            }
            _ => return None,
        }
        take(next);
        next = trees.next()?;
    };
    let TokenTree::Ident(ident) = trees.next()? else {
        return None;
    };
    take(ident.clone().into());
    let TokenTree::Group(list) = trees.next()? else {
        return None;
    };
    if list.delimiter() != Delimiter::Parenthesis {
        return None;
    }
    let (parameters, kept) = parameters(&list)?;
    let mut rest: Vec<_> = trees.collect();
    let tail = rest.iter().cloned().collect();
    let body = rest.pop()?;
    let is_body = matches!(&body, TokenTree::Group(body) if body.delimiter() == Delimiter::Brace);
    let output = match &rest[..] {
        [] => ReturnType::Default,
        [TokenTree::Punct(minus), TokenTree::Punct(angle), ty @ ..]
            if minus.as_char() == '-' && angle.as_char() == '>' && !ty.is_empty() =>
        {
            let is_where =
                |tree: &TokenTree| matches!(tree, TokenTree::Ident(word) if word == "where");
            if ty.len() > 4 && ty.iter().any(is_where) {
                return None;
            }
            let arrow = Token![->]([minus.span(), angle.span()]);
            ReturnType::Type(arrow, Box::new(self::ty(ty)?))
        }
        _ => return None,
    };
    is_body.then(|| Function {
        attrs: attrs.into_iter().map(|attr| attr.parsed).collect(),
        vis,
        qualifiers,
        asyncness,
        unsafety: None,
        abi: None,
        fn_token,
        ident,
        generics: Generics::default(),
        paren: token::Paren {
            span: list.delim_span(),
        },
        parameters,
        output,
        body,
        written: Some(Written {
            attrs: written,
            head,
            parameters: kept,
            tail,
        }),
    })
}

fn word_of(word: &str, span: proc_macro2::Span) -> TokenTree {
    Ident::new(word, span).into()
}

/// An attribute with its tokens.
struct Read {
    parsed: Attribute,
    name: String,
    trees: [TokenTree; 2],
}

/// Reads the attributes, and returns the first token after them.
fn attributes(
    trees: &mut impl Iterator<Item = TokenTree>,
) -> Option<(Vec<Read>, Option<TokenTree>)> {
    let mut attributes = Vec::new();
    loop {
        match trees.next() {
            Some(TokenTree::Punct(mark)) if mark.as_char() == '#' => match trees.next()? {
                TokenTree::Group(list) => attributes.push(attribute(mark, list)?),
                _ => return None,
            },
            next => return Some((attributes, next)),
        }
    }
}

fn attribute(mark: Punct, list: Group) -> Option<Read> {
    let mut inside = list.stream().into_iter();
    let TokenTree::Ident(word) = inside.next()? else {
        return None;
    };
    let name = word.to_string();
    let is_text = |literal: &Literal| simple(&literal.to_string()).is_some();
    let parsed = match (&*name, inside.next(), inside.next(), inside.next()) {
        ("doc", Some(TokenTree::Punct(equals)), Some(TokenTree::Literal(text)), None)
            if equals.as_char() == '=' && is_text(&text) =>
        {
            let path = Path::from(word);
            // Parsed, it would be read character by character.
            let value = Expr::Lit(ExprLit {
                attrs: Vec::new(),
                lit: Lit::Verbatim(text),
            });
            Attribute {
                pound_token: Token![#](mark.span()),
                style: AttrStyle::Outer,
                bracket_token: token::Bracket {
                    span: list.delim_span(),
                },
                meta: Meta::NameValue(MetaNameValue {
                    path,
                    eq_token: Token![=](equals.span()),
                    value,
                }),
            }
        }
        _ => {
            let trees = [mark.clone().into(), list.clone().into()];
            let tokens: TokenStream = <[TokenTree; 2]>::into_iter(trees).collect();
            let mut parsed = Attribute::parse_outer.parse2(tokens).ok()?;
            parsed.pop()?
        }
    };
    Some(Read {
        parsed,
        name,
        trees: [mark.into(), list.into()],
    })
}

/// Reads parameters. Returns them, and the list without the attributes that only the macro reads.
fn parameters(list: &Group) -> Option<(Vec<Parameter>, Group)> {
    let mut parameters = Vec::new();
    let mut kept = Vec::new();
    let mut is_changed = false;
    let mut trees = list.stream().into_iter();
    loop {
        let (attrs, next) = attributes(&mut trees)?;
        let Some(mut next) = next else {
            if !attrs.is_empty() {
                return None;
            }
            break;
        };
        let mut parsed = Vec::with_capacity(attrs.len());
        for attr in attrs {
            match &*attr.name {
                "doc" | "param" => is_changed = true,
                "cfg_attr" => return None,
                _ => kept.extend(attr.trees),
            }
            parsed.push(attr.parsed);
        }
        let name = loop {
            let TokenTree::Ident(word) = next else {
                return None;
            };
            let is_mut = match &*word.to_string() {
                "mut" => true,
                "self" | "ref" | "_" => return None,
                _ => false,
            };
            kept.push(word.clone().into());
            if !is_mut {
                break word;
            }
            next = trees.next()?;
        };
        match trees.next()? {
            TokenTree::Punct(colon)
                if colon.as_char() == ':' && colon.spacing() == Spacing::Alone =>
            {
                kept.push(colon.into());
            }
            _ => return None,
        }
        let (first, mut depth, mut ends) = (kept.len(), 0_usize, true);
        for tree in trees.by_ref() {
            if let TokenTree::Punct(mark) = &tree {
                match mark.as_char() {
                    '<' => depth += 1,
                    '>' => depth = depth.checked_sub(1)?,
                    // Arrows and `...`.
                    '-' | '.' => return None,
                    ',' if depth == 0 => {
                        kept.push(tree);
                        ends = false;
                        break;
                    }
                    _ => {}
                }
            }
            kept.push(tree);
        }
        let end = kept.len() - usize::from(!ends);
        let ty = ty(&kept[first..end])?;
        parameters.push(Parameter {
            attrs: parsed,
            tokens: TokenStream::new(),
            kind: ParameterKind::Named(name, Box::new(ty)),
        });
        if ends {
            break;
        }
    }
    if !is_changed {
        return Some((parameters, list.clone()));
    }
    let mut changed = Group::new(Delimiter::Parenthesis, kept.into_iter().collect());
    changed.set_span(list.span());
    Some((parameters, changed))
}

/// Parses a type: a name with other such types as arguments, or a borrow of one. syn parses all
/// others.
fn ty(trees: &[TokenTree]) -> Option<Type> {
    simple_type(trees).or_else(|| parameter::ty.parse2(trees.iter().cloned().collect()).ok())
}

fn simple_type(trees: &[TokenTree]) -> Option<Type> {
    let (name, arguments) = match trees {
        [TokenTree::Punct(and), elem @ ..] if and.as_char() == '&' => {
            return Some(Type::Reference(TypeReference {
                attrs: Vec::new(),
                and_token: Token![&](and.span()),
                lifetime: None,
                mutability: None,
                elem: Box::new(simple_type(elem)?),
            }));
        }
        [TokenTree::Ident(name)] => (name, PathArguments::None),
        [
            TokenTree::Ident(name),
            TokenTree::Punct(less),
            inside @ ..,
            TokenTree::Punct(greater),
        ] if less.as_char() == '<' && greater.as_char() == '>' => {
            let mut args = Punctuated::new();
            args.push_value(GenericArgument::Type(simple_type(inside)?));
            let arguments = AngleBracketedGenericArguments {
                colon2_token: None,
                lt_token: Token![<](less.span()),
                args,
                gt_token: Token![>](greater.span()),
            };
            (name, PathArguments::AngleBracketed(arguments))
        }
        _ => return None,
    };
    let mut segments = Punctuated::new();
    segments.push_value(PathSegment {
        ident: name.clone(),
        arguments,
    });
    Some(Type::Path(TypePath {
        attrs: Vec::new(),
        qself: None,
        path: Path {
            leading_colon: None,
            segments,
        },
    }))
}
