//! Tests are in `tests/`. The examples of documents that belong to no published package are doc tests of this one.

#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../tool-macros/README.md")]
    mod macros {}

    #[doc = include_str!("../../tool-macros/src/examples/tool.md")]
    mod tool {}

    #[doc = include_str!("../../tool-macros/src/examples/toolset.md")]
    mod toolset {}

    #[doc = include_str!("../../tool-macros/src/examples/tool_type.md")]
    mod tool_type {}

    #[doc = include_str!("../../llms.txt")]
    mod llms {}

    #[doc = include_str!("../../skills/writing-tools/SKILL.md")]
    mod writing_tools {}

    #[doc = include_str!("../../examples/cookbook/FROM-OTHER-LANGUAGES.md")]
    mod other_languages {}
}
