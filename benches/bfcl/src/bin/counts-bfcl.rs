fn main() {
    harness::counts::main::<with_bfcl::Bfcl>();
}
