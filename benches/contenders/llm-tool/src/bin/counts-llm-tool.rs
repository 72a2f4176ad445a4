fn main() {
    harness::counts::main::<with_llm_tool::LlmTool>();
}
