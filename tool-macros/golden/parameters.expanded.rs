/// Every way to take an argument.
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
#[allow(deprecated, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use toolbox as __tool_core;
    #[allow(unused_imports)]
    use __tool_core::__private::{Displayed as _, NoOutput as _, Plain as _};
    const __TOOL_PARAMETERS: &__tool_core::schema::Schema = &__tool_core::schema::Schema::object(const {
        &[
            __tool_core::__private::property::<
                String,
            >(
                __tool_core::__private::text("owned", "owned"),
                __tool_core::__private::text("Owned.", "Owned."),
            ),
            __tool_core::__private::property::<
                str,
            >(
                __tool_core::__private::text("borrowed", "borrowed"),
                __tool_core::__private::text("", ""),
            ),
            __tool_core::__private::property::<
                Option<u8>,
            >(
                __tool_core::__private::text("maybe", "maybe"),
                __tool_core::__private::text("", ""),
            ),
            __tool_core::__private::optional_property::<
                str,
            >(
                __tool_core::__private::text("maybe_borrowed", "maybe_borrowed"),
                __tool_core::__private::text("", ""),
            ),
            __tool_core::__private::property::<
                [Vec<u8>],
            >(
                __tool_core::__private::text("items", "items"),
                __tool_core::__private::text("", ""),
            ),
            __tool_core::__private::default(
                __tool_core::__private::property::<
                    i64,
                >(
                    __tool_core::__private::text("number", "number"),
                    __tool_core::__private::text(
                        "With \"quotes\".",
                        "With \\\"quotes\\\".",
                    ),
                ),
                "-5",
            ),
            __tool_core::__private::property::<
                Vec<String>,
            >(
                    __tool_core::__private::text("unset", "unset"),
                    __tool_core::__private::text("", ""),
                )
                .optional(),
            __tool_core::__private::property::<
                Kind<'_>,
            >(
                __tool_core::__private::text("type", "type"),
                __tool_core::__private::text("", ""),
            ),
            #[cfg(unix)]
            __tool_core::__private::property::<
                bool,
            >(
                __tool_core::__private::text("conditional", "conditional"),
                __tool_core::__private::text("", ""),
            ),
        ]
    });
    const __TOOL_OUTPUT: ::core::option::Option<&__tool_core::schema::Schema> = <__tool_core::__private::Output<
        &'_ str,
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
        spec: <parameters as __tool_core::Tool>::SPEC,
        invoke: __tool_core::__private::Invoke::Sync(__tool_invoke),
    };
    #[automatically_derived]
    impl __tool_core::Tool for parameters {
        const SPEC: __tool_core::ToolSpec = __tool_core::__private::StaticSpec {
            name: "parameters",
            title: ::core::option::Option::None,
            description: "Every way to take an argument.",
            when_to_use: ::core::option::Option::None,
            returns: ::core::option::Option::None,
            annotations: [
                ::core::option::Option::None,
                ::core::option::Option::None,
                ::core::option::Option::None,
                ::core::option::Option::None,
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
        __tool_core::__private::Outcome,
        __tool_core::__private::Refusal,
    > {
        let mut __tool_0 = __tool_core::__private::Slot::<String>::new();
        let mut __tool_1 = __tool_core::__private::Slot::<
            __tool_core::__private::Held<'_, str>,
        >::new();
        let mut __tool_2 = __tool_core::__private::Slot::<Option<u8>>::new();
        let mut __tool_3 = __tool_core::__private::Slot::<
            ::core::option::Option<__tool_core::__private::Held<'_, str>>,
        >::new();
        let mut __tool_4 = __tool_core::__private::Slot::<
            __tool_core::__private::Held<'_, [Vec<u8>]>,
        >::new();
        let mut __tool_5 = __tool_core::__private::Slot::<i64>::new();
        let mut __tool_6 = __tool_core::__private::Slot::<Vec<String>>::new();
        let mut __tool_7 = __tool_core::__private::Slot::<Kind<'_>>::new();
        #[cfg(unix)]
        let mut __tool_8 = __tool_core::__private::Slot::<bool>::new();
        __tool_input
            .read(
                __TOOL_PARAMETERS,
                &mut [
                    &mut __tool_0,
                    &mut __tool_1,
                    &mut __tool_2,
                    &mut __tool_3,
                    &mut __tool_4,
                    &mut __tool_5,
                    &mut __tool_6,
                    &mut __tool_7,
                    #[cfg(unix)]
                    &mut __tool_8,
                ],
            )?;
        let __tool_0 = __tool_0.take();
        let __tool_1 = __tool_1.take();
        let __tool_2 = __tool_2.take();
        let __tool_3 = __tool_3.take();
        let __tool_4 = __tool_4.take();
        let __tool_5 = __tool_5.take();
        let __tool_6 = __tool_core::__private::Slot::<
            Vec<String>,
        >::take_or_default(__tool_6);
        let __tool_7 = __tool_7.take();
        #[cfg(unix)]
        let __tool_8 = __tool_8.take();
        ::core::result::Result::Ok(
            match __tool_core::__private::Returned(
                    parameters(
                        __tool_0,
                        __tool_core::__private::Lend::lend(&__tool_1),
                        __tool_2,
                        __tool_3.as_ref().map(__tool_core::__private::Lend::lend),
                        __tool_core::__private::Lend::lend(&__tool_4),
                        __tool_5,
                        __tool_6,
                        __tool_7,
                        #[cfg(unix)]
                        __tool_8,
                    ),
                )
                .split()
            {
                ::core::result::Result::Ok(__tool_value) => {
                    __tool_core::__private::Returned(__tool_value).outcome()
                }
                ::core::result::Result::Err(__tool_error) => {
                    __tool_core::__private::Failure(__tool_error).outcome()
                }
            },
        )
    }
    const _: () = __tool_core::__private::check::fits(
        <i64 as __tool_core::ToolType>::SCHEMA,
        &__tool_core::__private::Literal::Integer(-5i128),
        "the default -5 is no value that the schema of `number` describes; give one that a call could send",
    );
    #[__tool_core::__private::linkme::distributed_slice(__tool_core::__private::LINKED)]
    #[linkme(crate = __tool_core::__private::linkme)]
    static __TOOL_LINK: &__tool_core::__private::StaticTool = &__TOOL_ENTRY;
    #[cfg(not(test))]
    #[unsafe(
        export_name = "two_tools_of_this_crate_have_one_name__rename_one_with_tool_name__or_mark_one_unlinked__crate_…__tool_name__parameters"
    )]
    static __TOOL_NAME: ::core::primitive::u8 = 0;
};
