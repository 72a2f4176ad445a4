fn main() {
    timing::main::<with_bfcl::Bfcl>();
}
