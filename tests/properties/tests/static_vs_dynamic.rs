//! A function and a dynamic tool with its schema find the same violations in a call and report them
//! in
//! the same words, except where only the function has the information.
//!
//! `TOOL_CORE_LONG=1` compares more than a million calls.

use properties::exceptions::{ALIASES, narrowed, only_shows_its_format};
use properties::random::Random;
use properties::sample::Sampler;
use properties::subject::Subject;
use properties::{mutate, rounds};
use serde_json::Value;
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, ToolCall, ToolResult};

/// Rows of maps whose keys a function lists, because they are an enum. It finds no nearest key.
const LISTED_KEYS: [&str; 5] = [
    "map_enum_keys",
    "map_enum_keys_options",
    "map_bool_keys",
    "length_enum_map",
    "unique_maps",
];

/// Messages for integers outside of types whose schemas show no bounds: a dynamic tool cannot know.
const MAGNITUDES: [&str; 10] = [
    " is above the maximum 4294967295",
    " is above the maximum 2147483647",
    " is below the minimum -2147483648",
    " is above the maximum 9223372036854775807",
    " is below the minimum -9223372036854775808",
    " is above the maximum 18446744073709551615",
    " is above the maximum 170141183460469231731687303715884105727",
    " is below the minimum -170141183460469231731687303715884105728",
    " is above the maximum 340282366920938463463374607431768211455",
    " is out of range",
];

#[test]
fn static_and_dynamic_tools_report_the_same_violations() {
    let calls = rounds(60, 6000);
    let (mut compared, mut reported) = (0, 0);
    let mut others = Vec::new();
    for subject in Subject::all().iter().filter(|subject| is_known(subject)) {
        let name = subject.row.name;
        if LISTED_KEYS.contains(&name) {
            continue;
        }
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
            let arguments = mutate::value(&valid, &subject.schema, &mut random);
            let [function, dynamic] = both(subject, &registry, &arguments);
            compared += 1;
            reported += function.len();
            let differs = |arguments: &Value| {
                let [function, dynamic] = both(subject, &registry, arguments);
                !is_same(subject, &function, &dynamic)
            };
            // What is out of range for the type may decide which alternative of a union is explained.
            if !is_same(subject, &function, &dynamic)
                && narrowed(name, &arguments).is_none_or(|narrow| differs(&narrow))
            {
                others.push(format!(
                    "{name}: {arguments}\n  {function:#?}\n  {dynamic:#?}"
                ));
            }
        }
    }
    println!("{compared} calls, {reported} violations");
    // The shortest is the easiest to read.
    others.sort_by_key(String::len);
    others.truncate(10);
    assert!(others.is_empty(), "{}", others.join("\n"));
    assert!(
        reported > compared / 2,
        "{reported} violations in {compared} calls"
    );
}

/// Returns the violations that a function and a dynamic tool with its schema find.
fn both(subject: &Subject, registry: &Registry, arguments: &Value) -> [Vec<String>; 2] {
    let text = arguments.to_string();
    let call = ToolCall::new("id", subject.row.name, text.clone());
    [
        violations(&subject.call(&text, false)),
        violations(&registry.call_blocking(call)),
    ]
}

/// Returns `true` if the same violations are listed, apart from those that only one of both can find.
fn is_same(subject: &Subject, function: &[String], dynamic: &[String]) -> bool {
    // A function also accepts keys of a map in another case, and validates their values.
    let respelled: Vec<_> = dynamic
        .iter()
        .filter(|violation| !function.contains(violation))
        .filter_map(|violation| {
            let (path, _) = violation.split_once(": unknown")?;
            let key = path.rsplit('.').next().unwrap_or_default();
            let key = format!("\"{}\":", key.to_lowercase());
            let schema = subject.schema.to_string().to_lowercase();
            schema.contains(&key).then_some(path)
        })
        .collect();
    let is_respelled = |violation: &str| respelled.iter().any(|path| violation.starts_with(path));
    let shown = function.iter().filter(|violation| {
        dynamic.contains(violation) || !is_hidden(violation) && !is_respelled(violation)
    });
    let meant = dynamic.iter().filter(|violation| {
        function.contains(violation) || !is_forgiven(violation) && !is_respelled(violation)
    });
    shown.eq(meant)
}

/// Returns `true` if a row's schema shows everything that its function enforces.
fn is_known(subject: &Subject) -> bool {
    let name = subject.row.name;
    let is_parsed = name.starts_with("parsed_") || name.starts_with("ip");
    let is_wider = name.starts_with("other_") || ALIASES.iter().any(|(row, ..)| *row == name);
    let has_patterns = subject.schema.to_string().contains("patternProperties");
    // Of several forms with the same tag or keys, only the function knows which a `null` fits.
    let is_several = name.starts_with("flat_") || name.starts_with("holds");
    !is_several && !is_parsed && !is_wider && !has_patterns && !only_shows_its_format(name)
}

/// Returns the violations of a call, sorted. Lists of keys are sorted, too, as a `Value` sorts
/// them.
fn violations(result: &ToolResult) -> Vec<String> {
    let violations = result.error().map(|error| error.violations().iter());
    let reported = violations.into_iter().flatten().map(|violation| {
        let reported = violation.to_string();
        // A function shows the item as it gets it.
        if let Some((path, _)) = reported.split_once(": contains ")
            && reported.ends_with(" twice; give it once")
        {
            return format!("{path}: contains an item twice");
        }
        let listed = [": unknown; expected ", ": unknown; a key must be \""];
        let listed = listed.iter().find_map(|words| reported.split_once(words));
        match listed {
            Some((path, _)) => format!("{path}: unknown"),
            // A union with `null` is reported as its other member if that is clearly meant.
            None => reported.replace(" or null, got ", ", got "),
        }
    });
    let mut reported: Vec<_> = reported.collect();
    reported.sort();
    reported
}

/// Returns `true` if only the function can find this violation.
fn is_hidden(violation: &str) -> bool {
    MAGNITUDES.iter().any(|end| violation.ends_with(end))
        || violation.contains(": not accepted; expected ")
        // Different JSON that is one value.
        || violation.ends_with(": contains an item twice")
        || violation.ends_with("given twice; give it once")
}

/// Returns `true` if this is a violation of the schema alone: `null` for an absent value, and a
/// value in
/// another case.
fn is_forgiven(violation: &str) -> bool {
    // Large floats are divided as stored, not as written.
    if violation.contains("e+") && violation.contains(" is not a multiple of ") {
        return true;
    }
    let Some((_, words)) = violation.split_once(": expected ") else {
        return false;
    };
    let Some((expected, got)) = words.split_once(", got ") else {
        return false;
    };
    let got = got.split_once("; did you mean").map_or(got, |(got, _)| got);
    let is_listed = || expected.to_lowercase().contains(&got.to_lowercase());
    got == "null" || got.starts_with('"') && is_listed()
}
