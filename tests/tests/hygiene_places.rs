//! Where a tool can be defined, and other attributes on its function.

#![allow(clippy::unused_async)]

use tool_core::{Registry, ToolCall, ToolEntry, tool, tools};

fn call(tool: ToolEntry, arguments: &str) -> String {
    let name = tool.name.to_string();
    let registry = Registry::builder().tools([tool]).build().expect("one tool");
    let call = ToolCall::new("id", name, arguments);
    registry.call_blocking(call).content().to_owned()
}

#[test]
fn a_tool_can_be_local_to_a_function() {
    /// Local.
    #[tool]
    fn local(text: &str) -> usize {
        text.len()
    }

    let in_a_closure = || {
        /// More local.
        #[tool]
        async fn more_local(number: u8) -> u8 {
            number
        }
        let [tool] = tools![more_local];
        tool
    };

    let [tool] = tools![local];
    assert_eq!(call(tool, r#"{"text":"abc"}"#), "3");
    assert_eq!(call(in_a_closure(), r#"{"number":9}"#), "9");
    let linked = Registry::linked().expect("unique names");
    assert!(linked.get("local").is_some() && linked.get("more_local").is_some());
}

mod outer {
    pub(super) mod inner {
        /// A unit that only this module names.
        #[derive(serde::Deserialize, serde::Serialize, tool_core::ToolType)]
        pub(in super::super) enum Unit {
            Metre,
        }

        /// Deep.
        #[tool_core::tool]
        pub(in super::super) fn deep(unit: Unit) -> Unit {
            unit
        }

        /// Private, but importable as a child.
        #[tool_core::tool]
        fn private() {}

        pub(in super::super) fn list() -> [tool_core::ToolEntry; 1] {
            tool_core::tools![private]
        }
    }

    pub(super) use inner::list;
}

#[test]
fn a_tool_is_as_visible_as_its_function() {
    use outer::inner::deep as renamed;

    let [tool] = tools![renamed];
    assert_eq!(tool.name, "deep");
    assert!(tool.location.module.ends_with("outer::inner"));
    assert_eq!(call(tool, r#"{"unit":"Metre"}"#), "Metre");
    let [private] = outer::list();
    assert_eq!(call(private, ""), "ok");
}

/// Nobody should call it directly.
#[tool]
#[must_use = "it is a number"]
#[deprecated = "a model still may"]
#[inline(never)]
#[allow(clippy::needless_pass_by_value)]
fn attributed(text: String) -> usize {
    text.len()
}

/// Attributes above.
#[must_use]
#[deprecated]
#[inline]
#[tool]
/// and docs below.
fn attributed_above(text: String) -> String {
    text
}

#[test]
#[deny(deprecated)]
fn attributes_of_the_function_do_not_affect_its_tool() {
    let [below, above] = tools![attributed, attributed_above];
    assert_eq!(above.description, "Attributes above. and docs below.");
    assert_eq!(call(below, r#"{"text":"four"}"#), "4");
    assert_eq!(call(above, r#"{"text":"four"}"#), "four");
}

/// Starts a runtime of its own.
#[tokio::main(flavor = "current_thread")]
#[tool]
async fn rewritten_after(number: u8) -> u8 {
    number
}

#[test]
fn an_attribute_above_that_rewrites_the_function_runs_first() {
    let [tool] = tools![rewritten_after];
    assert_eq!(call(tool, r#"{"number":5}"#), "5");
    assert_eq!(rewritten_after(5), 5);
}

#[test]
fn the_function_stays_an_ordinary_function() {
    /// A constant function.
    #[tool]
    const fn double(number: u32) -> u32 {
        number * 2
    }

    /// With mutable parameters.
    #[tool]
    fn change(mut text: String, mut list: Vec<u8>) -> String {
        text.push('!');
        list.push(1);
        format!("{text} {list:?}")
    }

    const FOUR: u32 = double(2);
    let pointer: fn(u32) -> u32 = double;
    assert_eq!((FOUR, pointer(3)), (4, 6));

    let [tool] = tools![change];
    assert_eq!(call(tool, r#"{"text":"a","list":[0]}"#), "a! [0, 1]");
}

#[test]
#[allow(clippy::match_bool)] // The form is what is tested.
fn an_array_length_in_a_type_can_be_any_expression() {
    const WIDE: bool = true;

    /// Widens numbers.
    #[tool]
    fn widen(
        numbers: &[u64; if WIDE { 3 } else { 2 }],
        more: [u64; match WIDE {
            true => 1,
            false => 2,
        }],
    ) -> [u64; if WIDE { 3 } else { 2 }] {
        numbers.map(|number| number * 2 + more[0])
    }

    let [tool] = tools![widen];
    assert!(tool.parameters_json().contains(r#""minItems":3"#));
    assert_eq!(call(tool, r#"{"numbers":[1,2,3],"more":[0]}"#), "[2,4,6]");
}
