//! Fields with `with` and without `as` or `schema`.

use serde::Deserialize;
use tool_core::ToolType;

#[derive(Deserialize, ToolType)]
struct Pause {
    #[serde(with = "seconds")]
    length: std::time::Duration,
    #[serde(deserialize_with = "seconds::deserialize")]
    more: std::time::Duration,
}

mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer};

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_secs)
    }
}

fn main() {}
// 2 errors
