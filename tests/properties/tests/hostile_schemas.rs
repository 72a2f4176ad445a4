//! Schemas of other servers that are made to cost time and memory, with calls to match.
//!
//! What a schema and a call cost is counted in allocated bytes: work that grows faster than the input
//! also allocates faster. Seconds are printed and not asserted. `TOOL_CORE_LONG=1` tries 10,000 schemas of
//! up to a mebibyte.

use std::alloc::System;
use std::time::{Duration, Instant};

use properties::random::Random;
use properties::rounds;
use serde_json::{Map, Value, json};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, ToolCall};

#[path = "../../support/watchdog.rs"]
mod watchdog;

use watchdog::Watchdog;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The number of shared definitions.
const DEFINITIONS: usize = 12;

const COMBINATORS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const NAMED: [&str; 4] = [
    "properties",
    "properties",
    "patternProperties",
    "dependentSchemas",
];
const SINGLE: [&str; 10] = [
    "items",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
];

fn words(size: usize) -> Value {
    (0..=size / 8).map(|at| format!("p{at}")).collect()
}

/// Writes schemas and values of a certain size.
struct Writer {
    random: Random,
    /// The names that schemas and values have in common.
    names: usize,
}

impl Writer {
    fn name(&mut self) -> String {
        let number = self.random.below(self.names);
        match self.random.below(8) {
            0 => format!("name with ~ and / {number}"),
            1 => "a".to_owned(),
            _ => format!("p{number}"),
        }
    }

    fn reference(&mut self) -> Value {
        let number = self.random.below(DEFINITIONS);
        let target = match self.random.below(8) {
            0 => "#".to_owned(),
            1 => format!("#anchor{number}"),
            2 => format!("http://host/id{number}"),
            3 => format!("id{number}"),
            4 => format!("#/$defs/d{number}/properties/a"),
            _ => format!("#/$defs/d{number}"),
        };
        json!({ "$ref": target })
    }

    fn leaf(&mut self) -> Value {
        match self.random.below(10) {
            0 => json!({}),
            1 => json!(false),
            2 => json!({"type": "integer", "minimum": 1}),
            3 => json!({"pattern": format!("^(?=a)(.*)*{}$", self.name())}),
            4 => json!({ "const": self.name() }),
            5 => json!({"type": ["string", "null"], "description": self.name()}),
            6 | 7 => self.reference(),
            _ => json!({"type": "string"}),
        }
    }

    /// Returns several schemas of about this size together.
    fn schemas(&mut self, size: usize, depth: usize) -> Vec<Value> {
        let count = match self.random.below(3) {
            0 => 2,
            1 => 1 + size / 40,
            _ => 1 + self.random.below(1 + size / 40),
        };
        (0..count)
            .map(|_| self.schema(size / count, depth + 1))
            .collect()
    }

    fn named(&mut self, size: usize, depth: usize) -> Value {
        let schemas = self.schemas(size, depth).into_iter();
        let named = schemas.enumerate().map(|(at, schema)| {
            let name = if self.random.percent(50) {
                self.name()
            } else {
                format!("p{at}")
            };
            (name, schema)
        });
        named.collect::<Map<_, _>>().into()
    }

    /// Returns a schema of about this size.
    fn schema(&mut self, size: usize, depth: usize) -> Value {
        if size < 60 || depth > 30 {
            return self.leaf();
        }
        match self.random.below(16) {
            0..4 => {
                let keyword = *self.random.pick(&COMBINATORS);
                let schemas = self.schemas(size, depth);
                json!({ keyword: schemas })
            }
            4..8 => {
                let keyword = *self.random.pick(&NAMED);
                json!({ keyword: self.named(size, depth) })
            }
            8..10 => {
                let keyword = *self.random.pick(&SINGLE);
                json!({ keyword: self.schema(size - 20, depth + 1) })
            }
            // Definitions that use others twice.
            10 => {
                let keyword = *self.random.pick(&COMBINATORS);
                let twice = self.reference();
                json!({ keyword: [twice, twice, self.schema(size - 60, depth + 1)] })
            }
            11 => json!({ "enum": words(size) }),
            12 => json!({ "required": words(size) }),
            13 => {
                let key = "k".repeat(size / 2);
                json!({"properties": {key: self.schema(size / 2, depth + 1)}})
            }
            14 => {
                let text = "x".repeat(size);
                let keyword = *self
                    .random
                    .pick(&["description", "pattern", "title", "$comment"]);
                json!({ keyword: text })
            }
            // Two keywords side by side.
            _ => {
                let mut both = self.schema(size / 2, depth + 1);
                let other = self.schema(size / 2, depth + 1);
                match (&mut both, other) {
                    (Value::Object(both), Value::Object(other)) => {
                        both.extend(other);
                        Value::Object(std::mem::take(both))
                    }
                    (_, other) => other,
                }
            }
        }
    }

    /// Returns the schema of a tool.
    fn root(&mut self, size: usize) -> Value {
        let half = size / 2;
        let definitions: Map<_, _> = (0..DEFINITIONS)
            .map(|at| {
                let mut schema = self.schema(half / DEFINITIONS, 1);
                if let Value::Object(members) = &mut schema {
                    members.insert("$anchor".into(), json!(format!("anchor{at}")));
                    if self.random.percent(20) {
                        members.insert("$id".into(), json!(format!("http://host/id{at}")));
                    }
                }
                (format!("d{at}"), schema)
            })
            .collect();
        let mut root = self.schema(half, 0);
        if !root.is_object() {
            root = json!({});
        }
        root["type"] = json!("object");
        root["$defs"] = definitions.into();
        root
    }

    /// Returns a value of about this size.
    fn value(&mut self, size: usize, depth: usize) -> Value {
        if size < 30 || depth > 100 {
            return match self.random.below(5) {
                0 => json!(1),
                1 => json!(null),
                2 => json!({}),
                3 => json!([]),
                _ => json!(self.name()),
            };
        }
        let count = match self.random.below(3) {
            0 => 1,
            1 => 1 + size / 20,
            _ => 1 + self.random.below(1 + size / 20),
        };
        match self.random.below(8) {
            0..3 => self.object(size, count, depth),
            3..6 => (0..count)
                .map(|_| self.value(size / count, depth + 1))
                .collect(),
            6 => {
                let key = "k".repeat(size / 2);
                json!({ key: self.value(size / 2, depth + 1) })
            }
            _ => json!("a".repeat(size)),
        }
    }

    fn object(&mut self, size: usize, count: usize, depth: usize) -> Value {
        let members = (0..count).map(|at| {
            let key = if self.random.percent(30) {
                self.name()
            } else {
                format!("p{at}")
            };
            (key, self.value(size / count, depth + 1))
        });
        members.collect::<Map<_, _>>().into()
    }
}

/// The steps that are counted, with the most time that one took.
const STEPS: [&str; 3] = ["build", "render", "call"];

/// The bytes that a byte of the schema and the call may allocate, and those that any may: a small schema may
/// become a large one, because definitions are repeated up to fixed limits.
const ALLOWED: [(usize, usize); 3] = [(5_000, 1 << 26), (500, 1 << 26), (1_000, 1 << 28)];

#[test]
fn a_hostile_schema_costs_as_much_as_its_size_allows() {
    let watchdog = Watchdog::new("start");
    let mut slowest = [(Duration::ZERO, 0); 3];
    let mut most = [(0, 0); 3];
    let mut accepted = [0; 2];
    for round in 0..rounds(300, 10_000) {
        let mut random = Random::new(round as u64);
        let size = 1 << (7 + random.below(rounds(9, 14)));
        let names = 1 + random.below(1 + size / 20);
        let mut writer = Writer { random, names };
        let schema = writer.root(size);
        let count = 1 + writer.random.below(1 + size / 20);
        let arguments = writer.object(size, count, 0).to_string();
        let bytes = schema.to_string().len() + arguments.len();
        let is_foreign = writer.random.percent(80);
        let mut step = |at: usize, run: &mut dyn FnMut()| {
            watchdog.step(format!("{} of round {round}, {bytes} bytes", STEPS[at]));
            let region = Region::new(ALLOCATOR);
            let start = Instant::now();
            run();
            let time = start.elapsed();
            let allocated = region.change().bytes_allocated;
            let (each, any) = ALLOWED[at];
            slowest[at] = slowest[at].max((time, round));
            let share = 1000 * allocated / (each * bytes + any);
            if share > most[at].0 {
                most[at] = (share, round);
            }
        };
        let mut tool = None;
        step(0, &mut || {
            let schema = schema.clone();
            let run = async |_, _| Ok::<_, String>("ok");
            let described = if is_foreign {
                DynamicTool::foreign("hostile")
            } else {
                DynamicTool::builder("hostile")
            };
            tool = described
                .description("Takes anything.")
                .parameters(schema)
                .build(run)
                .ok();
        });
        accepted[usize::from(is_foreign)] += usize::from(tool.is_some());
        let Some(tool) = tool else { continue };
        let registry = Registry::builder().tool(tool).build().unwrap();
        step(1, &mut || {
            for known in tool_dialects::all() {
                drop(registry.render(known.dialect));
            }
        });
        step(2, &mut || {
            let call = ToolCall::new("id", "hostile", arguments.as_str());
            drop(registry.call_blocking(call));
        });
    }
    for at in 0..3 {
        println!(
            "{}: {:?}, at most {:?} per mille of what is allowed",
            STEPS[at], slowest[at], most[at]
        );
    }
    println!("accepted {accepted:?}");
    for (at, (share, round)) in most.into_iter().enumerate() {
        assert!(share < 1000, "{} of round {round}: {share}", STEPS[at]);
    }
}
