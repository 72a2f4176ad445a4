//! A block of async methods that `async_trait`, which is above `#[toolset]`, has rewritten.

use std::future::Future;
use std::pin::Pin;

use tool_core::toolset;

trait Heated {
    fn heat<'life0, 'async_trait>(
        &'life0 self,
        degrees: u8,
    ) -> Pin<Box<dyn Future<Output = u8> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait;
}

struct Home;

#[toolset]
impl Heated for Home {
    /// Heats.
    #[tool]
    fn heat<'life0, 'async_trait>(
        &'life0 self,
        degrees: u8,
    ) -> Pin<Box<dyn Future<Output = u8> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move { degrees })
    }
}

fn main() {
    let _ = Home;
}
