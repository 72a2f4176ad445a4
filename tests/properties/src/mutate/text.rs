//! Mutations of the text of a call: other spellings, and damage.

use crate::random::Random;

/// Returns the same JSON with a number spelled differently, a larger number, or more white space.
pub fn spelling(text: &str, random: &mut Random) -> String {
    const ENDS: [&str; 8] = [
        "e0",
        ".0",
        ".00",
        "E+0",
        "0e-1",
        "e1",
        "00000000000000000000",
        "000000000000000000000000000000000000000",
    ];
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    // After a colon or bracket and before the next token: not in a string, not in a fraction.
    let ends: Vec<_> = (1..text.len())
        .filter(|&end| is_digit(end - 1) && matches!(bytes[end], b',' | b'}' | b']'))
        .filter(|&end| {
            let start = (0..end).rev().find(|&at| !is_digit(at)).unwrap_or(0);
            matches!(bytes[start], b':' | b'[')
                || bytes[start] == b',' && start > 0 && is_digit(start - 1)
        })
        .collect();
    if ends.is_empty() || random.percent(20) {
        return text.replace("\":", "\" : ").replace('}', "\n}");
    }
    let at = *random.pick(&ends);
    format!("{}{}{}", &text[..at], random.pick(&ENDS), &text[at..])
}

/// Returns the bytes with a few changes, as a truncated response or a careless proxy makes them.
pub fn bytes(mut text: Vec<u8>, random: &mut Random) -> Vec<u8> {
    const TOKENS: [&str; 24] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "null",
        "true",
        "-",
        "e9",
        "1e400",
        ".0",
        "0",
        "\\ud800",
        "\\u0000",
        " ",
        "\n",
        "[[[[[[[[[[[[[[[[",
        "{\"value\":",
        "123456789012345678901234567890123456789012",
        "\u{feff}",
        "\"\":",
    ];
    for _ in 0..=random.below(3) {
        let at = random.below(text.len() + 1);
        let end = (at + random.below(6)).min(text.len());
        match random.below(6) {
            0 => text.truncate(at),
            1 => drop(text.drain(at..end)),
            2 => drop(text.splice(at..at, random.pick(&TOKENS).bytes())),
            3 => drop(text.splice(at..end, random.pick(&TOKENS).bytes())),
            4 => {
                let part = text[at..end].to_vec();
                let times = if random.percent(3) { 300 } else { 2 };
                drop(text.splice(at..at, part.repeat(times)));
            }
            _ => {
                if let Some(byte) = text.get_mut(at) {
                    *byte = u8::try_from(random.word() & 0xff).unwrap_or(0);
                }
            }
        }
    }
    text
}
