fn main() {
    harness::counts::main::<with_rmcp::Rmcp>();
}
