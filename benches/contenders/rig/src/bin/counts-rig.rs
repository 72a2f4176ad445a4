fn main() {
    harness::counts::main::<with_rig::Rig>();
}
