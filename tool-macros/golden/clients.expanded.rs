/// Weather in a city.
#[cfg_attr(
    doc,
    doc = "\n# As a tool\n\nThe model calls it `weather`. It takes no arguments.\n\n<details><summary>What the model reads</summary>\n\n```text\nWeather in a city.\n```\n\n```json\n{\"type\": \"object\", \"properties\": {}, \"additionalProperties\": false}\n```\n\n</details>"
)]
fn weather() {}
///The handler of the tool `weather`.
#[doc(hidden)]
#[allow(
    non_camel_case_types,
    dead_code,
    missing_debug_implementations,
    missing_copy_implementations,
    unreachable_pub
)]
struct weather {}
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
    impl __tool_core::Tool for weather {
        const SOURCE: __tool_core::StaticSpec = __tool_core::StaticSpec {
            name: "weather",
            description: "Weather in a city.",
            parameters: &[],
            invoke: __tool_core::Invoke::Sync(__tool_invoke),
            ..__tool_core::StaticSpec::EMPTY
        };
        const LOCATION: __tool_core::Location = __tool_core::location(
            ::core::module_path!(),
        );
        const MODULE: &'static ::core::primitive::str = ::core::module_path!();
        const DETAILS: __tool_core::Option<&'static __tool_core::Details> = __tool_core::Some(
            &__tool_core::Details {
                for_clients: __tool_core::Some(
                    &__tool_core::ForClients {
                        meta: __tool_core::Cow::Borrowed(
                            "{\"com.example/cost\":3,\"ui\":{\"visibility\":[\"app\"]}}",
                        ),
                        icons: __tool_core::Cow::Borrowed(
                            "[{\"src\":\"https://example.com/a.png\"},{\"src\":\"data:image/svg+xml,…\",\"mimeType\":\"image/svg+xml\",\"sizes\":[\"any\"],\"theme\":\"dark\"}]",
                        ),
                        for_models: false,
                        for_apps: true,
                    },
                ),
                ..__tool_core::Details::EMPTY
            },
        );
    }
    fn __tool_invoke(__tool_input: &__tool_core::Input) -> __tool_core::SyncResult {
        if let __tool_core::Err(__tool_error) = __tool_input.read(&mut []) {
            return __tool_core::Err(__tool_error);
        }
        __tool_core::Ok(__tool_core::ReturnValue(weather()).success().outcome())
    }
    #[used]
    #[unsafe(link_section = __tool_core::link_section!())]
    #[cfg_attr(
        all(debug_assertions, not(test)),
        unsafe(
            export_name = "duplicate_tool_name_in_this_crate__rename_one_with_tool_name__or_mark_one_unlinked__tool_name__weather__crate_…"
        )
    )]
    static __TOOL_LINK: __tool_core::LinkedTool = __tool_core::link::<weather>();
};
/// Time of a city.
#[cfg_attr(
    doc,
    doc = "\n# As a tool\n\nThe model calls it `time`. It takes no arguments.\n\n<details><summary>What the model reads</summary>\n\n```text\nTime of a city.\n```\n\n```json\n{\"type\": \"object\", \"properties\": {}, \"additionalProperties\": false}\n```\n\n</details>"
)]
fn time() {}
///The handler of the tool `time`.
#[doc(hidden)]
#[allow(
    non_camel_case_types,
    dead_code,
    missing_debug_implementations,
    missing_copy_implementations,
    unreachable_pub
)]
struct time {}
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
    impl __tool_core::Tool for time {
        const SOURCE: __tool_core::StaticSpec = __tool_core::StaticSpec {
            name: "time",
            description: "Time of a city.",
            parameters: &[],
            invoke: __tool_core::Invoke::Sync(__tool_invoke),
            ..__tool_core::StaticSpec::EMPTY
        };
        const LOCATION: __tool_core::Location = __tool_core::location(
            ::core::module_path!(),
        );
        const MODULE: &'static ::core::primitive::str = ::core::module_path!();
        const DETAILS: __tool_core::Option<&'static __tool_core::Details> = __tool_core::Some(
            &__tool_core::Details {
                for_clients: __tool_core::Some(
                    &__tool_core::ForClients {
                        meta: __tool_core::Cow::Borrowed(""),
                        icons: __tool_core::Cow::Borrowed(
                            "[{\"src\":\"https://example.com/a.png\"}]",
                        ),
                        for_models: true,
                        for_apps: true,
                    },
                ),
                ..__tool_core::Details::EMPTY
            },
        );
    }
    fn __tool_invoke(__tool_input: &__tool_core::Input) -> __tool_core::SyncResult {
        if let __tool_core::Err(__tool_error) = __tool_input.read(&mut []) {
            return __tool_core::Err(__tool_error);
        }
        __tool_core::Ok(__tool_core::ReturnValue(time()).success().outcome())
    }
    #[used]
    #[unsafe(link_section = __tool_core::link_section!())]
    #[cfg_attr(
        all(debug_assertions, not(test)),
        unsafe(
            export_name = "duplicate_tool_name_in_this_crate__rename_one_with_tool_name__or_mark_one_unlinked__tool_name__time__crate_…"
        )
    )]
    static __TOOL_LINK: __tool_core::LinkedTool = __tool_core::link::<time>();
};
