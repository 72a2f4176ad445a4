/// Weather forecast
/// for a city.
///
/// In degrees.
///
/// # When to use
/// The user asks about weather.
///
/// # Arguments
/// * `city` - City and country.
///
/// # Returns
/// One number a day.
///
/// # Errors
/// When the service is down.
#[must_use]
#[tool(
    name = "get-forecast",
    title = "Forecast",
    read_only,
    destructive = false,
    idempotent,
    open_world = true
)]
#[inline]
pub async fn forecast(city: &str) -> Result<Forecast, WeatherError> {
    fetch(city).await
}
