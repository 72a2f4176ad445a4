fn main() {
    harness::counts::main::<with_schemars::Schemars>();
}
