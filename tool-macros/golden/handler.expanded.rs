/// Searches the web.
#[cfg(feature = "web")]
#[cfg_attr(
    doc,
    doc = "\n# As a tool\n\nThe model calls it `web_search`.\n\n| argument | type | constraints | description |\n|---|---|---|---|\n| `query` | `&str` |  |  |\n| `page` | `Page` |  |  |\n\n<details><summary>What the model reads</summary>\n\n```text\nSearches the web.\n```\n\n\n</details>"
)]
pub async fn search(query: &str, page: Page) -> Result<Vec<Hit>, Error> {
    fetch(query, page).await
}
#[cfg(feature = "web")]
///The handler of the tool `web_search`.
#[allow(dead_code, unreachable_pub)]
#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
pub struct SearchTool;
#[cfg(feature = "web")]
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
    impl __tool_core::Tool for SearchTool {
        const SOURCE: __tool_core::StaticSpec = __tool_core::StaticSpec {
            name: "web_search",
            description: "Searches the web.",
            parameters: &{
                let __tool_parameters = [
                    __tool_core::parameter::<str>("web_search", "query", 5),
                    const {
                        {
                            let _ = <Page as __tool_core::ToolType>::SCHEMA;
                            __tool_core::parameter::<Page>("web_search", "page", 4)
                        }
                    },
                ];
                __tool_parameters
            },
            output: <__tool_core::Output<Result<Vec<Hit>, Error>>>::SCHEMA,
            invoke: __tool_core::Invoke::Async(__tool_invoke),
            ..__tool_core::StaticSpec::EMPTY
        };
        const LOCATION: __tool_core::Location = __tool_core::location(
            ::core::module_path!(),
        );
        const MODULE: &'static ::core::primitive::str = ::core::module_path!();
        const DETAILS: __tool_core::Option<&'static __tool_core::Details> = __tool_core::Some(
            &__tool_core::Details {
                timeout: __tool_core::Some(__tool_core::Duration::new(30u64, 0u32)),
                ..__tool_core::Details::EMPTY
            },
        );
    }
    fn __tool_invoke(__tool_input: &__tool_core::Input) -> __tool_core::AsyncStart<'_> {
        let mut __tool_0 = __tool_core::Slot::<
            __tool_core::OwnedArg<'_, str>,
        >(__tool_core::None);
        let mut __tool_1 = __tool_core::Slot::<Page>(__tool_core::None);
        if let __tool_core::Err(__tool_error) = __tool_input
            .read(&mut [&mut __tool_0, (&mut __tool_1).reference()])
        {
            return __tool_core::Err(__tool_error);
        }
        __tool_core::Ok(
            __tool_core::boxed(async move {
                __tool_core::ReturnValue(
                        search(
                                __tool_core::BorrowArg::borrow(
                                    &__tool_core::take(__tool_0),
                                ),
                                __tool_core::take(__tool_1),
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
            export_name = "duplicate_tool_name_in_this_crate__rename_one_with_tool_name__or_mark_one_unlinked__tool_name__web_search__crate_…"
        )
    )]
    static __TOOL_LINK: __tool_core::LinkedTool = __tool_core::link::<SearchTool>();
};
