fn main() {
    harness::counts::main::<with_tower_mcp::TowerMcp>();
}
