//! The schema of `SmolStr`.

use smol_str::SmolStr;

use crate::schema::Schema;
use crate::types::ToolType;

impl ToolType for SmolStr {
    const SCHEMA: &'static Schema = &Schema::STRING;
    const EXACT: bool = true;
}
