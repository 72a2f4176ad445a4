//! Tools written by `macro_rules!`, which wraps fragments in invisible groups.

#![allow(clippy::unused_async)]

use tool_core::schema::Property;
use tool_core::{Registry, ToolCall, ToolEntry, tool, tools};

fn call(tool: ToolEntry, arguments: &str) -> String {
    let name = tool.name.to_string();
    let registry = Registry::builder().tools([tool]).build().expect("one tool");
    let call = ToolCall::new("id", name, arguments);
    registry.call_blocking(call).content().to_owned()
}

macro_rules! pieces {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident($(
            $(#[$parameter_meta:meta])* $parameter:ident: $ty:ty
        ),*) -> $output:ty $body:block
    ) => {
        $(#[$meta])*
        #[tool]
        $vis fn $name($($(#[$parameter_meta])* $parameter: $ty),*) -> $output $body
    };
}

pieces! {
    /// Joins text.
    ///
    /// # When to use
    /// Always.
    pub fn join(
        /// What comes first.
        #[param(rename = "start")]
        first: &str,
        #[param(default = 2)]
        count: u8,
        /// What comes last.
        last: Option<&str>,
        words: &[String],
        numbers: Vec<Option<u8>>
    ) -> Result<String, std::fmt::Error> {
        Ok(format!("{first} {count} {last:?} {words:?} {numbers:?}"))
    }
}

#[test]
fn groups_around_types_docs_and_attributes_are_ignored() {
    let [tool] = tools![join];
    assert_eq!(tool.description, "Joins text.");
    assert_eq!(tool.when_to_use(), Some("Always."));
    let parameters = tool.parameters();
    let description = |key| parameters.property(key).map(Property::description);
    assert_eq!(description("start"), Some("What comes first."));
    assert_eq!(description("last"), Some("What comes last."));
    assert!(
        !parameters
            .property("last")
            .expect("a parameter")
            .is_required()
    );
    assert_eq!(
        call(
            tool,
            r#"{"start":"a","last":"z","words":["w"],"numbers":[1,null]}"#
        ),
        r#"a 2 Some("z") ["w"] [Some(1), None]"#
    );
}

macro_rules! literals {
    ($name:ident, $text:literal, $title:expr, $default:literal, $negative:expr, $key:literal, $flag:literal) => {
        #[doc = $text]
        #[tool(title = $title, read_only = $flag, name = $key)]
        fn $name(
            #[param(default = $default)] count: u8,
            #[param(default = $negative, description = $text)] depth: i8,
        ) -> i16 {
            i16::from(count) + i16::from(depth)
        }
    };
}

literals!(add, "Adds numbers.", "Adder", 3, -5, "add-numbers", true);

#[test]
fn literals_from_a_macro_are_read_as_literals() {
    let [tool] = tools![add];
    assert_eq!(tool.name, "add-numbers");
    assert_eq!(tool.description, "Adds numbers.");
    assert_eq!(tool.title(), Some("Adder"));
    assert_eq!(tool.annotations.read_only, Some(true));
    let depth = tool
        .parameters()
        .property("depth")
        .copied()
        .expect("a parameter");
    assert_eq!(depth.default_json(), Some("-5"));
    assert_eq!(depth.description(), "Adds numbers.");
    assert_eq!(call(tool, ""), "-2");
}

macro_rules! whole {
    ($function:item) => {
        #[tool]
        $function
    };
}

whole! {
    /// Doubles a number.
    async fn double(number: i32) -> i32 {
        number * 2
    }
}

#[test]
fn a_function_passed_as_a_whole_is_a_tool() {
    let [tool] = tools![double];
    assert_eq!(tool.description, "Doubles a number.");
    assert_eq!(call(tool, r#"{"number":4}"#), "8");
}

macro_rules! hidden_locals {
    ($name:ident, $shared:ident) => {
        /// Its parameters have one name for a reader, and two for the compiler.
        #[tool]
        fn $name(value: u8, #[param(rename = "other")] $shared: u8) -> String {
            format!("{} {}", value, $shared)
        }
    };
}

hidden_locals!(two_values, value);

#[test]
fn parameters_of_one_name_and_two_hygienes_stay_distinct() {
    let [tool] = tools![two_values];
    assert_eq!(call(tool, r#"{"value":1,"other":2}"#), "1 2");
}

macro_rules! many {
    ($($name:ident: $ty:ty,)*) => { $(
        /// Shows its argument.
        #[tool]
        fn $name(argument: $ty) -> $ty {
            argument
        }
    )* };
}

many! {
    show_number: u8,
    show_text: String,
    show_list: Vec<String>,
}

#[test]
fn one_macro_can_define_many_tools() {
    let [number, text, list] = tools![show_number, show_text, show_list];
    assert_eq!(call(number, r#"{"argument":7}"#), "7");
    assert_eq!(call(text, r#"{"argument":"t"}"#), "t");
    assert_eq!(call(list, r#"{"argument":["l"]}"#), r#"["l"]"#);
}
