//! The expansion of each macro: parse, model, check, emit.
//!
//! An input with errors expands to the errors, to the item itself and to a fallback for the generated code,
//! so that no other error follows.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::DeriveInput;
use syn::spanned::Spanned;

use crate::attr::{Block, Function, Keys, of_tool, of_toolset, of_type};
use crate::model::data::Data;
use crate::model::tool::{Scope, Tool, Toolset};
use crate::util::editor;
use crate::util::errors::Errors;
use crate::util::names::is_one_of;
use crate::util::site::{set_site, trees};
use crate::{check, emit};

/// `#[tool(arguments)] item`
pub(crate) fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function = match Function::new(item.clone()) {
        Ok(function) => function,
        Err(error) => return not_a_function(&item, error),
    };
    set_site(function.ident.span());
    let mut errors = Errors::default();
    let shown = editor::is_running().then(|| of_tool(arguments.clone(), item));
    let keys = Keys::of_arguments("#[tool]", arguments, &mut errors);
    let model = Tool::new(keys, &function, Scope::Module, &mut errors);
    check::tool(&function, &model, &mut errors);
    if errors.is_empty() && shown.is_none() {
        let function = function.into_plain(emit::page(&model));
        let tool = emit::tool(&model);
        trees!(#function #tool).into()
    } else {
        let is_free = !function.is_method() && function.has_body();
        let fallback = is_free.then(|| {
            if shown.is_some() {
                emit::editor::handler(&model)
            } else {
                emit::tool_fallback(&model)
            }
        });
        let function = function.into_plain(TokenStream::new());
        let errors = errors.into_tokens();
        let keys = shown.map(|shown| emit::editor::keys(&model.krate, &shown));
        quote!(#function #fallback #keys #errors)
    }
}

/// `#[toolset(arguments)] item`
pub(crate) fn toolset(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let block = match syn::parse2::<Block>(item.clone()) {
        Ok(block) => block,
        Err(error) => return not_a_block(&item, error),
    };
    set_site(block.ty.span());
    let mut errors = Errors::default();
    let shown = editor::is_running().then(|| of_toolset(arguments.clone(), item));
    let keys = Keys::of_arguments("#[toolset]", arguments, &mut errors);
    let model = Toolset::new(keys, &block, &mut errors);
    check::toolset(&block, &model, &mut errors);
    if errors.is_empty() && shown.is_none() {
        let block = block.plain(model.tools.iter().map(emit::page));
        let toolset = emit::toolset(&model);
        quote!(#block #toolset)
    } else {
        let has_fallback = check::is_owned_type(&block) && model.is_numbered;
        let fallback = has_fallback.then(|| emit::toolset_fallback(&model));
        let block = block.plain(std::iter::empty());
        let errors = errors.into_tokens();
        let keys = shown.map(|shown| emit::editor::keys(&model.krate, &shown));
        quote!(#block #fallback #keys #errors)
    }
}

/// `#[derive(ToolType)] item`
pub(crate) fn tool_type(item: TokenStream) -> TokenStream {
    let shown = editor::is_running().then(|| of_type(item.clone()));
    let input = match syn::parse2::<DeriveInput>(item) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    set_site(input.ident.span());
    let mut errors = Errors::default();
    let model = Data::new(&input, &mut errors);
    check::data(&model, &mut errors);
    if errors.is_empty() && shown.is_none() {
        emit::data(&model)
    } else {
        let fallback = emit::data_fallback(&model);
        let errors = errors.into_tokens();
        let keys = shown.map(|shown| emit::editor::keys(&model.krate, &shown));
        quote!(#fallback #keys #errors)
    }
}

// Input:  add, "subtract"
// Output: [compile_error!("…")]
//
/// The array of a `tools!` whose list is not one of names.
pub(crate) fn not_tools(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    for tree in input.clone() {
        // A fragment of `macro_rules!` may be in a group.
        let inside = TokenStream::from(tree.clone()).into_iter().next();
        if let Some(TokenTree::Literal(literal)) = inside {
            let name = literal.to_string();
            let message = format!(
                "{name} is not the name of a function; write `{}` without quotes",
                name.trim_matches('"'),
            );
            errors.at(tree, message);
        }
    }
    if errors.is_empty() {
        let message = "expected the names of functions with `#[tool]`, separated by commas; write \
                       `tools![add, subtract]`";
        errors.at(input, message);
    }
    let errors = errors.into_expressions();
    quote!([#(#errors),*])
}

fn not_a_function(item: &TokenStream, error: syn::Error) -> TokenStream {
    // A `fn` after these can be a type.
    let is_head =
        |tree: &TokenTree| !matches!(tree, TokenTree::Punct(mark) if ":=".contains(mark.as_char()));
    let mut head = item.clone().into_iter().take_while(is_head);
    let is_function = head.any(|tree| is_one_of(&tree, &["fn"]));
    let message = "`#[tool]` can only be applied to a function; move it to the function that the \
                   model should call";
    not_parsed(item, error, is_function, message)
}

fn not_a_block(item: &TokenStream, error: syn::Error) -> TokenStream {
    let is_block = keyword(item).is_some_and(|keyword| is_one_of(&keyword, &["impl"]));
    let message = "`#[toolset]` can only be applied to an `impl` block; move it to the block whose \
                   methods the model should call";
    not_parsed(item, error, is_block, message)
}

/// Reports an item that can't be parsed: with the parser's error if it is of the right kind, otherwise with
/// this message.
fn not_parsed(
    item: &TokenStream,
    error: syn::Error,
    is_right_kind: bool,
    message: &str,
) -> TokenStream {
    let mut errors = Errors::default();
    if is_right_kind {
        errors.push(error);
    } else {
        let keyword = keyword(item).map(TokenStream::from);
        errors.at(keyword.unwrap_or_else(|| item.clone()), message);
    }
    let errors = errors.into_tokens();
    quote!(#item #errors)
}

/// The keyword of an item.
fn keyword(item: &TokenStream) -> Option<TokenTree> {
    let keywords = "fn struct enum union mod impl trait const static use type extern macro_rules";
    let is_keyword = |tree: &TokenTree| keywords.split(' ').any(|one| is_one_of(tree, &[one]));
    item.clone().into_iter().find(is_keyword)
}

#[cfg(test)]
mod tests {
    //! The reference, the texts for editors and the macros have the same keys.

    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::path::Path;

    use proc_macro2::TokenStream;
    use quote::quote;

    /// The keys of each place, with their texts.
    type Keys = BTreeMap<&'static str, BTreeSet<(String, String)>>;

    const PLACES: [(&str, &str); 6] = [
        ("`#[tool]`", "tool"),
        ("`#[tool(freeform)]`", "tool"),
        ("parameter", "parameter"),
        ("field", "field"),
        ("variant", "variant"),
        ("type", "container"),
    ];

    fn read(path: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        fs::read_to_string(path).expect("a file of the repository")
    }

    /// The keys in the table of the reference. A key without a value has the text of the first row with its name.
    fn reference() -> Keys {
        let page = read("../tool-core/src/attributes.md");
        let mut keys = Keys::new();
        for row in page.lines().filter(|line| line.starts_with("| [`")) {
            let cells: Vec<_> = row.trim_matches(['|', ' ']).split(" | ").collect();
            let [key, places, meaning] = cells[..] else {
                panic!("{row}");
            };
            let form = key.split('`').nth(1).expect("code");
            let name = form.split(' ').next().expect("a name");
            let text = format!("`{form}`: {}", without_links(meaning));
            for place in places.split(", ") {
                let place = PLACES.iter().find(|(word, _)| *word == place);
                let (_, place) = place.expect("a place");
                let keys = keys.entry(*place).or_default();
                if keys.iter().all(|(known, _)| known != name) {
                    keys.insert((name.to_owned(), text.clone()));
                }
            }
        }
        keys
    }

    /// Removes the brackets of links to items, and the addresses of others.
    fn without_links(text: &str) -> String {
        let mut parts = text.split("[`");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |before, part| {
            let (code, behind) = part.split_once("`]").expect("the end of a link");
            let is_addressed = behind.starts_with('(');
            let behind = match behind.split_once(')') {
                Some((_, behind)) if is_addressed => behind,
                _ => behind,
            };
            format!("{before}`{code}`{behind}")
        })
    }

    /// The keys for editors: a line of documentation and a line with the name, in `keys!` of a module.
    fn for_editors() -> Keys {
        let source = read("../tool-core/src/private/keys.rs");
        let lines: Vec<_> = source.lines().map(str::trim).collect();
        let mut modules: BTreeMap<&str, BTreeSet<(String, String)>> = BTreeMap::new();
        let mut module = "";
        let pairs = lines.windows(2);
        for (above, line) in pairs.map(|pair| (pair[0], pair[1])) {
            let opened = line
                .strip_suffix(" {")
                .and_then(|head| head.split("mod ").nth(1));
            // The module `param` inside of a place.
            match opened {
                Some("param") | None => {}
                Some(opened) => module = opened,
            }
            let is_name =
                !line.is_empty() && line.chars().all(|c| c == '_' || c.is_ascii_lowercase());
            if let (true, Some(text)) = (is_name, above.strip_prefix("/// ")) {
                let key = (line.to_owned(), text.to_owned());
                modules.entry(module).or_default().insert(key);
            }
        }
        let places = PLACES.iter().map(|(_, place)| *place);
        let keys = places.map(|place| {
            let shared: &[&str] = match place {
                "parameter" | "field" => &["described", "constraints"],
                _ => &["described"],
            };
            let parts = shared
                .iter()
                .chain([&place])
                .filter_map(|part| modules.get(*part));
            (place, parts.flatten().cloned().collect())
        });
        keys.collect()
    }

    /// The keys that the message about an unknown one lists.
    fn accepted() -> BTreeMap<&'static str, BTreeSet<String>> {
        let unknown = quote!(zzzzzzzzzzzzzzzz);
        let named = |place, expanded: TokenStream| {
            let text = expanded.to_string();
            let (_, list) = text
                .split_once("valid keys: ")
                .expect("the list of an unknown key");
            let (list, _) = list.split_once('"').expect("the end of the message");
            let names = list.split('`').skip(1).step_by(2).map(str::to_owned);
            (place, names.collect())
        };
        let function = quote!(
            #[doc = "Finds."]
            fn find() {}
        );
        let parameter = quote!(
            #[doc = "Finds."]
            fn find(#[param(#unknown)] a: u8) {}
        );
        let field = quote!(
            struct A {
                #[param(#unknown)]
                a: u8,
            }
        );
        let variant = quote!(
            enum A {
                #[param(#unknown)]
                A,
            }
        );
        BTreeMap::from([
            named("tool", super::tool(unknown.clone(), function)),
            named("parameter", super::tool(TokenStream::new(), parameter)),
            named("field", super::tool_type(field)),
            named("variant", super::tool_type(variant)),
            named(
                "container",
                super::tool_type(quote!(
                    #[param(#unknown)]
                    struct A;
                )),
            ),
        ])
    }

    fn names(keys: &BTreeSet<(String, String)>) -> BTreeSet<String> {
        keys.iter().map(|(name, _)| name.clone()).collect()
    }

    #[test]
    fn the_reference_has_the_keys_that_are_read() {
        let (reference, mut accepted) = (reference(), accepted());
        // Constraints of a variant are read to say where they belong.
        accepted.insert("variant", ["description".to_owned()].into());
        for (place, keys) in accepted {
            assert_eq!(names(&reference[place]), keys, "{place}");
        }
    }

    #[test]
    fn the_reference_has_the_formats_that_are_accepted() {
        let function = quote!(
            #[doc = "Finds."]
            fn find(#[param(format = "zzz")] a: &str) {}
        );
        let expanded = super::tool(TokenStream::new(), function).to_string();
        let (_, list) = expanded.split_once("write one of ").expect("the list");
        let (list, _) = list.split_once('"').expect("the end of the message");
        let keys = reference();
        let (_, text) = keys["field"]
            .iter()
            .find(|(name, _)| name == "format")
            .expect("a key");
        assert!(text.ends_with(list), "{text}\n{list}");
    }

    #[test]
    fn editors_get_the_texts_of_the_reference() {
        let mut reference = reference();
        for keys in reference.values_mut() {
            // No constant can have the name of a keyword.
            keys.retain(|(name, _)| !["as", "crate"].contains(&&**name));
        }
        assert_eq!(for_editors(), reference);
    }

    #[test]
    fn hovers_name_each_key() {
        let source = read("src/lib.rs");
        let docs = |item: &str| {
            let (before, _) = source.split_once(item).expect("a macro");
            before
                .rsplit("\n}\n")
                .next()
                .expect("its documentation")
                .to_owned()
        };
        let (tool, of_type) = (docs("pub fn tool("), docs("pub fn tool_type("));
        for (place, keys) in reference() {
            let docs = match place {
                "tool" | "parameter" => &tool,
                _ => &of_type,
            };
            for name in names(&keys) {
                let is_named =
                    docs.contains(&format!("`{name}`")) || docs.contains(&format!("`{name} "));
                assert!(is_named, "`{name}` of a {place}");
            }
        }
    }

    #[test]
    fn words_of_other_libraries_are_translated() {
        let expanded = |keys, parameter| {
            let function = quote!(
                #[doc = "Finds."]
                fn find(#[param(#parameter)] days: u8) {}
            );
            super::tool(keys, function).to_string()
        };
        for (keys, parameter, expected) in [
            (quote!(), quote!(min = 1), "`range = 1..=14`"),
            (quote!(), quote!(max_items = 3), "`length = 1..=80`"),
            (
                quote!(),
                quote!(regex = "a"),
                "`pattern = r\\\"^[a-z]+$\\\"`",
            ),
            (quote!(), quote!(choices = ["a"]), "derives `ToolType`"),
            (quote!(), quote!(optional), "may be left out"),
            (quote!(help = "Finds."), quote!(), "as a doc comment"),
            (quote!(when_to_use = "Often."), quote!(), "# When to use"),
            (quote!(needs_approval), quote!(), "`Gate::confirm`"),
            (
                quote!("Finds."),
                quote!(),
                "or a description as a doc comment",
            ),
        ] {
            let code = expanded(keys.clone(), parameter.clone());
            assert!(code.contains(expected), "{keys} {parameter}: {code}");
        }
    }

    #[test]
    fn an_unfinished_key_gets_the_keys_that_begin_with_it() {
        for (begun, expected) in [
            (quote!(prog), "; did you mean `programmatic`?"),
            (quote!(ti), "; did you mean `title` or `timeout`?"),
            (quote!(raed_only), "; did you mean `read_only`?"),
        ] {
            let expanded = super::tool(
                begun,
                quote!(
                    #[doc = "Finds."]
                    fn find() {}
                ),
            );
            assert!(expanded.to_string().contains(expected), "{expanded}");
        }
    }
}
