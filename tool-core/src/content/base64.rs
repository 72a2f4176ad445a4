//! Standard base64 with padding. No crate of the default tree has it.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The value of each digit, and [`NONE`] for other bytes.
const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut value = 0;
    while value < 64 {
        values[ALPHABET[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// Has a bit that no value of a digit has.
const NONE: u8 = 0x80;

/// Returns the length of the encoded text.
pub(crate) fn encoded_length(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// Appends the encoded bytes.
pub(crate) fn encode(bytes: &[u8], out: &mut String) {
    let mut text = std::mem::take(out).into_bytes();
    let start = text.len();
    text.resize(start + encoded_length(bytes.len()), b'=');
    let (groups, rest) = bytes.as_chunks();
    let (digits, _) = text[start..].as_chunks_mut();
    for (digits, group) in digits.iter_mut().zip(groups) {
        *digits = four(*group);
    }
    if let (&[first, ..], Some(digits)) = (rest, digits.last_mut()) {
        let second = rest.get(1).copied().unwrap_or_default();
        // Fewer than three bytes are padded.
        let used = rest.len() + 1;
        digits[..used].copy_from_slice(&four([first, second, 0])[..used]);
    }
    *out = String::from_utf8(text).expect("digits are ASCII");
}

/// Returns the digits of three bytes.
fn four([first, second, third]: [u8; 3]) -> [u8; 4] {
    let group = u32::from_be_bytes([0, first, second, third]);
    [18, 12, 6, 0].map(|shift| ALPHABET[(group >> shift & 63) as usize])
}

/// Decodes a string. Returns `None` unless it is what [`encode`] writes.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    if !text.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let (groups, rest) = digits.as_bytes().as_chunks();
    let mut bytes = vec![0; groups.len() * 3];
    let mut seen = 0;
    for (group, bytes) in groups.iter().zip(bytes.as_chunks_mut().0) {
        *bytes = three(*group, &mut seen);
    }
    if let &[first, second, ..] = rest {
        let third = rest.get(2).copied().unwrap_or(ALPHABET[0]);
        let last = three([first, second, third, ALPHABET[0]], &mut seen);
        let (used, unused) = last.split_at(rest.len() - 1);
        // Bits that no byte has must be zero, so that a string has one meaning.
        if unused.iter().any(|&byte| byte != 0) {
            return None;
        }
        bytes.extend(used);
    }
    (seen & NONE == 0).then_some(bytes)
}

/// Returns the bytes of four digits, whose values are added to the bits that were seen.
fn three(digits: [u8; 4], seen: &mut u8) -> [u8; 3] {
    let values = digits.map(|digit| VALUES[usize::from(digit)]);
    let group = values.into_iter().fold(0, |group, value| {
        *seen |= value;
        group << 6 | u32::from(value)
    });
    let [_, first, second, third] = group.to_be_bytes();
    [first, second, third]
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

    #[test]
    fn a_text_goes_on_where_it_ended() {
        let mut out = "data:;base64,".to_owned();
        encode(b"foob", &mut out);
        assert_eq!(out, "data:;base64,Zm9vYg==");
    }

    /// Every text of four digits is rejected, or is what its bytes are encoded as.
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
