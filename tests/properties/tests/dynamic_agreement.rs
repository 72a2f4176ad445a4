//! A dynamic tool with the schema of a function accepts exactly what an independent validator
//! accepts,
//! and names every violation in words.
//!
//! `TOOL_CORE_LONG=1` checks more than a million pairs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use properties::random::Random;
use properties::sample::Sampler;
use properties::subject::Subject;
use properties::{mutate, rounds};
use serde_json::Value;
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, ToolCall, ToolErrorKind};

/// Words that would reveal to a model which language its tools are written in.
const FOREIGN: [&str; 10] = [
    "::",
    "Option<",
    "Some(",
    "String(",
    "Number(",
    "Object {",
    "Array [",
    "serde",
    "jsonschema",
    "ValidationError",
];

#[test]
fn a_dynamic_tool_accepts_what_its_schema_describes() {
    let pairs = rounds(60, 6000);
    let (mut accepted, mut rejected) = (0, 0);
    let mut others = Vec::new();
    for subject in Subject::all() {
        let name = subject.row.name;
        let runs = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&runs);
        let tool = DynamicTool::builder("tool")
            .description("Takes a value.")
            .parameters(subject.schema.clone())
            .build(move |arguments, _| {
                count.fetch_add(1, Ordering::Relaxed);
                std::future::ready(Ok::<Value, String>(arguments))
            });
        let tool = match tool {
            Ok(tool) => tool,
            Err(error) => {
                others.push((name, error.to_string()));
                continue;
            }
        };
        let registry = Registry::builder().tool(tool).build();
        let registry = registry.expect("one tool has one name");
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(true)
            .build(&subject.schema)
            .expect("it is a schema");
        let mut random = Random::named(name, 7);
        let sampler = Sampler::new(&subject.schema);
        for round in 0..pairs {
            let valid = sampler.sample(&mut random);
            let arguments = match round % 3 {
                0 => valid,
                _ => mutate::value(&valid, &subject.schema, &mut random),
            };
            // Missing arguments count as `{}`.
            if !arguments.is_object() && (arguments.is_null() || arguments == "") {
                continue;
            }
            let result = registry.call_blocking(ToolCall::new("id", "tool", arguments.to_string()));
            let content = result.content();
            let is_right = validator.is_valid(&arguments);
            assert_eq!(
                !result.is_error(),
                is_right,
                "{name}: {arguments}: {content}"
            );
            let ran = runs.swap(0, Ordering::Relaxed);
            assert_eq!(
                ran,
                usize::from(is_right),
                "{name} ran {ran} times on {arguments}"
            );
            if is_right {
                accepted += 1;
                continue;
            }
            rejected += 1;
            let error = result.error().expect("it is one");
            assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{content}");
            assert!(
                !error.violations().is_empty(),
                "{name}: {arguments}: {content}"
            );
            let sent = arguments.to_string();
            for word in FOREIGN.iter().filter(|word| !sent.contains(**word)) {
                assert!(!content.contains(word), "{name}: {arguments}: {content}");
            }
        }
    }
    assert_eq!(others, [], "tools that can't be built");
    println!("{accepted} accepted, {rejected} rejected");
    assert!(
        accepted > 1000 && rejected > 1000,
        "{accepted} and {rejected}"
    );
}
