//! Counts the allocations of one repeat of each case. The program must set the allocator:
//!
//! ```ignore
//! #[global_allocator]
//! static ALLOCATOR: &harness::allocations::Counting = harness::allocations::COUNTING;
//! ```

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use crate::{Contender, work};

pub type Counting = StatsAlloc<System>;
pub static COUNTING: &Counting = &INSTRUMENTED_SYSTEM;

/// Prints a line for each case: name, allocations and bytes, separated by tabs.
pub fn main<C: Contender>() {
    for case in work::names::<C>() {
        let mut work = work::<C>(&case);
        // Allocations on first use do not count.
        (work.run)();
        let region = Region::new(COUNTING);
        (work.run)();
        let change = region.change();
        let of = |count: usize| count as f64 / work.of as f64;
        println!(
            "{case}\t{}\t{}",
            of(change.allocations + change.reallocations),
            of(change.bytes_allocated),
        );
    }
}
