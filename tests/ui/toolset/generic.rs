//! Types that are generic or borrow.

use tool_core::toolset;

struct Home<T>(T);

#[toolset]
impl<T: Send + Sync + 'static> Home<T> {
    /// Heats.
    #[tool]
    fn heat(&self) {}
}

struct Rooms<const N: usize>([u8; N]);

#[toolset]
impl<const N: usize> Rooms<N> {
    /// Counts.
    #[tool]
    fn count(&self) -> usize {
        self.0.len()
    }
}

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
    Home(1).heat();
    Rooms([1]).count();
    Name("").read();
    Title(None).compare(Title(None).read());
}
// 5 errors
