//! The model of an `impl` block with `#[toolset]`.

use syn::{Attribute, Path, Type, parse_quote};

use super::tool::{Place, Tool, cfgs};
use crate::attr::{Block, Keys, Member};
use crate::util::errors::Errors;

/// A type whose methods are to be tools.
pub(crate) struct Toolset {
    pub(crate) krate: Path,
    pub(crate) ty: Type,
    /// `#[cfg]`s of the block, which hold for everything that is generated.
    pub(crate) cfgs: Vec<Attribute>,
    /// In the order of the block.
    pub(crate) tools: Vec<Tool>,
}

impl Toolset {
    pub(crate) fn new(keys: Keys, block: &Block, errors: &mut Errors) -> Toolset {
        let mut keys = keys;
        let krate = keys
            .path("crate", errors)
            .unwrap_or_else(|| parse_quote!(::tool_core));
        keys.finish(errors);
        let mut tools = Vec::new();
        for member in &block.members {
            match member {
                Member::Tool(method) => {
                    let keys = Keys::of_arguments("#[tool]", method.arguments(errors), errors);
                    // The generated code is outside the block, where `Self` is undefined.
                    let mut function = method.function.clone();
                    function.replace_self(&block.ty);
                    let place = Place::Method {
                        krate: &krate,
                        ty: &block.ty,
                        mark: method.tool_span(),
                    };
                    tools.push(Tool::new(keys, &function, place, errors));
                }
                Member::Wrong(_, error) => errors.push(error.clone()),
                Member::Other(_) => {}
            }
        }
        Toolset {
            krate,
            ty: block.ty.clone(),
            cfgs: cfgs(&block.attrs),
            tools,
        }
    }
}
