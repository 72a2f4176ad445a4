//! Constrained decoding: every emitted schema compiles in the engine behind several providers'
//! strict modes, and whatever its masks let a model write is accepted.
//!
//! `TOOL_CORE_LONG=1` samples a thousand outputs a type.

use std::collections::BTreeMap;

use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use proofs::exceptions::explain;
use proofs::random::Random;
use proofs::rounds;
use proofs::subject::Subject;
use toktrie::ApproximateTokEnv;

/// The keywords that the engine has no grammar for. It is told to pass over them, as a provider
/// does, and what comes out is judged by the emitted schema first.
const UNKNOWN_TO_THE_ENGINE: [&str; 3] = ["uniqueItems", "minProperties", "maxProperties"];

/// A map with keys of an enum and a least number of members: for the engine, which counts none but
/// required members, there is no such object.
const UNSATISFIABLE_TO_THE_ENGINE: &str = "length_enum_map";

/// A pattern that lets no quote and no backslash in: the engine writes them escaped all the same.
const MISREAD_BY_THE_ENGINE: &str = "pattern_escapes";

/// The longest output that is worth finishing, in bytes.
const LONGEST: usize = 3000;

#[test]
fn what_the_masks_allow_is_accepted() {
    let environment = ApproximateTokEnv::single_byte_env();
    let mut factory = ParserFactory::new_simple(&environment).expect("the engine starts");
    factory.quiet();
    let mut failures = Vec::new();
    let mut tally: BTreeMap<&str, usize> = BTreeMap::new();
    let subjects = Subject::all();
    for subject in &subjects {
        let mut schema = subject.schema.clone();
        let text = subject.row.tool.parameters_json();
        let is_known = !UNKNOWN_TO_THE_ENGINE
            .iter()
            .any(|keyword| text.contains(keyword));
        if !is_known {
            schema["x-guidance"] = serde_json::json!({ "lenient": true });
        }
        if subject.row.name == UNSATISFIABLE_TO_THE_ENGINE {
            continue;
        }
        let grammar = TopLevelGrammar::from_json_schema(schema);
        let start = Matcher::new(factory.create_parser(grammar));
        if let Some(error) = start.get_error() {
            failures.push(format!(
                "{} does not compile: {error}\n    {text}",
                subject.row.name
            ));
            continue;
        }
        let mut random = Random::named(subject.row.name, 7);
        for _ in 0..rounds(20, 1000) {
            let Some(output) = sample(start.deep_clone(), &environment, &mut random) else {
                *tally.entry("unfinished").or_default() += 1;
                continue;
            };
            let verdict = judge(subject, &output, is_known);
            match verdict {
                Ok(kind) => *tally.entry(kind).or_default() += 1,
                Err(problem) => {
                    failures.push(format!("{}: {problem}\n    {text}", subject.row.name));
                    break;
                }
            }
        }
    }
    println!("{} types: {tally:?}", subjects.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// What became of an output, or why it should have become something else.
fn judge(subject: &Subject, output: &str, is_known: bool) -> Result<&'static str, String> {
    let result = subject.call(output, false);
    if !result.is_error() {
        return Ok("accepted");
    }
    let said = result.content();
    if said.contains("given twice") {
        return Ok("a key twice");
    }
    if has_long_number(output)
        && (said.contains("above the maximum") || said.contains("below the minimum"))
    {
        return Ok("beyond its type");
    }
    // A number that no float holds is no `Value` either.
    let Ok(arguments) = serde_json::from_str(output) else {
        return match said.contains("is out of range") || said.contains("number") {
            true => Ok("beyond its type"),
            false => Err(format!("{output} is no JSON: {said}")),
        };
    };
    if !subject.judge.is_valid(&arguments) {
        // The engine wrote what the schema itself refuses.
        return match is_known && subject.row.name != MISREAD_BY_THE_ENGINE {
            true => Err(format!("{output} is invalid by the schema, too")),
            false => Ok("what the engine can't tell"),
        };
    }
    match explain(subject, &arguments, false) {
        Some(_) => Ok("excepted"),
        None => Err(format!("{output} was refused: {said}")),
    }
}

/// Whether a number is too long for the judge, which reads it as a float.
fn has_long_number(text: &str) -> bool {
    text.split(|sign: char| !sign.is_ascii_digit())
        .any(|digits| digits.len() > 15)
}

/// Writes as a model would that picks any byte the mask allows, and now and then wants to end.
fn sample(
    mut matcher: Matcher,
    environment: &toktrie::TokEnv,
    random: &mut Random,
) -> Option<String> {
    let end = environment.tok_trie().eos_token();
    let mut output = Vec::new();
    while output.len() < LONGEST {
        let mask = matcher.compute_mask_or_eos().expect("a mask");
        let closers: Vec<u32> = [end, u32::from(b'}'), u32::from(b']'), u32::from(b'"')]
            .into_iter()
            .filter(|&token| mask.is_allowed(token))
            .collect();
        let closer = match mask.is_allowed(end) {
            true => Some(end),
            false => (!closers.is_empty()).then(|| *random.pick(&closers)),
        };
        let wants_end = random.percent(if output.len() > 150 { 97 } else { 35 });
        let token = match closer {
            Some(closer) if wants_end => closer,
            _ => {
                let mut allowed = Vec::new();
                mask.iter_set_entries(|token| allowed.push(u32::try_from(token).unwrap_or(end)));
                *random.pick(&allowed)
            }
        };
        if token == end {
            return String::from_utf8(output).ok();
        }
        matcher
            .consume_token(token)
            .expect("an allowed token is consumed");
        output.push(u8::try_from(token).ok()?);
        if matcher.is_stopped() {
            return String::from_utf8(output).ok();
        }
    }
    None
}
