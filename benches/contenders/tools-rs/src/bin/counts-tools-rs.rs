fn main() {
    harness::counts::main::<with_tools_rs::ToolsRs>();
}
