//! `meta` and `icons`: data about a tool for clients of MCP, and not for models.

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{LitStr, Token, bracketed, parenthesized, token};

use crate::attr::Keys;
use crate::util::errors::Errors;
use crate::util::json::{self, Json};

/// The keys for clients.
pub(crate) struct ForClients {
    /// JSON text of an object; empty if there is none.
    pub(crate) meta: String,
    /// JSON text of a list; empty if there is none.
    pub(crate) icons: String,
    /// Set unless `ui.visibility` of `meta` leaves models out.
    pub(crate) for_models: bool,
    /// Set unless it leaves apps out.
    pub(crate) for_apps: bool,
}

const META: &str = "`meta` must be a JSON object with a member; write `meta = r#\"{\"key\": 1}\"#`";
const ICONS: &str = "invalid icon; write `icons = [\"https://…\"]`, or \
                     `icon(\"https://…\", mime_type = \"image/png\", sizes = [\"48x48\"])` for one of them";

impl ForClients {
    pub(super) fn read(keys: &mut Keys, errors: &mut Errors) -> Option<ForClients> {
        let (meta, icons) = (meta(keys, errors), icons(keys, errors));
        if meta.is_none() && icons.is_none() {
            return None;
        }
        let [for_models, for_apps] = meta.as_ref().map_or([true; 2], |(_, visible)| *visible);
        Some(ForClients {
            meta: meta.map(|(text, _)| text).unwrap_or_default(),
            icons: icons.unwrap_or_default(),
            for_models,
            for_apps,
        })
    }
}

/// `meta = r#"{"com.example/cost": 3}"#`. Returns its text, and whether models and apps may use the tool.
fn meta(keys: &mut Keys, errors: &mut Errors) -> Option<(String, [bool; 2])> {
    let literal = keys.text("meta", errors)?;
    let checked = json::parse(&literal.value()).and_then(|meta| match &meta {
        Json::Object(members) if !members.is_empty() => {
            if member(&meta, "tool-core/tags").is_some() {
                return Err("`tool-core/tags` is written from `tags`; remove it".into());
            }
            let visible = member(&meta, "ui").and_then(|ui| member(ui, "visibility"));
            Ok((meta.text(), visible.map_or(Ok([true; 2]), visibility)?))
        }
        _ => Err(META.into()),
    });
    checked.map_err(|error| errors.at(literal, error)).ok()
}

fn member<'j>(json: &'j Json, key: &str) -> Option<&'j Json> {
    let Json::Object(members) = json else {
        return None;
    };
    let found = members.iter().find(|(name, _)| name == key);
    found.map(|(_, value)| value)
}

/// Reads `"visibility": ["model", "app"]` of MCP Apps.
fn visibility(json: &Json) -> Result<[bool; 2], String> {
    let wrong = "`ui.visibility` must list `\"model\"`, `\"app\"` or both";
    let Json::Array(items) = json else {
        return Err(wrong.into());
    };
    let mut visible = [false; 2];
    for item in items {
        match item {
            Json::String(text) if text == "model" => visible[0] = true,
            Json::String(text) if text == "app" => visible[1] = true,
            _ => return Err(wrong.into()),
        }
    }
    if items.is_empty() {
        return Err(wrong.into());
    }
    Ok(visible)
}

/// An icon as written: `"https://…"` or `icon("https://…", keys)`.
struct Icon {
    url: LitStr,
    keys: TokenStream,
}

impl Parse for Icon {
    fn parse(input: ParseStream<'_>) -> syn::Result<Icon> {
        if input.peek(LitStr) {
            let url = input.parse()?;
            let keys = TokenStream::new();
            return Ok(Icon { url, keys });
        }
        let name = input.call(Ident::parse_any)?;
        if name != "icon" {
            return Err(syn::Error::new(name.span(), ""));
        }
        let content;
        parenthesized!(content in input);
        let url = content.parse()?;
        let _: Option<Token![,]> = content.parse()?;
        let keys = content.parse()?;
        Ok(Icon { url, keys })
    }
}

/// `icons = "https://…"`, or a list. Returns them as JSON text.
fn icons(keys: &mut Keys, errors: &mut Errors) -> Option<String> {
    let list = |input: ParseStream<'_>| {
        if !input.peek(token::Bracket) {
            return Ok(vec![input.parse::<Icon>()?]);
        }
        let content;
        bracketed!(content in input);
        let icons = Punctuated::<Icon, Token![,]>::parse_terminated(&content)?;
        Ok(icons.into_iter().collect())
    };
    let tokens = keys.tokens("icons", "[\"https://…\"]", errors)?;
    let icons = match list.parse2(tokens.clone()) {
        Ok(icons) if icons.is_empty() => {
            errors.at(
                tokens,
                "empty list of icons; add an icon, or remove `icons`",
            );
            return None;
        }
        Ok(icons) => icons,
        Err(error) => {
            errors.span(error.span(), ICONS);
            return None;
        }
    };
    let icons = icons.into_iter().map(|icon| icon.read(errors));
    Some(Json::Array(icons.collect()).text())
}

impl Icon {
    /// Returns the icon in the form of the protocol.
    fn read(self, errors: &mut Errors) -> Json {
        let url = self.url.value();
        if !["https://", "data:image/"]
            .iter()
            .any(|start| url.starts_with(start))
        {
            let message = "an icon is a URL that starts with `https://` or `data:image/`";
            errors.at(&self.url, message);
        }
        let mut members = vec![("src".to_owned(), Json::String(url))];
        let mut keys = Keys::of_arguments("icon(…)", self.keys, errors);
        if let Some(mime_type) = keys.text("mime_type", errors) {
            if !mime_type.value().starts_with("image/") {
                let message =
                    "the MIME type of an icon starts with `image/`, as in `\"image/png\"`";
                errors.at(&mime_type, message);
            }
            members.push(("mimeType".into(), Json::String(mime_type.value())));
        }
        if let Some((sizes, _)) = super::tool::strings(&mut keys, "sizes", errors) {
            for size in sizes.iter().filter(|size| !is_size(&size.value())) {
                let message =
                    "invalid size; write the width and the height as `\"48x48\"`, or `\"any\"`";
                errors.at(size, message);
            }
            let sizes = sizes.iter().map(|size| Json::String(size.value()));
            members.push(("sizes".into(), Json::Array(sizes.collect())));
        }
        if let Some(theme) = keys.text("theme", errors) {
            if !["light", "dark"].contains(&&*theme.value()) {
                errors.at(&theme, "the theme of an icon is `\"light\"` or `\"dark\"`");
            }
            members.push(("theme".into(), Json::String(theme.value())));
        }
        keys.finish(errors);
        Json::Object(members)
    }
}

fn is_size(size: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let sides = size.split_once('x');
    size == "any" || sides.is_some_and(|(width, height)| is_number(width) && is_number(height))
}
