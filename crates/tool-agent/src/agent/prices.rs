//! [`Prices`]: the prices of tokens.

use tool_core::dialect::Usage;

/// The prices of a model, for the limit [`RunSettings::max_micros`](crate::run::RunSettings::max_micros) and for
/// [`Round::micros`](crate::run::Round::micros). The unit is a millionth of a currency per million tokens, so write 3
/// dollars per million tokens as 3,000,000.
///
/// ```
/// use tool_agent::Prices;
///
/// let prices = Prices::new(3_000_000, 15_000_000).cached_input(300_000);
/// # let _ = prices;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prices {
    input: u64,
    cached_input: u64,
    output: u64,
}

impl Prices {
    /// Creates prices per million tokens of requests and of responses. Cached tokens cost as much as others.
    pub fn new(input: u64, output: u64) -> Prices {
        Prices {
            input,
            cached_input: input,
            output,
        }
    }

    /// Sets the price per million request tokens that were read from a cache.
    pub fn cached_input(mut self, price: u64) -> Prices {
        self.cached_input = price;
        self
    }

    /// Returns the cost of a response, rounded up to a millionth.
    ///
    /// ```
    /// use tool_agent::Prices;
    /// use tool_core::dialect::Usage;
    ///
    /// let mut usage = Usage::default();
    /// (usage.input, usage.cached_input, usage.output) = (1000, 600, 10);
    /// let prices = Prices::new(3_000_000, 15_000_000).cached_input(300_000);
    /// assert_eq!(prices.micros(usage), 1200 + 180 + 150);
    /// ```
    pub fn micros(&self, usage: Usage) -> u64 {
        let cached = usage.cached_input.min(usage.input);
        let cost = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let sum = cost(usage.input - cached, self.input)
            .saturating_add(cost(cached, self.cached_input))
            .saturating_add(cost(usage.output, self.output));
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}
