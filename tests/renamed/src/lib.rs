//! Tools of a crate that imports tool-core as `toolbox` and re-exports it.

#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};
use toolbox::{ToolType, tool};

#[doc(hidden)]
pub use serde;
pub use toolbox;

/// Temperature unit.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToolType)]
#[param(crate = toolbox)]
pub enum Unit {
    /// Water freezes at 0.
    Celsius,
    /// Water freezes at 32.
    Fahrenheit,
}

/// A place on Earth.
#[derive(Debug, Deserialize, Serialize, ToolType)]
#[param(crate = ::toolbox)]
pub struct Place<Name> {
    /// What it is called.
    pub name: Name,
}

/// Every form of parameter.
#[tool(crate = toolbox, read_only)]
pub fn renamed_synchronous(
    city: &str,
    near: Option<&str>,
    place: Place<String>,
    #[param(default = 3)] days: u8,
    #[param(default)] hours: u8,
) -> String {
    format!("{city} {near:?} {} {days} {hours}", place.name)
}

/// Waits, and may fail.
#[tool(crate = ::toolbox)]
pub async fn renamed_asynchronous(unit: Unit) -> Result<Place<Unit>, String> {
    std::future::ready(()).await;
    match unit {
        Unit::Celsius => Ok(Place { name: unit }),
        Unit::Fahrenheit => Err("too warm".to_owned()),
    }
}

/// Has a handler with another name.
#[tool(crate = toolbox, handler = SkyTool)]
pub fn sky() -> u8 {
    8
}

/// A shelf of places.
#[derive(Debug, Default)]
pub struct Shelf(Vec<String>);

#[toolbox::toolset(crate = toolbox)]
impl Shelf {
    /// Finds a place.
    #[tool(read_only)]
    pub fn find(&self, place: Place<String>) -> Option<usize> {
        self.0.iter().position(|name| *name == place.name)
    }
}

/// Another way to the crate.
pub mod way {
    pub use toolbox as there;
}

/// Takes the other way.
#[tool(crate = way::there)]
pub fn roundabout() {}

/// Defines a tool of this name that doubles a number. Callers need no dependency on tool-core.
#[macro_export]
macro_rules! doubling_tool {
    ($name:ident) => {
        /// A number.
        #[derive($crate::serde::Deserialize, $crate::serde::Serialize)]
        #[serde(crate = "renamed::serde")]
        #[derive($crate::toolbox::ToolType)]
        #[param(crate = $crate::toolbox)]
        struct Number {
            /// How much it is.
            value: u32,
        }

        /// Doubles a number.
        #[$crate::toolbox::tool(crate = $crate::toolbox)]
        fn $name(
            number: Number,
            #[param(default = 2)] times: u32,
        ) -> ::core::result::Result<Number, ::core::fmt::Error> {
            ::core::result::Result::Ok(Number {
                value: number.value * times,
            })
        }
    };
}

#[cfg(test)]
mod tests {
    use toolbox::{Registry, Tool, ToolCall, tools};

    use crate::{renamed_asynchronous, renamed_synchronous, roundabout};

    fn call(name: &str, arguments: &str) -> String {
        let registry = Registry::builder()
            .tools(tools![
                renamed_synchronous,
                renamed_asynchronous,
                roundabout,
                crate::SkyTool
            ])
            .build()
            .expect("unique names");
        let result = registry.call_blocking(ToolCall::new("id", name, arguments));
        result.content().to_owned()
    }

    #[test]
    fn generated_paths_use_the_renamed_crate() {
        let arguments = r#"{"city":"a","place":{"name":"b"},"hours":1}"#;
        assert_eq!(call("renamed_synchronous", arguments), "a None b 3 1");
        let place = call("renamed_asynchronous", r#"{"unit":"Celsius"}"#);
        assert_eq!(place, r#"{"name":"Celsius"}"#);
        assert!(call("renamed_asynchronous", r#"{"unit":"Fahrenheit"}"#).contains("too warm"));
        assert_eq!(call("roundabout", ""), "ok");
        assert_eq!(call("sky", ""), "8");
    }

    /// This package has no dependency that turns on a feature of `serde_json` for it.
    #[test]
    fn floats_are_exact_without_the_features_of_other_crates() {
        /// Echoes.
        #[toolbox::tool(crate = toolbox, unlinked)]
        fn echo(number: f64) -> String {
            format!("{number:?}")
        }
        let tools = Registry::builder().tools(tools![echo]).build();
        let tools = tools.expect("one tool");
        for number in ["123.72249245393391", "1e-50", "-8.988465674311579e307"] {
            let arguments = format!("{{\"number\":{number}}}");
            let result = tools.call_blocking(ToolCall::new("id", "echo", arguments));
            assert_eq!(result.content(), number);
        }
    }

    #[test]
    fn methods_need_no_crate_key() {
        let tools = Registry::builder()
            .toolset("", crate::Shelf(vec!["a".into(), "b".into()]))
            .build()
            .expect("one tool");
        let call = ToolCall::new("id", "find", r#"{"place":{"name":"b"}}"#);
        assert_eq!(tools.call_blocking(call).content(), "1");
    }

    #[test]
    fn docs_are_read_when_a_crate_key_is_present() {
        let place = renamed_synchronous::SPEC.parameters().property("place");
        assert_eq!(
            place.expect("a parameter").description(),
            "A place on Earth."
        );
    }

    #[test]
    fn tools_of_a_renamed_crate_are_linked() {
        let linked = Registry::linked().expect("unique names");
        let linked = linked.expect(["renamed_synchronous", "renamed_asynchronous", "roundabout"]);
        assert!(linked.is_ok(), "{linked:?}");
    }
}
