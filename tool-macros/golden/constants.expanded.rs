/// Weather.
#[doc = include_str!("weather.md")]
#[cfg_attr(
    doc,
    doc = "\n# As a tool\n\nThe model calls it `forecast`. Its tags are `weather`, `v1`.\n\n| argument | type | constraints | description |\n|---|---|---|---|\n| `city` | `&str` |  | {CITY} |\n\n<details><summary>What the model reads</summary>\n\n```text\nWeather.\n{include_str!(\"weather.md\")}\n```\n\n\n</details>"
)]
fn forecast(city: &str) {}
///The handler of the tool `forecast`.
#[doc(hidden)]
#[allow(
    non_camel_case_types,
    dead_code,
    missing_debug_implementations,
    missing_copy_implementations,
    unreachable_pub
)]
struct forecast {}
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
            name: "forecast",
            description: {
                const __TOOL_PARTS: &[__tool_core::prose::Part] = &[
                    __tool_core::prose::literal("Weather."),
                    __tool_core::prose::literal("\n"),
                    __tool_core::prose::docs(include_str!("weather.md")),
                ];
                const __TOOL_BYTES: &[::core::primitive::u8] = &__tool_core::prose::join::<
                    { __tool_core::prose::length(__TOOL_PARTS) },
                >(__TOOL_PARTS);
                __tool_core::prose::joined(__TOOL_BYTES)
            },
            parameters: &{
                let __tool_parameters = [
                    __tool_core::parameter_of::<
                        str,
                    >(
                        "forecast",
                        {
                            const __TOOL_TEXT: &::core::primitive::str = const {
                                __tool_core::prose::checked(
                                    __tool_core::prose::constant(CITY),
                                )
                            };
                            const __TOOL_BOTH: &[::core::primitive::u8] = &__tool_core::prose::both::<
                                { 4 + __tool_core::prose::length_of_both(__TOOL_TEXT) },
                            >("city", __TOOL_TEXT);
                            __tool_core::texts(
                                __tool_core::prose::utf8(__TOOL_BOTH),
                                [4, 4, __TOOL_TEXT.len()],
                            )
                        },
                    ),
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
                tags: __tool_core::Cow::Borrowed(
                    &[
                        __tool_core::Cow::Borrowed("weather"),
                        __tool_core::Cow::Borrowed("v1"),
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
        if let __tool_core::Err(__tool_error) = __tool_input.read(&mut [&mut __tool_0]) {
            return __tool_core::Err(__tool_error);
        }
        __tool_core::Ok(
            __tool_core::ReturnValue(
                    forecast(
                        __tool_core::BorrowArg::borrow(&__tool_core::take(__tool_0)),
                    ),
                )
                .success()
                .outcome(),
        )
    }
    #[used]
    #[unsafe(link_section = __tool_core::link_section!())]
    #[cfg_attr(
        all(debug_assertions, not(test)),
        unsafe(
            export_name = "duplicate_tool_name_in_this_crate__rename_one_with_tool_name__or_mark_one_unlinked__tool_name__forecast__crate_…"
        )
    )]
    static __TOOL_LINK: __tool_core::LinkedTool = __tool_core::link::<forecast>();
};
#[cfg_attr(
    doc,
    doc = "\n# As a tool\n\nThe model calls it `time`. It takes no arguments.\n\n<details><summary>What the model reads</summary>\n\n```text\n{TIME}\n```\n\n```json\n{\"type\": \"object\", \"properties\": {}, \"additionalProperties\": false}\n```\n\n</details>"
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
            description: const {
                __tool_core::prose::checked(__tool_core::prose::constant(TIME))
            },
            parameters: &[],
            invoke: __tool_core::Invoke::Sync(__tool_invoke),
            ..__tool_core::StaticSpec::EMPTY
        };
        const LOCATION: __tool_core::Location = __tool_core::location(
            ::core::module_path!(),
        );
        const MODULE: &'static ::core::primitive::str = ::core::module_path!();
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
impl<T: Backend, const N: usize> Home<T, N> {
    /// Sets it.
    #[cfg_attr(
        doc,
        doc = "\n# As a tool\n\nThe model calls it `set` with the prefix of its toolset.\n\n| argument | type | constraints | description |\n|---|---|---|---|\n| `degrees` | `u8` | 1 to 3 |  |\n| `keys` | `Vec<T::Key>` | length at least 1 |  |\n\n<details><summary>What the model reads</summary>\n\n```text\nSets it.\n```\n\n\n</details>"
    )]
    fn set(&self, degrees: u8, keys: Vec<T::Key>) -> T {
        T::default()
    }
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
        const N: usize,
    > __tool_core::number_the_other_blocks_of_this_type__write_toolset_block_2<1>
    for Home<T, N>
    where
        Home<T, N>: ::core::marker::Send + ::core::marker::Sync + 'static,
    {
        const BLOCKS: &'static [&'static [__tool_core::StaticEntry]] = &[
            &[
                {
                    #[allow(non_camel_case_types, dead_code)]
                    struct __tool_handler<__Owner>(::core::marker::PhantomData<__Owner>);
                    #[automatically_derived]
                    impl<T: Backend, const N: usize> __tool_core::Tool
                    for __tool_handler<Home<T, N>>
                    where
                        Home<
                            T,
                            N,
                        >: ::core::marker::Send + ::core::marker::Sync + 'static,
                    {
                        const SOURCE: __tool_core::StaticSpec = __tool_core::StaticSpec {
                            name: "set",
                            description: "Sets it.",
                            parameters: &{
                                let __tool_parameters = [
                                    __tool_core::constrain::narrow(
                                        __tool_core::parameter::<u8>("set", "degrees", 7),
                                        __tool_core::constrain::inner(__TOOL_NARROW_0),
                                    ),
                                    const {
                                        __tool_core::constrain::narrow(
                                            {
                                                let _ = <Vec<T::Key> as __tool_core::ToolType>::SCHEMA;
                                                __tool_core::parameter::<Vec<T::Key>>("set", "keys", 4)
                                            },
                                            __tool_core::constrain::inner(const {
                                                &__tool_core::constrain::as_nullable_as(
                                                    <Vec<T::Key> as __tool_core::ToolType>::SCHEMA,
                                                    const {
                                                        &__tool_core::constrain::length(
                                                            __tool_core::constrain::inner(
                                                                <Vec<T::Key> as __tool_core::ToolType>::SCHEMA,
                                                            ),
                                                            "keys",
                                                            1usize,
                                                            ::core::primitive::usize::MAX,
                                                        )
                                                    },
                                                )
                                            }),
                                        )
                                    },
                                ];
                                __tool_parameters
                            },
                            output: <__tool_core::Output<T>>::SCHEMA,
                            invoke: __tool_core::Invoke::Sync(__tool_invoke::<T, N>),
                            ..__tool_core::StaticSpec::EMPTY
                        };
                        const LOCATION: __tool_core::Location = __tool_core::location(
                            ::core::module_path!(),
                        );
                        const MODULE: &'static ::core::primitive::str = ::core::module_path!();
                    }
                    fn __tool_invoke<T: Backend, const N: usize>(
                        __tool_input: &__tool_core::Input,
                    ) -> __tool_core::SyncResult
                    where
                        Home<
                            T,
                            N,
                        >: ::core::marker::Send + ::core::marker::Sync + 'static,
                    {
                        let mut __tool_0 = __tool_core::Slot::<u8>(__tool_core::None);
                        let mut __tool_1 = __tool_core::Slot::<
                            Vec<T::Key>,
                        >(__tool_core::None);
                        if let __tool_core::Err(__tool_error) = __tool_input
                            .read(&mut [&mut __tool_0, (&mut __tool_1).reference()])
                        {
                            return __tool_core::Err(__tool_error);
                        }
                        __tool_core::Ok(
                            __tool_core::ReturnValue(
                                    <Home<
                                        T,
                                        N,
                                    >>::set(
                                        __tool_core::Input::receiver::<Home<T, N>>(__tool_input),
                                        __tool_core::take(__tool_0),
                                        __tool_core::take(__tool_1),
                                    ),
                                )
                                .success()
                                .outcome(),
                        )
                    }
                    const __TOOL_NARROW_0: &__tool_core::Schema = const {
                        &__tool_core::constrain::as_nullable_as(
                            <u8 as __tool_core::ToolType>::SCHEMA,
                            const {
                                &__tool_core::constrain::integers(
                                    __tool_core::constrain::inner(
                                        <u8 as __tool_core::ToolType>::SCHEMA,
                                    ),
                                    "degrees",
                                    __tool_core::Some(1i128),
                                    __tool_core::Some(3i128),
                                )
                            },
                        )
                    };
                    __tool_core::entry::<__tool_handler<Home<T, N>>>()
                },
            ],
            <Home<
                T,
                N,
            > as __tool_core::number_the_other_blocks_of_this_type__write_toolset_block_2<
                2,
            >>::BLOCKS[0],
        ];
    }
    impl<T: Backend, const N: usize> __tool_core::ListsBlock<2> for Home<T, N>
    where
        Home<T, N>: ::core::marker::Send + ::core::marker::Sync + 'static,
    {}
};
impl Clock for Home<u8, 2> {
    /// The time.
    #[cfg_attr(
        doc,
        doc = "\n# As a tool\n\nThe model calls it `now` with the prefix of its toolset. It takes no arguments.\n\n<details><summary>What the model reads</summary>\n\n```text\nThe time.\n```\n\n```json\n{\"type\": \"object\", \"properties\": {}, \"additionalProperties\": false}\n```\n\n</details>"
    )]
    fn now(&self) {}
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
    const __TOOL_0: __tool_core::StaticEntry = {
        #[allow(non_camel_case_types, dead_code)]
        struct __tool_handler {}
        #[automatically_derived]
        impl __tool_core::Tool for __tool_handler {
            const SOURCE: __tool_core::StaticSpec = __tool_core::StaticSpec {
                name: "now",
                description: "The time.",
                parameters: &[],
                invoke: __tool_core::Invoke::Sync(__tool_invoke),
                ..__tool_core::StaticSpec::EMPTY
            };
            const LOCATION: __tool_core::Location = __tool_core::location(
                ::core::module_path!(),
            );
            const MODULE: &'static ::core::primitive::str = ::core::module_path!();
        }
        fn __tool_invoke(__tool_input: &__tool_core::Input) -> __tool_core::SyncResult {
            if let __tool_core::Err(__tool_error) = __tool_input.read(&mut []) {
                return __tool_core::Err(__tool_error);
            }
            __tool_core::Ok(
                __tool_core::ReturnValue(
                        <Home<
                            u8,
                            2,
                        > as Clock>::now(
                            __tool_core::Input::receiver::<Home<u8, 2>>(__tool_input),
                        ),
                    )
                    .success()
                    .outcome(),
            )
        }
        __tool_core::entry::<__tool_handler>()
    };
    #[automatically_derived]
    impl __tool_core::number_the_other_blocks_of_this_type__write_toolset_block_2<2>
    for Home<u8, 2> {
        const BLOCKS: &'static [&'static [__tool_core::StaticEntry]] = &[&[__TOOL_0]];
    }
};
