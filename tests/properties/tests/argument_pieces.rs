//! Arguments that arrive in pieces are accepted and rejected as the whole text is, and rejected when a parameter ends.

use std::collections::{BTreeMap, HashSet};

use properties::random::Random;
use properties::sample::Sampler;
use properties::subject::Subject;
use properties::{mutate, rounds};
use serde_json::{Value, json};
use tool_core::dynamic::DynamicTool;
use tool_core::registry::ArgumentsReader;
use tool_core::{Registry, ToolCall, ToolEntry, ToolError, ToolErrorKind, ToolType, tool, tools};

/// Returns the kind and the message of an error, without the reference, which differs each time.
fn shown(error: &ToolError) -> String {
    format!(
        "{:?} {}",
        error.kind(),
        error.message().replace(error.id(), "")
    )
}

/// Reads a text in pieces that end at these places. Returns the end, and how many bytes were read when
/// it was rejected.
fn read(
    mut reader: ArgumentsReader,
    text: &str,
    ends: &[usize],
) -> (Result<String, String>, Option<usize>) {
    let mut rejected = None;
    let mut start = 0;
    for &end in ends.iter().chain([&text.len()]) {
        reader.push(&text[start..end]);
        start = end;
        let is_rejected = reader.error().is_some();
        assert!(is_rejected || rejected.is_none(), "{text}: accepted again");
        assert!(is_rejected || reader.violations().is_empty(), "{text}");
        if is_rejected {
            rejected.get_or_insert(end);
        }
    }
    let end = reader.finish();
    if rejected.is_some() {
        assert!(end.is_err(), "{text}: rejected too early");
    }
    (end.map_err(|error| shown(&error)), rejected)
}

/// Returns the places between the characters of a text.
fn places(text: &str) -> Vec<usize> {
    text.char_indices()
        .map(|(place, _)| place)
        .skip(1)
        .collect()
}

#[derive(Default)]
struct Tally {
    accepted: usize,
    rejected: usize,
    /// The bytes of rejected calls, and those read before they were rejected.
    bytes: usize,
    read: usize,
}

fn check(subject: &Subject, text: &str, is_lenient: bool, random: &mut Random, tally: &mut Tally) {
    let name = subject.row.name;
    let whole = subject.call(text, is_lenient);
    let expected = match whole.error() {
        Some(error) => Err(shown(error)),
        None => Ok(text.to_owned()),
    };
    let places = places(text);
    let eights: Vec<_> = places
        .iter()
        .copied()
        .filter(|place| place % 8 == 0)
        .collect();
    let few: Vec<_> = places
        .iter()
        .copied()
        .filter(|_| random.percent(15))
        .collect();
    let mut splits = vec![Vec::new(), places.clone(), eights, few];
    if std::env::var_os("TOOL_CORE_LONG").is_some() || random.percent(2) {
        splits.extend(places.iter().map(|&place| vec![place]));
    } else if !places.is_empty() {
        splits.push(vec![*random.pick(&places)]);
    }
    for ends in splits {
        let (end, rejected) = read(subject.reader(is_lenient), text, &ends);
        assert_eq!(
            end, expected,
            "{name} {ends:?} lenient: {is_lenient}\n{text}"
        );
        if ends == places && end.is_err() {
            tally.rejected += 1;
            tally.bytes += text.len();
            tally.read += rejected.unwrap_or(text.len());
        } else if ends == places {
            tally.accepted += 1;
        }
    }
}

#[test]
fn the_verdict_is_that_of_the_whole_text() {
    let mut tally = Tally::default();
    for subject in Subject::all() {
        let mut random = Random::named(subject.row.name, 11);
        let sampler = Sampler::new(&subject.schema);
        for round in 0..rounds(40, 3000) {
            let valid = sampler.sample(&mut random);
            let arguments = match round % 3 {
                0 => valid,
                _ => mutate::value(&valid, &subject.schema, &mut random),
            };
            let text = arguments.to_string();
            let text = match random.below(6) {
                0 => mutate::spelling(&text, &mut random),
                1 => {
                    let bytes = mutate::bytes(text.into_bytes(), &mut random);
                    String::from_utf8_lossy(&bytes).into_owned()
                }
                _ => text,
            };
            check(&subject, &text, random.percent(30), &mut random, &mut tally);
        }
        for text in [
            "",
            " ",
            "null",
            " null ",
            "\u{c}null",
            "{",
            "{}",
            "{} ",
            "{}x",
            "[]",
            "\"{}\"",
            "{\"value\":",
        ] {
            check(&subject, text, false, &mut random, &mut Tally::default());
            check(&subject, text, true, &mut random, &mut Tally::default());
        }
    }
    let saved = 100 - 100 * tally.read / tally.bytes;
    println!(
        "{} accepted, {} rejected: {saved} % of {} bytes saved",
        tally.accepted, tally.rejected, tally.bytes
    );
    assert!(tally.accepted > 1000 && tally.rejected > 1000);
    assert!(
        saved >= 5,
        "{saved} % of the bytes of rejected calls are saved"
    );
}

#[test]
fn a_dynamic_tool_decides_at_the_end() {
    for subject in Subject::all().into_iter().step_by(5) {
        let built = DynamicTool::builder(subject.row.name)
            .description("Takes a value.")
            .parameters(subject.schema.clone())
            .build(|arguments, _| std::future::ready(Ok::<Value, String>(arguments)));
        let Ok(built) = built else { continue };
        let registry = Registry::builder()
            .tools([ToolEntry::from(built)])
            .build()
            .unwrap();
        let mut random = Random::named(subject.row.name, 12);
        let sampler = Sampler::new(&subject.schema);
        for round in 0..rounds(12, 500) {
            let valid = sampler.sample(&mut random);
            let arguments = if round % 2 == 0 {
                valid
            } else {
                mutate::value(&valid, &subject.schema, &mut random)
            };
            let bytes = arguments.to_string().into_bytes();
            let bytes = if round % 3 == 0 {
                mutate::bytes(bytes, &mut random)
            } else {
                bytes
            };
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let call = ToolCall::new("1", subject.row.name, &*text);
            let whole = registry.call_blocking(call);
            let expected = whole
                .error()
                .map_or_else(|| Ok(text.clone()), |error| Err(shown(error)));
            let reader = registry.arguments(subject.row.name).unwrap();
            assert_eq!(read(reader, &text, &places(&text)).0, expected, "{text}");
        }
    }
}

/// A stop.
#[derive(serde::Deserialize, ToolType)]
struct Stop {
    name: String,
    #[param(range = 0..=24)]
    hour: Option<u8>,
}

/// A way.
#[derive(serde::Deserialize, ToolType)]
enum Way {
    Train,
    Car { seats: u8 },
}

/// Plans a trip.
#[tool(unlinked)]
fn plan(
    #[param(length = ..=10)] title: Option<String>,
    #[param(range = 1..=14)] days: Option<u8>,
    #[param(length = ..=2)] stops: Option<Vec<Stop>>,
    way: Option<Way>,
    #[param(pattern = "^[a-z]+$")] code: Option<String>,
) {
    let stops = stops.into_iter().flatten();
    stops.for_each(|stop| drop((stop.name, stop.hour)));
    if let Some(Way::Car { seats }) = way {
        let _ = seats;
    }
    let _ = (title, days, code);
}

fn reader() -> ArgumentsReader {
    let registry = Registry::builder().tools(tools![plan]).build().unwrap();
    registry.arguments("plan").unwrap()
}

/// Each text is split by `|` where it is rejected: the part before is still open.
#[test]
fn arguments_are_rejected_when_a_parameter_ends() {
    for (split, violation) in [
        (r#"{"dayz":1|,"#, "dayz: unknown"),
        (
            r#"{"days":"3"|}"#,
            "days: expected an integer from 1 to 14, got \"3\"",
        ),
        (r#"{"days":20|}"#, "days: 20 is above the maximum 14"),
        (
            r#"{"days":2, "days" : 20|,"#,
            "days: 20 is above the maximum 14",
        ),
        (
            r#"{"title":"0123456\",89ü"|,"#,
            "title: expected a string of at most 10 characters",
        ),
        (
            r#"{"stops":[{"hour":1}, {"a":"]}"}]|,"#,
            "stops[0].name: missing",
        ),
        (
            r#"{"days":1,"stops":[{"name":"a"},{"name":"b","hour":25}]|}"#,
            "stops[1].hour: 25 is above",
        ),
        (r#"{"code":"A1"|}"#, "code: \"A1\" does not match"),
        (
            r#"{"way":{"Car":{"seats":-1}}|}"#,
            "way.Car.seats: -1 is below",
        ),
        (r#"{"days":1 2|,"#, ""),
        (r#"{"days":[1|}"#, ""),
        ("{\"title\":\"|\n", ""),
    ] {
        let (before, after) = split.split_once('|').unwrap();
        let mut reader = reader();
        for character in before.chars() {
            reader.push(character.encode_utf8(&mut [0; 4]));
            assert!(reader.error().is_none(), "{split}: {}", reader.text());
        }
        let next = after.chars().next().unwrap();
        reader.push(next.encode_utf8(&mut [0; 4]));
        let error = reader.error().expect(split);
        if let Some(found) = reader.violations().first() {
            assert!(found.to_string().starts_with(violation), "{split}: {found}");
            assert_eq!(error.violations(), reader.violations());
        } else {
            assert_eq!(violation, "", "{split}");
            assert_eq!(error.kind(), ToolErrorKind::MalformedJson);
        }
    }
}

#[test]
fn a_rejected_call_goes_on_and_collects_violations() {
    let mut reader = reader();
    reader
        .push(r#"{"days":"x","titel":{"a":[1,"}"]},"stops":[{"name":1},{"name":"b","hour":99}],"#);
    let violations: Vec<_> = reader
        .violations()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(violations.len(), 4, "{violations:#?}");
    reader.push(r#""way":"Boat"}"#);
    assert_eq!(reader.violations().len(), 5);
    // The end lists them as a call does.
    let text = reader.text().to_owned();
    let registry = Registry::builder().tools(tools![plan]).build().unwrap();
    let whole = registry.call_blocking(ToolCall::new("1", "plan", text));
    let error = reader.finish().unwrap_err();
    assert_eq!(shown(&error), shown(whole.error().unwrap()));
}

#[test]
fn values_show_what_is_complete() {
    let text = r#"{"title":"a\"b","days":3,"stops":[{"name":"x","hour":1},{"name":"y"}],"way":{"Car":{"seats":2}}}"#;
    let mut reader = reader();
    let mut before = 0;
    let mut seen = Vec::new();
    for character in text.chars() {
        reader.push(character.encode_utf8(&mut [0; 4]));
        let values = Value::Object((*reader.values()).clone());
        let size = values.to_string().len();
        assert!(size >= before, "{}", reader.text());
        before = size;
        if seen.last() != Some(&values) {
            seen.push(values);
        }
    }
    assert_eq!(seen.last(), serde_json::from_str(text).ok().as_ref());
    let first_stop = json!({"title": "a\"b", "days": 3, "stops": [{"name": "x"}]});
    assert!(seen.contains(&first_stop), "{seen:#?}");
    assert!(seen.len() > 8);
}

#[test]
fn there_is_no_reader_for_an_unknown_tool() {
    assert!(Registry::new().arguments("plan").is_none());
    let debug = format!("{:?}", reader());
    assert!(
        debug.starts_with("ArgumentsReader { tool: \"plan\", is_rejected: false"),
        "{debug}"
    );
}

#[test]
fn a_long_text_is_read_in_linear_time() {
    // Quadratic time would take minutes.
    let strings = format!("{{\"title\":\"{}\"}}", "\\n".repeat(1 << 19));
    let numbers = format!("{{\"days\":{}}}", "1".repeat(1 << 20));
    let nested = format!(
        "{{\"way\":{{\"Car\":[{}0]}}}}",
        "{\"a\":\"[\"},".repeat(1 << 16)
    );
    let keys = format!("{{\"{}\":1}}", "k".repeat(1 << 20));
    for text in [strings, numbers, nested, keys] {
        let ends: Vec<_> = (1..text.len()).step_by(7).collect();
        assert!(read(reader(), &text, &ends).0.is_err());
    }
}

#[test]
fn the_values_of_a_long_text_are_read_for_each_piece() {
    // Parsing all of it for each piece would take an hour.
    let stop = r#"{"name":"x","hour":1}"#;
    let mut reader = reader();
    reader.push(r#"{"title":"a","stops":["#);
    let mut known = 0;
    for at in 0..50_000 {
        reader.push(stop);
        let stops = reader.values()["stops"].as_array().unwrap().len();
        assert!(stops >= known && stops <= at + 1);
        assert!(at > 100 || stops == at + 1, "{stops} of {at}");
        assert!(stops + stops / 8 >= at, "{stops} of {at}");
        known = stops;
        reader.push(",");
    }
    reader.push(stop);
    reader.push("]}");
    assert_eq!(reader.values()["stops"].as_array().unwrap().len(), 50_001);
}

/// A key may be empty or look like an index.
#[test]
fn a_violation_has_the_same_path_in_pieces() {
    /// Takes maps.
    #[tool(unlinked)]
    fn take(maps: BTreeMap<String, BTreeMap<String, Vec<u8>>>) -> usize {
        maps.len()
    }
    let registry = Registry::builder().tools(tools![take]).build().unwrap();
    let keys = ["", "a", "[0]", "[::1]:80", "a.b", "a b", "\n", "ü"];
    let mut paths = HashSet::new();
    for outer in keys {
        for inner in keys {
            let text = json!({"maps": {outer: {inner: [1, 256]}}}).to_string();
            let whole = registry.call_blocking(ToolCall::new("1", "take", text.as_str()));
            let mut reader = registry.arguments("take").unwrap();
            for character in text.chars() {
                reader.push(character.encode_utf8(&mut [0; 4]));
            }
            let violations = whole.error().unwrap().violations();
            assert_eq!(reader.violations(), violations, "{text}");
            let path = violations[0].path().to_owned();
            assert!(paths.insert(path), "{violations:?}");
        }
    }
    assert!(paths.contains(r#"maps.""."[::1]:80"[1]"#), "{paths:?}");
}
