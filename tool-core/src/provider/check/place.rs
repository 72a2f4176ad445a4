//! [`Place`]: where a walk is.

use crate::schema::const_string::ConstString;

/// A place in a tree, and what leads there.
#[derive(Clone, Copy)]
pub(crate) struct Place<'p> {
    above: Option<&'p Place<'p>>,
    pub(crate) step: Step,
    /// How many objects and arrays it is inside of.
    pub(crate) depth: usize,
    /// Whether something on the way here may be left out, since the last type that something may
    /// refer to.
    pub(crate) may_end: bool,
}

#[derive(Clone, Copy)]
pub(crate) enum Step {
    Root,
    Key(&'static str),
    Item,
    Value,
    Variant(usize),
}

impl<'p> Place<'p> {
    /// A parameter, which is inside of the object of all arguments.
    pub(crate) const ROOT: Place<'static> = Place {
        above: None,
        step: Step::Root,
        depth: 1,
        may_end: false,
    };

    pub(crate) const fn below(&'p self, step: Step) -> Place<'p> {
        Place {
            above: Some(self),
            step,
            ..*self
        }
    }

    /// `.lines[]`
    pub(crate) const fn write<const N: usize>(&self, line: &mut ConstString<N>) {
        if let Some(above) = self.above {
            above.write(line);
        }
        match self.step {
            Step::Root => {}
            Step::Key(key) => {
                line.push(".");
                line.push(key);
            }
            Step::Item => line.push("[]"),
            Step::Value => line.push("{}"),
            Step::Variant(at) => {
                line.push("(variant ");
                line.number(at + 1);
                line.push(")");
            }
        }
    }
}
