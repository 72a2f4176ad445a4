//! Dice notation and dice rolls.

use std::fmt;

use tool_core::ToolType;

/// Dice notation, such as `3d6+2`.
#[derive(Clone, Copy, Debug, PartialEq, ToolType)]
#[serde(try_from = "String")]
pub(crate) struct Dice {
    count: u16,
    sides: u16,
    offset: i32,
}

/// Maximum number of dice in a roll, and of sides of a die.
const LARGEST: u16 = 1000;

impl Dice {
    /// Parses notation such as `3d6+2`.
    pub(crate) fn parse(text: &str) -> Result<Dice, DiceError> {
        let (count, rest) = text.split_once('d').ok_or(DiceError::Form)?;
        let end = rest.find(['+', '-']).unwrap_or(rest.len());
        let (sides, offset) = rest.split_at(end);
        let dice = Dice {
            count: natural(count).ok_or(DiceError::Form)?,
            sides: natural(sides).ok_or(DiceError::Form)?,
            offset: match offset.split_at_checked(1) {
                None => 0,
                Some(("+", number)) => natural(number).ok_or(DiceError::Form)?.into(),
                Some((_, number)) => -i32::from(natural(number).ok_or(DiceError::Form)?),
            },
        };
        let least = i32::from(dice.count) + dice.offset;
        match dice {
            Dice { count: 0, .. } => Err(DiceError::Form),
            Dice { count, .. } if count > LARGEST => Err(DiceError::TooMany),
            Dice { sides, .. } if sides < 4 || sides % 2 == 1 || sides > LARGEST => {
                Err(DiceError::Sides(sides))
            }
            _ if least < 1 => Err(DiceError::Least(least)),
            _ => Ok(dice),
        }
    }

    /// Rolls each die. Returns the dice, and their sum with the offset.
    pub(crate) fn roll(self, rng: &mut Rng) -> (Vec<u16>, i32) {
        let dice = (0..self.count).map(|_| 1 + rng.below(self.sides));
        let dice: Vec<_> = dice.collect();
        let total = dice.iter().copied().map(i32::from).sum::<i32>() + self.offset;
        (dice, total)
    }
}

/// Parses ASCII digits. `str::parse` alone would accept a sign.
fn natural(text: &str) -> Option<u16> {
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if is_digits { text.parse().ok() } else { None }
}

impl TryFrom<String> for Dice {
    type Error = DiceError;

    fn try_from(text: String) -> Result<Dice, DiceError> {
        Dice::parse(&text)
    }
}

/// The reasons why a text is not valid dice notation.
#[derive(Debug, PartialEq)]
pub(crate) enum DiceError {
    Form,
    TooMany,
    Sides(u16),
    Least(i32),
}

impl fmt::Display for DiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiceError::Form => f.write_str("not dice notation such as 3d6+2"),
            DiceError::TooMany => write!(f, "too many dice; roll at most {LARGEST}"),
            DiceError::Sides(sides) => write!(
                f,
                "{sides} sides are not allowed; use an even number from 4 to {LARGEST}"
            ),
            DiceError::Least(least) => write!(
                f,
                "the lowest total is {least}; raise the offset to make it at least 1"
            ),
        }
    }
}

/// A random number generator: `SplitMix64` by Steele, Lea and Flood.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) const fn seeded(seed: u64) -> Rng {
        Rng(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// Returns a number below `end` with uniform probability. Numbers that would favour the first
    /// few are drawn again.
    fn below(&mut self, end: u16) -> u16 {
        let end = u64::from(end);
        let fair = u64::MAX - u64::MAX % end;
        loop {
            let number = self.next();
            if number < fair {
                return u16::try_from(number % end).unwrap_or_default();
            }
        }
    }
}
