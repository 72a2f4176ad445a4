//! `tool_mcp::client!`: functions and types for the tools in a file.
//!
//! | file | what it holds |
//! |---|---|
//! | `list` | reads the file |
//! | `names` | identifiers for names that Rust may not have |
//! | `types` | from JSON Schemas to types |
//! | `emit` | the generated module |

mod emit;
mod list;
mod names;
mod types;

use std::path::Path;
use std::{env, fs};

use proc_macro2::{Ident, TokenStream};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, LitStr, Path as Trait, Token, Visibility};

use crate::util::errors::Errors;
use crate::util::site::{code, set_site, string};

/// `pub mod github = "github.tools.json";`
struct Client {
    attributes: Vec<Attribute>,
    /// Of its types, not of the module.
    derives: Vec<Trait>,
    visibility: Visibility,
    name: Ident,
    path: LitStr,
}

impl Parse for Client {
    fn parse(input: ParseStream<'_>) -> syn::Result<Client> {
        let attributes = Attribute::parse_outer(input)?.into_iter();
        let (own, attributes): (Vec<_>, _) =
            attributes.partition(|attribute| attribute.path().is_ident("derive"));
        let mut derives = Vec::new();
        for derive in own {
            derives
                .extend(derive.parse_args_with(Punctuated::<Trait, Token![,]>::parse_terminated)?);
        }
        let visibility = input.parse()?;
        input.parse::<Token![mod]>()?;
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let path = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok(Client {
            attributes,
            derives,
            visibility,
            name,
            path,
        })
    }
}

/// The path of `tool_mcp`, and the clients.
struct Input {
    krate: TokenStream,
    clients: Vec<Client>,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Input> {
        let krate;
        syn::bracketed!(krate in input);
        let krate = krate.parse()?;
        if input.is_empty() {
            return Err(input.error(
                "expected a module and its file, as in `pub mod github = \"github.tools.json\";`",
            ));
        }
        let mut clients = Vec::new();
        while !input.is_empty() {
            clients.push(input.parse()?);
        }
        Ok(Input { krate, clients })
    }
}

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let input: Input = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let folder = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let modules = input.clients.iter().map(|client| {
        let file = Path::new(&folder).join(client.path.value());
        module(&input.krate, client, &file)
    });
    modules.collect()
}

fn module(krate: &TokenStream, client: &Client, file: &Path) -> TokenStream {
    set_site(client.name.span());
    let mut errors = Errors::default();
    let shown = client.path.value();
    let tools = match fs::read_to_string(file) {
        Ok(text) => list::read(&text, &shown, |error| errors.at(&client.path, error)),
        Err(error) => {
            let error = format!(
                "can't read `{shown}` in the folder of Cargo.toml: {error}; `import --pin {shown}` of a program with \
                 `tool-cli` writes it"
            );
            errors.at(&client.path, error);
            Vec::new()
        }
    };
    // Cargo compiles the program again when the file changes.
    let tracked = file.to_str().filter(|_| file.is_file()).map(|file| {
        let file = string(file);
        code!(
            const _: &[u8] = ::core::include_bytes!(#file);
        )
    });
    let items = emit::items(&types::Api::of(&tools), &client.derives);
    let errors = errors.into_tokens();
    let Client {
        attributes,
        visibility,
        name,
        ..
    } = client;
    code! {
        #(#attributes)*
        // The names and texts are a server's.
        #[allow(clippy::all, clippy::pedantic, dead_code, non_camel_case_types, rustdoc::all, unreachable_pub)]
        #visibility mod #name {
            use #krate::client::__private as __client;
            #tracked
            #items
        }
        #errors
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenTree;
    use quote::quote;

    use super::*;

    /// Expands the macro for a file with this text.
    fn expanded(text: &str) -> String {
        let folder = env::temp_dir().join(format!("tool-client-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let name = format!("{}.json", text.len());
        fs::write(folder.join(&name), text).unwrap();
        let path = folder.join(&name);
        let client = syn::parse2(quote!(mod desk = "desk.tools.json";)).unwrap();
        let tokens = module(&quote!(::tool_mcp), &client, &path);
        fs::remove_file(path).unwrap();
        tokens.to_string()
    }

    #[test]
    fn each_problem_of_a_list_is_an_error_that_names_the_tool() {
        for (text, expected) in [
            (
                "{",
                &["`desk.tools.json` is no list of tools: invalid JSON"][..],
            ),
            ("[]", &["is no list of tools: it has no array `tools`"]),
            (
                r#"{"tools":[1,{"name":""},{"name":"a","inputSchema":true},{"name":"b"},
                    {"name":"c","inputSchema":{},"outputSchema":1},{"name":"d","inputSchema":{}},{"name":"d","inputSchema":{}}]}"#,
                &[
                    "the tool at position 0 has no name",
                    "the tool at position 1 has no name",
                    "`inputSchema` of the tool `a` is no object",
                    "`inputSchema` of the tool `b` is no object",
                    "`outputSchema` of the tool `c` is no object",
                    "two tools have the name `d`",
                ],
            ),
        ] {
            let tokens = expanded(text);
            assert_eq!(
                tokens.matches("compile_error").count(),
                expected.len(),
                "{tokens}"
            );
            for error in expected {
                assert!(tokens.contains(error), "{error}: {tokens}");
            }
        }
    }

    /// Returns each error with what it underlines.
    fn errors(tokens: TokenStream) -> Vec<(String, String)> {
        let (mut errors, mut underlined) = (Vec::new(), None);
        for tree in tokens {
            match tree {
                TokenTree::Ident(ident) if ident == "compile_error" => {
                    underlined = ident.span().source_text();
                }
                TokenTree::Group(group) => match underlined.take() {
                    Some(underlined) => {
                        let message: LitStr = syn::parse2(group.stream()).unwrap();
                        errors.push((underlined, message.value()));
                    }
                    None => errors.extend(self::errors(group.stream())),
                },
                _ => {}
            }
        }
        errors
    }

    #[test]
    fn errors_underline_what_is_wrong() {
        let file = env::temp_dir().join(format!("tool-client-{}.json", std::process::id()));
        fs::write(&file, r#"{"tools":[{"name":"a"},{"inputSchema":{}}]}"#).unwrap();
        let path = format!("{:?}", file.display().to_string());
        let good = "mod a = \"no.tools.json\";";
        let absent = "can't read `no.tools.json` in the folder of Cargo.toml: ";
        for (source, expected) in [
            ("mod a = 1;", &[("1", "expected string literal")][..]),
            ("mod a \"b\";", &[("\"b\"", "expected `=`")]),
            ("fn a() {}", &[("fn", "expected `mod`")]),
            (
                "#[derive(1)] mod a = \"b\";",
                &[("1", "expected identifier")],
            ),
            (good, &[("\"no.tools.json\"", absent)]),
            (
                &format!("#[derive(Clone)] {good} mod b = {path};"),
                &[
                    ("\"no.tools.json\"", absent),
                    (&path, "`inputSchema` of the tool `a` is no object"),
                    (&path, "the tool at position 1 has no name"),
                ],
            ),
        ] {
            let tokens = format!("[::tool_mcp] {source}").parse().unwrap();
            let errors = errors(expand(tokens));
            assert_eq!(errors.len(), expected.len(), "{errors:?}");
            for ((underlined, message), expected) in errors.iter().zip(expected) {
                assert_eq!(underlined, expected.0, "{message}");
                assert!(message.contains(expected.1), "{message}");
            }
        }
        let empty = expand("[::tool_mcp]".parse().unwrap()).to_string();
        assert!(empty.contains("expected a module and its file"), "{empty}");
        fs::remove_file(file).unwrap();
    }

    /// What rustc checks costs the most: each function and each implementation about 0.2 ms.
    #[test]
    fn a_tool_is_data_and_one_call() {
        let fields =
            r#""properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]"#;
        let text = format!(
            r#"{{"tools":[{{"name":"add","inputSchema":{{{fields}}},"outputSchema":{{{fields}}}}}]}}"#
        );
        let tokens = expanded(&text);
        let count = |word: &str| tokens.split_whitespace().filter(|one| *one == word).count();
        // The call, `new` and two conversions.
        assert_eq!(count("fn"), 4, "{tokens}");
        // `new`, its `impl Into<String>`, and two conversions.
        assert_eq!(count("impl"), 4, "{tokens}");
        assert_eq!(
            count("derive") + count("match") + count("async"),
            0,
            "{tokens}"
        );
        let tokens = count_of(tokens.parse().unwrap());
        assert!(tokens <= 350, "{tokens} tokens");
    }

    fn count_of(tokens: TokenStream) -> usize {
        let counts = tokens.into_iter().map(|tree| match tree {
            TokenTree::Group(group) => 1 + count_of(group.stream()),
            _ => 1,
        });
        counts.sum()
    }

    /// Counts what has a type, in the lists of the folder `TOOL_LISTS`.
    #[test]
    fn most_of_a_real_list_has_a_type() {
        let Some(folder) = env::var_os("TOOL_LISTS") else {
            println!("TOOL_LISTS is not set");
            return;
        };
        let (mut tools, mut whole, mut places, mut json) = (0, 0, 0, 0);
        for entry in fs::read_dir(folder).unwrap() {
            let text = fs::read_to_string(entry.unwrap().path()).unwrap();
            let all = list::read(&format!("{{\"tools\":{text}}}"), "", |error| {
                panic!("{error}")
            });
            for tool in all.chunks(1) {
                let api = types::Api::of(tool);
                let tokens = emit::items(&api, &[]).to_string();
                let left = tokens.matches("__client :: Value").count()
                    - tokens.matches("-> __client :: Value").count()
                    - tokens.matches("(json : __client :: Value)").count();
                tools += 1;
                whole += usize::from(left == 0);
                places += tokens.matches("pub ").count();
                json += left;
            }
        }
        println!("{tools} tools, {whole} with types alone; {places} public items, {json} of JSON");
        assert!(whole * 10 >= tools * 9);
    }

    #[test]
    fn any_list_expands() {
        // Rust has neither these names nor such types.
        let deep = "{\"properties\":{\"a\":".repeat(40) + "{}" + &"}}".repeat(40);
        let texts = [
            r#"{"tools":[{"name":"🦀","inputSchema":{"properties":{"":{},"self":{"enum":["","+","-","Self"]}}}}]}"#,
            r##"{"tools":[{"name":"a","inputSchema":{"$defs":{"a":{"$ref":"#/$defs/a"},"b":{"items":{"$ref":"#/$defs/b"}}},
                "properties":{"a":{"$ref":"#/$defs/a"},"b":{"$ref":"#/$defs/b"},"c":{"$ref":"#/$defs/%"},"d":{"$ref":"#"},
                "e":{"$ref":7},"f":{"type":["string"]},"g":{"type":[]},"h":{"enum":[]},"i":{"anyOf":[]},"j":true}}}]}"##,
            &format!(r#"{{"tools":[{{"name":"a","inputSchema":{deep}}}]}}"#),
        ];
        for text in texts {
            let tokens = expanded(text);
            assert!(!tokens.contains("compile_error"), "{tokens}");
            syn::parse_str::<syn::File>(&tokens).unwrap();
        }
    }

    #[test]
    fn descriptions_of_a_server_never_become_code() {
        let hostile =
            "x\\n\\n```\\nevil()\\n```\\n\\n    evil()\\n~~~\\n[a](javascript:1) <script> \\u202e";
        let text =
            format!(r#"{{"tools":[{{"name":"a","description":"{hostile}","inputSchema":{{}}}}]}}"#);
        let tokens = expanded(&text);
        assert!(
            !tokens.contains("<script>") && !tokens.contains("\\n"),
            "{tokens}"
        );
        assert!(
            !tokens.contains('\u{202e}') && !tokens.contains("[a]"),
            "{tokens}"
        );
    }
}
