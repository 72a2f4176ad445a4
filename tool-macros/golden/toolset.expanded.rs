/// A house.
impl Home {
    const LIMIT: u8 = 3;
    /// Sets the temperature.
    #[inline]
    #[cfg_attr(
        doc,
        doc = "\n# As a tool\n\nThe model calls it `set` with the prefix of its toolset. It is idempotent.\n\n| argument | type | constraints | description |\n|---|---|---|---|\n| `degrees` | `i32` |  |  |\n| `like` | `Option<Home>` | optional |  |\n\n<details><summary>What the model reads</summary>\n\n```text\nSets the temperature.\n```\n\n\n</details>"
    )]
    fn set(&self, degrees: i32, like: Option<Self>) -> Result<[u8; Self::LIMIT], Error> {
        self.degrees(degrees)
    }
    fn degrees(&self, degrees: i32) {}
    /// Waits for a temperature.
    #[cfg(unix)]
    #[cfg_attr(
        doc,
        doc = "\n# As a tool\n\nThe model calls it `wait` with the prefix of its toolset. It takes no arguments.\n\n<details><summary>What the model reads</summary>\n\n```text\nWaits for a temperature.\n```\n\n```json\n{\"type\": \"object\", \"properties\": {}, \"additionalProperties\": false}\n```\n\n</details>"
    )]
    async fn wait(&self) {}
    /// Lists the rooms.
    #[cfg_attr(
        doc,
        doc = "\n# As a tool\n\nThe model calls it `list_rooms` with the prefix of its toolset. It takes no arguments.\n\n<details><summary>What the model reads</summary>\n\n```text\nLists the rooms.\n```\n\n```json\n{\"type\": \"object\", \"properties\": {}, \"additionalProperties\": false}\n```\n\n</details>"
    )]
    pub fn rooms() -> Vec<String> {
        Vec::new()
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
    const __TOOL_0: __tool_core::StaticEntry = {
        #[allow(non_camel_case_types, dead_code)]
        struct __tool_handler {}
        #[automatically_derived]
        impl __tool_core::Tool for __tool_handler {
            const SOURCE: __tool_core::StaticSpec = __tool_core::StaticSpec {
                name: "set",
                description: "Sets the temperature.",
                annotations: [
                    __tool_core::None,
                    __tool_core::None,
                    __tool_core::Some(true),
                    __tool_core::None,
                ],
                parameters: &{
                    let __tool_parameters = [
                        __tool_core::parameter::<i32>("set", "degrees", 7),
                        const {
                            {
                                let _ = <Option<Home> as __tool_core::ToolType>::SCHEMA;
                                __tool_core::parameter::<Option<Home>>("set", "like", 4)
                            }
                        },
                    ];
                    __tool_parameters
                },
                output: <__tool_core::Output<
                    Result<[u8; <Home>::LIMIT], Error>,
                >>::SCHEMA,
                invoke: __tool_core::Invoke::Sync(__tool_invoke),
                ..__tool_core::StaticSpec::EMPTY
            };
            const LOCATION: __tool_core::Location = __tool_core::location(
                ::core::module_path!(),
            );
            const MODULE: &'static ::core::primitive::str = ::core::module_path!();
        }
        fn __tool_invoke(__tool_input: &__tool_core::Input) -> __tool_core::SyncResult {
            let mut __tool_0 = __tool_core::Slot::<i32>(__tool_core::None);
            let mut __tool_1 = __tool_core::Slot::<Option<Home>>(__tool_core::None);
            if let __tool_core::Err(__tool_error) = __tool_input
                .read(&mut [&mut __tool_0, (&mut __tool_1).reference()])
            {
                return __tool_core::Err(__tool_error);
            }
            __tool_core::Ok(
                __tool_core::ReturnValue(
                        <Home>::set(
                            __tool_core::Input::receiver::<Home>(__tool_input),
                            __tool_core::take(__tool_0),
                            __tool_core::take(__tool_1),
                        ),
                    )
                    .success()
                    .outcome(),
            )
        }
        __tool_core::entry::<__tool_handler>()
    };
    #[cfg(unix)]
    const __TOOL_1: __tool_core::StaticEntry = {
        #[allow(non_camel_case_types, dead_code)]
        struct __tool_handler {}
        #[automatically_derived]
        impl __tool_core::Tool for __tool_handler {
            const SOURCE: __tool_core::StaticSpec = __tool_core::StaticSpec {
                name: "wait",
                description: "Waits for a temperature.",
                parameters: &[],
                invoke: __tool_core::Invoke::Async(__tool_invoke),
                ..__tool_core::StaticSpec::EMPTY
            };
            const LOCATION: __tool_core::Location = __tool_core::location(
                ::core::module_path!(),
            );
            const MODULE: &'static ::core::primitive::str = ::core::module_path!();
        }
        fn __tool_invoke(
            __tool_input: &__tool_core::Input,
        ) -> __tool_core::AsyncStart<'_> {
            if let __tool_core::Err(__tool_error) = __tool_input.read(&mut []) {
                return __tool_core::Err(__tool_error);
            }
            __tool_core::Ok(
                __tool_core::awaited(
                    <Home>::wait(__tool_core::Input::receiver::<Home>(__tool_input)),
                    |__tool_value| {
                        __tool_core::ReturnValue(__tool_value).success().outcome()
                    },
                ),
            )
        }
        __tool_core::entry::<__tool_handler>()
    };
    const __TOOL_2: __tool_core::StaticEntry = {
        #[allow(non_camel_case_types, dead_code)]
        struct __tool_handler {}
        #[automatically_derived]
        impl __tool_core::Tool for __tool_handler {
            const SOURCE: __tool_core::StaticSpec = __tool_core::StaticSpec {
                name: "list_rooms",
                description: "Lists the rooms.",
                parameters: &[],
                output: <__tool_core::Output<Vec<String>>>::SCHEMA,
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
                __tool_core::ReturnValue(<Home>::rooms()).success().outcome(),
            )
        }
        __tool_core::entry::<__tool_handler>()
    };
    #[automatically_derived]
    impl __tool_core::number_the_other_blocks_of_this_type__write_toolset_block_2<1>
    for Home {
        const BLOCKS: &'static [&'static [__tool_core::StaticEntry]] = &[
            &[__TOOL_0, #[cfg(unix)] __TOOL_1, __TOOL_2],
        ];
    }
};
impl Home {
    /// Changes it.
    fn change(&mut self) {}
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
    #[automatically_derived]
    impl __tool_core::number_the_other_blocks_of_this_type__write_toolset_block_2<1>
    for Home {
        const BLOCKS: &'static [&'static [__tool_core::StaticEntry]] = &[&[]];
    }
};
::core::compile_error! {
    "a method is never linked because it needs a registered value; remove `unlinked`"
}
::core::compile_error! {
    "concurrent calls share `self`; take `&self`, and keep mutable state in a `Mutex`"
}
