use crate::{Contender, Function, source};

/// Returns the source of [`source`] with a `fn main` that lists the tools and keeps their code.
pub fn program(contender: Contender, functions: &[Function]) -> String {
    let main = match contender {
        Contender::Bare => "keep();",
        Contender::Floor => "std::hint::black_box(TOOLS);",
        Contender::Schemars => {
            "for (name, doc, schema, _) in std::hint::black_box(TOOLS) {
        println!(\"{name} {doc} {}\", serde_json::to_string(&schema()).unwrap());
    }"
        }
        Contender::ToolCore => {
            "let registry = tool_core::Registry::linked().unwrap();
    println!(\"{}\", registry.render(&tool_dialects::Mcp::default()).into_string());
    std::hint::black_box(registry.call_blocking(tool_core::ToolCall::new(\"\", \"\", \"\")));"
        }
        Contender::Rmcp => {
            "let router = Server::tool_router();
    println!(\"{}\", serde_json::to_string(&router.list_all()).unwrap());
    std::hint::black_box(router);"
        }
        Contender::TowerMcp => {
            "let tools = all();
    let definitions: Vec<_> = tools.iter().map(tower_mcp::Tool::definition).collect();
    println!(\"{}\", serde_json::to_string(&definitions).unwrap());
    let router = tower_mcp::McpRouter::new();
    std::hint::black_box(tools.into_iter().fold(router, tower_mcp::McpRouter::tool));"
        }
        Contender::Rig => {
            "let mut set = rig_agent::tool::ToolSet::default();
    add_all(&mut set);
    println!(\"{}\", serde_json::to_string(&set.tool_definitions()).unwrap());
    std::hint::black_box(set);"
        }
        Contender::ToolsRs => {
            "let tools = tools_rs::collect_tools();
    println!(\"{}\", serde_json::to_string(&tools.json().unwrap()).unwrap());
    std::hint::black_box(tools);"
        }
        Contender::LlmTool => {
            "let mut set = llm_tool::ToolRegistry::new();
    add_all(&mut set);
    println!(\"{}\", serde_json::to_string(&*set.definitions_slice()).unwrap());
    std::hint::black_box(set);"
        }
    };
    let tools = source(contender, functions);
    format!("{tools}\nfn main() {{\n    {main}\n}}\n")
}
