//! [`ConstString`]: text that is put together while compiling.

/// Up to `N` bytes of text. What does not fit is left out.
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
        let mut line = ConstString::EMPTY;
        line.push(text);
        line
    }

    /// Adds a text, or as many whole characters of it as there is room for.
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

    pub(crate) const fn number(&mut self, number: usize) {
        if number >= 10 {
            self.number(number / 10);
        }
        let digits = "0123456789";
        let (_, digits) = digits.split_at(number % 10);
        let (digit, _) = digits.split_at(1);
        self.push(digit);
    }

    pub(crate) const fn as_str(&self) -> &str {
        let (text, _) = self.bytes.split_at(self.length);
        match core::str::from_utf8(text) {
            Ok(text) => text,
            Err(_) => panic!("only whole characters went in"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_whole_characters_until_it_is_full() {
        let mut line: ConstString<8> = ConstString::new("née");
        line.number(1200);
        line.push("é");
        assert_eq!(line.as_str(), "née1200");
        line.push("x");
        assert_eq!(line.as_str(), "née1200");
    }

    #[test]
    fn numbers_are_written_from_their_first_digit() {
        for number in [0, 9, 10, 120_000] {
            let mut line: ConstString<8> = ConstString::EMPTY;
            line.number(number);
            assert_eq!(line.as_str(), number.to_string());
        }
    }
}
