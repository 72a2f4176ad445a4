/// A house.
#[toolset]
impl Home {
    const LIMIT: u8 = 3;

    /// Sets the temperature.
    #[tool(idempotent)]
    #[inline]
    fn set(&self, degrees: i32, like: Option<Self>) -> Result<[u8; Self::LIMIT], Error> {
        self.degrees(degrees)
    }

    fn degrees(&self, degrees: i32) {}

    /// Waits for a temperature.
    #[cfg(unix)]
    #[tool_core::tool]
    async fn wait(&self) {}

    /// Lists the rooms.
    #[tool(name = "list_rooms")]
    pub fn rooms() -> Vec<String> {
        Vec::new()
    }
}

#[toolset]
impl Home {
    /// Changes it.
    #[tool(unlinked)]
    fn change(&mut self) {}
}
