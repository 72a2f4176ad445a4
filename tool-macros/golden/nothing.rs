/// Takes a nap.
#[tool(unlinked)]
fn nap() {}
