//! What the providers of a build refuse, judged while compiling over the tree of each parameter.
//!
//! What a strict dialect can rewrite is no mistake. A mistake is what no dialect could say
//! otherwise: a map with free keys, a type that refers to itself, a tree that is too deep.

mod census;
mod fault;
mod limit;
mod line;
mod place;
mod walk;

pub use self::census::Census;
use self::line::Line;
use self::place::Place;
use self::walk::Walk;
use super::{Kind, Property, Schema};
use crate::rules::{Target, Targets};

/// Stops the build when a parameter breaks a rule that is on, and counts what its tree holds.
///
/// The macro calls it once for each parameter, with the span of the parameter.
///
/// # Panics
///
/// With a message that names the tool, the path and the rule.
pub const fn parameter(tool: &str, property: &'static Property) -> Census {
    let mut walk = Walk::new(Targets::ON);
    walk.property(property, &Place::ROOT);
    if let Some(breach) = walk.breach {
        let mut line: Line<1024> = Line::new("tool `");
        line.push(tool);
        line.push("`, parameter `");
        line.push(breach.path.as_str());
        line.push("`: ");
        breach.fault.write(&mut line);
        panic!("{}", line.as_str());
    }
    let mut census = walk.census;
    census.name = property.name();
    census
}

/// Stops the build when the parameters of a tool are together more than a rule that is on allows.
///
/// The macro calls it once for each tool, with the span of the tool's name.
///
/// # Panics
///
/// With a message that names the tool, the parameter that holds most, and the rule.
pub const fn tool(name: &str, parameters: &[Census]) {
    if let Some(excess) = limit::exceeded(parameters, Targets::ON) {
        let mut line: Line<1024> = Line::new("tool `");
        line.push(name);
        line.push("`: ");
        excess.write(&mut line);
        panic!("{}", line.as_str());
    }
}

/// What a whole schema of arguments holds, or why a target can't take it.
pub(crate) fn judge(schema: &Schema, target: Target) -> Result<Census, String> {
    let Kind::Object(properties) = schema.kind else {
        return Err("the arguments of a tool are an object".into());
    };
    let mut total = Census::NONE;
    for property in properties {
        let mut walk = Walk::new(Targets::only(target));
        walk.property(property, &Place::ROOT);
        if let Some(breach) = walk.breach {
            let mut line: Line<1024> = Line::new("parameter `");
            line.push(breach.path.as_str());
            line.push("`: ");
            breach.fault.write(&mut line);
            return Err(line.as_str().to_owned());
        }
        total = total.and(walk.census);
    }
    match limit::exceeded(&[total], Targets::only(target)) {
        Some(excess) => {
            let mut line: Line<1024> = Line::EMPTY;
            excess.write(&mut line);
            Err(line.as_str().to_owned())
        }
        None => Ok(total),
    }
}

#[cfg(test)]
mod tests;
