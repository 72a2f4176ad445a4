#[global_allocator]
static ALLOCATOR: &harness::allocations::Counting = harness::allocations::COUNTING;

fn main() {
    harness::allocations::main::<with_tower_mcp::TowerMcp>();
}
