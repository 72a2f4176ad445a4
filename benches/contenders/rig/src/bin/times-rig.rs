fn main() {
    timing::main::<with_rig::Rig>();
}
