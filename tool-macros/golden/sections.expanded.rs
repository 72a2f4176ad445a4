/// Weather forecast
/// for a city.
///
/// In degrees.
///
/// # When to use
/// The user asks about weather.
///
/// # Arguments
/// * `city` - City and country.
///
/// # Returns
/// One number a day.
///
/// # Errors
/// When the service is down.
#[must_use]
#[inline]
#[cfg_attr(
    doc,
    doc = "\n# As a tool\n\nThe model calls it `get-forecast`; its title is “Forecast”. It is read-only, not destructive, idempotent, open world.\n\n| argument | type | constraints | description |\n|---|---|---|---|\n| `city` | `&str` |  | City and country. |\n\n<details><summary>What the model reads</summary>\n\n```text\nWeather forecast for a city.\n\nIn degrees.\n\nWhen to use: The user asks about weather.\n\nReturns: One number a day.\n```\n\n```json\n{\n  \"type\": \"object\",\n  \"properties\": {\"city\": {\"type\": \"string\", \"description\": \"City and country.\"}},\n  \"required\": [\"city\"],\n  \"additionalProperties\": false\n}\n```\n\n</details>"
)]
pub async fn forecast(city: &str) -> Result<Forecast, WeatherError> {
    fetch(city).await
}
///The handler of the tool `get-forecast`.
#[doc(hidden)]
#[allow(
    non_camel_case_types,
    dead_code,
    missing_debug_implementations,
    missing_copy_implementations,
    unreachable_pub
)]
pub struct forecast {}
#[allow(
    deprecated,
    unreachable_code,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::arbitrary_source_item_ordering
)]
const _: () = {
    use ::tool_core::__private as __tool_core;
    #[allow(unused_imports)]
    use __tool_core::autoref_fallbacks::*;
    #[automatically_derived]
    impl __tool_core::Tool for forecast {
        const SOURCE: __tool_core::StaticSpec = __tool_core::StaticSpec {
            name: "get-forecast",
            description: "Weather forecast for a city.\n\nIn degrees.",
            annotations: [
                __tool_core::Some(true),
                __tool_core::Some(false),
                __tool_core::Some(true),
                __tool_core::Some(true),
            ],
            parameters: &{
                let __tool_parameters = [
                    __tool_core::parameter::<
                        str,
                    >("get-forecast", "cityCity and country.", 4),
                ];
                __tool_parameters
            },
            output: <__tool_core::Output<Result<Forecast, WeatherError>>>::SCHEMA,
            invoke: __tool_core::Invoke::Async(__tool_invoke),
            ..__tool_core::StaticSpec::EMPTY
        };
        const LOCATION: __tool_core::Location = __tool_core::location(
            ::core::module_path!(),
        );
        const MODULE: &'static ::core::primitive::str = ::core::module_path!();
        const DETAILS: __tool_core::Option<&'static __tool_core::Details> = __tool_core::Some(
            &__tool_core::Details {
                title: __tool_core::Some(__tool_core::Cow::Borrowed("Forecast")),
                when_to_use: __tool_core::Some(
                    __tool_core::Cow::Borrowed("The user asks about weather."),
                ),
                returns: __tool_core::Some(
                    __tool_core::Cow::Borrowed("One number a day."),
                ),
                ..__tool_core::Details::EMPTY
            },
        );
    }
    fn __tool_invoke(__tool_input: &__tool_core::Input) -> __tool_core::AsyncStart<'_> {
        let mut __tool_0 = __tool_core::Slot::<
            __tool_core::OwnedArg<'_, str>,
        >(__tool_core::None);
        if let __tool_core::Err(__tool_error) = __tool_input.read(&mut [&mut __tool_0]) {
            return __tool_core::Err(__tool_error);
        }
        __tool_core::Ok(
            __tool_core::boxed(async move {
                __tool_core::ReturnValue(
                        forecast(
                                __tool_core::BorrowArg::borrow(&__tool_core::take(__tool_0)),
                            )
                            .await,
                    )
                    .success()
                    .outcome()
            }),
        )
    }
    #[used]
    #[unsafe(link_section = __tool_core::link_section!())]
    #[cfg_attr(
        all(debug_assertions, not(test)),
        unsafe(
            export_name = "duplicate_tool_name_in_this_crate__rename_one_with_tool_name__or_mark_one_unlinked_hyphen_at_3__tool_name__get_forecast__crate_…"
        )
    )]
    static __TOOL_LINK: __tool_core::LinkedTool = __tool_core::link::<forecast>();
};
