/// Adds numbers.
#[cfg_attr(
    doc,
    doc = "\n# As a tool\n\nThe model calls it `add`.\n\n| argument | type | constraints | description |\n|---|---|---|---|\n| `sum` | `&str` |  |  |\n\n<details><summary>What the model reads</summary>\n\n```text\nAdds numbers.\n```\n\n```json\n{\n  \"type\": \"object\",\n  \"properties\": {\"sum\": {\"type\": \"string\"}},\n  \"required\": [\"sum\"],\n  \"additionalProperties\": false\n}\n```\n\n</details>"
)]
fn add(sum: &str) -> u64 {
    sum.split('+').filter_map(|number| number.parse::<u64>().ok()).sum()
}
///The handler of the tool `add`.
#[doc(hidden)]
#[allow(
    non_camel_case_types,
    dead_code,
    missing_debug_implementations,
    missing_copy_implementations,
    unreachable_pub
)]
struct add {}
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
    impl __tool_core::Tool for add {
        const SOURCE: __tool_core::StaticSpec = __tool_core::StaticSpec {
            name: "add",
            description: "Adds numbers.",
            parameters: &{
                let __tool_parameters = [__tool_core::parameter::<str>("add", "sum", 3)];
                __tool_parameters
            },
            output: <__tool_core::Output<u64>>::SCHEMA,
            invoke: __tool_core::Invoke::Sync(__tool_invoke),
            ..__tool_core::StaticSpec::EMPTY
        };
        const LOCATION: __tool_core::Location = __tool_core::location(
            ::core::module_path!(),
        );
        const MODULE: &'static ::core::primitive::str = ::core::module_path!();
        const DETAILS: __tool_core::Option<&'static __tool_core::Details> = __tool_core::Some(
            &__tool_core::Details {
                freeform: __tool_core::Some(__tool_core::Freeform {
                    key: __tool_core::Cow::Borrowed("sum"),
                    grammar: __tool_core::Some(
                        __tool_core::Grammar::Lark(
                            __tool_core::Cow::Borrowed(__tool_core::lark(RULES)),
                        ),
                    ),
                }),
                programmatic: __tool_core::Some(__tool_core::Programmatic::Only),
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
                    add(__tool_core::BorrowArg::borrow(&__tool_core::take(__tool_0))),
                )
                .success()
                .outcome(),
        )
    }
    const _: () = __tool_core::check_freeform(<str as __tool_core::ToolType>::SCHEMA);
    const _: () = __tool_core::check_programmatic("add");
    #[used]
    #[unsafe(link_section = __tool_core::link_section!())]
    #[cfg_attr(
        all(debug_assertions, not(test)),
        unsafe(
            export_name = "duplicate_tool_name_in_this_crate__rename_one_with_tool_name__or_mark_one_unlinked__tool_name__add__crate_…"
        )
    )]
    static __TOOL_LINK: __tool_core::LinkedTool = __tool_core::link::<add>();
};
/// Runs a query.
#[cfg_attr(
    doc,
    doc = "\n# As a tool\n\nThe model calls it `run_sql`.\n\n| argument | type | constraints | description |\n|---|---|---|---|\n| `query` | `String` | length at most 400 |  |\n\n<details><summary>What the model reads</summary>\n\n```text\nRuns a query.\n```\n\n```json\n{\n  \"type\": \"object\",\n  \"properties\": {\"query\": {\"type\": \"string\", \"maxLength\": 400}},\n  \"required\": [\"query\"],\n  \"additionalProperties\": false\n}\n```\n\n</details>"
)]
fn run_sql(sql: String) {
    drop(sql);
}
///The handler of the tool `run_sql`.
#[doc(hidden)]
#[allow(
    non_camel_case_types,
    dead_code,
    missing_debug_implementations,
    missing_copy_implementations,
    unreachable_pub
)]
struct run_sql {}
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
    impl __tool_core::Tool for run_sql {
        const SOURCE: __tool_core::StaticSpec = __tool_core::StaticSpec {
            name: "run_sql",
            description: "Runs a query.",
            parameters: &{
                let __tool_parameters = [
                    __tool_core::constrain::narrow(
                        __tool_core::parameter::<String>("run_sql", "query", 5),
                        __tool_core::constrain::inner(__TOOL_NARROW_0),
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
                freeform: __tool_core::Some(__tool_core::Freeform {
                    key: __tool_core::Cow::Borrowed("query"),
                    grammar: __tool_core::None,
                }),
                programmatic: __tool_core::Some(__tool_core::Programmatic::Also),
                ..__tool_core::Details::EMPTY
            },
        );
    }
    fn __tool_invoke(__tool_input: &__tool_core::Input) -> __tool_core::SyncResult {
        let mut __tool_0 = __tool_core::Slot::<String>(__tool_core::None);
        if let __tool_core::Err(__tool_error) = __tool_input.read(&mut [&mut __tool_0]) {
            return __tool_core::Err(__tool_error);
        }
        __tool_core::Ok(
            __tool_core::ReturnValue(run_sql(__tool_core::take(__tool_0)))
                .success()
                .outcome(),
        )
    }
    const __TOOL_NARROW_0: &__tool_core::Schema = const {
        &__tool_core::constrain::as_nullable_as(
            <String as __tool_core::ToolType>::SCHEMA,
            const {
                &__tool_core::constrain::length(
                    __tool_core::constrain::inner(
                        <String as __tool_core::ToolType>::SCHEMA,
                    ),
                    "sql",
                    0usize,
                    400usize,
                )
            },
        )
    };
    const _: () = __tool_core::check_freeform(__TOOL_NARROW_0);
    const _: () = __tool_core::check_programmatic("run_sql");
    #[used]
    #[unsafe(link_section = __tool_core::link_section!())]
    #[cfg_attr(
        all(debug_assertions, not(test)),
        unsafe(
            export_name = "duplicate_tool_name_in_this_crate__rename_one_with_tool_name__or_mark_one_unlinked__tool_name__run_sql__crate_…"
        )
    )]
    static __TOOL_LINK: __tool_core::LinkedTool = __tool_core::link::<run_sql>();
};
