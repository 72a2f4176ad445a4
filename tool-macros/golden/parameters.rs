/// Every way to take an argument.
#[tool(crate = toolbox)]
pub(crate) fn parameters<'a>(
    /// Owned.
    mut owned: String,
    borrowed: &'a str,
    maybe: Option<u8>,
    maybe_borrowed: Option<&str>,
    items: &[Vec<u8>],
    #[param(default = -5, description = "With \"quotes\".")] number: i64,
    #[param(default)] unset: Vec<String>,
    #[param(rename = "type")] r#type: Kind<'_>,
    #[cfg(unix)]
    #[allow(unused)]
    conditional: bool,
) -> &'a str {
    owned.push('!');
    borrowed
}
