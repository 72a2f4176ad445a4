//! User names that clash with names in generated code, and raw identifiers.

#![allow(clippy::unused_async)]

use tool_core::{Registry, Tool, ToolCall, ToolEntry, ToolType, tool, tools};

fn call(tool: ToolEntry, arguments: &str) -> String {
    let name = tool.name.to_string();
    let registry = Registry::builder().tools([tool]).build().expect("one tool");
    let call = ToolCall::new("id", name, arguments);
    registry.call_blocking(call).content().to_owned()
}

/// Compares text with a pattern.
///
/// # Arguments
/// * `r#type` - The kind of pattern.
/// * `in` - Where to look.
#[tool]
fn r#match(r#type: String, r#in: &str) -> String {
    format!("{type} {in}", r#type = r#type, r#in = r#in)
}

/// A thing.
#[derive(serde::Deserialize, ToolType)]
struct Thing {
    /// Its kind.
    r#type: Kind,
}

/// A kind.
#[derive(Debug, serde::Deserialize, ToolType)]
#[allow(non_camel_case_types)]
enum Kind {
    r#fn,
    r#mod,
}

/// Shows a thing.
#[tool]
fn r#struct(r#move: Thing) -> String {
    format!("{:?}", r#move.r#type)
}

#[test]
fn raw_identifiers_lose_their_prefix_for_the_model() {
    let [matcher, shower] = tools![r#match, r#struct];
    assert_eq!(matcher.name, "match");
    assert_eq!(shower.name, "struct");
    for tool in [&matcher, &shower] {
        assert!(!tool.parameters_json().contains("r#"), "{tool:?}");
    }
    let parameters = matcher.parameters();
    let r#type = parameters.property("type").expect("its plain name");
    assert_eq!(r#type.description(), "The kind of pattern.");
    assert_eq!(
        call(matcher, r#"{"type":"regex","in":"text"}"#),
        "regex text"
    );
    assert_eq!(call(shower, r#"{"move":{"type":"fn"}}"#), "fn");
}

/// Lends its arguments back in one line.
#[tool]
#[allow(clippy::too_many_arguments)]
fn locals(
    input: u8,
    value: &str,
    error: Option<&str>,
    outcome: u8,
    slots: u8,
    tool: u8,
    locals: u8,
    krate: u8,
    __tool_invoke: u8,
) -> Result<String, String> {
    Ok(format!(
        "{input} {value} {error:?} {outcome} {slots} {tool} {locals} {krate} {__tool_invoke}"
    ))
}

#[test]
fn parameters_named_like_generated_locals_keep_their_values() {
    let arguments = r#"{"input":1,"value":"v","error":"e","outcome":2,"slots":3,"tool":4,
        "locals":5,"krate":6,"__tool_invoke":7}"#;
    let [tool] = tools![locals];
    assert_eq!(call(tool, arguments), r#"1 v Some("e") 2 3 4 5 6 7"#);
}

/// Waits for its arguments in one line.
#[tool]
async fn async_locals(input: &str, value: u8, error: u8) -> Result<String, String> {
    Err(format!("{input} {value} {error}"))
}

#[test]
fn async_parameters_named_like_generated_locals_keep_their_values() {
    let [tool] = tools![async_locals];
    let answer = call(tool, r#"{"input":"i","value":1,"error":2}"#);
    assert!(answer.contains("i 1 2"), "{answer}");
}

mod items {
    //! Items that a binding of the same name in generated code would match as patterns.
    #![allow(non_upper_case_globals, non_camel_case_types, dead_code)]

    pub(crate) const input: u8 = 1;
    pub(crate) static value: u8 = 2;
    pub(crate) struct error;
    pub(crate) const slots: u8 = 4;

    /// Adds what stands around it.
    #[super::tool]
    pub(super) fn among_items(number: u8) -> Result<u8, String> {
        Ok(number + input + value + slots)
    }

    /// Adds what stands around it, later.
    #[super::tool]
    pub(super) async fn among_items_async(number: u8) -> Result<u8, String> {
        Ok(number + input + value + slots)
    }
}

#[test]
fn items_named_like_generated_locals_are_not_matched_as_patterns() {
    let [sync, later] = tools![items::among_items, items::among_items_async];
    assert_eq!(call(sync, r#"{"number":1}"#), "8");
    assert_eq!(call(later, r#"{"number":1}"#), "8");
}

mod functions {
    //! Functions with names that generated code uses.
    #![allow(non_snake_case, clippy::needless_lifetimes)]

    use tool_core::tool;

    /// Named like a parameter of its own.
    #[tool]
    pub(super) fn city(city: &str) -> String {
        city.to_owned()
    }

    /// Named like a crate.
    #[tool]
    pub(super) fn core() -> bool {
        true
    }

    /// Named like the other crate.
    #[tool]
    pub(super) fn std() {}

    /// Named like a lifetime of the entry.
    #[tool]
    pub(super) fn __tool<'__tool>(text: &'__tool str) -> &'__tool str {
        text
    }

    /// Named like a variant.
    #[tool]
    pub(super) fn Some(some: Option<u8>) -> Option<u8> {
        some
    }
}

#[test]
fn functions_with_names_that_generated_code_uses_are_called() {
    let [city, core, std, __tool, some] = tools![
        functions::city,
        functions::core,
        functions::std,
        functions::__tool,
        functions::Some,
    ];
    assert_eq!(call(city, r#"{"city":"Lisbon"}"#), "Lisbon");
    assert_eq!(call(core, ""), "true");
    assert_eq!(call(std, ""), "ok");
    assert_eq!(call(__tool, r#"{"text":"t"}"#), "t");
    assert_eq!(call(some, r#"{"some":3}"#), "3");
    assert_eq!(functions::Some::SPEC.name, "Some");
}
