//! More fields than one provider takes.

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

macro_rules! wide {
    ($name:ident: $($field:ident)*) => {
        #[derive(Deserialize, ToolType)]
        struct $name { $($field: u8),* }

        impl $name {
            fn sum(&self) -> u32 {
                0 $(+ u32::from(self.$field))*
            }
        }
    };
}

wide!(Row: a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9
           c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 d0 d1 d2 d3 d4 d5 d6 d7 d8 d9
           e0 e1 e2 e3 e4 e5 e6 e7 e8 e9);

/// Stores rows.
#[tool]
fn store(key: &str, first: Row, second: Row, third: Row, rest: Vec<Row>) -> u32 {
    let rows = [first, second, third];
    key.len() as u32 + rows.iter().chain(&rest).map(Row::sum).sum::<u32>()
}

fn main() {
    let _ = tools![store];
}
