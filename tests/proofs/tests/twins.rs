//! A function and a dynamic tool with its schema find the same mistakes in a call and tell them in
//! the same words, as far as both can know.
//!
//! `TOOL_CORE_LONG=1` compares more than a million calls.

use proofs::exceptions::{ALIASES, only_shows_its_format};
use proofs::random::Random;
use proofs::sample::Sampler;
use proofs::subject::Subject;
use proofs::{mutate, rounds};
use serde_json::Value;
use tool_core::{DynamicTool, Registry, ToolCall, ToolResult};

/// How the numbers of types that show no bound are refused: the schema alone can't tell.
const MAGNITUDES: [&str; 8] = [
    " is above the maximum 4294967295",
    " is above the maximum 2147483647",
    " is below the minimum -2147483648",
    " is above the maximum 9223372036854775807",
    " is below the minimum -9223372036854775808",
    " is above the maximum 18446744073709551615",
    " is above the maximum 170141183460469231731687303715884105727",
    " is out of range",
];

#[test]
fn a_mistake_has_the_same_words_without_its_function() {
    let calls = rounds(60, 6000);
    let (mut compared, mut told) = (0, 0);
    let mut others = Vec::new();
    for subject in Subject::all().iter().filter(|subject| is_known(subject)) {
        let name = subject.row.name;
        let tool = DynamicTool::builder(name)
            .description("Takes a value.")
            .parameters_json(subject.row.tool.parameters_json())
            .build(|arguments, _| std::future::ready(Ok::<Value, String>(arguments)));
        let Ok(tool) = tool else {
            continue;
        };
        let registry = Registry::builder().tool(tool).build();
        let registry = registry.expect("one tool has one name");
        let mut random = Random::named(name, 11);
        let sampler = Sampler::new(&subject.schema);
        for _ in 0..calls {
            let valid = sampler.sample(&mut random);
            let text = mutate::value(&valid, &subject.schema, &mut random).to_string();
            let function = mistakes(&subject.call(&text, false));
            let call = ToolCall::new("id", name, text.clone());
            let dynamic = mistakes(&registry.call_blocking(call));
            compared += 1;
            told += function.len();
            let mut shown = function.clone();
            shown.retain(|mistake| dynamic.contains(mistake) || !is_hidden(mistake));
            let mut meant = dynamic.clone();
            meant.retain(|mistake| function.contains(mistake) || !is_forgiven(mistake));
            if shown != meant {
                others.push(format!("{name}: {text}\n  {function:#?}\n  {dynamic:#?}"));
            }
        }
    }
    println!("{compared} calls, {told} mistakes");
    // The shortest says most.
    others.sort_by_key(String::len);
    others.truncate(10);
    assert!(others.is_empty(), "{}", others.join("\n"));
    assert!(told > compared / 2, "{told} mistakes in {compared} calls");
}

/// Whether a schema tells all that its function goes by.
fn is_known(subject: &Subject) -> bool {
    let name = subject.row.name;
    let is_parsed = name.starts_with("parsed_") || name.starts_with("ip");
    let is_wider = name.starts_with("other_") || ALIASES.iter().any(|(row, ..)| *row == name);
    let has_patterns = subject.schema.to_string().contains("patternProperties");
    !is_parsed && !is_wider && !has_patterns && !only_shows_its_format(name)
}

/// All that is told of a call, in no order. Nor are lists of keys in one: a value sorts them.
fn mistakes(result: &ToolResult) -> Vec<String> {
    let violations = result.error().map(|error| error.violations().iter());
    let told = violations.into_iter().flatten().map(|violation| {
        let told = violation.to_string();
        match told.split_once(": unknown; expected ") {
            Some((path, _)) => format!("{path}: unknown"),
            // A union with `null` is told as its other member where that is plainly meant.
            None => told.replace(" or null, got ", ", got "),
        }
    });
    let mut told: Vec<_> = told.collect();
    told.sort();
    told
}

/// Whether only the function can know of it.
fn is_hidden(mistake: &str) -> bool {
    MAGNITUDES.iter().any(|end| mistake.ends_with(end))
        || mistake.contains(": not accepted; expected ")
}

/// Whether it is a mistake by the letter of the schema alone: `null` for what may be left out, and
/// the right value in another case.
fn is_forgiven(mistake: &str) -> bool {
    // Great floats are divided as they are stored, and not as they are written.
    if mistake.contains("e+") && mistake.contains(" is not a multiple of ") {
        return true;
    }
    let Some((_, words)) = mistake.split_once(": expected ") else {
        return false;
    };
    let Some((expected, got)) = words.split_once(", got ") else {
        return false;
    };
    let got = got.split_once("; did you mean").map_or(got, |(got, _)| got);
    let is_listed = || expected.to_lowercase().contains(&got.to_lowercase());
    got == "null" || got.starts_with('"') && is_listed()
}
