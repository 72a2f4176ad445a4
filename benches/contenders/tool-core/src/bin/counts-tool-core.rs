fn main() {
    harness::counts::main::<with_tool_core::ToolCore>();
}
