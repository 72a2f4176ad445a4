//! Tools in a crate of their own, in two modules.

/// Numbers.
pub mod numbers {
    use tool_core::tool;

    /// Adds two numbers.
    #[tool(read_only)]
    pub fn add(a: i32, b: i32) -> i32 {
        a + b
    }

    /// Returns the length of a vector.
    #[tool(read_only)]
    pub fn length(
        /// Its coordinates.
        coordinates: Vec<f64>,
    ) -> f64 {
        coordinates.iter().map(|c| c * c).sum::<f64>().sqrt()
    }
}

/// Texts.
pub mod texts {
    use tool_core::tool;

    /// Repeats a text.
    #[tool(read_only)]
    pub fn repeat(
        text: &str,
        /// At most nine times.
        #[param(range = ..=9)]
        times: u8,
    ) -> Result<String, String> {
        if text.is_empty() {
            return Err("the text is empty".into());
        }
        Ok(text.repeat(times.into()))
    }

    /// Returns a text in capitals.
    #[tool(read_only)]
    pub async fn shout(text: &str) -> String {
        text.to_uppercase()
    }

    /// Waits for an answer that never comes.
    #[tool(read_only)]
    pub async fn wait() -> String {
        std::future::pending().await
    }
}
