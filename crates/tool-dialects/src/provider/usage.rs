//! [`Counts`]: where a provider has the counts of tokens.

use tool_core::dialect::Usage;
use tool_core::dialect::write::Json;

/// The paths of the counts in a provider's usage. A count is the sum of the numbers at its paths. A usage without the
/// first path of the input has no counts.
pub(crate) struct Counts {
    pub(crate) input: &'static [&'static str],
    pub(crate) cached_input: &'static [&'static str],
    pub(crate) output: &'static [&'static str],
}

impl Counts {
    /// Reads an object with counts.
    pub(crate) fn read<'e>(&self, usage: impl Json<'e>) -> Option<Usage> {
        let find = |path: &str| path.split('.').fold(usage, Json::get);
        if usage.is_null() || find(self.input[0]).is_null() {
            return None;
        }
        let sum = |paths: &[&str]| {
            let counts = paths.iter().filter_map(|path| find(path).as_u64());
            counts.fold(0, u64::saturating_add)
        };
        let mut usage = Usage::default();
        usage.input = sum(self.input);
        usage.cached_input = sum(self.cached_input);
        usage.output = sum(self.output);
        Some(usage)
    }
}
