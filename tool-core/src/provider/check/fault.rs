//! [`Fault`]: what can be wrong with a node, in words.

use crate::provider::anthropic::rules as anthropic;
use crate::provider::gemini::rules as gemini;
use crate::provider::openai::rules as openai;
use crate::provider::rules::{Rule, others, portable};
use crate::schema::const_string::ConstString;

/// A broken rule: what is wrong, and what to do.
pub(crate) struct Fault {
    pub(crate) rule: &'static Rule,
    says: &'static str,
    /// What stands behind the number of the rule, if the number is told.
    unit: &'static str,
    remedy: &'static str,
}

impl Fault {
    /// "… (rule openai.strict.ref); do …"
    pub(crate) const fn write<const N: usize>(&self, line: &mut ConstString<N>) {
        line.push(self.says);
        if !self.unit.is_empty() {
            line.number(self.rule.value.number());
            line.push(self.unit);
        }
        line.push(" (rule ");
        line.push(self.rule.id);
        line.push("); ");
        line.push(self.remedy);
    }
}

pub(crate) const KEY: Fault = Fault {
    rule: &portable::PARAM_NAME,
    says: "this is no key that every provider takes",
    unit: "",
    remedy: "use an ASCII letter or `_`, then at most 63 ASCII letters, digits or `_`",
};
pub(crate) const EMPTY: Fault = Fault {
    rule: &others::XAI_REJECTED,
    says: "an enum or a union without members describes nothing",
    unit: "",
    remedy: "give it a member, or drop the parameter",
};
pub(crate) const CASE_COLLISION: Fault = Fault {
    rule: &anthropic::ENUM_CASE,
    says: "two values of this enum differ by case alone, which not every provider keeps",
    unit: "",
    remedy: "rename one of them",
};

pub(crate) const OPENAI_ANY: Fault = Fault {
    rule: &openai::TYPES,
    says: "OpenAI's strict mode takes no value of any type",
    unit: "",
    remedy: "take a type of its own, or JSON in a `String`, or turn the feature `openai-strict` off",
};
pub(crate) const OPENAI_MAP: Fault = Fault {
    rule: &openai::CLOSED,
    says: "OpenAI's strict mode takes no map with free keys",
    unit: "",
    remedy: "name the keys in a struct, or take a list of pairs, or turn the feature \
             `openai-strict` off",
};
pub(crate) const OPENAI_ENUM_MAP: Fault = Fault {
    rule: &openai::REQUIRED,
    says: "OpenAI's strict mode takes no map, from which keys may be missing",
    unit: "",
    remedy: "take a struct with a field for each key, optional ones as `Option`, or turn the \
             feature `openai-strict` off",
};
pub(crate) const OPENAI_DEPTH: Fault = Fault {
    rule: &openai::MAX_NESTING,
    says: "OpenAI's strict mode takes at most ",
    unit: " objects and arrays inside of each other",
    remedy: "take a flatter type, or turn the feature `openai-strict` off",
};
pub(crate) const OPENAI_ENUM: Fault = Fault {
    rule: &openai::MAX_ENUM_STRINGS,
    says: "OpenAI's strict mode takes at most ",
    unit: " characters in an enum of more than 250 values",
    remedy: "take a `String`, or turn the feature `openai-strict` off",
};

pub(crate) const ANTHROPIC_ANY: Fault = Fault {
    rule: &anthropic::SUPPORTED,
    says: "Anthropic's strict mode takes no value of any type",
    unit: "",
    remedy: "take a type of its own, or JSON in a `String`, or turn the feature \
             `anthropic-strict` off",
};
pub(crate) const ANTHROPIC_MAP: Fault = Fault {
    rule: &anthropic::UNSUPPORTED,
    says: "Anthropic's strict mode takes no map with free keys",
    unit: "",
    remedy: "name the keys in a struct, or take a list of pairs, or turn the feature \
             `anthropic-strict` off",
};
pub(crate) const ANTHROPIC_RECURSION: Fault = Fault {
    rule: &anthropic::UNSUPPORTED,
    says: "Anthropic's strict mode takes no recursive type",
    unit: "",
    remedy: "take a list whose items name their parent, or turn the feature `anthropic-strict` off",
};
pub(crate) const ANTHROPIC_KEY: Fault = Fault {
    rule: &anthropic::PROPERTY_KEY,
    says: "Anthropic takes keys of ASCII letters, digits, `_`, `.` and `-` alone",
    unit: "",
    remedy: "rename the key, or turn the feature `anthropic-strict` off",
};

pub(crate) const GEMINI_RECURSION: Fault = Fault {
    rule: &gemini::RECURSION,
    says: "Gemini takes a recursive type only where what leads back may be left out",
    unit: "",
    remedy: "make that field an `Option`, or turn the feature `gemini` off",
};
pub(crate) const XAI_RECURSION: Fault = Fault {
    rule: &others::XAI_SUPPORTED,
    says: "xAI takes no recursive type",
    unit: "",
    remedy: "take a list whose items name their parent, or turn the feature `xai` off",
};
