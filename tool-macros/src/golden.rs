//! Compares expansions with the files in `golden/`, so that a diff shows every change of generated
//! code. `BLESS=1 cargo test -p tool-core-macros` rewrites the files.

use std::path::{Path, PathBuf};
use std::{env, fs};

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, ImplItem, Item, Meta};

use crate::expand;

#[test]
fn expansions_match_the_golden_files() {
    let bless = env::var_os("BLESS").is_some();
    let mut changed = Vec::new();
    for input in inputs() {
        let source = fs::read_to_string(&input).expect("it was listed");
        let expanded = expand_file(&source);
        let golden = input.with_extension("expanded.rs");
        if fs::read_to_string(&golden).ok().as_ref() == Some(&expanded) {
            continue;
        }
        if bless {
            fs::write(&golden, expanded).expect("a writable folder");
        } else {
            changed.push(format!("{}:\n{expanded}", golden.display()));
        }
    }
    assert!(
        changed.is_empty(),
        "to accept this, run `BLESS=1 cargo test -p tool-core-macros`\n{}",
        changed.join("\n")
    );
}

#[test]
fn every_golden_file_has_an_input() {
    let inputs = inputs();
    assert!(inputs.len() >= 5, "inputs are missing");
    for file in files() {
        let name = file.to_string_lossy();
        let input = name
            .strip_suffix(".expanded.rs")
            .map(|stem| PathBuf::from(format!("{stem}.rs")));
        assert!(
            input.is_none_or(|input| inputs.contains(&input)),
            "{name} has no input"
        );
    }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let entries = folder.read_dir().expect("the folder of expansions");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("listed").path()).collect();
    files.sort();
    files
}

fn inputs() -> Vec<PathBuf> {
    let mut files = files();
    files.retain(|file| !file.to_string_lossy().ends_with(".expanded.rs"));
    files
}

/// Expands a file and formats the result.
fn expand_file(source: &str) -> String {
    let file = syn::parse_file(source).expect("an input is Rust");
    let expanded: TokenStream = file.items.into_iter().map(item).collect();
    let file = syn::parse2(expanded.clone()).unwrap_or_else(|error| panic!("{error}:\n{expanded}"));
    let expanded = prettyplease::unparse(&file);
    // Symbols contain the version and the folder of the package.
    let mut parts = expanded.split("__crate_");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, part| {
        let behind = part.trim_start_matches(|c: char| c != '"');
        before + "__crate_…" + behind
    })
}

/// Expands the macro of an item.
fn item(item: Item) -> TokenStream {
    match item {
        Item::Fn(mut function) => match take("tool", &mut function.attrs) {
            Some(arguments) => expand::tool(arguments, function.into_token_stream()),
            None => function.into_token_stream(),
        },
        Item::Impl(mut block) => {
            if let Some(arguments) = take("toolset", &mut block.attrs) {
                return expand::toolset(arguments, block.into_token_stream());
            }
            for item in &mut block.items {
                if let ImplItem::Fn(function) = item {
                    let arguments = take("tool", &mut function.attrs).unwrap_or_default();
                    *item = ImplItem::Verbatim(expand::tool(arguments, function.to_token_stream()));
                }
            }
            block.into_token_stream()
        }
        data => {
            let implementation = expand::tool_type(data.to_token_stream());
            quote!(#data #implementation)
        }
    }
}

/// Removes `#[name(…)]` and returns its arguments.
fn take(name: &str, attrs: &mut Vec<Attribute>) -> Option<TokenStream> {
    let place = attrs.iter().position(|attr| attr.path().is_ident(name))?;
    match attrs.remove(place).meta {
        Meta::List(list) => Some(list.tokens),
        _ => Some(TokenStream::new()),
    }
}
