/// Weather.
#[doc = include_str!("weather.md")]
#[tool(tags = ["weather", "v1"])]
fn forecast(#[param(description = CITY)] city: &str) {}

#[tool(description = TIME)]
fn time() {}

#[toolset(blocks = 2)]
impl<T: Backend, const N: usize> Home<T, N> {
    /// Sets it.
    #[tool]
    fn set(&self, #[param(range = 1..=3)] degrees: u8, #[param(length = 1..)] keys: Vec<T::Key>) -> T {
        T::default()
    }
}

#[toolset(block = 2)]
impl Clock for Home<u8, 2> {
    /// The time.
    #[tool]
    fn now(&self) {}
}
