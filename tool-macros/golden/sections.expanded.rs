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
#[allow(deprecated, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use ::tool_core::__private as __tool;
    #[allow(unused_imports)]
    use __tool::second_choice::*;
    #[automatically_derived]
    impl __tool::Tool for forecast {
        const SOURCE: __tool::StaticSpec = __tool::StaticSpec {
            name: "get-forecast",
            description: "Weather forecast for a city.\n\nIn degrees.",
            title: __tool::Some("Forecast"),
            when_to_use: __tool::Some("The user asks about weather."),
            returns: __tool::Some("One number a day."),
            annotations: [
                __tool::Some(true),
                __tool::Some(false),
                __tool::Some(true),
                __tool::Some(true),
            ],
            location: __tool::here(::core::module_path!()),
            parameters: &[__tool::property::<str>("city", "City and country.")],
            output: <__tool::Output<Result<Forecast, WeatherError>>>::SCHEMA,
            ..__tool::StaticSpec::EMPTY
        };
        const INVOKE: __tool::Invoke = __tool::Invoke::Async(__tool_invoke);
    }
    fn __tool_invoke(__tool_input: &__tool::Input) -> __tool::Begun<'_> {
        let mut __tool_0 = __tool::Slot::<__tool::Held<'_, str>>::new();
        __tool_input.read(&mut [&mut __tool_0])?;
        __tool::Ok(
            __tool::boxed(async move {
                match __tool::Returned(
                        forecast(__tool::Lend::lend(&__tool_0.take())).await,
                    )
                    .split()
                {
                    __tool::Ok(__tool_value) => __tool::Outcome::value(&__tool_value),
                    __tool::Err(__tool_error) => __tool::Failure(__tool_error).outcome(),
                }
            }),
        )
    }
    #[__tool::linkme::distributed_slice(__tool::LINKED)]
    #[linkme(crate = __tool::linkme)]
    #[cfg_attr(
        not(test),
        unsafe(
            export_name = "two_tools_of_this_crate_have_one_name__rename_one_with_tool_name__or_mark_one_unlinked__crate_…_hyphen_at_3__tool_name__get_forecast"
        )
    )]
    static __TOOL_LINK: &__tool::StaticTool = __tool::entry::<forecast>();
};
