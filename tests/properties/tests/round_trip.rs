//! Every value that serializes is accepted, and a tool receives what was sent.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::net::Ipv6Addr;
use std::num::{NonZero, Wrapping};
use std::time::{Duration, SystemTime};

use properties::random::Random;
use properties::sample::Sampler;
use properties::subject::Subject;
use properties::table::sends;
use properties::{mutate, rounds};
use serde::Serialize;
use serde_json::json;

#[test]
fn tools_receive_the_values_that_were_sent() {
    let mut failures = Vec::new();
    let (mut types, mut sent) = (0, 0);
    for subject in Subject::all() {
        let Some(round_trip) = subject.row.round_trip else {
            continue;
        };
        types += 1;
        let mut random = Random::named(subject.row.name, 5);
        let sampler = Sampler::new(&subject.schema);
        let rounds = rounds(100, 5000);
        let (mut own, mut failed) = (0, Vec::new());
        for round in 0..rounds {
            let mut arguments = sampler.sample(&mut random);
            if round % 4 == 0 {
                arguments = mutate::value(&arguments, &subject.schema, &mut random);
            }
            match round_trip(&subject, &arguments) {
                Some(Ok(())) => own += 1,
                Some(Err(problem)) => failed.push(format!("{}: {problem}", subject.row.name)),
                None => {}
            }
        }
        assert!(
            own + failed.len() > rounds / 50,
            "{}: {own} sent",
            subject.row.name
        );
        sent += own;
        failed.sort_by_key(String::len);
        failures.extend(failed.into_iter().take(2));
    }
    println!("{types} types, {sent} values");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Sends values to the tool of a row.
fn send<T: Serialize + PartialEq + Debug + 'static>(
    row: &str,
    values: impl IntoIterator<Item = T>,
) {
    let mut rows = properties::table::rows();
    let place = rows.iter().position(|known| known.name == row);
    let subject = Subject::new(rows.swap_remove(place.unwrap_or_else(|| panic!("no row {row}"))));
    for value in values {
        sends(&subject, &value).unwrap_or_else(|problem| panic!("{row}: {problem}"));
    }
}

#[test]
fn extreme_values_of_every_type_arrive() {
    send("u8_", [u8::MIN, u8::MAX]);
    send("i8_", [i8::MIN, i8::MAX]);
    send("i32_", [i32::MIN, i32::MAX]);
    send("u64_", [u64::MIN, u64::MAX]);
    send("i64_", [i64::MIN, i64::MAX]);
    send("u128_", [u128::MIN, u128::MAX, u128::from(u64::MAX) + 1]);
    send("i128_", [i128::MIN, i128::MAX, i128::from(i64::MIN) - 1]);
    send("nonzero_u128", [NonZero::<u128>::MIN, NonZero::<u128>::MAX]);
    send("nonzero_i128", [NonZero::<i128>::MIN, NonZero::<i128>::MAX]);
    send("wrapping", [Wrapping(u16::MAX)]);
    send("f32_", [f32::MIN, f32::MAX, f32::MIN_POSITIVE, 0.1, -0.0]);
    send(
        "f64_",
        [
            f64::MIN,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            0.1,
            1.0 / 3.0,
            1e23,
            -0.0,
        ],
    );
    send("char_", ['\0', '"', '\\', '\u{7f}', 'é', '\u{10ffff}']);
    send(
        "string",
        [
            "\0\u{1}\u{1f}\"\\/\u{7f}\u{2028}\u{10ffff}".to_owned(),
            String::new(),
            "x".repeat(1 << 20),
        ],
    );
    send("duration", [Duration::ZERO, Duration::MAX]);
    send(
        "system_time",
        [
            SystemTime::UNIX_EPOCH,
            SystemTime::UNIX_EPOCH + Duration::new(1 << 40, 999_999_999),
        ],
    );
    send(
        "ipv6",
        [
            Ipv6Addr::UNSPECIFIED,
            "::ffff:1.2.3.4".parse().expect("an address"),
        ],
    );
    send(
        "map_u64_keys",
        [BTreeMap::from([(u64::MAX, 1_i8), (0, -1)])],
    );
    send(
        "map_i64_keys",
        [HashMap::from([
            (i64::MIN, String::new()),
            (i64::MAX, "\n".into()),
        ])],
    );
    send(
        "map_char_keys",
        [BTreeMap::from([
            ('"', 0.5),
            ('\\', 1.0),
            ('\0', -0.0),
            ('\u{10ffff}', 1e300),
        ])],
    );
    send(
        "map",
        [BTreeMap::from([
            (String::new(), 1_u8),
            ("\"\\\n".into(), 2),
            ("a.b[0]".into(), 3),
        ])],
    );
    send(
        "any",
        [
            json!({"a": [null, u64::MAX, i64::MIN, 0.1, {"": ""}]}),
            json!(null),
        ],
    );
    let random = &mut Random::new(6);
    send(
        "u128_",
        (0..200).map(|_| u128::from(random.word()) << (random.word() % 65)),
    );
    send(
        "f64_",
        (0..2000)
            .map(|_| f64::from_bits(random.word()))
            .filter(|number| number.is_finite()),
    );
    send(
        "f32_",
        (0..2000)
            .map(|_| f32::from_bits((random.word() >> 32) as u32))
            .filter(|number| number.is_finite()),
    );
}
