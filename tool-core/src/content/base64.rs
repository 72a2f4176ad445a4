//! Standard base64 with padding. No crate of the default tree has it.
//!
//! Bytes are converted in blocks, without tables, so that the compiler turns the loops over the digits of a
//! block into instructions for many digits.

/// The bytes of a block.
const BYTES: usize = 48;
/// The digits of a block.
const DIGITS: usize = 64;
/// Has a bit that no value of a digit has.
const NONE: u8 = 0x80;

/// Returns the length of the encoded text.
pub(crate) fn encoded_length(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// Appends the encoded bytes.
pub fn encode(bytes: &[u8], out: &mut String) {
    let mut text = std::mem::take(out).into_bytes();
    let end = text.len() + encoded_length(bytes.len());
    text.reserve(end - text.len());
    let (blocks, rest) = bytes.as_chunks();
    for block in blocks {
        text.extend_from_slice(&encoded(block));
    }
    let mut block = [0; BYTES];
    block[..rest.len()].copy_from_slice(rest);
    // Fewer than three bytes are padded.
    let used = (rest.len() * 4).div_ceil(3);
    text.extend_from_slice(&encoded(&block)[..used]);
    text.resize(end, b'=');
    *out = String::from_utf8(text).expect("digits are ASCII");
}

/// Returns the digits of a block.
fn encoded(block: &[u8; BYTES]) -> [u8; DIGITS] {
    let mut digits = [0; DIGITS];
    let groups = block.as_chunks().0;
    for (digits, &[a, b, c, d, e, f]) in digits.as_chunks_mut().0.iter_mut().zip(groups) {
        let group = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        // Eight values of six bits become bytes, in halves.
        let group = group << 8 & 0x00ff_ffff << 32 | group & 0x00ff_ffff;
        let group = group << 4 & 0x0fff_0000_0fff_0000 | group & 0x0fff_0000_0fff;
        let group = group << 2 & 0x3f00_3f00_3f00_3f00 | group & 0x003f_003f_003f_003f;
        *digits = group.to_be_bytes();
    }
    for digit in &mut digits {
        *digit = digit_of(*digit);
    }
    digits
}

/// Returns the digit of a value below 64.
fn digit_of(value: u8) -> u8 {
    let above = |most: u8, step: u8| if value > most { step } else { 0 };
    // Each step leads from the end of a range of digits to the start of the next.
    let steps = [
        above(25, b'a' - b'Z' - 1),
        above(51, b'0'.wrapping_sub(b'z' + 1)),
        above(61, b'+'.wrapping_sub(b'9' + 1)),
        above(62, b'/' - b'+' - 1),
    ];
    steps.into_iter().fold(value + b'A', u8::wrapping_add)
}

/// Decodes a string. Returns `None` for a string that [`encode`] never writes.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    if !text.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let (blocks, rest) = digits.as_bytes().as_chunks();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut seen = 0;
    for block in blocks {
        bytes.extend_from_slice(&decoded(block, &mut seen));
    }
    let mut block = [b'A'; DIGITS];
    block[..rest.len()].copy_from_slice(rest);
    let last = decoded(&block, &mut seen);
    // Bits that no byte has must be zero, so that a string has one meaning.
    let (used, unused) = last.split_at(rest.len() * 3 / 4);
    if seen & NONE != 0 || unused.iter().any(|&byte| byte != 0) {
        return None;
    }
    bytes.extend_from_slice(used);
    Some(bytes)
}

/// Returns the bytes of a block of digits, whose values are added to the bits that were seen.
fn decoded(block: &[u8; DIGITS], seen: &mut u8) -> [u8; BYTES] {
    let mut values = [0; DIGITS];
    for (value, digit) in values.iter_mut().zip(block) {
        *value = value_of(*digit);
    }
    *seen |= values.iter().fold(0, |seen, value| seen | value);
    let mut bytes = [0; BYTES];
    let groups = values.as_chunks().0;
    for (bytes, group) in bytes.as_chunks_mut().0.iter_mut().zip(groups) {
        let group = u64::from_be_bytes(*group);
        let group = group >> 2 & 0x0fc0_0fc0_0fc0_0fc0 | group & 0x003f_003f_003f_003f;
        let group = group >> 4 & 0x00ff_f000_00ff_f000 | group & 0x0fff_0000_0fff;
        let group = group >> 8 & 0x00ff_ffff << 24 | group & 0x00ff_ffff;
        let [_, _, rest @ ..] = group.to_be_bytes();
        *bytes = rest;
    }
    bytes
}

/// Returns the value of a digit, or [`NONE`] with other bits.
fn value_of(digit: u8) -> u8 {
    // The complement of the value, so that a byte in no range gives 0.
    let within = |first: u8, count: u8, value: u8| {
        let at = digit.wrapping_sub(first);
        if at < count {
            !at.wrapping_add(value)
        } else {
            0
        }
    };
    !(within(b'A', 26, 0)
        | within(b'a', 26, 26)
        | within(b'0', 10, 52)
        | within(b'+', 1, 62)
        | within(b'/', 1, 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(bytes: &[u8]) -> String {
        let mut out = String::new();
        encode(bytes, &mut out);
        assert_eq!(out.len(), encoded_length(bytes.len()));
        out
    }

    /// The vectors of RFC 4648, section 10.
    #[test]
    fn the_vectors_of_the_rfc_hold() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encoded(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
    }

    #[test]
    fn every_byte_survives() {
        let mut bytes: Vec<u8> = (0..=255).rev().collect();
        while !bytes.is_empty() {
            assert_eq!(decode(&encoded(&bytes)).as_ref(), Some(&bytes));
            bytes.pop();
        }
    }

    /// RFC 4648, table 1.
    #[test]
    fn every_digit_has_its_value() {
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        for (value, digit) in (0..).zip(digits) {
            assert_eq!(digit_of(value), *digit);
        }
        for digit in 0..=255 {
            let value = digits.iter().position(|known| *known == digit);
            let found = value_of(digit);
            let found = (found & NONE == 0).then_some(usize::from(found));
            assert_eq!(found, value, "{digit}");
        }
    }

    /// Also in the middle of many blocks.
    #[test]
    fn one_wrong_digit_is_found_anywhere() {
        let text = encoded(&[0xa5; 3 * BYTES]).into_bytes();
        for at in 0..text.len() {
            for wrong in *b"=-_ \0\x7f" {
                let mut text = text.clone();
                text[at] = wrong;
                let text = String::from_utf8(text).unwrap();
                // One `=` at the end is padding, but then the bits before it must be zero.
                assert_eq!(decode(&text), None, "{at}");
            }
        }
    }

    #[test]
    fn a_text_goes_on_where_it_ended() {
        let mut out = "data:;base64,".to_owned();
        encode(b"foob", &mut out);
        assert_eq!(out, "data:;base64,Zm9vYg==");
    }

    /// Every text of four digits is rejected, or is the encoding of its bytes.
    #[test]
    fn a_text_has_one_meaning() {
        let digits = b"AQgw/9+Z=-\xff";
        for index in 0..digits.len().pow(4) {
            let text =
                [3, 2, 1, 0].map(|place| digits[index / digits.len().pow(place) % digits.len()]);
            let text: String = text.into_iter().map(char::from).collect();
            if let Some(bytes) = decode(&text) {
                assert_eq!(encoded(&bytes), text);
            }
        }
    }

    #[test]
    fn a_text_that_is_not_base64_is_rejected() {
        for text in [
            "Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "====", "Zm 9", "Zm9-", "é===",
        ] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
