/// Runs commands.
#[cfg_attr(
    doc,
    doc = "\n# As a tool\n\nThe model calls it `bash`.\n\n| argument | type | constraints | description |\n|---|---|---|---|\n| `input` | `anthropic::BashCommand` |  |  |\n\n<details><summary>What the model reads</summary>\n\n```text\nRuns commands.\n```\n\n\n</details>"
)]
fn bash(input: anthropic::BashCommand, call: &CallContext) -> String {
    String::new()
}
///The handler of the tool `bash`.
#[doc(hidden)]
#[allow(
    non_camel_case_types,
    dead_code,
    missing_debug_implementations,
    missing_copy_implementations,
    unreachable_pub
)]
struct bash {}
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
    impl __tool_core::Tool for bash {
        const SOURCE: __tool_core::StaticSpec = __tool_core::StaticSpec {
            name: "bash",
            description: "Runs commands.",
            parameters: &{
                let __tool_parameters = [
                    const {
                        {
                            let _ = <anthropic::BashCommand as __tool_core::ToolType>::SCHEMA;
                            __tool_core::parameter::<
                                anthropic::BashCommand,
                            >("bash", "input", 5)
                        }
                    },
                ];
                __tool_parameters
            },
            output: <__tool_core::Output<String>>::SCHEMA,
            invoke: __tool_core::Invoke::Sync(__tool_invoke),
            ..__tool_core::StaticSpec::EMPTY
        };
        const LOCATION: __tool_core::Location = __tool_core::location(
            ::core::module_path!(),
        );
        const MODULE: &'static ::core::primitive::str = ::core::module_path!();
        const DETAILS: __tool_core::Option<&'static __tool_core::Details> = __tool_core::Some(
            &__tool_core::Details {
                needs: &[__tool_core::Need::of::<CallContext>()],
                provides: __tool_core::Some(
                    &__tool_core::Provided {
                        tool: __tool_core::provided::<
                            anthropic::Bash20250124,
                            anthropic::BashCommand,
                        >("bash"),
                        key: "input",
                    },
                ),
                ..__tool_core::Details::EMPTY
            },
        );
    }
    fn __tool_invoke(__tool_input: &__tool_core::Input) -> __tool_core::SyncResult {
        let mut __tool_0 = __tool_core::Slot::<
            anthropic::BashCommand,
        >(__tool_core::None);
        if let __tool_core::Err(__tool_error) = __tool_input
            .read_whole("input", &mut [(&mut __tool_0).reference()])
        {
            return __tool_core::Err(__tool_error);
        }
        let __tool_context_0 = match __tool_core::Input::context::<
            CallContext,
        >(__tool_input) {
            __tool_core::Ok(__tool_value) => __tool_value,
            __tool_core::Err(__tool_error) => return __tool_core::Err(__tool_error),
        };
        __tool_core::Ok(
            __tool_core::ReturnValue(bash(__tool_core::take(__tool_0), __tool_context_0))
                .success()
                .outcome(),
        )
    }
    #[used]
    #[unsafe(link_section = __tool_core::link_section!())]
    #[cfg_attr(
        all(debug_assertions, not(test)),
        unsafe(
            export_name = "duplicate_tool_name_in_this_crate__rename_one_with_tool_name__or_mark_one_unlinked__tool_name__bash__crate_…"
        )
    )]
    static __TOOL_LINK: __tool_core::LinkedTool = __tool_core::link::<bash>();
};
/// Uses the desktop.
#[cfg_attr(
    doc,
    doc = "\n# As a tool\n\nThe model calls it `computer`; its title is “Desktop”.\n\n| argument | type | constraints | description |\n|---|---|---|---|\n| `what` | `anthropic::ComputerAction` |  |  |\n\n<details><summary>What the model reads</summary>\n\n```text\nUses the desktop.\n```\n\n\n</details>"
)]
async fn desktop(action: anthropic::ComputerAction) -> Image {
    todo!()
}
///The handler of the tool `computer`.
#[doc(hidden)]
#[allow(
    non_camel_case_types,
    dead_code,
    missing_debug_implementations,
    missing_copy_implementations,
    unreachable_pub
)]
struct desktop {}
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
    impl __tool_core::Tool for desktop {
        const SOURCE: __tool_core::StaticSpec = __tool_core::StaticSpec {
            name: "computer",
            description: "Uses the desktop.",
            parameters: &{
                let __tool_parameters = [
                    const {
                        {
                            let _ = <anthropic::ComputerAction as __tool_core::ToolType>::SCHEMA;
                            __tool_core::parameter::<
                                anthropic::ComputerAction,
                            >("computer", "what", 4)
                        }
                    },
                ];
                __tool_parameters
            },
            output: <__tool_core::Output<Image>>::SCHEMA,
            invoke: __tool_core::Invoke::Async(__tool_invoke),
            ..__tool_core::StaticSpec::EMPTY
        };
        const LOCATION: __tool_core::Location = __tool_core::location(
            ::core::module_path!(),
        );
        const MODULE: &'static ::core::primitive::str = ::core::module_path!();
        const DETAILS: __tool_core::Option<&'static __tool_core::Details> = __tool_core::Some(
            &__tool_core::Details {
                title: __tool_core::Some(__tool_core::Cow::Borrowed("Desktop")),
                provides: __tool_core::Some(
                    &__tool_core::Provided {
                        tool: __tool_core::provided::<
                            anthropic::Computer20251124<1024, 768, true>,
                            anthropic::ComputerAction,
                        >("computer"),
                        key: "what",
                    },
                ),
                ..__tool_core::Details::EMPTY
            },
        );
    }
    fn __tool_invoke(__tool_input: &__tool_core::Input) -> __tool_core::AsyncStart<'_> {
        let mut __tool_0 = __tool_core::Slot::<
            anthropic::ComputerAction,
        >(__tool_core::None);
        if let __tool_core::Err(__tool_error) = __tool_input
            .read_whole("what", &mut [(&mut __tool_0).reference()])
        {
            return __tool_core::Err(__tool_error);
        }
        __tool_core::Ok(
            __tool_core::awaited(
                desktop(__tool_core::take(__tool_0)),
                |__tool_value| __tool_core::ReturnValue(__tool_value).success().outcome(),
            ),
        )
    }
    #[used]
    #[unsafe(link_section = __tool_core::link_section!())]
    #[cfg_attr(
        all(debug_assertions, not(test)),
        unsafe(
            export_name = "duplicate_tool_name_in_this_crate__rename_one_with_tool_name__or_mark_one_unlinked__tool_name__computer__crate_…"
        )
    )]
    static __TOOL_LINK: __tool_core::LinkedTool = __tool_core::link::<desktop>();
};
