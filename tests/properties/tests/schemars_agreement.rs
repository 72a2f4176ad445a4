//! Types that derive both `ToolType` and `JsonSchema` get the same schema from both, except for the
//! differences that are listed here.
//!
//! `TOOL_CORE_LONG=1` checks more than a million values.

#[path = "provider_subsets/forms.rs"]
#[allow(dead_code)]
mod forms;
#[path = "foreign_tools/judge.rs"]
mod judge;
#[path = "provider_subsets/subset.rs"]
mod subset;

use std::collections::BTreeSet;

use jsonschema::Validator;
use properties::random::Random;
use properties::sample::Sampler;
use properties::subject::Subject;
use properties::typed::SchemarsType;
use properties::{mutate, rounds};
use serde_json::{Value, json};
use tool_core::{Registry, ToolCall, ToolErrorKind};

/// What the schema by `schemars` accepts, beside that of `ToolType`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Accepts {
    Same,
    More,
    Less,
    Other,
}

/// A difference between a type's schemas.
struct Difference {
    reason: &'static str,
    accepts: Accepts,
    /// Rewrites a schema to a form in which this difference is gone, if there is one.
    rewrite: Option<fn(&mut Value)>,
    rows: &'static [&'static str],
}

const DIFFERENCES: [Difference; 18] = [
    Difference {
        reason: "schemars lists undocumented variants first",
        accepts: Accepts::Same,
        rewrite: Some(|schema| {
            if let Some(Value::Array(values)) = schema.get_mut("enum") {
                values.sort_by_key(Value::to_string);
            }
        }),
        rows: &[
            "option_enum",
            "set_hash",
            "all_default",
            "flat_defaults",
            "pair_unlike",
            "colour",
            "untagged_objects",
            "generic_enum_nested",
            "enum_tuple",
        ],
    },
    Difference {
        reason: "a variant alone looks like a tag in schemars",
        accepts: Accepts::Same,
        rewrite: Some(|schema| {
            if schema["const"].is_string() {
                schema["enum"] = json!([schema["const"]]);
                remove(schema, "const");
            }
        }),
        rows: &["single"],
    },
    Difference {
        reason: "schemars does not describe the types of std",
        accepts: Accepts::Same,
        rewrite: Some(|schema| remove(schema, "description")),
        rows: &[
            "parsed_socket",
            "parsed_socket_v4",
            "parsed_socket_v6",
            "duration",
            "system_time",
            "range",
            "range_inclusive",
        ],
    },
    Difference {
        reason: "schemars knows the value of `#[serde(default)]`",
        accepts: Accepts::Same,
        rewrite: Some(|schema| remove(schema, "default")),
        rows: &[
            "field_defaults",
            "many_fields",
            "all_default",
            "flat_defaults",
            "external",
            "enum_map",
            "recursive_map",
            "fields",
            "fields_flat",
        ],
    },
    Difference {
        reason: "schemars writes an integer that is not 0 with `not`",
        accepts: Accepts::Same,
        rewrite: Some(|schema| {
            if schema["not"] == json!({"const": 0}) {
                let (mut above, mut below) = (schema.clone(), schema.clone());
                for member in [&mut above, &mut below] {
                    remove(member, "not");
                }
                above["minimum"] = 1.into();
                below["maximum"] = (-1).into();
                *schema = json!({"anyOf": [above, below]});
            }
        }),
        rows: &["nonzero_i8", "nonzero_i64", "nonzero_i128"],
    },
    Difference {
        reason: "schemars has no items for an array without any",
        accepts: Accepts::Same,
        rewrite: Some(|schema| {
            if schema["maxItems"] == 0 {
                schema["items"] = json!({});
            }
        }),
        rows: &["array_none"],
    },
    Difference {
        reason: "schemars describes an empty struct like a map",
        accepts: Accepts::More,
        rewrite: Some(|schema| {
            if *schema == json!({"type": "object"}) {
                *schema =
                    json!({"type": "object", "properties": {}, "additionalProperties": false});
            }
        }),
        rows: &["empty", "external", "enum_map", "skipped_adjacent"],
    },
    Difference {
        reason: "schemars requires unique items of sets; serde drops others",
        accepts: Accepts::Less,
        rewrite: Some(|schema| remove(schema, "uniqueItems")),
        rows: &["set", "set_hash", "set_strings"],
    },
    Difference {
        reason: "schemars accepts integer keys with leading zeros; serde does not",
        accepts: Accepts::More,
        rewrite: Some(|schema| {
            if let Some(Value::Object(patterns)) = schema.get_mut("patternProperties") {
                for (ours, other) in [
                    ("^(0|[1-9][0-9]*)$", r"^\d+$"),
                    ("^(0|-?[1-9][0-9]*)$", r"^-?\d+$"),
                ] {
                    if let Some(values) = patterns.remove(other) {
                        patterns.insert(ours.into(), values);
                    }
                }
            }
        }),
        rows: &[
            "map_u8_keys",
            "map_i16_keys",
            "map_u64_keys",
            "map_i64_keys",
        ],
    },
    Difference {
        reason: "schemars does not limit nanoseconds to those of a second",
        accepts: Accepts::More,
        rewrite: Some(|schema| {
            if schema["maximum"] == 999_999_999 {
                remove(schema, "maximum");
            }
        }),
        rows: &["duration", "system_time"],
    },
    Difference {
        reason: "schemars does not list the keys of a map if they are documented variants, bools or characters",
        accepts: Accepts::More,
        rewrite: None,
        rows: &[
            "map_enum_keys",
            "map_enum_keys_options",
            "map_bool_keys",
            "map_char_keys",
        ],
    },
    Difference {
        reason: "schemars does not see an `Option` inside another type: the property is required, and may be null",
        accepts: Accepts::Other,
        rewrite: None,
        rows: &[
            "range_of_options",
            "newtype_option",
            "holds_newtypes",
            "from_option",
            "holds_through",
            "maybe_percent",
        ],
    },
    Difference {
        reason: "an optional property is shown without `null`, also if its type has a variant for it",
        accepts: Accepts::Less,
        rewrite: None,
        rows: &["untagged_option"],
    },
    Difference {
        reason: "schemars describes the field of a variant with only a skipped field, which serde does not read",
        accepts: Accepts::Other,
        rewrite: None,
        rows: &[
            "skipped_external",
            "skipped_adjacent",
            "skipped_untagged",
            "skipped_only",
            "flat_adjacent",
            "flat_generic_option",
            "flat_external",
            "flat_option_external",
            "flat_several",
            "flat_denying",
            "holds",
            "holds_holds",
        ],
    },
    Difference {
        reason: "schemars lists the variant for all other values as one of them",
        accepts: Accepts::More,
        rewrite: None,
        rows: &["other_mixed", "other_plain"],
    },
    Difference {
        reason: "schemars describes some unit variants as strings where serde reads an object with a key",
        accepts: Accepts::Less,
        rewrite: None,
        rows: &[
            "flat_generic_option",
            "flat_external",
            "flat_option_external",
            "flat_untagged",
            "flat_several",
            "flat_denying",
            "holds",
            "holds_holds",
        ],
    },
    Difference {
        reason: "schemars makes every key of a flattened `Option` optional; serde reads all of them or none",
        accepts: Accepts::More,
        rewrite: None,
        rows: &[
            "flat_option",
            "flat_option_parsed",
            "flat_several",
            "flat_denying",
        ],
    },
    Difference {
        reason: "of a flattened optional enum, schemars has the forms in another order",
        accepts: Accepts::Same,
        rewrite: None,
        rows: &["flat_flat"],
    },
];

fn remove(schema: &mut Value, keyword: &str) {
    if let Value::Object(members) = schema {
        members.remove(keyword);
    }
}

/// A row with both schemas.
struct Compared {
    name: &'static str,
    ours: Value,
    shown: Value,
    registry: Registry,
    by_schemars: SchemarsType,
}

fn compared() -> Vec<Compared> {
    let subjects = Subject::all().into_iter();
    let compared = subjects.filter_map(|subject| {
        let by_schemars = subject.row.typed?;
        let tool = (by_schemars.tool)(subject.row.name);
        let shown = serde_json::from_str(tool.spec().parameters_json());
        Some(Compared {
            name: subject.row.name,
            ours: subject.schema,
            shown: shown.expect("it is JSON"),
            registry: Registry::builder().tool(tool).build().unwrap(),
            by_schemars,
        })
    });
    compared.collect()
}

fn differences(row: &str) -> Vec<&'static Difference> {
    let all = DIFFERENCES.iter();
    all.filter(|difference| difference.rows.contains(&row))
        .collect()
}

/// Returns a schema after rewriting, without the order of its required keys.
fn rewritten(schema: &Value, rewrites: &[fn(&mut Value)]) -> Value {
    let mut schema = schema.clone();
    rewrite(&mut schema, true, &mut |schema| {
        if let Some(Value::Array(keys)) = schema.get_mut("required") {
            keys.sort_by_key(Value::to_string);
        }
        for rewrite in rewrites {
            rewrite(schema);
        }
    });
    schema
}

/// Rewrites a schema and the schemas in it.
fn rewrite(value: &mut Value, is_schema: bool, change: &mut dyn FnMut(&mut Value)) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let is_name =
                    is_schema && matches!(&**key, "properties" | "patternProperties" | "$defs");
                if !is_schema || !matches!(&**key, "default" | "examples" | "enum" | "const") {
                    rewrite(value, !is_name, change);
                }
            }
            if is_schema {
                change(value);
            }
        }
        Value::Array(items) => {
            for item in items {
                rewrite(item, is_schema, change);
            }
        }
        _ => {}
    }
}

#[test]
fn both_derives_give_a_type_one_schema() {
    let mut problems = Vec::new();
    let mut rows = BTreeSet::new();
    let mut equal = 0;
    let all = compared();
    for row in &all {
        rows.insert(row.name);
        let listed = differences(row.name);
        let agrees = |without: Option<usize>| {
            let listed = listed.iter().enumerate();
            let rewrites = listed.filter(|(at, _)| Some(*at) != without);
            let rewrites: Vec<_> = rewrites.filter_map(|(_, one)| one.rewrite).collect();
            rewritten(&row.ours, &rewrites) == rewritten(&row.shown, &rewrites)
        };
        equal += usize::from(listed.is_empty());
        let is_rewritten = listed.iter().all(|difference| difference.rewrite.is_some());
        if agrees(None) != is_rewritten {
            let (ours, shown) = (&row.ours, &row.shown);
            problems.push(format!("{}: unexplained\n  {ours}\n  {shown}", row.name));
        }
        for (at, difference) in listed.iter().enumerate() {
            if is_rewritten && agrees(Some(at)) {
                problems.push(format!("{}: not that {}", row.name, difference.reason));
            }
        }
    }
    for difference in &DIFFERENCES {
        for row in difference.rows.iter().filter(|row| !rows.contains(*row)) {
            problems.push(format!("{row}: unknown row"));
        }
    }
    println!("{} types, {equal} without a difference", all.len());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(equal > 150, "{equal}");
}

fn validator(schema: &Value) -> Validator {
    let options = jsonschema::draft202012::options();
    let validator = options.should_validate_formats(true).build(schema);
    validator.expect("it is a schema")
}

/// Returns a value with each selection of its members that are `null`, up to a number.
fn selections(value: &Value) -> Vec<Value> {
    let mut selections = match value {
        Value::Object(members) => {
            let start = vec![serde_json::Map::new()];
            let all = members.iter().fold(start, |all, (key, value)| {
                let values = selections(value);
                let with = all.iter().flat_map(|object| {
                    values.iter().map(|value| {
                        let mut object = object.clone();
                        object.insert(key.clone(), value.clone());
                        object
                    })
                });
                let mut with: Vec<_> = with.take(64).collect();
                if value.is_null() {
                    with.extend(all);
                }
                with
            });
            all.into_iter().map(Value::Object).collect()
        }
        Value::Array(items) => {
            let all = items.iter().fold(vec![Vec::new()], |all, item| {
                let items = selections(item);
                let with = all.iter().flat_map(|list: &Vec<Value>| {
                    let with = |item: &Value| list.iter().chain([item]).cloned().collect();
                    items.iter().map(with)
                });
                with.take(64).collect()
            });
            all.into_iter().map(Value::Array).collect()
        }
        other => vec![other.clone()],
    };
    selections.truncate(64);
    selections
}

#[test]
fn an_independent_validator_finds_no_other_difference() {
    let count = rounds(60, 6000);
    let mut problems = Vec::new();
    let (mut accepted, mut rejected, mut undecodable) = (0, 0, 0);
    for row in compared() {
        let name = row.name;
        let listed = differences(name);
        let accepts = listed
            .iter()
            .fold(Accepts::Same, |all, one| match (all, one.accepts) {
                (Accepts::Same, other) | (other, Accepts::Same) => other,
                (one, other) if one == other => one,
                _ => Accepts::Other,
            });
        let mut original = (row.by_schemars.schema)();
        // serde takes the first form that fits.
        rewrite(&mut original, true, &mut |schema| {
            let Some(forms) = schema.get_mut("oneOf").map(Value::take) else {
                return;
            };
            remove(schema, "oneOf");
            match schema.get("anyOf") {
                Some(_) => schema["allOf"] = json!([{"anyOf": forms}]),
                None => schema["anyOf"] = forms,
            }
        });
        let [ours, shown, original] = [&row.ours, &row.shown, &original].map(validator);
        let mut random = Random::named(name, 23);
        for schema in [&row.ours, &row.shown] {
            let sampler = Sampler::new(schema);
            for round in 0..count {
                let sample = sampler.sample(&mut random);
                let value = match round % 3 {
                    0 => sample,
                    _ => mutate::value(&sample, schema, &mut random),
                };
                if !value.is_object() {
                    continue;
                }
                // The two schemas.
                let (by_ours, by_shown) = (ours.is_valid(&value), shown.is_valid(&value));
                let is_explained = match accepts {
                    Accepts::Same => by_ours == by_shown,
                    Accepts::More => by_shown || !by_ours,
                    Accepts::Less => by_ours || !by_shown,
                    Accepts::Other => true,
                };
                if !is_explained {
                    problems.push(format!("{name}: {by_ours} and {by_shown} for {value}"));
                }
                // The schema of schemars, serde and the tool.
                let call = ToolCall::new("id", name, value.to_string());
                let result = row.registry.call_blocking(call);
                let by_tool = !result.is_error();
                let by_serde = (row.by_schemars.reads)(&value);
                // To schemars, the values of this map are also that of the tag beside them.
                let is_original = original.is_valid(&value) || name == "holds_holds";
                if by_tool && !(by_serde && is_original) {
                    problems.push(format!("{name}: accepted {value}"));
                }
                // From a value, serde reads a number beyond `f32` as infinity.
                let is_infinite = result.content().contains("3.4028234663852886e+38");
                if !by_tool && by_serde && by_shown && !is_infinite {
                    problems.push(format!("{name}: rejected {value}: {}", result.content()));
                }
                if by_tool && !selections(&value).iter().any(|value| shown.is_valid(value)) {
                    problems.push(format!("{name}: accepted what is not shown: {value}"));
                }
                if let Some(error) = result.error() {
                    assert_eq!(
                        error.kind(),
                        ToolErrorKind::InvalidArguments,
                        "{name}: {value}"
                    );
                    assert!(!error.violations().is_empty(), "{name}: {value}");
                    let text = result.content();
                    let sent = value.to_string();
                    let words = ["::", "expected struct", "untagged enum"];
                    for word in words.iter().filter(|word| !sent.contains(**word)) {
                        assert!(!text.contains(word), "{name}: {value}: {text}");
                    }
                    rejected += 1;
                    undecodable += usize::from(by_shown);
                } else {
                    accepted += 1;
                }
            }
        }
    }
    println!("{accepted} accepted, {rejected} rejected, {undecodable} of them by serde");
    problems.sort_by_key(String::len);
    problems.truncate(20);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(accepted > 1000 && rejected > 1000 && undecodable > 10);
}

#[test]
fn every_provider_accepts_the_schemas() {
    let rendered = compared()
        .into_iter()
        .map(|row| (row.name, judge::problems(&row.registry)));
    let problems: Vec<_> = rendered
        .filter(|(_, problems)| !problems.is_empty())
        .collect();
    assert!(problems.is_empty(), "{problems:#?}");
}
