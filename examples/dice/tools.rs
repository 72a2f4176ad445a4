//! The tool: dice, each throw with a name.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tool_core::{ToolType, tool};

use crate::dice::{Chance, Dice};

// No doc comment: it would reach the model beside those of the fields, which say it all.
#[derive(Deserialize, ToolType)]
pub(crate) struct NamedDice {
    /// What the throw is for. Several may have one name, such as the throws for one ability.
    name: String,
    /// How many dice, of how many sides (an even number above 3), such as `1d10` or `3d6+2`. What
    /// follows is added to the total or, as in `2d8-1`, taken from it. At least 1 must be left:
    /// `1d4-1` is refused.
    dice: Dice,
}

/// A throw.
#[derive(Serialize, ToolType)]
pub(crate) struct Thrown {
    name: String,
    /// What each die shows.
    dice: Vec<u16>,
    /// Their sum with the offset.
    total: i32,
}

/// Throws dice.
#[tool(idempotent = false)]
pub(crate) fn roll(
    #[param(length = 1..=100)] specs: Vec<NamedDice>,
    // No parameter for the model, which can't choose how the dice fall.
    #[param(context)] chance: &Mutex<Chance>,
) -> Vec<Thrown> {
    let mut chance = chance.lock().unwrap_or_else(PoisonError::into_inner);
    let throw = |NamedDice { name, dice }| {
        let (dice, total) = dice.roll(&mut chance);
        Thrown { name, dice, total }
    };
    specs.into_iter().map(throw).collect()
}
