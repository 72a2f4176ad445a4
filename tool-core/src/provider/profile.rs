//! [`Profile`]: the rules of a provider in the form that checks and dialects read.

use crate::provider::rule::Rule;
use crate::schema::stats::SchemaStats;

/// The rules of one provider.
pub(crate) struct Profile {
    /// The name in error messages.
    pub(crate) name: &'static str,
    /// The provider and its mode.
    pub(crate) title: &'static str,
    /// Every rule that code reads.
    pub(crate) rules: &'static [&'static Rule],
    /// The constructs that no dialect can rewrite, each with the rule that rejects it.
    pub(crate) rejected: &'static [(Construct, &'static Rule)],
    /// The limits of one tool.
    pub(crate) tool_limits: &'static [(Count, &'static Rule)],
    /// The limits of all tools of a request together.
    pub(crate) request_limits: &'static [(Count, &'static Rule)],
}

impl Profile {
    /// A provider that accepts everything.
    pub(crate) const EMPTY: Profile = Profile {
        name: "",
        title: "",
        rules: &[],
        rejected: &[],
        tool_limits: &[],
        request_limits: &[],
    };

    /// Returns the rule that rejects a construct.
    pub(crate) const fn rule_against(&self, construct: Construct) -> Option<&'static Rule> {
        let mut at = 0;
        while at < self.rejected.len() {
            let (rejected, rule) = self.rejected[at];
            if rejected as u8 == construct as u8 {
                return Some(rule);
            }
            at += 1;
        }
        None
    }
}

/// Something in a schema that a provider may reject.
///
/// Where its rule has a number, only what is larger is rejected.
#[derive(Clone, Copy)]
pub(crate) enum Construct {
    /// A value of any type.
    Untyped,
    /// A map with arbitrary keys.
    FreeMap,
    /// A map whose keys are the values of an enum. Keys may be missing.
    EnumMap,
    /// A key of such a map other than 1 to 64 ASCII letters, digits, `_`, `.` and `-`.
    UnusualKey,
    /// A type that refers to itself.
    Recursion,
    /// A type that refers to itself, with nothing optional on the way.
    RequiredRecursion,
    /// Objects and arrays inside of each other, by the depth.
    Nesting,
    /// An enum of more than [`LARGE_ENUM`] values, by the characters of its values.
    LargeEnum,
    /// A tool that programs call.
    Programmatic,
}

/// The number of values from which on [`Construct::LargeEnum`] applies.
pub(crate) const LARGE_ENUM: usize = 250;

impl Construct {
    /// Returns the name of the rejected construct, in the plural, and the construct to write instead.
    pub(crate) const fn texts(self) -> (&'static str, &'static str) {
        match self {
            Construct::Untyped => (
                "untyped values",
                "use a concrete type, or JSON in a `String`",
            ),
            Construct::FreeMap => (
                "maps with arbitrary keys",
                "name the keys in a struct, or use a list of pairs",
            ),
            Construct::EnumMap => (
                "maps with optional keys",
                "use a struct with a field for each key, `Option` for optional ones",
            ),
            Construct::UnusualKey => (
                "keys other than 1 to 64 ASCII letters, digits, `_`, `.` and `-`",
                "rename the key",
            ),
            Construct::Recursion => (
                "recursive types",
                "use a list whose items name their parent",
            ),
            Construct::RequiredRecursion => (
                "recursion through required fields only",
                "make one of the fields an `Option`",
            ),
            Construct::Nesting => ("levels of objects and arrays", "use a flatter type"),
            Construct::LargeEnum => (
                "characters in an enum of more than 250 values",
                "use a `String`",
            ),
            Construct::Programmatic => ("tools that programs call", "remove `programmatic`"),
        }
    }
}

/// Something that providers limit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    Properties,
    EnumValues,
    Characters,
    Optional,
    Unions,
    /// At least as many as the rule says.
    Required,
    Tools,
    /// At least as many as the rule says.
    MinTools,
    /// Tools that fit the strict mode.
    StrictTools,
}

impl Count {
    /// Returns the count of these parts in a tool. Tools are counted by the caller.
    pub(crate) const fn of(self, stats: &SchemaStats) -> usize {
        match self {
            Count::Properties => stats.keys,
            Count::EnumValues => stats.values,
            Count::Characters => stats.characters,
            Count::Optional => stats.optional,
            Count::Unions => stats.unions,
            Count::Required => stats.required,
            Count::Tools | Count::MinTools | Count::StrictTools => 0,
        }
    }

    pub(crate) const fn is_minimum(self) -> bool {
        matches!(self, Count::Required | Count::MinTools)
    }

    pub(crate) const fn is_exceeded(self, count: usize, limit: usize) -> bool {
        if self.is_minimum() {
            count < limit
        } else {
            count > limit
        }
    }

    /// Returns what is counted, in the plural, and how one tool can have less (or more) of it.
    pub(crate) const fn texts(self) -> (&'static str, &'static str) {
        match self {
            Count::Properties => ("properties", "split the tool"),
            Count::EnumValues => ("enum values", "use a `String` instead of an enum"),
            Count::Characters => ("characters in keys and enum values", "split the tool"),
            Count::Optional => (
                "optional parameters and fields",
                "make some of them required",
            ),
            Count::Unions => ("unions", "split the tool"),
            Count::Required => ("required parameters", "make a parameter required"),
            Count::Tools | Count::MinTools => ("tools", ""),
            Count::StrictTools => ("strict tools", ""),
        }
    }
}
