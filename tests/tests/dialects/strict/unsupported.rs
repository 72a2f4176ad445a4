//! Tools that a strict mode cannot express.

use serde_json::json;
use tool_core::dialect::Dialect;
use tool_core::rules::{Target, broken};
use tool_core::{Registry, ToolEntry, tools};
use tool_dialects::{Anthropic, OpenAiChat, OpenAiResponses};

use super::{alarm, count, set_alarm};

/// One tool without a strict form must not cost a request all the others.
#[test]
fn a_tool_without_a_strict_form_is_sent_as_written() {
    let tools = tools![count, set_alarm];
    let registry = Registry::builder().tools(tools).build().unwrap();
    let tools = json!(registry.render(&OpenAiResponses::strict()));
    assert_eq!(tools[0]["name"], "count");
    assert_eq!(tools[0]["strict"], false);
    assert_eq!(
        tools[0]["parameters"]["properties"]["words"]["additionalProperties"]["type"],
        "integer"
    );
    assert_eq!(tools[1]["strict"], true);
    let tools = json!(registry.render(&Anthropic::strict()));
    assert_eq!(tools[0]["strict"], false);
    assert_eq!(tools[1]["strict"], true);
}

#[test]
fn too_many_strict_tools_are_reported() {
    let tools = vec![alarm(); 129];
    let messages = |target| -> Vec<_> {
        let broken = broken(target, &tools).into_iter();
        broken.map(|broken| broken.to_string()).collect()
    };
    assert_eq!(
        messages(Target::OpenAiStrict),
        [
            "OpenAI allows at most 128 tools in a request, but there are 129; send fewer tools (rule openai.tools_max)"
        ]
    );
    assert_eq!(messages(Target::Gemini).len(), 1);
    assert_eq!(messages(Target::Mistral), [""; 0]);
    assert!(broken(Target::OpenAiStrict, &tools[1..]).is_empty());
    assert_eq!(OpenAiChat::default().broken_rules(&tools, &[]).len(), 1);
    assert_eq!(Anthropic::default().broken_rules(&tools, &[]), []);

    // Each has six optional parameters and two unions: `when` and `sound`.
    let broken = Anthropic::strict().broken_rules(&tools[..21], &[]);
    let rules: Vec<_> = broken
        .iter()
        .map(|broken| (broken.rule.id, &*broken.message))
        .collect();
    assert_eq!(
        rules,
        [
            (
                "anthropic.strict.max_strict_tools_per_request",
                "Anthropic's strict mode allows at most 20 strict tools in a request, but there are 21; \
                 send fewer tools"
            ),
            (
                "anthropic.strict.max_optional_parameters_total",
                "Anthropic's strict mode allows at most 24 optional parameters and fields in a request, \
                 but there are 126; make some of them required, or send fewer tools"
            ),
            (
                "anthropic.strict.max_union_parameters_total",
                "Anthropic's strict mode allows at most 16 unions in a request, but there are 42; \
                 send fewer tools"
            ),
        ]
    );
    // Tools that are not strict do not count.
    let counts = vec![ToolEntry::of::<count>(); 40];
    assert_eq!(Anthropic::strict().broken_rules(&counts, &[]), []);
}
