//! Unique items and sets of a minimum length hold the promised number of values, however the values
//! are spelled.

use properties::random::Random;
use properties::sample::Sampler;
use properties::subject::Subject;
use properties::table::promises;
use properties::{mutate, rounds};
use serde_json::{Map, Value, json};

#[test]
fn tools_receive_as_many_values_as_their_constraints_promise() {
    let subjects = Subject::all();
    for promise in promises() {
        let subject = subjects
            .iter()
            .find(|subject| subject.row.name == promise.row)
            .expect("each promise has a row");
        let mut random = Random::named(promise.row, 7);
        let sampler = Sampler::new(&subject.schema);
        let (mut accepted, mut rejected) = (0, 0);
        let all = rounds(600, 20_000);
        for round in 0..all {
            let mut arguments = sampler.sample(&mut random);
            if let Some(items) = arguments["value"].as_array_mut()
                && !items.is_empty()
                && round % 3 > 0
            {
                let mut item = random.pick(items).clone();
                respell(&mut item, &mut random);
                items.push(item);
            }
            let mut text = arguments.to_string();
            if random.percent(30) {
                text = mutate::spelling(&text, &mut random);
            }
            if subject.call(&text, random.percent(20)).is_error() {
                rejected += 1;
            } else {
                accepted += 1;
                assert!((promise.is_kept)(), "{} received {text}", promise.row);
            }
        }
        assert!(
            accepted > all / 20 && rejected > all / 20,
            "{}: {accepted} accepted, {rejected} rejected",
            promise.row
        );
    }
}

/// Spells a value differently, or changes it a little.
fn respell(value: &mut Value, random: &mut Random) {
    match value {
        Value::String(text) => match random.below(4) {
            0 => *text = text.to_uppercase(),
            1 => *text = text.to_lowercase(),
            2 => {
                let same = [
                    ("red", "crimson"),
                    ("::1", "0:0:0:0:0:0:0:1"),
                    ("::", "0::0"),
                    ("2001:db8::ff", "2001:0DB8:0::00ff"),
                    ("::ffff:1.2.3.4", "::ffff:102:304"),
                ];
                for (left, right) in same {
                    if text == left {
                        right.clone_into(text);
                    }
                }
            }
            _ => {}
        },
        #[allow(clippy::cast_possible_truncation)]
        Value::Number(number) if random.percent(70) => {
            let number = number.as_f64().unwrap_or_default();
            *value = match random.below(3) {
                0 => json!(number),
                1 if number.fract() == 0.0 && number.abs() < 1e15 => json!(number as i64),
                _ => json!(f64::from(number as f32)),
            };
        }
        Value::Array(items) => {
            items.reverse();
            for item in items {
                respell(item, random);
            }
        }
        Value::Object(members) => {
            *members = std::mem::take(members)
                .into_iter()
                .map(|(key, mut value)| {
                    respell(&mut value, random);
                    let mut key = Value::from(key);
                    if random.percent(30) {
                        respell(&mut key, random);
                    }
                    (key.as_str().unwrap_or_default().to_owned(), value)
                })
                .collect::<Map<_, _>>();
            if random.percent(20) {
                members.insert("inner_flag".into(), Value::Null);
            }
        }
        _ => {}
    }
}
