/// Weather in a city.
#[tool(example = r#"{ "city": "Lisbon", "days": 3 }"#, title = "Weather", example = "{\"city\":\"\\u00c9vora \\\"\"}")]
fn weather(city: &str, days: Option<u8>) {}

#[toolset]
impl<T: Backend> Home<T> {
    /// Sets the light.
    #[tool(example = r#"{"on": true}"#, example = r#"{"on": false}"#)]
    fn light(&self, on: bool) {}
}
