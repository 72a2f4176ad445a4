fn main() {
    timing::main::<with_rmcp::Rmcp>();
}
