//! The examples of a catalogue are calls that the tool and an independent validator take.

use proofs::subject::Subject;
use serde_json::Value;
use tool_core::docs;

/// The rows that no example is made of: nobody but their author knows a value.
const WITHOUT: [&str; 9] = [
    "with_pattern",
    "pattern_whole",
    "pattern_part",
    "pattern_unicode",
    "pattern_escapes",
    "format_length",
    "length_and_pattern",
    "schema_string",
    "borrowed_pattern",
];

#[test]
fn every_example_is_taken() {
    let mut without = Vec::new();
    let mut refused = Vec::new();
    for subject in Subject::all() {
        let name = subject.row.name;
        let text = match docs::example(&subject.row.tool) {
            Ok(text) => text,
            Err(why) => {
                assert!(why.ends_with("; add an example"), "{name}: {why}");
                without.push(name);
                continue;
            }
        };
        let example: Value = serde_json::from_str(&text).expect("an example is JSON");
        assert!(subject.judge.is_valid(&example), "{name}: {text}");
        if subject.call(&text, false).is_error() {
            refused.push(name);
        }
    }
    assert_eq!(without, WITHOUT);
    // Its schema can't say that it takes even numbers alone.
    assert_eq!(refused, ["parsed_even"]);
}
