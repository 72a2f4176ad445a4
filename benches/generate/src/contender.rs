/// What turns the functions into tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// Nothing: the functions and the types, which every contender has too.
    Bare,
    /// A hand-written argument struct, `from_str`, a direct call.
    Floor,
    ToolCore,
    Rmcp,
    Rig,
    ToolsRs,
    LlmTool,
    /// The floor with `schemars` for the schema, `deny_unknown_fields`, and a hash map by name.
    Schemars,
}

impl Contender {
    pub const ALL: [Contender; 8] = [
        Contender::Bare,
        Contender::Floor,
        Contender::ToolCore,
        Contender::Rmcp,
        Contender::Rig,
        Contender::ToolsRs,
        Contender::LlmTool,
        Contender::Schemars,
    ];

    /// Its name in the report, and of its folder in `contenders`.
    pub fn name(self) -> &'static str {
        match self {
            Contender::Bare => "bare",
            Contender::Floor => "floor",
            Contender::ToolCore => "tool-core",
            Contender::Rmcp => "rmcp",
            Contender::Rig => "rig",
            Contender::ToolsRs => "tools-rs",
            Contender::LlmTool => "llm-tool",
            Contender::Schemars => "schemars",
        }
    }

    /// What it needs besides `serde` and `serde_json`, as names of workspace dependencies.
    pub fn dependencies(self) -> &'static [&'static str] {
        match self {
            Contender::Bare | Contender::Floor => &[],
            Contender::ToolCore => &["tool-core"],
            Contender::Rmcp => &["rmcp", "schemars"],
            Contender::Rig => &["rig-agent", "rig-core", "schemars"],
            Contender::ToolsRs => &["inventory", "tools-rs", "tools_core", "tools_macros"],
            Contender::LlmTool => &["llm-tool", "schemars"],
            Contender::Schemars => &["schemars"],
        }
    }

    /// Whether it has a macro that makes a tool of a function.
    pub fn has_macro(self) -> bool {
        !matches!(
            self,
            Contender::Bare | Contender::Floor | Contender::Schemars
        )
    }

    /// Whether it can say what its tools are.
    pub fn lists(self) -> bool {
        !matches!(self, Contender::Bare | Contender::Floor)
    }
}
