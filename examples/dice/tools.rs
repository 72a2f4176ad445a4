//! The tool: named dice rolls.

use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use tool_core::{ToolType, tool};

use crate::dice::{Dice, Rng};

// Without a doc comment: the model would read it in addition to those of the fields.
#[derive(ToolType)]
pub(crate) struct NamedDice {
    /// Purpose of the roll. Names can repeat.
    name: String,
    /// Number of dice, sides and an optional offset, such as `1d10`, `3d6+2` or `2d8-1`. The number
    /// of sides is even and at least 4. The lowest possible total is at least 1: `1d4-1` is invalid.
    dice: Dice,
}

/// A roll.
#[derive(Serialize, ToolType)]
pub(crate) struct Rolled {
    name: String,
    /// Value of each die.
    dice: Vec<u16>,
    /// Sum of the dice and the offset.
    total: i32,
}

/// Rolls dice.
#[tool(idempotent = false)]
pub(crate) fn roll(
    #[param(length = 1..=100)] specs: Vec<NamedDice>,
    // A context value: the model can't choose how the dice fall.
    #[param(context)] rng: &Mutex<Rng>,
) -> Vec<Rolled> {
    let mut rng = rng.lock().unwrap_or_else(PoisonError::into_inner);
    let roll = |NamedDice { name, dice }| {
        let (dice, total) = dice.roll(&mut rng);
        Rolled { name, dice, total }
    };
    specs.into_iter().map(roll).collect()
}
