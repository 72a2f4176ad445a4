//! Prints the bytes that a tool holds: a name and a number on each line, separated by a tab.

use harness::allocations::{COUNTING, Counting};
use stats_alloc::Region;

#[global_allocator]
static ALLOCATOR: &Counting = COUNTING;

fn main() {
    // What is allocated on first use does not count.
    drop(with_dynamic::validators());
    with_dynamic::call_each(&with_dynamic::registry());

    let region = Region::new(COUNTING);
    let held = || {
        let change = region.change();
        with_dynamic::each(change.bytes_allocated - change.bytes_deallocated)
    };
    let validators = with_dynamic::validators();
    println!("memory, jsonschema\t{}", held());
    drop(validators);
    let registry = with_dynamic::registry();
    println!("memory\t{}", held());
    with_dynamic::call_each(&registry);
    println!("memory, called\t{}", held());
}
