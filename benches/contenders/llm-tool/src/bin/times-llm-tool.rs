fn main() {
    timing::main::<with_llm_tool::LlmTool>();
}
