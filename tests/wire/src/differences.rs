//! What differs on purpose, each with its reason.

/// A difference on purpose.
pub(crate) struct Difference {
    /// What the place begins with: the name of a case, or a dialect.
    pub(crate) place: &'static str,
    /// A part of what is found.
    pub(crate) what: &'static str,
    pub(crate) reason: &'static str,
}

impl Difference {
    pub(crate) fn explains(&self, place: &str, what: &str) -> bool {
        place.starts_with(self.place) && what.contains(self.what)
    }
}

pub(crate) const DIFFERENCES: &[Difference] = &[Difference {
    place: "S55e",
    what: "has no valid `function.name`",
    reason: "a call whose name is null is no call, and the response is an error that says so",
}];
