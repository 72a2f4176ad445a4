//! What the providers of a build refuse, judged while compiling over the tree of each parameter.
//!
//! What a strict dialect can rewrite is no mistake. A mistake is what no dialect could say
//! otherwise: a map with free keys, a type that refers to itself, a tree that is too deep.

mod case_collisions;
mod fault;
mod limit;
mod place;
mod walk;

use std::marker::PhantomData;

use crate::provider::check::place::Place;
use crate::provider::check::walk::{Breach, Walk};
use crate::provider::rules::{Target, Targets};
use crate::schema::const_string::ConstString;
use crate::schema::constrain::inner;
use crate::schema::stats::SchemaStats;
use crate::schema::{Kind, Property, Schema};
use crate::types::ToolType;

/// The verdict over a type, which the compiler reaches once for all parameters of that type.
pub(crate) struct TypeCheck<T: ?Sized>(PhantomData<T>);

impl<T: ToolType + ?Sized> TypeCheck<T> {
    /// Whether a parameter of this type breaks a rule that is on, and what it holds.
    const VERDICT: &'static Verdict = &verdict(inner(T::SCHEMA));

    /// Whether there is nothing to say of it, and nothing to count.
    pub(crate) const IS_FINE: bool = Self::VERDICT.breach.is_none() && !limit::IS_ANY_ON;

    /// The same parameter of this type. One that breaks a rule that is on stops the build.
    pub(crate) const fn parameter(tool: &str, mut property: Property) -> Property {
        if let Some(breach) = &Self::VERDICT.breach {
            reject(tool, &property, breach);
        }
        // A look at each tool that walked the trees of its parameters again would cost half as much
        // as the whole tool without.
        if limit::IS_ANY_ON {
            property.stats = Some(&Self::VERDICT.stats);
        }
        property
    }
}

/// What was found of a tree.
pub(crate) struct Verdict {
    stats: SchemaStats,
    breach: Option<Breach>,
}

/// Judges the schema of a parameter by the rules that are on.
pub(crate) const fn verdict(schema: &Schema) -> Verdict {
    by(schema, Targets::ON)
}

const fn by(schema: &Schema, targets: Targets) -> Verdict {
    let mut walk = Walk::new(targets);
    walk.schema(schema, &Place::ROOT);
    Verdict {
        stats: walk.stats,
        breach: walk.breach,
    }
}

/// The same parameter. One that breaks a rule that is on stops the build.
pub(crate) const fn parameter(tool: &str, property: Property, verdict: &Verdict) -> Property {
    if let Some(breach) = &verdict.breach {
        reject(tool, &property, breach);
    }
    property
}

/// Stops the build with a message that names the tool, the place in its parameter, the rule and the
/// remedy.
const fn reject(tool: &str, parameter: &Property, breach: &Breach) -> ! {
    let mut line: ConstString<1024> = ConstString::new("tool `");
    line.push(tool);
    line.push("`, ");
    breach.write(parameter, &mut line);
    panic!("{}", line.as_str());
}

/// Stops the build when the parameters of a tool are together more than a rule that is on allows.
///
/// # Panics
///
/// With a message that names the tool, the parameter that holds most, and the rule.
pub(crate) const fn tool(name: &str, parameters: &[Property]) {
    if !limit::IS_ANY_ON {
        return;
    }
    let total = limit::total(parameters, Targets::ON);
    if let Some(excess) = limit::exceeded(&total, parameters, Targets::ON) {
        let mut line: ConstString<1024> = ConstString::new("tool `");
        line.push(name);
        line.push("`: ");
        excess.write(&mut line);
        panic!("{}", line.as_str());
    }
}

/// What a whole schema of arguments holds, or why a target can't take it.
pub(crate) fn check(schema: &Schema, target: Target) -> Result<SchemaStats, String> {
    let Kind::Object(properties) = schema.kind else {
        return Err("the arguments of a tool are an object".into());
    };
    let mut total = SchemaStats::NONE;
    for property in properties {
        let verdict = by(property.schema, Targets::only(target));
        if let Some(breach) = verdict.breach {
            let mut line: ConstString<1024> = ConstString::EMPTY;
            breach.write(property, &mut line);
            return Err(line.as_str().to_owned());
        }
        total = total.and(verdict.stats.of(property));
    }
    match limit::exceeded(&total, properties, Targets::only(target)) {
        Some(excess) => {
            let mut line: ConstString<1024> = ConstString::EMPTY;
            excess.write(&mut line);
            Err(line.as_str().to_owned())
        }
        None => Ok(total),
    }
}

#[cfg(test)]
mod tests;
