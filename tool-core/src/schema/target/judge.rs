//! [`Judge`]: what is refused of the parameters of one tool.

use super::line::Line;
use super::walk::Breach;
use crate::schema::Property;

/// How many refused parameters are told of beside the first.
const MANY: usize = 7;

/// Hears all parameters of a tool before it stops the build, so that one build shows every one that
/// is refused.
///
/// The place of an error is that of the call which panics, and the first refused parameter is to be
/// underlined, before the others are known. So there are two rounds: in the first nothing stops, and
/// only where something was refused is there a second, in which the first refused parameter does.
pub struct Judge {
    tool: &'static str,
    is_second_round: bool,
    refused: usize,
    /// What is told of all refused parameters but the first.
    others: Line<4096>,
}

impl Judge {
    /// Of this tool.
    pub const fn of(tool: &'static str) -> Judge {
        Judge {
            tool,
            is_second_round: false,
            refused: 0,
            others: Line::EMPTY,
        }
    }

    /// Ends a round. Says whether it was the last.
    pub const fn ends(&mut self) -> bool {
        self.is_second_round = true;
        self.refused == 0
    }

    /// Hears of a parameter that is refused.
    ///
    /// # Panics
    ///
    /// In the second round, with a message that names the tool and each refused parameter, with its
    /// path, the rule and the remedy.
    pub(super) const fn refuse(&mut self, parameter: &Property, breach: &Breach) {
        if self.is_second_round {
            panic!("{}", self.message(parameter, breach).as_str());
        }
        if 0 < self.refused && self.refused <= MANY {
            self.others.push("\nalso refused, ");
            breach.write(parameter, &mut self.others);
        }
        self.refused += 1;
    }

    /// What is to be said of all refused parameters, of which this is the first.
    const fn message(&self, parameter: &Property, breach: &Breach) -> Line<5120> {
        let mut line = Line::new("tool `");
        line.push(self.tool);
        line.push("`, ");
        breach.write(parameter, &mut line);
        line.push(self.others.as_str());
        if self.refused > MANY + 1 {
            line.push("\nalso refused: ");
            line.number(self.refused - MANY - 1);
            line.push(" more");
        }
        line
    }
}
