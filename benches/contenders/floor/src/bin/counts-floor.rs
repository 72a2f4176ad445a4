fn main() {
    harness::counts::main::<with_floor::Floor>();
}
