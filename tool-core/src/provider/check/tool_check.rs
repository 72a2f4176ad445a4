//! [`ToolCheck`]: what is refused of the parameters of one tool.

use crate::provider::check::walk::Breach;
use crate::schema::Property;
use crate::schema::const_string::ConstString;

/// How many refused parameters are told of beside the first.
const MANY: usize = 7;

/// Hears all parameters of a tool before it stops the build, so that one build shows every one that
/// is refused.
///
/// The place of an error is that of the call which panics, and the first refused parameter is to be
/// underlined, before the others are known. So there are two rounds: in the first nothing stops, and
/// only where something was refused is there a second, in which the first refused parameter does.
pub struct ToolCheck {
    tool: &'static str,
    is_second_round: bool,
    refused: usize,
    /// What is told of all refused parameters but the first.
    others: ConstString<4096>,
}

impl ToolCheck {
    /// Of this tool.
    pub const fn of(tool: &'static str) -> ToolCheck {
        ToolCheck {
            tool,
            is_second_round: false,
            refused: 0,
            others: ConstString::EMPTY,
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
    pub(crate) const fn refuse(&mut self, parameter: &Property, breach: &Breach) {
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
    const fn message(&self, parameter: &Property, breach: &Breach) -> ConstString<5120> {
        let mut line = ConstString::new("tool `");
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
