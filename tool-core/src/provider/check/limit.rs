//! [`Limit`]: how much a tool may hold in all.

use crate::provider::anthropic::rules as anthropic;
use crate::provider::check::by;
use crate::provider::openai::rules as openai;
use crate::provider::rules::{Rule, Target, Targets, others};
use crate::schema::Property;
use crate::schema::const_string::ConstString;
use crate::schema::stats::SchemaStats;

/// What is limited, and by whom.
struct Limit {
    target: Target,
    rule: &'static Rule,
    /// What is counted, in the plural.
    unit: &'static str,
    remedy: &'static str,
    count: Count,
}

#[derive(Clone, Copy)]
enum Count {
    Keys,
    Values,
    Characters,
    Optional,
    Unions,
    /// The one limit from below.
    Required,
}

impl Count {
    const fn of(self, stats: &SchemaStats) -> usize {
        match self {
            Count::Keys => stats.keys,
            Count::Values => stats.values,
            Count::Characters => stats.characters,
            Count::Optional => stats.optional,
            Count::Unions => stats.unions,
            Count::Required => stats.required,
        }
    }
}

const SPLIT: &str = "split the tool, or turn the feature off";

const LIMITS: &[Limit] = &[
    Limit {
        target: Target::OpenAiStrict,
        rule: &openai::MAX_PROPERTIES,
        unit: "keys",
        remedy: SPLIT,
        count: Count::Keys,
    },
    Limit {
        target: Target::OpenAiStrict,
        rule: &openai::MAX_ENUM_VALUES,
        unit: "values of enums",
        remedy: "take a `String` in place of an enum, or turn the feature off",
        count: Count::Values,
    },
    Limit {
        target: Target::OpenAiStrict,
        rule: &openai::MAX_STRINGS,
        unit: "characters of keys and values",
        remedy: SPLIT,
        count: Count::Characters,
    },
    Limit {
        target: Target::AnthropicStrict,
        rule: &anthropic::MAX_OPTIONAL,
        unit: "parameters and fields that may be left out",
        remedy: "require some of them, or turn the feature off",
        count: Count::Optional,
    },
    Limit {
        target: Target::AnthropicStrict,
        rule: &anthropic::MAX_UNIONS,
        unit: "unions",
        remedy: SPLIT,
        count: Count::Unions,
    },
    Limit {
        target: Target::Cohere,
        rule: &others::COHERE_FIELDS,
        unit: "fields",
        remedy: SPLIT,
        count: Count::Keys,
    },
    Limit {
        target: Target::Cohere,
        rule: &others::COHERE_REQUIRED,
        unit: "required parameters",
        remedy: "require a parameter, or turn the feature off",
        count: Count::Required,
    },
];

/// A limit that a tool goes beyond.
pub(crate) struct Excess {
    limit: &'static Limit,
    count: usize,
    /// The parameter that holds most, if it is known.
    most: &'static str,
}

impl Excess {
    /// "5210 keys are more than the 5000 of rule …; do …"
    pub(crate) const fn write<const N: usize>(&self, line: &mut ConstString<N>) {
        line.number(self.count);
        line.push(" ");
        line.push(self.limit.unit);
        if !self.most.is_empty() && self.count > 0 {
            line.push(", most of them in `");
            line.push(self.most);
            line.push("`,");
        }
        line.push(match self.limit.count {
            Count::Required => " are fewer than the ",
            _ => " are more than the ",
        });
        line.number(self.limit.rule.value.number());
        line.push(" of rule ");
        line.push(self.limit.rule.id);
        line.push(" (feature `");
        line.push(self.limit.target.feature());
        line.push("`); ");
        line.push(self.limit.remedy);
    }
}

/// What the parameters of a tool hold together.
pub(crate) const fn total(parameters: &[Property], targets: Targets) -> SchemaStats {
    let mut total = SchemaStats::NONE;
    let mut at = 0;
    while at < parameters.len() {
        total = total.and(stats(&parameters[at], targets));
        at += 1;
    }
    total
}

/// The first limit of these targets that the parameters of a tool, which hold this in all, go
/// beyond.
pub(crate) const fn exceeded(
    total: &SchemaStats,
    parameters: &[Property],
    targets: Targets,
) -> Option<Excess> {
    let mut at = 0;
    while at < LIMITS.len() {
        let limit = &LIMITS[at];
        let count = limit.count.of(total);
        let bound = limit.rule.value.number();
        let is_beyond = match limit.count {
            Count::Required => count < bound,
            _ => count > bound,
        };
        if targets.has(limit.target) && is_beyond {
            return Some(Excess {
                limit,
                count,
                most: most(parameters, limit.count, targets),
            });
        }
        at += 1;
    }
    None
}

/// Whether a target of this build sets a limit. One without need not count.
pub(crate) const IS_ANY_ON: bool = {
    let (mut is_any_on, mut at) = (false, 0);
    while at < LIMITS.len() {
        is_any_on |= LIMITS[at].target.is_on();
        at += 1;
    }
    is_any_on
};

const fn stats(parameter: &Property, targets: Targets) -> SchemaStats {
    match parameter.stats {
        Some(stats) => stats.of(parameter),
        None => by(parameter.schema, targets).stats.of(parameter),
    }
}

/// The name of the parameter with the greatest count.
const fn most(parameters: &[Property], count: Count, targets: Targets) -> &'static str {
    let (mut name, mut greatest) = ("", 0);
    let mut at = 0;
    while at < parameters.len() {
        let of_this = count.of(&stats(&parameters[at], targets));
        if of_this > greatest {
            greatest = of_this;
            name = parameters[at].name();
        }
        at += 1;
    }
    name
}
