//! Tools of every form.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicI32, Ordering};

use serde::{Deserialize, Serialize};
use tool_core::{DecodeOwned, ToolType, tool, toolset};

/// Temperature unit.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToolType)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Water freezes at 0.
    Celsius,
    /// Water freezes at 32.
    Fahrenheit,
}

/// A place on Earth.
#[derive(Clone, Debug, Deserialize, Serialize, ToolType)]
pub struct Place<Name> {
    /// What it is called.
    pub name: Name,
    /// Metres above the sea.
    #[serde(default)]
    pub height: i32,
}

/// A number of days.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToolType)]
pub struct Days(
    /// At most a fortnight makes sense.
    pub u8,
);

/// Why there is no forecast.
#[derive(Clone, Copy, Debug)]
pub struct NoForecast;

impl fmt::Display for NoForecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody knows")
    }
}

impl std::error::Error for NoForecast {}

/// Nothing to take, nothing to give.
#[tool(read_only)]
pub const fn nothing() {}

/// Everything is owned.
#[tool]
#[must_use]
pub fn owned(mut city: String, unit: Unit, days: Option<Days>, place: Place<String>) -> String {
    let Place { name, height } = place;
    city.push(' ');
    city.extend([name, format!(" {height} {unit:?} {days:?}")]);
    city
}

/// Everything is borrowed.
///
/// # Arguments
/// * `city` - A city.
///
/// # Returns
/// Something that lives as long as the arguments.
#[must_use]
#[tool(title = "Borrowed", idempotent)]
pub fn borrowed<'a>(
    city: &'a str,
    near: Option<&str>,
    places: &[Place<Cow<'_, str>>],
    unit: &Unit,
) -> Cow<'a, str> {
    if near.is_some() || !places.is_empty() {
        return Cow::Owned(format!("{city} {near:?} {} {unit:?}", places.len()));
    }
    Cow::Borrowed(city)
}

/// Parameters with defaults and other keys.
#[tool(name = "with-defaults", unlinked)]
#[must_use]
pub fn with_defaults(
    /// How many days.
    #[param(default = 3)]
    days: u8,
    #[param(default, rename = "days_more")] more: u8,
    #[param(description = "A city.", default = "Lisbon")] city: &str,
) -> String {
    format!("{city} {days} {more}")
}

/// May fail.
///
/// # Errors
/// When there are too many days.
#[tool]
pub fn fallible(days: Days) -> Result<Place<String>, NoForecast> {
    if days.0 > 14 {
        return Err(NoForecast);
    }
    Ok(Place {
        name: "Lisbon".to_owned(),
        height: i32::from(days.0),
    })
}

/// Waits, and may fail.
///
/// # Errors
/// When there is no city.
#[tool(open_world = false)]
pub async fn asynchronous(city: &str, unit: Option<Unit>) -> Result<Vec<Unit>, NoForecast> {
    std::future::ready(()).await;
    if city.is_empty() {
        return Err(NoForecast);
    }
    Ok(unit.into_iter().collect())
}

/// Goes on working when its function should no longer be called.
#[deprecated = "call `owned`"]
#[must_use]
#[tool]
pub const fn deprecated(number: u8) -> u8 {
    number
}

/// Visible in its crate only.
#[tool]
pub(crate) const fn inside(number: i64) -> i64 {
    number
}

/// A thermostat that all calls share.
#[derive(Debug, Default)]
pub struct Thermostat(AtomicI32);

#[toolset]
impl Thermostat {
    /// The least that can be set.
    pub const LEAST: i32 = 5;

    /// Sets the temperature.
    ///
    /// # Returns
    /// What it was before.
    #[must_use]
    #[tool(idempotent)]
    pub fn set(&self, #[param(default = 20)] degrees: i32) -> i32 {
        self.0.swap(degrees.max(Self::LEAST), Ordering::Relaxed)
    }

    /// Waits for the temperature.
    ///
    /// # Errors
    /// When there is none.
    #[deprecated = "call `set`"]
    #[tool(open_world = false)]
    pub async fn wait(&self, near: Option<&str>) -> Result<String, NoForecast> {
        std::future::ready(()).await;
        let degrees = self.0.load(Ordering::Relaxed);
        if degrees == 0 {
            return Err(NoForecast);
        }
        Ok(format!("{degrees} {near:?}"))
    }

    /// The scale.
    #[tool(name = "scale-of-all")]
    #[must_use]
    pub const fn scale() -> Unit {
        Unit::Celsius
    }
}

const COUNTED: &str = "What is \"counted\".";

/// Something of a size.
pub trait Measured {
    /// The size.
    fn measure(&self) -> usize;
}

/// A counter of anything.
#[derive(Debug, Default)]
pub struct Counter<T, const N: usize>(pub Vec<T>);

#[toolset(blocks = 2)]
impl<T: ToolType + Clone + Serialize + fmt::Debug + Send + Sync, const N: usize> Counter<T, N>
where
    T: DecodeOwned,
{
    /// Counts.
    #[doc = concat!("Also ", "more.")]
    #[must_use]
    #[tool(tags = ["counting", "v1"])]
    pub const fn count(
        &self,
        #[param(description = COUNTED, length = ..=3)] more: &[T],
        #[param(description = COUNTED, range = 1..=2)] times: usize,
    ) -> usize {
        (self.0.len() + more.len()) * N * times
    }
}

#[toolset(block = 2)]
impl<T: ToolType + Clone + Serialize + fmt::Debug + Send + Sync, const N: usize> Measured
    for Counter<T, N>
where
    T: DecodeOwned,
{
    /// Measures.
    #[tool]
    fn measure(&self) -> usize {
        N
    }
}

/// The tools of this module.
#[must_use]
pub fn list() -> Vec<tool_core::ToolEntry> {
    tool_core::tools![
        nothing,
        owned,
        borrowed,
        with_defaults,
        fallible,
        asynchronous,
        deprecated,
        inside,
    ]
    .to_vec()
}

#[cfg(test)]
mod tests {
    use tool_core::{Registry, ToolCall};

    renamed::doubling_tool!(double_from_afar);

    fn call(name: &str, arguments: &str) -> String {
        let registry = Registry::builder()
            .tools(super::list())
            .tools(tool_core::tools![double_from_afar])
            .build()
            .expect("unique names");
        let result = registry.call_blocking(ToolCall::new("id", name, arguments));
        result.content().to_owned()
    }

    #[test]
    fn tools_of_every_form_work_in_this_edition() {
        for (name, arguments, answer) in [
            ("nothing", "", "ok"),
            (
                "owned",
                r#"{"city":"a","unit":"celsius","days":2,"place":{"name":"b"}}"#,
                "a b 0 Celsius Some(Days(2))",
            ),
            (
                "borrowed",
                r#"{"city":"a","places":[{"name":"b"}],"unit":"celsius"}"#,
                "a None 1 Celsius",
            ),
            (
                "borrowed",
                r#"{"city":"a","places":[],"unit":"celsius"}"#,
                "a",
            ),
            ("with-defaults", r#"{"days_more":1}"#, "Lisbon 3 1"),
            (
                "fallible",
                r#"{"days":1}"#,
                r#"{"name":"Lisbon","height":1}"#,
            ),
            (
                "asynchronous",
                r#"{"city":"a","unit":"fahrenheit"}"#,
                r#"["fahrenheit"]"#,
            ),
            ("deprecated", r#"{"number":4}"#, "4"),
            ("inside", r#"{"number":-1}"#, "-1"),
        ] {
            assert_eq!(call(name, arguments), answer, "{name}");
        }
        assert!(call("fallible", r#"{"days":15}"#).contains("nobody knows"));
        assert!(call("asynchronous", r#"{"city":""}"#).contains("nobody knows"));
    }

    #[test]
    fn methods_work_in_this_edition() {
        let tools = Registry::builder()
            .toolset("hall_", super::Thermostat::default())
            .build()
            .expect("unique names");
        let call = |name: &str, arguments: &str| {
            let result = tools.call_blocking(ToolCall::new("id", name, arguments));
            result.content().to_owned()
        };
        assert!(call("hall_wait", "").contains("nobody knows"));
        assert_eq!(call("hall_set", ""), "0");
        assert_eq!(call("hall_set", r#"{"degrees":1}"#), "20");
        assert_eq!(call("hall_wait", r#"{"near":"a"}"#), r#"5 Some("a")"#);
        assert_eq!(call("hall_scale-of-all", ""), "celsius");
    }

    #[test]
    fn generic_types_work_in_this_edition() {
        let tools = Registry::builder()
            .toolset("", super::Counter::<u8, 2>(vec![1]))
            .build()
            .expect("unique names");
        let call = ToolCall::new("id", "count", r#"{"more":[1,2],"times":2}"#);
        assert_eq!(tools.call_blocking(call).content(), "12");
        assert_eq!(tools.select_tags(["v1"]).len(), 1);
    }

    #[test]
    fn a_macro_of_another_crate_brings_its_own_path_to_tool_core() {
        assert_eq!(
            call("double_from_afar", r#"{"number":{"value":4}}"#),
            r#"{"value":8}"#
        );
    }

    #[test]
    fn all_tools_but_unlinked_ones_are_linked() {
        let linked = Registry::linked().expect("unique names");
        for tool in super::list() {
            let is_linked = linked.get(&tool.name).is_some();
            assert_eq!(is_linked, tool.name != "with-defaults", "{tool:?}");
        }
    }
}
