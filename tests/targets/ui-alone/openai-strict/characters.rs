//! More text in names and values than OpenAI's strict mode takes, in one enum and in one tool.

use serde::{Deserialize, Deserializer};
use tool_core::schema::{Schema, Text};
use tool_core::{ToolType, by_serde, tool, tools};

/// The number of a value, and filling.
const fn bytes<const BYTES: usize>(each: usize) -> [u8; BYTES] {
    let mut bytes = [b'x'; BYTES];
    let mut at = 0;
    while at < BYTES / each {
        bytes[at * each] = b'a' + (at / 100) as u8;
        bytes[at * each + 1] = b'0' + (at / 10 % 10) as u8;
        bytes[at * each + 2] = b'0' + (at % 10) as u8;
        at += 1;
    }
    bytes
}

/// Values of `each` characters out of a text.
const fn values<const COUNT: usize>(text: &'static [u8], each: usize) -> [Text; COUNT] {
    let mut values = [Text::EMPTY; COUNT];
    let mut rest = text;
    let mut at = 0;
    while at < COUNT {
        let (value, more) = rest.split_at(each);
        if let Ok(value) = std::str::from_utf8(value) {
            values[at] = Text::new(value);
        }
        rest = more;
        at += 1;
    }
    values
}

/// 251 values of 60 characters are a large enum of 15,060 of them; 250 values are not large.
struct Codes<const COUNT: usize, const EACH: usize>(String);

impl<const COUNT: usize, const EACH: usize> Codes<COUNT, EACH> {
    const BYTES: &'static [u8] = match EACH {
        60 => &bytes::<15_060>(60),
        _ => &bytes::<32_500>(130),
    };
    const VALUES: &'static [Text] = &values::<COUNT>(Self::BYTES, EACH);
}

impl<const COUNT: usize, const EACH: usize> ToolType for Codes<COUNT, EACH> {
    const SCHEMA: &'static Schema = &Schema::strings(Self::VALUES);
}

impl<'de, const COUNT: usize, const EACH: usize> Deserialize<'de> for Codes<COUNT, EACH> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Codes)
    }
}

by_serde!(Codes<COUNT, EACH> [const COUNT: usize, const EACH: usize]);

/// Looks up a code.
#[tool]
fn large(code: Codes<251, 60>) -> String {
    code.0
}

type Long = Codes<250, 130>;

/// Looks up many codes.
#[tool]
fn many(one: Long, two: Long, three: Long, four: Long) -> usize {
    [one.0, two.0, three.0, four.0].map(|code| code.len()).iter().sum()
}

fn main() {
    let _ = tools![large, many];
}
// 2 errors
