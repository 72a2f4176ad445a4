//! Items that `tool-docs` uses. They are not part of the public interface and change with that crate, because both have the
//! same version.

use crate::dialect::{Dialect, Rendered};
use crate::registry::Registry;
use crate::schema::validate::{self, Options, ValidateError, normalise};
use crate::schema::violation::{Violation, Violations};
use crate::spec::ToolSpec;
use crate::tool::ToolEntry;

pub use crate::content::base64::{decode as decode_base64, encode as encode_base64};
pub use crate::ordered_json::keywords::{Compared, Drafts, Form, Holds, Keyword};
pub use crate::ordered_json::pretty;
pub use crate::schema::numbers::{is_multiple, whole_number};
pub use crate::visible::{is_bidi_control, is_bidi_override, replace_hidden};

/// Validates arguments as in a call. Returns the violations.
pub fn validate(tool: &ToolSpec, arguments: &str) -> Vec<Violation> {
    #[cfg(feature = "dynamic")]
    if matches!(tool.parameters().kind(), crate::schema::Kind::Any) {
        let found = crate::dynamic::compiled::validate(tool.parameters_json(), arguments);
        return found.err().unwrap_or_default().into_parts().0;
    }
    match normalise(&tool.parameters(), arguments, Options::default()) {
        Ok(_) => Vec::new(),
        Err(ValidateError::Invalid(violations)) => violations.into_parts().0,
        Err(ValidateError::NotJson(problem)) => {
            Violations::one(String::new(), &problem).into_parts().0
        }
    }
}

/// Decodes the values in valid arguments by their `Deserialize`, too. Returns the differences; none in an optimised build.
pub fn compare_decoding(tool: &ToolSpec, arguments: &str) -> Vec<Violation> {
    let found = validate::compare_decoding(&tool.parameters(), arguments);
    found.into_parts().0
}

/// Returns the tools of a request to a provider that can't search.
pub fn listed(registry: &Registry) -> Vec<ToolEntry> {
    registry.listed()
}

/// Renders the tools of a registry without logging.
pub fn rendered(registry: &Registry, dialect: &dyn Dialect) -> Rendered {
    registry.rendered(dialect)
}

/// Renders one tool.
pub fn rendered_alone(tool: &ToolEntry, dialect: &dyn Dialect) -> Rendered {
    Rendered::new(dialect, std::slice::from_ref(tool), &[])
}
