fn main() {
    timing::main::<with_schemars::Schemars>();
}
