//! [`Trained`]: a tool of a provider that a function provides.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// A tool on which a provider trained its models, as its requests contain it.
///
/// ```
/// use tool_core::spec::Trained;
///
/// const SHELL: Trained = Trained::new("custom", "shell_1", Some("sh"), &[]);
/// assert_eq!(SHELL.kind, "shell_1");
/// ```
#[derive(Debug)]
pub struct Trained {
    /// The provider, by the name of its module in `tool-dialects`.
    pub(crate) provider: &'static str,
    /// The `type` of the entry in a request.
    pub kind: &'static str,
    /// The name by which models call the tool, if their calls have one.
    pub(crate) name: Option<&'static str>,
    /// The other members of the entry.
    pub(crate) settings: &'static [(&'static str, Setting)],
}

impl Trained {
    /// Creates the description of a tool of a provider. `name` is the name by which models call it, if their calls have one.
    pub const fn new(
        provider: &'static str,
        kind: &'static str,
        name: Option<&'static str>,
        settings: &'static [(&'static str, Setting)],
    ) -> Trained {
        Trained {
            provider,
            kind,
            name,
            settings,
        }
    }
}

/// The value of a setting. Zero and `false` stand for a setting that is left out.
///
/// ```
/// use tool_core::spec::{Setting, Trained};
///
/// const SHELL: Trained = Trained::new("custom", "shell_1", None, &[("timeout", Setting::Number(30))]);
/// assert_eq!(SHELL.kind, "shell_1");
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Setting {
    /// A number.
    Number(u32),
    /// A flag.
    Flag(bool),
    /// JSON text.
    Json(&'static str),
}

/// The tool that a function provides.
#[doc(hidden)]
#[derive(Debug)]
pub struct Provided {
    pub tool: &'static Trained,
    /// The key of the parameter that takes the whole input.
    pub key: &'static str,
}

/// Returns the arguments of the parameter `key` for a whole input. Returns `None` if the text is no object, or if it is
/// one with this key alone, whose value is an object: models of other providers get the schema of an ordinary tool.
#[cold]
pub(crate) fn wrapped(key: &str, text: &str) -> Option<String> {
    let members = serde_json::from_str::<BTreeMap<String, &RawValue>>(text).ok()?;
    let is_wrapped = members.len() == 1
        && members
            .get(key)
            .is_some_and(|value| value.get().starts_with('{'));
    (!is_wrapped).then(|| format!("{{{}:{text}}}", Value::from(key)))
}
