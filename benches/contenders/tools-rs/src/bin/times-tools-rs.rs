fn main() {
    timing::main::<with_tools_rs::ToolsRs>();
}
