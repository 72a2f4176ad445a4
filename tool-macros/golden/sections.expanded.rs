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
    use ::tool_core as __tool_core;
    #[allow(unused_imports)]
    use __tool_core::__private::{Displayed as _, NoOutput as _, Plain as _};
    const __TOOL_PARAMETERS: &__tool_core::schema::Schema = &__tool_core::schema::Schema::object(const {
        &[
            __tool_core::__private::property::<
                str,
            >(
                __tool_core::__private::text("city", "city"),
                __tool_core::__private::text("City and country.", "City and country."),
            ),
        ]
    });
    const __TOOL_OUTPUT: ::core::option::Option<&__tool_core::schema::Schema> = <__tool_core::__private::Output<
        Result<Forecast, WeatherError>,
    >>::SCHEMA;
    static __TOOL_PARAMETERS_JSON: __tool_core::__private::JsonText<
        {
            __tool_core::__private::json_length(
                ::core::option::Option::Some(__TOOL_PARAMETERS),
                __tool_core::__private::Direction::Arguments,
            )
        },
    > = __tool_core::__private::JsonText::of(
        ::core::option::Option::Some(__TOOL_PARAMETERS),
        __tool_core::__private::Direction::Arguments,
    );
    static __TOOL_OUTPUT_JSON: __tool_core::__private::JsonText<
        {
            __tool_core::__private::json_length(
                __TOOL_OUTPUT,
                __tool_core::__private::Direction::Result,
            )
        },
    > = __tool_core::__private::JsonText::of(
        __TOOL_OUTPUT,
        __tool_core::__private::Direction::Result,
    );
    static __TOOL_ENTRY: __tool_core::__private::StaticTool = __tool_core::__private::StaticTool {
        spec: <forecast as __tool_core::Tool>::SPEC,
        invoke: __tool_core::__private::Invoke::Async(__tool_invoke),
    };
    #[automatically_derived]
    impl __tool_core::Tool for forecast {
        const SPEC: __tool_core::ToolSpec = __tool_core::__private::StaticSpec {
            name: "get-forecast",
            title: ::core::option::Option::Some("Forecast"),
            description: "Weather forecast for a city.\n\nIn degrees.",
            when_to_use: ::core::option::Option::Some("The user asks about weather."),
            returns: ::core::option::Option::Some("One number a day."),
            annotations: [
                ::core::option::Option::Some(true),
                ::core::option::Option::Some(false),
                ::core::option::Option::Some(true),
                ::core::option::Option::Some(true),
            ],
            file: ::core::file!(),
            line: ::core::line!(),
            module: ::core::module_path!(),
            parameters: __TOOL_PARAMETERS,
            parameters_json: __TOOL_PARAMETERS_JSON.as_str(),
            output: __TOOL_OUTPUT,
            output_json: __TOOL_OUTPUT_JSON.as_str(),
        }
            .build();
        const ENTRY: &'static __tool_core::__private::StaticTool = &__TOOL_ENTRY;
    }
    fn __tool_invoke<'__tool>(
        __tool_input: &'__tool __tool_core::__private::Input,
    ) -> ::core::result::Result<
        __tool_core::__private::Running<'__tool>,
        __tool_core::__private::Refusal,
    > {
        let mut __tool_0 = __tool_core::__private::Slot::<
            __tool_core::__private::Held<'_, str>,
        >::new();
        __tool_input.read(__TOOL_PARAMETERS, &mut [&mut __tool_0])?;
        let __tool_0 = __tool_0.take();
        ::core::result::Result::Ok(
            __tool_core::__private::boxed(async move {
                match __tool_core::__private::Returned(
                        forecast(__tool_core::__private::Lend::lend(&__tool_0)).await,
                    )
                    .split()
                {
                    ::core::result::Result::Ok(__tool_value) => {
                        __tool_core::__private::Returned(__tool_value).outcome()
                    }
                    ::core::result::Result::Err(__tool_error) => {
                        __tool_core::__private::Failure(__tool_error).outcome()
                    }
                }
            }),
        )
    }
    #[__tool_core::__private::linkme::distributed_slice(__tool_core::__private::LINKED)]
    #[linkme(crate = __tool_core::__private::linkme)]
    static __TOOL_LINK: &__tool_core::__private::StaticTool = &__TOOL_ENTRY;
    #[cfg(not(test))]
    #[unsafe(
        export_name = "two_tools_of_this_crate_have_one_name__rename_one_with_tool_name__or_mark_one_unlinked__crate_…_hyphen_at_3__tool_name__get_forecast"
    )]
    static __TOOL_NAME: ::core::primitive::u8 = 0;
};
