//! Example calls in a catalogue are accepted by the tool and by an independent validator.

use properties::subject::Subject;
use serde_json::Value;
use tool_docs::example;

/// Rows without an example: only the author of the type can know a value.
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
fn every_example_call_is_accepted() {
    let mut without = Vec::new();
    let mut rejected = Vec::new();
    for subject in Subject::all() {
        let name = subject.row.name;
        let text = match example(&subject.row.tool) {
            Ok(text) => text,
            Err(why) => {
                assert!(why.ends_with("; add an example"), "{name}: {why}");
                without.push(name);
                continue;
            }
        };
        let example: Value = serde_json::from_str(&text).expect("an example is JSON");
        assert!(subject.validator.is_valid(&example), "{name}: {text}");
        if subject.call(&text, false).is_error() {
            rejected.push(name);
        }
    }
    assert_eq!(without, WITHOUT);
    // Its schema cannot express that only even numbers are accepted.
    assert_eq!(rejected, ["parsed_even"]);
}
