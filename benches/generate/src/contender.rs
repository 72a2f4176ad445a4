/// A way to turn functions into tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// No tools: only the functions and types that every contender has.
    Bare,
    /// A hand-written argument struct, `serde_json::from_str`, a direct call.
    Floor,
    ToolCore,
    Rmcp,
    TowerMcp,
    Rig,
    ToolsRs,
    LlmTool,
    /// The floor with `schemars` for the schema, `deny_unknown_fields`, and a hash map by name.
    Schemars,
}

impl Contender {
    pub const ALL: [Contender; 9] = [
        Contender::Bare,
        Contender::Floor,
        Contender::ToolCore,
        Contender::Rmcp,
        Contender::TowerMcp,
        Contender::Rig,
        Contender::ToolsRs,
        Contender::LlmTool,
        Contender::Schemars,
    ];

    /// Returns the name in the report, which is also the folder in `contenders`.
    pub fn name(self) -> &'static str {
        match self {
            Contender::Bare => "bare",
            Contender::Floor => "floor",
            Contender::ToolCore => "tool-core",
            Contender::Rmcp => "rmcp",
            Contender::TowerMcp => "tower-mcp",
            Contender::Rig => "rig",
            Contender::ToolsRs => "tools-rs",
            Contender::LlmTool => "llm-tool",
            Contender::Schemars => "schemars",
        }
    }

    /// Returns the dependencies besides `serde` and `serde_json`, as names of workspace
    /// dependencies.
    pub fn dependencies(self) -> &'static [&'static str] {
        match self {
            Contender::Bare | Contender::Floor => &[],
            Contender::ToolCore => &["tool-core"],
            Contender::Rmcp => &["rmcp", "schemars"],
            Contender::TowerMcp => &["schemars", "tower-mcp"],
            Contender::Rig => &["rig-agent", "rig-core", "schemars"],
            Contender::ToolsRs => &["inventory", "tools-rs", "tools_core", "tools_macros"],
            Contender::LlmTool => &["llm-tool", "schemars"],
            Contender::Schemars => &["schemars"],
        }
    }

    /// Returns `true` if a macro turns a function into a tool.
    pub fn has_macro(self) -> bool {
        !matches!(
            self,
            Contender::Bare | Contender::Floor | Contender::Schemars
        )
    }

    /// Returns `true` if it can list its tools.
    pub fn lists(self) -> bool {
        !matches!(self, Contender::Bare | Contender::Floor)
    }
}
