//! Dice: how they are written, and how they fall.

use std::fmt;

use serde::Deserialize;
use tool_core::ToolType;

/// So many dice of so many sides, and an offset for the whole throw.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, ToolType)]
#[serde(try_from = "String")]
pub(crate) struct Dice {
    count: u16,
    sides: u16,
    offset: i32,
}

/// The most dice of one throw, and the most sides of a die: a throw must end.
const LARGEST: u16 = 1000;

impl Dice {
    /// Reads `3d6+2`.
    pub(crate) fn read(text: &str) -> Result<Dice, DiceError> {
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

    /// One throw: every die, and the whole with the offset.
    pub(crate) fn roll(self, chance: &mut Chance) -> (Vec<u16>, i32) {
        let dice = (0..self.count).map(|_| 1 + chance.below(self.sides));
        let dice: Vec<_> = dice.collect();
        let total = dice.iter().copied().map(i32::from).sum::<i32>() + self.offset;
        (dice, total)
    }
}

/// Digits alone: no sign, no blanks.
fn natural(text: &str) -> Option<u16> {
    match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => text.parse().ok(),
        false => None,
    }
}

impl TryFrom<String> for Dice {
    type Error = DiceError;

    fn try_from(text: String) -> Result<Dice, DiceError> {
        Dice::read(&text)
    }
}

/// Why some text is no dice.
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
            DiceError::Form => f.write_str("not of the form 3d6+2"),
            DiceError::TooMany => write!(f, "more than {LARGEST} dice"),
            DiceError::Sides(sides) => write!(
                f,
                "a die of {sides} sides; the number must be even and from 4 to {LARGEST}"
            ),
            DiceError::Least(least) => write!(
                f,
                "the least total is {least}; a negative offset must leave at least 1"
            ),
        }
    }
}

/// A stream of numbers that a seed begins: Steele, Lea and Flood's `SplitMix`.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn seeded(seed: u64) -> Chance {
        Chance(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A number below `end`, each as likely as the others: what would favour the first few is
    /// drawn again.
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
