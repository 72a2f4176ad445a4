/// Searches the web.
#[tool(handler = SearchTool, name = "web_search", timeout = "30s")]
#[cfg(feature = "web")]
pub async fn search(query: &str, page: Page) -> Result<Vec<Hit>, Error> {
    fetch(query, page).await
}
