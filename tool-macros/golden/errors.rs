/// Everything wrong.
#[tool(unlinked, readonly)]
#[cfg(unix)]
pub unsafe fn mistakes<T>((x, y): (f64, f64), #[param(default)] value: impl Sized) -> T {
    todo!()
}

impl Place {
    /// A method.
    #[tool]
    fn method(&self) {}
}
