//! Types that borrow, and a method that is generic itself.

use tool_core::toolset;

struct Name<'n>(&'n str);

#[toolset]
impl<'n> Name<'n> {
    /// Reads.
    #[tool]
    fn read(&self) -> String {
        self.0.into()
    }
}

struct Title<'t>(Option<&'t str>);

#[toolset]
impl Title<'_> {
    /// Reads.
    #[tool]
    fn read(&self) -> bool {
        self.0.is_some()
    }

    /// Is generic itself.
    #[tool]
    fn compare<T: PartialEq>(&self, other: T) -> bool {
        other == other
    }
}

fn main() {
    Name("").read();
    Title(None).compare(Title(None).read());
}
// 3 errors
