/// Every way to take an argument.
#[cfg_attr(
    doc,
    doc = "\n# As a tool\n\nThe model calls it `parameters`.\n\n| argument | type | constraints | description |\n|---|---|---|---|\n| `owned` | `String` |  | Owned. |\n| `borrowed` | `&'a str` |  |  |\n| `maybe` | `Option<u8>` | optional |  |\n| `maybe_borrowed` | `Option<&str>` | optional |  |\n| `items` | `&[Vec<u8>]` |  |  |\n| `number` | `i64` | optional, default `-5` | With \"quotes\". |\n| `unset` | `Vec<String>` | optional |  |\n| `type` | `Kind<'_>` |  |  |"
)]
#[cfg_attr(all(doc, unix), doc = "| `conditional` | `bool` |  |  |")]
#[cfg_attr(
    doc,
    doc = "\n<details><summary>What the model reads</summary>\n\n```text\nEvery way to take an argument.\n```\n\n\n</details>"
)]
pub(crate) fn parameters<'a>(
    mut owned: String,
    borrowed: &'a str,
    maybe: Option<u8>,
    maybe_borrowed: Option<&str>,
    items: &[Vec<u8>],
    number: i64,
    unset: Vec<String>,
    r#type: Kind<'_>,
    #[cfg(unix)]
    #[allow(unused)]
    conditional: bool,
) -> &'a str {
    owned.push('!');
    borrowed
}
///The handler of the tool `parameters`.
#[doc(hidden)]
#[allow(
    non_camel_case_types,
    dead_code,
    missing_debug_implementations,
    missing_copy_implementations,
    unreachable_pub
)]
pub(crate) struct parameters {}
#[allow(
    deprecated,
    unreachable_code,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::arbitrary_source_item_ordering
)]
const _: () = {
    use toolbox::__private as __tool_core;
    #[allow(unused_imports)]
    use __tool_core::autoref_fallbacks::*;
    #[automatically_derived]
    impl __tool_core::Tool for parameters {
        const SOURCE: __tool_core::StaticSpec = __tool_core::StaticSpec {
            name: "parameters",
            description: "Every way to take an argument.",
            parameters: &{
                let __tool_parameters = [
                    __tool_core::parameter::<String>("parameters", "ownedOwned.", 5),
                    __tool_core::parameter::<str>("parameters", "borrowed", 8),
                    __tool_core::parameter::<Option<u8>>("parameters", "maybe", 5),
                    __tool_core::optional(
                        __tool_core::parameter::<str>("parameters", "maybe_borrowed", 14),
                    ),
                    __tool_core::parameter::<[Vec<u8>]>("parameters", "items", 5),
                    __tool_core::parameter_of::<
                        i64,
                    >(
                            "parameters",
                            __tool_core::texts(
                                "numberWith \"quotes\".With \\\"quotes\\\".",
                                [6, 6, 14],
                            ),
                        )
                        .details(const { &__tool_core::details("-5", "", &[]) })
                        .optional(),
                    __tool_core::parameter::<Vec<String>>("parameters", "unset", 5)
                        .optional(),
                    const {
                        {
                            let _ = <Kind<'_> as __tool_core::ToolType>::SCHEMA;
                            __tool_core::parameter::<Kind<'_>>("parameters", "type", 4)
                        }
                    },
                    #[cfg(unix)]
                    __tool_core::parameter::<bool>("parameters", "conditional", 11),
                ];
                __tool_parameters
            },
            output: <__tool_core::Output<&'_ str>>::SCHEMA,
            invoke: __tool_core::Invoke::Sync(__tool_invoke),
            ..__tool_core::StaticSpec::EMPTY
        };
        const LOCATION: __tool_core::Location = __tool_core::location(
            ::core::module_path!(),
        );
        const MODULE: &'static ::core::primitive::str = ::core::module_path!();
    }
    fn __tool_invoke(__tool_input: &__tool_core::Input) -> __tool_core::SyncResult {
        let mut __tool_0 = __tool_core::Slot::<String>(__tool_core::None);
        let mut __tool_1 = __tool_core::Slot::<
            __tool_core::OwnedArg<'_, str>,
        >(__tool_core::None);
        let mut __tool_2 = __tool_core::Slot::<Option<u8>>(__tool_core::None);
        let mut __tool_3 = __tool_core::Slot::<
            __tool_core::Option<__tool_core::OwnedArg<'_, str>>,
        >(__tool_core::None);
        let mut __tool_4 = __tool_core::Slot::<
            __tool_core::OwnedArg<'_, [Vec<u8>]>,
        >(__tool_core::None);
        let mut __tool_5 = __tool_core::Slot::<i64>(__tool_core::None);
        let mut __tool_6 = __tool_core::Slot::<Vec<String>>(__tool_core::None);
        let mut __tool_7 = __tool_core::Slot::<Kind<'_>>(__tool_core::None);
        #[cfg(unix)]
        let mut __tool_8 = __tool_core::Slot::<bool>(__tool_core::None);
        if let __tool_core::Err(__tool_error) = __tool_input
            .read(
                &mut [
                    &mut __tool_0,
                    &mut __tool_1,
                    &mut __tool_2,
                    &mut __tool_3,
                    &mut __tool_4,
                    &mut __tool_5,
                    &mut __tool_6,
                    (&mut __tool_7).reference(),
                    #[cfg(unix)]
                    &mut __tool_8,
                ],
            )
        {
            return __tool_core::Err(__tool_error);
        }
        __tool_core::Ok(
            __tool_core::ReturnValue(
                    parameters(
                        __tool_core::take(__tool_0),
                        __tool_core::BorrowArg::borrow(&__tool_core::take(__tool_1)),
                        __tool_core::take(__tool_2),
                        __tool_core::Slot::<
                            __tool_core::Option<__tool_core::OwnedArg<'_, str>>,
                        >::take_or_default(__tool_3)
                            .as_ref()
                            .map(__tool_core::BorrowArg::borrow),
                        __tool_core::BorrowArg::borrow(&__tool_core::take(__tool_4)),
                        __tool_core::take(__tool_5),
                        __tool_core::Slot::<Vec<String>>::take_or_default(__tool_6),
                        __tool_core::take(__tool_7),
                        #[cfg(unix)]
                        __tool_core::take(__tool_8),
                    ),
                )
                .success()
                .outcome(),
        )
    }
    const _: () = __tool_core::examples::fits(
        <i64 as __tool_core::ToolType>::SCHEMA,
        "number",
        "default",
        &__tool_core::Literal::Number("-5", -5f64),
    );
    #[used]
    #[unsafe(link_section = __tool_core::link_section!())]
    #[cfg_attr(
        all(debug_assertions, not(test)),
        unsafe(
            export_name = "duplicate_tool_name_in_this_crate__rename_one_with_tool_name__or_mark_one_unlinked__tool_name__parameters__crate_…"
        )
    )]
    static __TOOL_LINK: __tool_core::LinkedTool = __tool_core::link::<parameters>();
};
