fn main() {
    timing::main::<with_floor::Floor>();
}
