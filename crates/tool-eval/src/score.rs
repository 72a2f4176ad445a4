//! Compares the calls of an attempt with the expected ones.

use serde_json::{Map, Value};
use tool_agent::run::Run;
use tool_core::call::Arguments;
use tool_core::{Registry, ToolCall, ToolEntry, ToolError};

use crate::attempt::{Decoded, MadeCall};
use crate::case::{Case, ExpectedCall, Order};
use crate::error::EvalError;
use crate::report::{ComparedCall, ComparedParameter};

/// An expected call with decoded arguments.
pub(crate) struct Wanted<'c> {
    call: &'c ExpectedCall,
    decoded: Decoded,
    /// Further accepted values of parameters, decoded.
    accepted: Vec<(String, Value)>,
}

/// The score of an attempt.
pub(crate) struct Score {
    /// Descriptions of the mistakes. Empty if there are none.
    pub(crate) problems: Vec<String>,
    /// The score, from 0 to 1.
    pub(crate) share: f64,
    /// Each expected call beside its counterpart.
    pub(crate) compared: Vec<ComparedCall>,
    /// The indices of calls without a counterpart that are not allowed.
    pub(crate) unexpected: Vec<usize>,
    /// Each compared parameter, as `tool.parameter`, and whether it is right.
    pub(crate) parameters: Vec<(String, bool)>,
}

/// Decodes the expected calls of a case.
pub(crate) fn wanted<'c>(
    case: &'c Case,
    registry: &Registry,
) -> Result<Vec<Wanted<'c>>, EvalError> {
    let calls = case.calls.iter().flatten();
    let wanted = calls.map(|call| {
        let fail = |message: String| case.error(call.line, message);
        let as_decoded = |arguments: &Map<String, Value>| {
            let made = ToolCall::new("expected", &*call.tool, arguments.clone());
            let decoded = as_decoded(registry, &made);
            decoded.map_err(|error| {
                fail(format!(
                    "the tool rejects the expected call; correct it: {error}"
                ))
            })
        };
        let mut arguments = call.arguments.clone();
        for (parameter, value) in &call.accept {
            arguments.entry(parameter).or_insert_with(|| value.clone());
        }
        let decoded = as_decoded(&arguments)?;
        let mut accepted = Vec::new();
        for (parameter, value) in &call.accept {
            arguments.insert(parameter.clone(), value.clone());
            let filled = as_decoded(&arguments)?.filled.remove(parameter);
            accepted.push((parameter.clone(), filled.unwrap_or_default()));
        }
        for ignored in &call.ignore {
            if registry
                .get(&call.tool)
                .is_some_and(|tool| !has(&tool, ignored))
            {
                let message = format!("{} has no parameter `{ignored}` to ignore", call.tool);
                return Err(fail(message));
            }
        }
        Ok(Wanted {
            call,
            decoded,
            accepted,
        })
    });
    wanted.collect()
}

/// Returns `true` if a tool has a parameter.
fn has(tool: &ToolEntry, parameter: &str) -> bool {
    let schema: Value = serde_json::from_str(tool.parameters_json()).unwrap_or_default();
    schema["properties"].get(parameter).is_some()
}

/// Decodes the arguments of a call. The error describes the mistake.
fn as_decoded(registry: &Registry, call: &ToolCall) -> Result<Decoded, String> {
    let mut resolved = call.clone();
    let tool = registry.resolve(&mut resolved);
    let text = registry
        .validate(&resolved)
        .map_err(|error| reason(&error))?;
    let mut arguments: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
    // `null` counts as absent.
    arguments.retain(|_, value| !value.is_null());
    let written = arguments.keys().cloned().collect();
    let mut filled = Value::Object(arguments);
    let mut shown = None;
    if let Some(tool) = tool {
        let schema = serde_json::from_str(tool.parameters_json()).unwrap_or_default();
        fill(&mut filled, &schema);
        if tool.has_secrets() {
            let text = tool.shown_arguments(&Arguments::from(text));
            shown = Some(serde_json::from_str(&text).unwrap_or_default());
        }
    }
    let Value::Object(filled) = filled else {
        return Err("the arguments are not an object".into());
    };
    Ok(Decoded {
        filled,
        written,
        shown,
    })
}

/// Returns the reason why a call was rejected, on one line.
pub(crate) fn reason(error: &ToolError) -> String {
    let violations: Vec<_> = error.violations().iter().map(ToString::to_string).collect();
    if violations.is_empty() {
        // The reference differs in each process.
        return error
            .message()
            .replace(&format!(" [ref {}]", error.id()), "");
    }
    violations.join("; ")
}

/// Adds a schema's defaults for absent members of a value.
fn fill(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(members) => {
            for (key, property) in schema["properties"].as_object().into_iter().flatten() {
                if let Some(default) = property.get("default") {
                    members.entry(key).or_insert_with(|| default.clone());
                }
                if let Some(member) = members.get_mut(key) {
                    fill(member, property);
                }
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| fill(item, &schema["items"])),
        _ => {}
    }
}

/// Returns the calls of a run, except calls that the provider runs and searches for tools.
pub(crate) fn made(run: &Run, registry: &Registry) -> Vec<MadeCall> {
    let mut made = Vec::new();
    for (round, at) in run.rounds().iter().zip(0..) {
        for (call, _) in round.calls() {
            let mut call = call.clone();
            let tool = registry.resolve(&mut call);
            let is_search = tool.is_some() && registry.get(&call.name).is_none();
            if call.server().is_some() || is_search {
                continue;
            }
            let (decoded, rejected) = match as_decoded(registry, &call) {
                Ok(decoded) => (decoded, None),
                Err(error) => (undecoded(tool.as_ref(), &call), Some(error)),
            };
            made.push(MadeCall {
                decoded,
                shown: registry.shown(&call),
                rejected,
                round: at,
                is_corrected: false,
                tool: call.name,
            });
        }
    }
    mark_corrected(&mut made, registry);
    made
}

/// Returns the arguments of a rejected call.
fn undecoded(tool: Option<&ToolEntry>, call: &ToolCall) -> Decoded {
    let mut filled = call.arguments.to_object().unwrap_or_default();
    filled.retain(|_, value| !value.is_null());
    let shown = tool.filter(|tool| tool.has_secrets()).map(|tool| {
        let text = tool.shown_arguments(&call.arguments);
        serde_json::from_str(&text).unwrap_or_default()
    });
    Decoded {
        written: filled.keys().cloned().collect(),
        filled,
        shown,
    }
}

/// For each rejected call, finds the valid call of a later round that corrects it. It must be of the same tool, unless
/// no tool of that name exists. A call corrects only one other.
fn mark_corrected(made: &mut [MadeCall], registry: &Registry) {
    let mut used = vec![false; made.len()];
    for at in 0..made.len() {
        if made[at].rejected.is_none() {
            continue;
        }
        let is_tool = registry.get(&made[at].tool).is_some();
        let corrects = |other: &MadeCall| {
            other.rejected.is_none()
                && other.round > made[at].round
                && (!is_tool || other.tool == made[at].tool)
        };
        let found = (at + 1..made.len()).find(|&other| !used[other] && corrects(&made[other]));
        if let Some(found) = found {
            used[found] = true;
            made[at].is_corrected = true;
        }
    }
}

/// Compares the calls of an attempt with the expected calls of a case.
pub(crate) fn score(case: &Case, wanted: &[Wanted<'_>], made: &[MadeCall]) -> Score {
    let mut score = Score {
        problems: Vec::new(),
        share: 1.0,
        compared: Vec::new(),
        unexpected: Vec::new(),
        parameters: Vec::new(),
    };
    if case.calls.is_some() {
        let (places, made): (Vec<_>, Vec<_>) = made
            .iter()
            .enumerate()
            .filter(|(_, call)| !call.is_corrected)
            .unzip();
        compare_calls(case, wanted, &made, &mut score);
        for call in &mut score.compared {
            call.made = call.made.map(|at| places[at]);
        }
        for at in &mut score.unexpected {
            *at = places[*at];
        }
    }
    for call in made {
        if case.forbidden.contains(&call.tool) {
            score.problems.push(format!("{} is forbidden", call.tool));
            score.share = 0.0;
        }
    }
    score
}

fn compare_calls(case: &Case, wanted: &[Wanted<'_>], made: &[&MadeCall], score: &mut Score) {
    let compared: Vec<Vec<Compared>> = wanted
        .iter()
        .map(|wanted| made.iter().map(|made| compare(wanted, made)).collect())
        .collect();
    let pairs = match case.order {
        Order::AnyOrder => assign(&compared, made.len()),
        Order::Exact | Order::InOrder => align(&compared, made.len()),
    };
    let mut extra: Vec<_> = (0..made.len())
        .filter(|at| !pairs.contains(&Some(*at)))
        .collect();
    if case.allows_others() {
        extra.clear();
    }
    score.unexpected.clone_from(&extra);
    let (mut calls, mut sum) = (wanted.len() + extra.len(), 0.0);
    for ((pair, row), wanted) in pairs.iter().zip(&compared).zip(wanted) {
        let tool = &wanted.call.tool;
        score
            .compared
            .push(side_by_side(wanted, pair.map(|at| made[at]), *pair));
        if let Some(at) = *pair {
            sum += row[at].score;
            score.problems.extend(row[at].problems(tool, made[at]));
            let parameters = row[at].parameters.iter();
            let named =
                parameters.map(|(name, problem)| (format!("{tool}.{name}"), problem.is_none()));
            score.parameters.extend(named);
            continue;
        }
        let is_same = |at: &usize| made[*at].tool == *tool;
        let in_place = extra
            .iter()
            .position(is_same)
            .or((!extra.is_empty()).then_some(0));
        let in_place = in_place.map(|found| made[extra.remove(found)]);
        score.problems.push(match in_place {
            Some(other) if other.tool == *tool => format!("{tool} is out of order"),
            Some(other) => format!("{} instead of {tool}{}", other.tool, why(other)),
            None => format!("{tool} is missing"),
        });
        // Counted as one mistake, not two.
        calls -= usize::from(in_place.is_some());
    }
    for at in extra {
        let problem = format!("{} was not expected{}", made[at].tool, why(made[at]));
        score.problems.push(problem);
    }
    // The number of calls is small, so a float represents it exactly.
    #[allow(clippy::cast_precision_loss)]
    if calls > 0 {
        score.share = sum / calls as f64;
    }
}

/// Returns an expected call beside its counterpart, with all parameters.
fn side_by_side(wanted: &Wanted<'_>, made: Option<&MadeCall>, at: Option<usize>) -> ComparedCall {
    let mut names = wanted.decoded.written.clone();
    names.extend(
        made.iter()
            .flat_map(|made| made.decoded.written.iter().cloned()),
    );
    let value = |decoded: &Decoded, name: &str| {
        let is_there = decoded.filled.contains_key(name);
        is_there.then(|| decoded.shown(name))
    };
    let parameters = names.into_iter().map(|name| ComparedParameter {
        is_right: made.is_some_and(|made| {
            wanted.call.ignore.contains(&name) || difference(wanted, made, &name).is_none()
        }),
        expected: value(&wanted.decoded, &name),
        made: made.and_then(|made| value(&made.decoded, &name)),
        name,
    });
    ComparedCall {
        tool: wanted.call.tool.clone(),
        made: at,
        parameters: parameters.collect(),
    }
}

/// Returns the reason why a call was rejected, as the end of a message.
fn why(made: &MadeCall) -> String {
    let rejected = made.rejected.as_ref();
    rejected.map_or_else(String::new, |rejected| {
        format!(", and was rejected: {rejected}")
    })
}

/// An expected call and a call of the model.
struct Compared {
    /// From 0 to 1. 0 if the tools differ.
    score: f64,
    /// Each parameter, with the description of a mistake if there is one.
    parameters: Vec<(String, Option<String>)>,
    is_same_tool: bool,
    is_same: bool,
}

impl Compared {
    fn problems(&self, tool: &str, made: &MadeCall) -> Vec<String> {
        if let Some(rejected) = &made.rejected {
            return vec![format!("{tool} was rejected: {rejected}")];
        }
        let wrong = self
            .parameters
            .iter()
            .filter_map(|(_, problem)| problem.as_ref());
        let wrong: Vec<_> = wrong.map(String::as_str).collect();
        if wrong.is_empty() {
            return Vec::new();
        }
        vec![format!("{tool}: {}", wrong.join("; "))]
    }
}

fn compare(wanted: &Wanted<'_>, made: &MadeCall) -> Compared {
    if wanted.call.tool != made.tool {
        return Compared {
            score: 0.0,
            parameters: Vec::new(),
            is_same_tool: false,
            is_same: false,
        };
    }
    let names = wanted.decoded.written.union(&made.decoded.written);
    let names = names.filter(|name| !wanted.call.ignore.contains(name));
    let parameters: Vec<_> = names
        .map(|name| (name.clone(), difference(wanted, made, name)))
        .collect();
    let right = parameters
        .iter()
        .filter(|(_, problem)| problem.is_none())
        .count();
    // Both numbers are small.
    #[allow(clippy::cast_precision_loss)]
    let mut score = if parameters.is_empty() {
        1.0
    } else {
        right as f64 / parameters.len() as f64
    };
    if made.rejected.is_some() {
        score /= 2.0;
    }
    Compared {
        score,
        is_same_tool: true,
        is_same: right == parameters.len() && made.rejected.is_none(),
        parameters,
    }
}

/// Describes the difference between the values of a parameter.
fn difference(wanted: &Wanted<'_>, made: &MadeCall, name: &str) -> Option<String> {
    let expected = wanted.decoded.filled.get(name).unwrap_or(&Value::Null);
    let got = made.decoded.filled.get(name).unwrap_or(&Value::Null);
    let accepted = wanted
        .accepted
        .iter()
        .filter(|(parameter, _)| parameter == name);
    let mut values = std::iter::once(expected).chain(accepted.map(|(_, value)| value));
    if values.any(|value| is_equal(value, got)) {
        return None;
    }
    let (expected, got) = (wanted.decoded.shown(name), made.decoded.shown(name));
    Some(match (&*expected, &*got) {
        (expected, "null") => format!("{name} is missing, expected {expected}"),
        ("null", got) => format!("{name} is {got}, expected none"),
        (expected, got) if expected == got => format!("{name} has another secret"),
        (expected, got) => format!("{name} is {got}, expected {expected}"),
    })
}

/// Compares two values. Numbers are compared by value, so `50` equals `50.0`.
pub(crate) fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => is_same_number(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| is_equal(a, b)))
        }
        _ => a == b,
    }
}

/// Compares two numbers without rounding.
pub(crate) fn is_same_number(a: &serde_json::Number, b: &serde_json::Number) -> bool {
    let whole = |number: &serde_json::Number| {
        let integer = number.as_i64().map(i128::from);
        integer.or_else(|| number.as_u64().map(i128::from))
    };
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => a.as_f64() == b.as_f64(),
        (Some(integer), None) => is_float(integer, b),
        (None, Some(integer)) => is_float(integer, a),
    }
}

// A 64-bit integer that equals a float has no more digits than the float.
#[allow(clippy::cast_possible_truncation)]
fn is_float(integer: i128, float: &serde_json::Number) -> bool {
    let float = float.as_f64().unwrap_or(f64::NAN);
    float.fract() == 0.0 && float.abs() < 1e30 && float as i128 == integer
}

/// Pairs calls in order so that the sum of scores is maximal. Returns the counterpart of each expected call.
fn align(compared: &[Vec<Compared>], made: usize) -> Vec<Option<usize>> {
    // `best[i][j]` is the maximal sum for expected calls from `i` and made calls from `j`.
    let mut best = vec![vec![0.0_f64; made + 1]; compared.len() + 1];
    for i in (0..compared.len()).rev() {
        for j in (0..made).rev() {
            let pair = compared[i][j].score + best[i + 1][j + 1];
            best[i][j] = pair.max(best[i + 1][j]).max(best[i][j + 1]);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = vec![None; compared.len()];
    while i < compared.len() && j < made {
        // Pairs calls even if no parameter is right, in order to describe the difference.
        #[allow(clippy::float_cmp)]
        if compared[i][j].is_same_tool && best[i][j] == compared[i][j].score + best[i + 1][j + 1] {
            pairs[i] = Some(j);
            (i, j) = (i + 1, j + 1);
        } else if best[i + 1][j] >= best[i][j + 1] && best[i + 1][j] > 0.0 || j + 1 == made {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// Pairs calls in any order. Maximizes the number of correct calls first, and then the similarity.
fn assign(compared: &[Vec<Compared>], made: usize) -> Vec<Option<usize>> {
    /// Finds a counterpart for the expected call `at`. May reassign a call if its current partner has another match.
    fn find(
        at: usize,
        compared: &[Vec<Compared>],
        taken: &mut [Option<usize>],
        tried: &mut [bool],
    ) -> bool {
        for made in 0..taken.len() {
            if tried[made] || !compared[at][made].is_same {
                continue;
            }
            tried[made] = true;
            let is_free = match taken[made] {
                None => true,
                Some(other) => find(other, compared, taken, tried),
            };
            if is_free {
                taken[made] = Some(at);
                return true;
            }
        }
        false
    }
    let mut taken = vec![None; made];
    for at in 0..compared.len() {
        find(at, compared, &mut taken, &mut vec![false; made]);
    }
    let mut pairs = vec![None; compared.len()];
    for (made, at) in taken.iter().enumerate() {
        if let Some(at) = *at {
            pairs[at] = Some(made);
        }
    }
    let mut rest: Vec<_> = (0..compared.len())
        .flat_map(|at| (0..made).map(move |made| (at, made)))
        .filter(|&(at, made)| compared[at][made].is_same_tool)
        .collect();
    rest.sort_by(|&(a, i), &(b, j)| compared[b][j].score.total_cmp(&compared[a][i].score));
    for (at, made) in rest {
        if pairs[at].is_none() && taken[made].is_none() {
            pairs[at] = Some(made);
            taken[made] = Some(at);
        }
    }
    pairs
}
