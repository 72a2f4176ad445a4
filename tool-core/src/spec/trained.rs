//! [`Trained`]: a tool of a provider that a function provides.

/// A tool on which a provider trained its models, as its requests contain it.
#[doc(hidden)]
#[derive(Debug)]
pub struct Trained {
    /// The provider, by the name of its module in [`dialect`](crate::dialect).
    pub(crate) provider: &'static str,
    /// The `type` of the entry in a request.
    pub(crate) kind: &'static str,
    /// The name by which models call the tool, if their calls have one.
    pub(crate) name: Option<&'static str>,
    /// The other members of the entry.
    pub(crate) settings: &'static [(&'static str, Setting)],
}

/// The value of a setting. Zero and `false` stand for a setting that is left out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Setting {
    Number(u32),
    Flag(bool),
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
