//! Writes a schema tree as JSON text, in constants as well as at run time.
//!
mod members;
mod names;
mod scalars;
mod writer;

pub(crate) use self::names::{Names, find, resolve};
use self::writer::ConstJsonWriter;
use super::{Property, Schema};

/// Which way the values of a schema go. It matters for what may be left out: a call should leave
/// it out, while serde writes a result's `None` as `null`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From a model to a tool.
    Arguments,
    /// From a tool to a model.
    Result,
}

/// Writes both texts as far as there is room, and says where each ends.
pub(crate) const fn write_both(
    parameters: &'static [Property],
    output: Option<&'static Schema>,
    out: &mut [u8],
) -> (usize, usize) {
    let middle = write(&Schema::object(parameters), Direction::Arguments, 0, out);
    match output {
        Some(output) => (middle, write(output, Direction::Result, middle, out)),
        None => (middle, middle),
    }
}

/// The JSON text of a schema of arguments, rendered at run time.
pub(super) fn to_string(schema: &Schema) -> String {
    let mut bytes = vec![0; write(schema, Direction::Arguments, 0, &mut [])];
    write(schema, Direction::Arguments, 0, &mut bytes);
    String::from_utf8(bytes).expect("a schema is written from whole strings")
}

/// Writes as much as there is room for, from `start` on, and says where the text ends.
const fn write(schema: &Schema, direction: Direction, start: usize, out: &mut [u8]) -> usize {
    let is_result = matches!(direction, Direction::Result);
    let names;
    let mut writer = ConstJsonWriter::new(out, start, is_result, &Names::NONE);
    writer.root(schema);
    if writer.has_references {
        // Few schemas are recursive, so they alone pay for the search.
        names = Names::of(schema);
        writer = ConstJsonWriter::new(writer.out, start, is_result, &names);
        writer.root(schema);
    }
    writer.at
}
