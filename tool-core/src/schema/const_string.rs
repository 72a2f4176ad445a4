//! [`ConstString`]: a string buffer for constant code.

/// A string of up to `N` bytes. Text that does not fit is truncated.
#[derive(Clone, Copy)]
pub(crate) struct ConstString<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> ConstString<N> {
    pub(crate) const EMPTY: ConstString<N> = ConstString {
        bytes: [0; N],
        length: 0,
    };

    pub(crate) const fn new(text: &str) -> ConstString<N> {
        let mut string = ConstString::EMPTY;
        string.push(text);
        string
    }

    /// Appends a string, truncated to the whole characters that fit.
    pub(crate) const fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut length = bytes.len();
        if length > N - self.length {
            length = N - self.length;
            while !text.is_char_boundary(length) {
                length -= 1;
            }
        }
        let mut at = 0;
        while at < length {
            self.bytes[self.length + at] = bytes[at];
            at += 1;
        }
        self.length += length;
    }

    /// Appends a number in decimal.
    pub(crate) const fn number(&mut self, number: usize) {
        if number >= 10 {
            self.number(number / 10);
        }
        let digits = "0123456789";
        let (_, digits) = digits.split_at(number % 10);
        let (digit, _) = digits.split_at(1);
        self.push(digit);
    }

    /// Appends an integer in decimal.
    pub(crate) const fn integer(&mut self, number: i128) {
        if number < 0 {
            self.push("-");
        }
        let number = number.unsigned_abs();
        // Nine digits at a time, which fit into every `usize`.
        let high = number / 10_u128.pow(9);
        if high == 0 {
            return self.number(number as usize);
        }
        self.integer(high.cast_signed());
        let mut place = 10_u128.pow(8);
        while place > 0 {
            self.number((number / place % 10) as usize);
            place /= 10;
        }
    }

    pub(crate) const fn as_str(&self) -> &str {
        let (text, _) = self.bytes.split_at(self.length);
        match core::str::from_utf8(text) {
            Ok(text) => text,
            Err(_) => panic!("whole characters were appended"),
        }
    }
}

/// Returns the number of characters of a string.
pub(crate) const fn count_characters(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut count, mut at) = (0, 0);
    while at < bytes.len() {
        // All bytes except bytes that continue a character.
        count += (bytes[at] & 0xC0 != 0x80) as usize;
        at += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appending_stops_at_a_whole_character() {
        let mut string: ConstString<8> = ConstString::new("née");
        string.number(1200);
        string.push("é");
        assert_eq!(string.as_str(), "née1200");
        string.push("x");
        assert_eq!(string.as_str(), "née1200");
    }

    #[test]
    fn numbers_are_written_in_decimal() {
        for number in [0, 9, 10, 120_000] {
            let mut string: ConstString<8> = ConstString::EMPTY;
            string.number(number);
            assert_eq!(string.as_str(), number.to_string());
        }
        for number in [0, -7, i128::from(u64::MAX), i128::MIN, i128::MAX] {
            let mut string: ConstString<48> = ConstString::EMPTY;
            string.integer(number);
            assert_eq!(string.as_str(), number.to_string());
        }
    }
}
