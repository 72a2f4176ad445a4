fn main() {
    timing::main::<with_tower_mcp::TowerMcp>();
}
