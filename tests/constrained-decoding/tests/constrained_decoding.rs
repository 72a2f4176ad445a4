//! Constrained decoding: every emitted schema compiles in llguidance, the engine behind several
//! providers' strict modes, and every output that its token masks allow is accepted. So does the schema of one call of
//! several tools, and its grammar in the form of each family of models.
//!
//! `TOOL_CORE_LONG=1` samples a thousand outputs of each type.

use std::collections::BTreeMap;

use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use properties::exceptions::explain;
use properties::random::Random;
use properties::rounds;
use properties::subject::Subject;
use serde_json::json;
use toktrie::ApproximateTokEnv;
use tool_core::Registry;
use tool_core::dialect::Dialect;
use tool_dialects::{CallFormat, OpenAiChat, Prompted};

/// Keywords that the engine cannot enforce. It is told to ignore them, as providers do, and outputs
/// that violate them are recognized by validating against the emitted schema.
const UNKNOWN_TO_THE_ENGINE: [&str; 3] = ["uniqueItems", "minProperties", "maxProperties"];

/// A map with enum keys and a minimum number of members. The engine counts required members only
/// and
/// finds the schema unsatisfiable.
const UNSATISFIABLE_TO_THE_ENGINE: &str = "length_enum_map";

/// A pattern without quotes and backslashes. The engine emits them, escaped, all the same.
const MISREAD_BY_THE_ENGINE: &str = "pattern_escapes";

/// Maximum length of a sampled output, in bytes.
const LONGEST: usize = 3000;

#[test]
fn outputs_that_the_masks_allow_are_accepted() {
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
            let verdict = check(subject, &output, is_known);
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

/// Samples calls by the grammar of each family, of two tools at a time, reads them and runs them.
#[test]
fn calls_that_the_grammar_of_a_family_allows_are_read_and_accepted() {
    let environment = ApproximateTokEnv::single_byte_env();
    let mut factory = ParserFactory::new_simple(&environment).expect("the engine starts");
    factory.quiet();
    let formats = [CallFormat::HERMES, CallFormat::LLAMA, CallFormat::MISTRAL];
    let is_known = |subject: &&Subject| {
        let text = subject.row.tool.parameters_json();
        let mut unknown = UNKNOWN_TO_THE_ENGINE.iter();
        !unknown.any(|keyword| text.contains(keyword))
            && subject.row.name != UNSATISFIABLE_TO_THE_ENGINE
    };
    let subjects = Subject::all();
    let subjects: Vec<_> = subjects.iter().filter(is_known).collect();
    let (mut failures, mut tally) = (Vec::new(), BTreeMap::<&str, usize>::new());
    for (round, pair) in subjects.chunks_exact(2).enumerate() {
        let tools = pair.iter().map(|subject| subject.row.tool.clone());
        let registry = Registry::builder()
            .tools(tools)
            .build()
            .expect("tools with different names");
        let format = formats[round % formats.len()];
        let grammar = format.grammar(&registry);
        let start =
            Matcher::new(factory.create_parser(TopLevelGrammar::from_lark(grammar.clone())));
        if let Some(error) = start.get_error() {
            failures.push(format!("it does not compile: {error}\n    {grammar}"));
            continue;
        }
        let dialect = Prompted::new(OpenAiChat::default(), format);
        let mut random = Random::named(pair[0].row.name, 7);
        for _ in 0..rounds(6, 300) {
            let Some(output) = sample(start.deep_clone(), &environment, &mut random) else {
                *tally.entry("unfinished").or_default() += 1;
                continue;
            };
            let message = json!({"role": "assistant", "content": output});
            let response = json!({"choices": [{"message": message, "finish_reason": "stop"}]});
            let turn = dialect.read(&response).expect("a response");
            let call = match &turn.calls[..] {
                [call] if turn.text.is_empty() => call,
                _ => {
                    failures.push(format!("{output} is not read as one call: {turn:?}"));
                    break;
                }
            };
            let subject = pair
                .iter()
                .find(|subject| *subject.row.tool.name == *call.name);
            match subject.map(|subject| check(subject, &call.arguments.text(), true)) {
                Some(Ok(kind)) => *tally.entry(kind).or_default() += 1,
                Some(Err(problem)) => {
                    failures.push(format!("{}: {problem}", call.name));
                    break;
                }
                None => failures.push(format!("{output} calls no tool")),
            }
        }
    }
    println!("{} tools: {tally:?}", subjects.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(tally["accepted"] > subjects.len(), "{tally:?}");
}

/// Classifies an output. Returns an error if the tool's verdict differs from the schema's.
fn check(subject: &Subject, output: &str, is_known: bool) -> Result<&'static str, String> {
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
    // A number that no float can hold does not parse as a `Value`.
    let Ok(arguments) = serde_json::from_str(output) else {
        return if said.contains("is out of range") || said.contains("number") {
            Ok("beyond its type")
        } else {
            Err(format!("{output} is no JSON: {said}"))
        };
    };
    if !subject.validator.is_valid(&arguments) {
        // The engine produced an output that the schema itself rejects.
        return if is_known && subject.row.name != MISREAD_BY_THE_ENGINE {
            Err(format!("{output} is invalid by the schema, too"))
        } else {
            Ok("what the engine can't tell")
        };
    }
    match explain(subject, &arguments, false) {
        Some(_) => Ok("excepted"),
        None => Err(format!("{output} was rejected: {said}")),
    }
}

/// Returns `true` if the text has a number too long for the validator, which reads floats.
fn has_long_number(text: &str) -> bool {
    text.split(|sign: char| !sign.is_ascii_digit())
        .any(|digits| digits.len() > 15)
}

/// Samples an output: picks any byte that the mask allows, and sometimes ends.
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
        let closer = if mask.is_allowed(end) {
            Some(end)
        } else {
            (!closers.is_empty()).then(|| *random.pick(&closers))
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
