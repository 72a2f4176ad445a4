//! Ten thousand tools made from one, and any number from a method: expanding a macro for each would take minutes to build.

use std::sync::Arc;

use tool_core::__private::{Location, StaticSpec};
use tool_core::{Registry, Tool, ToolEntry, tool, toolset};

/// Searches a collection and gives what fits best.
#[tool(unlinked)]
fn search(
    /// What to look for, in the words of the user.
    query: String,
    /// How many results to give at most.
    limit: Option<u32>,
    /// Results below this score are dropped.
    threshold: f64,
    /// Tell more of each result.
    verbose: bool,
) -> String {
    std::hint::black_box((&query, &limit, &threshold, &verbose));
    "stored".into()
}

/// The tool `search` under the names `search_0000`, `search_0001` and so on.
struct Search<const N: usize>;

impl<const N: usize> Search<N> {
    const NAME: &'static [u8; 11] = &{
        let mut name = *b"search_0000";
        let mut rest = N;
        let mut at = name.len();
        while rest > 0 {
            at -= 1;
            name[at] += (rest % 10) as u8;
            rest /= 10;
        }
        name
    };
}

impl<const N: usize> Tool for Search<N> {
    const SOURCE: StaticSpec = StaticSpec {
        name: match str::from_utf8(Self::NAME) {
            Ok(name) => name,
            Err(_) => panic!("digits"),
        },
        ..search::SOURCE
    };
    const LOCATION: Location = search::LOCATION;
}

include!(concat!(env!("OUT_DIR"), "/many.rs"));

/// Returns the first `size` tools, not sorted by name.
pub fn tools(size: usize) -> Vec<ToolEntry> {
    let mut tools = all();
    tools.truncate(size);
    tools
}

pub fn registry(size: usize) -> Registry {
    let registry = Registry::builder().tools(tools(size)).build();
    registry.expect("unique names")
}

/// Returns their names, in another order.
pub fn names(size: usize) -> Vec<String> {
    let tools = tools(size);
    (0..size)
        .map(|place| tools[place * 37 % size].name.to_string())
        .collect()
}

struct Page;

#[toolset]
impl Page {
    /// Searches a page and gives what fits best.
    #[tool]
    fn s(
        &self,
        /// What to look for, in the words of the user.
        query: String,
    ) -> String {
        std::hint::black_box((self, &query));
        "stored".into()
    }
}

/// Returns a registry with the tools `search_00000s`, `search_00001s` and so on.
pub fn methods(size: usize) -> Registry {
    let page = Arc::new(Page);
    let prefixes = (0..size).map(|index| format!("search_{index:05}"));
    let registry = prefixes.fold(Registry::builder(), |registry, prefix| {
        registry.shared_toolset(&prefix, Arc::clone(&page))
    });
    registry.build().expect("unique names")
}
