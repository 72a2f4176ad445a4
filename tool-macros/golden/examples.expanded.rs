/// Weather in a city.
#[cfg_attr(
    doc,
    doc = "\n# As a tool\n\nThe model calls it `weather`; its title is “Weather”.\n\n| argument | type | constraints | description |\n|---|---|---|---|\n| `city` | `&str` |  |  |\n| `days` | `Option<u8>` | optional |  |\n\nExample calls:\n\n```json\n{\"city\":\"Lisbon\",\"days\":3}\n{\"city\":\"Évora \\\"\"}\n```\n\n<details><summary>What the model reads</summary>\n\n```text\nWeather in a city.\n```\n\n```json\n{\n  \"type\": \"object\",\n  \"properties\": {\n    \"city\": {\"type\": \"string\"},\n    \"days\": {\"type\": \"integer\", \"minimum\": 0, \"maximum\": 255}\n  },\n  \"required\": [\"city\"],\n  \"additionalProperties\": false\n}\n```\n\n</details>"
)]
fn weather(city: &str, days: Option<u8>) {}
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
            parameters: &{
                let __tool_parameters = [
                    __tool_core::parameter::<str>("weather", "city", 4),
                    __tool_core::parameter::<Option<u8>>("weather", "days", 4),
                ];
                __tool_parameters
            },
            invoke: __tool_core::Invoke::Sync(__tool_invoke),
            ..__tool_core::StaticSpec::EMPTY
        };
        const LOCATION: __tool_core::Location = __tool_core::location(
            ::core::module_path!(),
        );
        const MODULE: &'static ::core::primitive::str = ::core::module_path!();
        const DETAILS: __tool_core::Option<&'static __tool_core::Details> = __tool_core::Some(
            &__tool_core::Details {
                title: __tool_core::Some(__tool_core::Cow::Borrowed("Weather")),
                examples: __tool_core::Cow::Borrowed(
                    &[
                        __tool_core::Cow::Borrowed("{\"city\":\"Lisbon\",\"days\":3}"),
                        __tool_core::Cow::Borrowed("{\"city\":\"Évora \\\"\"}"),
                    ],
                ),
                ..__tool_core::Details::EMPTY
            },
        );
    }
    fn __tool_invoke(__tool_input: &__tool_core::Input) -> __tool_core::SyncResult {
        let mut __tool_0 = __tool_core::Slot::<
            __tool_core::OwnedArg<'_, str>,
        >(__tool_core::None);
        let mut __tool_1 = __tool_core::Slot::<Option<u8>>(__tool_core::None);
        if let __tool_core::Err(__tool_error) = __tool_input
            .read(&mut [&mut __tool_0, &mut __tool_1])
        {
            return __tool_core::Err(__tool_error);
        }
        __tool_core::Ok(
            __tool_core::ReturnValue(
                    weather(
                        __tool_core::BorrowArg::borrow(&__tool_core::take(__tool_0)),
                        __tool_core::take(__tool_1),
                    ),
                )
                .success()
                .outcome(),
        )
    }
    const _: () = __tool_core::examples::check(
        "weather",
        <weather as __tool_core::Tool>::SOURCE.parameters,
        &__tool_core::Literal::Object(
            "{\"city\":\"Lisbon\",\"days\":3}",
            &[
                ("city", __tool_core::Literal::String("Lisbon", 6usize)),
                ("days", __tool_core::Literal::Number("3", 3f64)),
            ],
        ),
    );
    const _: () = __tool_core::examples::check(
        "weather",
        <weather as __tool_core::Tool>::SOURCE.parameters,
        &__tool_core::Literal::Object(
            "{\"city\":\"Évora \\\"\"}",
            &[("city", __tool_core::Literal::String("Évora \"", 7usize))],
        ),
    );
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
impl<T: Backend> Home<T> {
    /// Sets the light.
    #[cfg_attr(
        doc,
        doc = "\n# As a tool\n\nThe model calls it `light` with the prefix of its toolset.\n\n| argument | type | constraints | description |\n|---|---|---|---|\n| `on` | `bool` |  |  |\n\nExample calls:\n\n```json\n{\"on\":true}\n{\"on\":false}\n```\n\n<details><summary>What the model reads</summary>\n\n```text\nSets the light.\n```\n\n```json\n{\n  \"type\": \"object\",\n  \"properties\": {\"on\": {\"type\": \"boolean\"}},\n  \"required\": [\"on\"],\n  \"additionalProperties\": false\n}\n```\n\n</details>"
    )]
    fn light(&self, on: bool) {}
}
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
    impl<
        T: Backend,
    > __tool_core::number_the_other_blocks_of_this_type__write_toolset_block_2<1>
    for Home<T>
    where
        Home<T>: ::core::marker::Send + ::core::marker::Sync + 'static,
    {
        const BLOCKS: &'static [&'static [__tool_core::StaticEntry]] = &[
            &[
                {
                    #[allow(non_camel_case_types, dead_code)]
                    struct __tool_handler<__Owner>(::core::marker::PhantomData<__Owner>);
                    #[automatically_derived]
                    impl<T: Backend> __tool_core::Tool for __tool_handler<Home<T>>
                    where
                        Home<T>: ::core::marker::Send + ::core::marker::Sync + 'static,
                    {
                        const SOURCE: __tool_core::StaticSpec = __tool_core::StaticSpec {
                            name: "light",
                            description: "Sets the light.",
                            parameters: &{
                                let __tool_parameters = [
                                    __tool_core::parameter::<bool>("light", "on", 2),
                                ];
                                __tool_parameters
                            },
                            invoke: __tool_core::Invoke::Sync(__tool_invoke::<T>),
                            ..__tool_core::StaticSpec::EMPTY
                        };
                        const LOCATION: __tool_core::Location = __tool_core::location(
                            ::core::module_path!(),
                        );
                        const MODULE: &'static ::core::primitive::str = ::core::module_path!();
                        const DETAILS: __tool_core::Option<
                            &'static __tool_core::Details,
                        > = __tool_core::Some(
                            &__tool_core::Details {
                                examples: __tool_core::Cow::Borrowed({
                                    __tool_core::examples::check(
                                        "light",
                                        <Self as __tool_core::Tool>::SOURCE.parameters,
                                        &__tool_core::Literal::Object(
                                            "{\"on\":true}",
                                            &[("on", __tool_core::Literal::Boolean(true))],
                                        ),
                                    );
                                    __tool_core::examples::check(
                                        "light",
                                        <Self as __tool_core::Tool>::SOURCE.parameters,
                                        &__tool_core::Literal::Object(
                                            "{\"on\":false}",
                                            &[("on", __tool_core::Literal::Boolean(false))],
                                        ),
                                    );
                                    &[
                                        __tool_core::Cow::Borrowed("{\"on\":true}"),
                                        __tool_core::Cow::Borrowed("{\"on\":false}"),
                                    ]
                                }),
                                ..__tool_core::Details::EMPTY
                            },
                        );
                    }
                    fn __tool_invoke<T: Backend>(
                        __tool_input: &__tool_core::Input,
                    ) -> __tool_core::SyncResult
                    where
                        Home<T>: ::core::marker::Send + ::core::marker::Sync + 'static,
                    {
                        let mut __tool_0 = __tool_core::Slot::<bool>(__tool_core::None);
                        if let __tool_core::Err(__tool_error) = __tool_input
                            .read(&mut [&mut __tool_0])
                        {
                            return __tool_core::Err(__tool_error);
                        }
                        __tool_core::Ok(
                            __tool_core::ReturnValue(
                                    <Home<
                                        T,
                                    >>::light(
                                        __tool_core::Input::receiver::<Home<T>>(__tool_input),
                                        __tool_core::take(__tool_0),
                                    ),
                                )
                                .success()
                                .outcome(),
                        )
                    }
                    __tool_core::entry::<__tool_handler<Home<T>>>()
                },
            ],
        ];
    }
};
