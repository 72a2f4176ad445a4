//! [`Rule`]: a rule of a provider, its value and its source.

/// A rule of a provider.
///
/// ```
/// use tool_core::rules;
///
/// let rule = rules::find("bedrock.tools_min").unwrap();
/// assert_eq!(rule.provider(), "bedrock");
/// println!("{} ({}, {})", rule.id, rule.source.name, rule.source.date);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The provider, its mode if the rule applies to that mode only, and a name:
    /// `openai.strict.max_nesting`.
    pub id: &'static str,
    /// The limit or list that the rule consists of.
    pub value: Value,
    /// Where the provider states the rule.
    pub source: Source,
}

impl Rule {
    pub(crate) const fn new(id: &'static str, source: Source) -> Rule {
        Rule {
            id,
            value: Value::None,
            source,
        }
    }

    pub(crate) const fn limit(id: &'static str, limit: usize, source: Source) -> Rule {
        Rule {
            value: Value::Number(limit),
            ..Rule::new(id, source)
        }
    }

    pub(crate) const fn list(
        id: &'static str,
        names: &'static [&'static str],
        source: Source,
    ) -> Rule {
        Rule {
            value: Value::Names(names),
            ..Rule::new(id, source)
        }
    }

    pub(crate) const fn pattern(id: &'static str, pattern: &'static str, source: Source) -> Rule {
        Rule {
            value: Value::Pattern(pattern),
            ..Rule::new(id, source)
        }
    }

    /// Returns the provider and its mode: the id up to its last dot.
    pub fn provider(&self) -> &'static str {
        self.id.rsplit_once('.').map_or(self.id, |(head, _)| head)
    }

    /// Returns `true` for a rule of a strict mode.
    pub(crate) const fn is_strict(&self) -> bool {
        let mut rest = self.id.as_bytes();
        while let [_, tail @ ..] = rest {
            if let [b'.', b's', b't', b'r', b'i', b'c', b't', b'.', ..] = rest {
                return true;
            }
            rest = tail;
        }
        false
    }
}

/// The value of a rule.
///
/// ```
/// use tool_core::rules::{Value, find};
///
/// let rule = find("bedrock.tools_min").unwrap();
/// match rule.value {
///     Value::Number(number) => assert_eq!(number, 1),
///     _ => unreachable!(),
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// The rule has no value.
    None,
    /// A limit.
    Number(usize),
    /// A regular expression.
    Pattern(&'static str),
    /// A list of keywords, formats or types.
    Names(&'static [&'static str]),
}

impl Value {
    /// Returns the limit that a rule sets.
    pub(crate) const fn number(self) -> usize {
        match self {
            Value::Number(number) => number,
            _ => panic!("the rule has no limit"),
        }
    }

    /// Returns `true` if the list of a rule contains `name`.
    pub(crate) fn lists(self, name: &str) -> bool {
        matches!(self, Value::Names(names) if names.contains(&name))
    }
}

/// A publication that states a rule.
///
/// ```
/// use tool_core::rules;
///
/// // The publications on which the rules of a provider rest.
/// for rule in rules::all().filter(|rule| rule.provider() == "gemini") {
///     println!("{}: {}, {}", rule.id, rule.source.name, rule.source.date);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source {
    /// A document, a package with its version, or public reports.
    pub name: &'static str,
    /// The day, month or year of its publication, or of the copy that was read.
    pub date: &'static str,
}

impl Source {
    pub(crate) const fn new(name: &'static str, date: &'static str) -> Source {
        Source { name, date }
    }
}
