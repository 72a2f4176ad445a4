//! A macro that runs the macros of tool-core and reports the hygiene of what they write.
//!
//! Only in a compiler does a token have hygiene, so this crate compiles the sources of the macros once
//! more, beside a macro that looks at their output.

#![recursion_limit = "256"]

use std::path::Path;
use std::{env, fs};

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::quote;

#[path = "../../../tool-macros/src"]
mod source {
    pub(crate) mod attr;
    pub(crate) mod check;
    pub(crate) mod emit;
    #[expect(dead_code, reason = "errors alone come from `not_tools`")]
    pub(crate) mod expand;
    pub(crate) mod model;
    pub(crate) mod util;
}

// The sources name each other by these paths.
use source::{attr, check, emit, expand, model, util};

/// Expands each item of the golden files of the macros and of `items.rs`. Becomes a list of the items, each with the
/// tokens of its expansion that have the hygiene of the macro call:
/// `&[("parameters.rs: fn parameters", &["# [used]", …]), …]`.
///
/// The argument is any token, whose hygiene the items get.
#[proc_macro]
pub fn tokens_of_the_call(user: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let user = TokenStream::from(user);
    let user = user.into_iter().next().expect("a token").span();
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let golden = Path::new(&root).join("../../tool-macros/golden");
    let entries = golden.read_dir().expect("the folder of expansions");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("listed").path()).collect();
    files.sort();
    files.retain(|file| !file.to_string_lossy().ends_with(".expanded.rs"));
    files.push(Path::new(&root).join("items.rs"));
    let (mut found, mut inputs) = (Vec::new(), Vec::new());
    for file in files {
        let text = fs::read_to_string(&file).expect("it was listed");
        let tokens = with_span(text.parse().expect("an input is Rust"), user);
        let name = file.file_name().expect("it was listed").to_string_lossy();
        for item in items(tokens) {
            let title = format!("{name}: {}", title(&item));
            if let Some(expanded) = expanded(item) {
                let mut runs = Vec::new();
                collect(expanded, &hygiene(Span::call_site()), &mut runs);
                found.push(quote!((#title, &[#(#runs),*])));
            }
        }
        // So that a change of the file compiles the test again.
        let path = file.to_string_lossy().into_owned();
        inputs.push(quote!(include_str!(#path)));
    }
    quote!({
        const _: &[&str] = &[#(#inputs),*];
        const FOUND: &[(&str, &[&str])] = &[#(#found),*];
        FOUND
    })
    .into()
}

/// Expands the macro of an item, if it has one that accepts it.
fn expanded(mut item: Vec<TokenTree>) -> Option<TokenStream> {
    if let Some(arguments) = take("tool", &mut item) {
        Some(expand::tool(arguments, item.into_iter().collect()))
    } else if let Some(arguments) = take("toolset", &mut item) {
        Some(expand::toolset(arguments, item.into_iter().collect()))
    } else {
        let is_type = |tree: &TokenTree| matches!(tree, TokenTree::Ident(one) if one == "struct" || one == "enum");
        item.iter()
            .any(is_type)
            .then(|| expand::tool_type(item.into_iter().collect()))
    }
}

/// Gives all tokens one span.
fn with_span(tokens: TokenStream, span: Span) -> TokenStream {
    let respan = |tree| match tree {
        TokenTree::Group(group) => {
            let mut inside = Group::new(group.delimiter(), with_span(group.stream(), span));
            inside.set_span(span);
            TokenTree::Group(inside)
        }
        mut tree => {
            tree.set_span(span);
            tree
        }
    };
    tokens.into_iter().map(respan).collect()
}

/// Splits a file into its items.
fn items(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut items = vec![Vec::new()];
    for tree in tokens {
        let ends = match &tree {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(mark) => mark.as_char() == ';',
            _ => false,
        };
        items.last_mut().expect("never empty").push(tree);
        if ends {
            items.push(Vec::new());
        }
    }
    items.pop();
    items
}

/// The words of an item up to its first group that is not an attribute.
fn title(item: &[TokenTree]) -> String {
    let words = item.iter().filter_map(|tree| match tree {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    });
    words.take(6).collect::<Vec<_>>().join(" ")
}

/// Removes `#[name(…)]` and returns its arguments.
fn take(name: &str, item: &mut Vec<TokenTree>) -> Option<TokenStream> {
    let at = item.iter().position(|tree| match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
            let first = group.stream().into_iter().next();
            matches!(first, Some(TokenTree::Ident(word)) if word == name)
        }
        _ => false,
    })?;
    let Some(TokenTree::Group(attribute)) = item.drain(at - 1..=at).nth(1) else {
        return None;
    };
    match attribute.stream().into_iter().nth(1) {
        Some(TokenTree::Group(arguments)) => Some(arguments.stream()),
        _ => Some(TokenStream::new()),
    }
}

/// Collects runs of tokens with this hygiene, but for attributes. A group counts as its delimiters.
///
/// Attributes may have it: lints must see that nobody wrote them.
fn collect(tokens: TokenStream, call: &str, runs: &mut Vec<String>) {
    let mut run = TokenStream::new();
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        if is_attribute(&tree, trees.peek()) {
            trees.next();
            continue;
        }
        let is_of_call = match &tree {
            TokenTree::Group(group) => {
                hygiene(group.span_open()) == call || hygiene(group.span_close()) == call
            }
            tree => hygiene(tree.span()) == call,
        };
        if is_of_call {
            run.extend([tree]);
            continue;
        }
        end(&mut run, runs);
        if let TokenTree::Group(group) = tree {
            collect(group.stream(), call, runs);
        }
    }
    end(&mut run, runs);
}

/// Returns `true` for the `#` of an attribute.
fn is_attribute(tree: &TokenTree, next: Option<&TokenTree>) -> bool {
    let is_mark = matches!(tree, TokenTree::Punct(mark) if mark.as_char() == '#');
    let is_list = |group: &Group| group.delimiter() == Delimiter::Bracket;
    is_mark && matches!(next, Some(TokenTree::Group(group)) if is_list(group))
}

fn end(run: &mut TokenStream, runs: &mut Vec<String>) {
    if !run.is_empty() {
        runs.push(std::mem::take(run).to_string());
    }
}

/// The hygiene of a span, from its text `#5 bytes(10..20)`. There is no other way to compare two.
fn hygiene(span: Span) -> String {
    let text = format!("{:?}", span.unwrap());
    let (hygiene, _) = text
        .split_once(' ')
        .filter(|(hygiene, _)| hygiene.starts_with('#'))
        .unwrap_or_else(|| panic!("another form of a span: {text}"));
    hygiene.to_owned()
}
