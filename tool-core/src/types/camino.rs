//! Schemas of the types of `camino`.

use camino::{Utf8Path, Utf8PathBuf};

use crate::schema::Schema;
use crate::types::ToolType;
use crate::types::borrow::Lend;

macro_rules! paths {
    ($($type:ty),*) => {$(
        impl ToolType for $type {
            const SCHEMA: &'static Schema = &Schema::STRING;
            const EXACT: bool = true;
        }
    )*};
}

paths!(Utf8Path, Utf8PathBuf, Box<Utf8Path>);

impl Lend for Utf8Path {
    type Held<'de> = Utf8PathBuf;

    fn lend(held: &Utf8PathBuf) -> &Utf8Path {
        held
    }
}
