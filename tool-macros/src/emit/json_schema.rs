//! A schema that was written as JSON, as constant data.

use proc_macro2::TokenStream;
use quote::quote;

use super::{option, text};
use crate::model::json_schema::{Described, Node};
use crate::util::pattern::translate;
use crate::util::tokens::{self, maximum as most};

// Input:  {"type":"string","minLength":1}
// Output: constrain::length(&Schema::STRING, 1, usize::MAX)
pub(super) fn schema(described: &Described) -> TokenStream {
    let schema = quote!(__tool_core::Schema);
    let constrain = quote!(__tool_core::constrain);
    let node = match &described.node {
        Node::Any => quote!(#schema::ANY),
        Node::Null => quote!(#schema::NULL),
        Node::Boolean => quote!(#schema::BOOLEAN),
        Node::Integer {
            minimum,
            maximum,
            multiple_of,
        } => {
            let (minimum, maximum) = (option(*minimum), option(*maximum));
            let node = quote!(#constrain::integers(&#schema::INTEGER, #minimum, #maximum));
            match multiple_of {
                Some(step) => quote!(#constrain::multiple_of_integer(&#node, #step)),
                None => node,
            }
        }
        Node::Number {
            minimum,
            maximum,
            multiple_of,
        } => {
            let (minimum, maximum) = (bound(*minimum), bound(*maximum));
            let node = quote!(#constrain::numbers(&#schema::NUMBER, #minimum, #maximum));
            match multiple_of {
                Some(step) => {
                    let step = tokens::bound(*step, false);
                    quote!(#constrain::multiple_of_number(&#node, #step))
                }
                None => node,
            }
        }
        Node::String {
            minimum,
            maximum,
            pattern,
            format,
        } => {
            let maximum = most(*maximum);
            let mut node = quote!(#constrain::length(&#schema::STRING, #minimum, #maximum));
            if !pattern.is_empty() {
                // `check` has reported a pattern that can't be enforced.
                let regex = translate(pattern).unwrap_or_default();
                let pattern = text(pattern);
                node = quote!(#constrain::pattern(&#node, #pattern, #regex));
            }
            if !format.is_empty() {
                node = quote!(#constrain::format(&#node, #format));
            }
            node
        }
        Node::Enum(values) => {
            let values = values.iter().map(|value| text(value));
            quote!(#schema::strings(const { &[#(#values),*] }))
        }
        Node::Array {
            items,
            minimum,
            maximum,
            unique,
        } => {
            let (items, maximum) = (self::schema(items), most(*maximum));
            let node = quote!(#schema::array(const { &#items }));
            let node = quote!(#constrain::length(&#node, #minimum, #maximum));
            if *unique {
                quote!(#constrain::unique(&#node))
            } else {
                node
            }
        }
        Node::Tuple(items) => {
            let items = items.iter().map(self::schema);
            quote!(#schema::tuple(const { &[#(&#items),*] }))
        }
        Node::Map {
            values,
            minimum,
            maximum,
        } => {
            let (values, maximum) = (self::schema(values), most(*maximum));
            let node = quote!(#schema::map(const { &#values }));
            quote!(#constrain::length(&#node, #minimum, #maximum))
        }
        Node::Object(members) => {
            let members = members.iter().map(|(key, is_required, described)| {
                let (key, member) = (text(key), self::schema(described));
                let optional = (!is_required).then(|| quote!(.optional()));
                quote!(__tool_core::Property::new(
                    #key,
                    __tool_core::Text::EMPTY,
                    const { &#member },
                )#optional)
            });
            quote!(#schema::object(const { &[#(#members),*] }))
        }
        Node::AnyOf(schemas) => {
            let schemas = schemas.iter().map(self::schema);
            quote!(#schema::any_of(const { &[#(&#schemas),*] }))
        }
        Node::Nullable(inner) => {
            let inner = self::schema(inner);
            quote!(#schema::nullable(const { &#inner }))
        }
    };
    match &*described.description {
        "" => node,
        description => {
            let description = text(description);
            quote!(#node.describe(#description))
        }
    }
}

fn bound(bound: Option<(f64, bool)>) -> TokenStream {
    option(bound.map(|(value, is_exclusive)| tokens::bound(value, is_exclusive)))
}
