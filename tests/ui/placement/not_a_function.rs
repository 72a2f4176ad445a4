//! `#[tool]` on items that are not functions.

use tool_core::tool;

#[tool]
#[derive(Debug)]
pub struct Weather {
    city: String,
}

#[tool]
impl Weather {
    pub fn city(&self) -> &str {
        &self.city
    }
}

#[tool]
mod weather {}

#[tool]
const DAYS: u8 = 3;

#[tool]
macro_rules! forecast {
    () => {};
}

fn main() {
    let weather = Weather {
        city: String::new(),
    };
    let _ = (weather.city(), format!("{weather:?}"), DAYS);
    forecast!();
}
// 5 errors
