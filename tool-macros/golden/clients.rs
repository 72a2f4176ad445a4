/// Weather in a city.
#[tool(
    meta = r#"{ "com.example/cost": 3, "ui": {"visibility": ["app"]} }"#,
    icons = ["https://example.com/a.png", icon("data:image/svg+xml,…", mime_type = "image/svg+xml", sizes = ["any"], theme = "dark")]
)]
fn weather() {}

/// Time of a city.
#[tool(icons = "https://example.com/a.png")]
fn time() {}
