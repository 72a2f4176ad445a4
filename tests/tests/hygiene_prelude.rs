//! Generated code does not depend on the meaning of names at the place where it is used.

#![allow(clippy::unused_async)]

use tool_core::{Registry, Tool, ToolCall, tools};

/// A module where every name that generated code could rely on means something else.
#[allow(
    dead_code,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unused_macros
)]
mod bare {
    #![no_implicit_prelude]

    struct Result;
    struct Option;
    struct String;
    struct Box;
    struct Vec;
    struct Tool;
    struct ToolType;
    struct Schema;
    struct Registry;
    trait Default {}
    trait From {}
    trait Into {}
    trait Send {}
    trait Sized {}
    fn Some() {}
    fn Ok() {}
    fn Err() {}
    const None: () = ();
    fn drop() {}
    mod core {}
    mod std {}
    mod alloc {}
    mod serde {}
    mod linkme {}
    mod tool_core {}

    // Implemented for every type, with the names of methods that generated code calls.
    trait Methods: ::core::marker::Sized {
        fn read(self) {}
        fn take(&mut self) {}
        fn take_or_default(&mut self) {}
        fn split(&self) {}
        fn outcome(&self) {}
        fn build(&self) {}
        fn optional(&self) {}
        fn describe(&self) {}
        fn as_ref(&self) {}
        fn map(&self) {}
        fn as_str(&self) {}
        const SCHEMA: () = ();
        const SPEC: () = ();
        const ENTRY: () = ();
    }
    impl<T> Methods for T {}

    macro_rules! shadow {
        ($($name:ident)*) => { $(
            macro_rules! $name { ($d:tt) => { compile_error!("the wrong macro") } }
            #[allow(unused_imports)]
            use $name;
        )* };
    }
    shadow!(panic stringify file line module_path concat assert matches);

    /// Temperature unit.
    #[derive(::serde::Deserialize, ::tool_core::ToolType)]
    #[serde(rename_all = "lowercase")]
    pub(super) enum Unit {
        /// The usual one.
        Celsius,
        /// The other one.
        Fahrenheit,
    }

    /// A place.
    #[derive(::serde::Deserialize, ::serde::Serialize, ::tool_core::ToolType)]
    pub(super) struct Place<Name> {
        /// Its name.
        pub name: Name,
        #[serde(default)]
        pub country: ::std::string::String,
        pub height: ::std::option::Option<::std::primitive::f64>,
    }

    /// Every form of variant.
    #[derive(::serde::Deserialize, ::tool_core::ToolType)]
    #[serde(tag = "kind")]
    pub(super) enum Shape {
        Nothing,
        Square {
            #[param(range = 1.0..=9.0, example = 2.0)]
            side: ::std::primitive::f64,
            #[serde(default, alias = "within")]
            inside: ::std::vec::Vec<Shape>,
        },
    }

    /// Bounds of every kind.
    #[::tool_core::tool]
    pub(super) fn constrained(
        #[param(range = 1..=5, multiple_of = 2, default = 4)] number: ::std::primitive::u8,
        #[param(length = 1..=3, pattern = "^a", example = "ab")] word: &::std::primitive::str,
        #[param(schema = r#"{"type":["integer","null"]}"#)] any: ::serde_json::Value,
        shape: Shape,
    ) -> ::std::string::String {
        let sides = match shape {
            Shape::Nothing => 0,
            Shape::Square { side: _, inside } => inside.len(),
        };
        ::std::format!("{number} {word} {any} {sides}")
    }

    /// Every form of parameter.
    #[::tool_core::tool(read_only, destructive = false)]
    pub(super) fn synchronous(
        city: &::std::primitive::str,
        near: ::std::option::Option<&::std::primitive::str>,
        words: &[::std::string::String],
        place: Place<::std::string::String>,
        unit: Unit,
        #[param(default = 3, rename = "days_ahead")] days: ::std::primitive::u8,
        #[param(default)] hours: ::std::primitive::u8,
    ) -> ::std::string::String {
        let unit = match unit {
            Unit::Celsius => "C",
            Unit::Fahrenheit => "F",
        };
        ::std::format!(
            "{city} {near:?} {words:?} {} {} {:?} {unit} {days} {hours}",
            place.name,
            place.country,
            place.height
        )
    }

    /// Fails or not.
    #[::tool_core::tool]
    pub(super) async fn asynchronous(
        fail: ::std::primitive::bool,
    ) -> ::std::result::Result<Place<::std::primitive::char>, ::std::string::String> {
        if fail {
            ::std::result::Result::Err(::std::string::ToString::to_string("as told"))
        } else {
            ::std::result::Result::Ok(Place {
                name: 'x',
                country: ::std::string::String::new(),
                height: ::std::option::Option::None,
            })
        }
    }

    /// Does nothing.
    #[::tool_core::tool]
    pub(super) fn nothing() {}

    /// A house.
    pub(super) struct Home(pub ::std::primitive::u8);

    #[::tool_core::toolset]
    impl Home {
        /// Has the name of a method that every type has here.
        #[::tool_core::tool(read_only)]
        pub(super) fn take(
            &self,
            #[param(default = 2)] times: ::std::primitive::u8,
        ) -> ::std::primitive::u8 {
            self.0 * times
        }

        /// Fails or not.
        #[::tool_core::tool]
        pub(super) async fn split(
            &self,
            near: ::std::option::Option<&::std::primitive::str>,
        ) -> ::std::result::Result<Place<::std::primitive::u8>, ::std::string::String> {
            match near {
                ::std::option::Option::Some(near) => {
                    ::std::result::Result::Err(::std::string::ToString::to_string(near))
                }
                ::std::option::Option::None => ::std::result::Result::Ok(Place {
                    name: self.0,
                    country: ::std::string::String::new(),
                    height: ::std::option::Option::None,
                }),
            }
        }

        /// Has no value.
        #[::tool_core::tool]
        pub(super) fn outcome() {}
    }

    /// Not even the types of the language mean what they say.
    pub(super) mod primitives {
        struct str;
        struct u8;
        struct u32;
        struct usize;
        struct bool;

        /// Shows numbers.
        #[::tool_core::tool(idempotent)]
        pub(crate) fn primitive(
            number: ::std::primitive::u8,
            #[param(default = "x")] text: &::std::primitive::str,
        ) -> ::std::string::String {
            ::std::format!("{number} {text}")
        }
    }
}

fn call(name: &str, arguments: &str) -> String {
    let registry = Registry::builder()
        .tools(tools![
            bare::synchronous,
            bare::asynchronous,
            bare::constrained,
            bare::nothing,
            bare::primitives::primitive,
        ])
        .toolset("home_", bare::Home(3))
        .build()
        .expect("unique names");
    let call = ToolCall::new("id", name, arguments);
    registry.call_blocking(call).content().to_owned()
}

#[test]
fn shadowed_prelude_names_do_not_affect_generated_code() {
    let arguments = r#"{"city":"Lisbon","near":"Sintra","words":["a"],"unit":"celsius",
        "place":{"name":"P","height":1.5}}"#;
    assert_eq!(
        call("synchronous", arguments),
        r#"Lisbon Some("Sintra") ["a"] P  Some(1.5) C 3 0"#
    );
    assert_eq!(call("nothing", ""), "ok");
    assert_eq!(call("primitive", r#"{"number":1}"#), "1 x");
}

#[test]
fn a_result_is_recognized_despite_a_shadowed_result() {
    let arguments = r#"{"word":"abc","any":null,"shape":{"kind":"Square","side":2,"within":[]}}"#;
    assert_eq!(call("constrained", arguments), "4 abc null 0");
    assert!(call("asynchronous", r#"{"fail":true}"#).contains("as told"));
    let place = call("asynchronous", r#"{"fail":false}"#);
    assert_eq!(place, r#"{"name":"x","country":"","height":null}"#);
    assert!(bare::asynchronous::SPEC.output().is_some());
}

#[test]
fn methods_are_called_despite_shadowed_names() {
    assert_eq!(call("home_take", ""), "6");
    assert!(call("home_split", r#"{"near":"there"}"#).contains("there"));
    let place = call("home_split", "");
    assert_eq!(place, r#"{"name":3,"country":"","height":null}"#);
    assert_eq!(call("home_outcome", ""), "ok");
}
