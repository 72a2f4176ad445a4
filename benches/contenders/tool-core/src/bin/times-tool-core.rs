fn main() {
    timing::main::<with_tool_core::ToolCore>();
}
