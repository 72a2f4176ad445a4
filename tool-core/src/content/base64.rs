//! Standard base64 with padding. No crate of the default tree has it.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns the length of the encoded text.
pub(crate) fn encoded_length(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// Appends the encoded bytes.
pub(crate) fn encode(bytes: &[u8], out: &mut String) {
    out.reserve(encoded_length(bytes.len()));
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        // Three bytes are four digits, and fewer are padded.
        for (at, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let digit = if at > chunk.len() {
                b'='
            } else {
                ALPHABET[(group >> shift & 63) as usize]
            };
            out.push(char::from(digit));
        }
    }
}

/// Decodes a string. Returns `None` unless it is what [`encode`] writes.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    if !text.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut group, mut bits) = (0u32, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        group = group << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((group >> bits & 0xff) as u8);
        }
    }
    // Bits that no byte has must be zero, so that a string has one meaning.
    (group & ((1 << bits) - 1) == 0).then_some(bytes)
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
    fn a_text_that_is_not_base64_is_rejected() {
        for text in [
            "Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "====", "Zm 9", "Zm9-", "é===",
        ] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
