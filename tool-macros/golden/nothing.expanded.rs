/// Takes a nap.
fn nap() {}
///The handler of the tool `nap`.
#[doc(hidden)]
#[allow(
    non_camel_case_types,
    dead_code,
    missing_debug_implementations,
    missing_copy_implementations,
    unreachable_pub
)]
struct nap {}
#[allow(deprecated, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use ::tool_core as __tool_core;
    #[allow(unused_imports)]
    use __tool_core::__private::{Displayed as _, NoOutput as _, Plain as _};
    const __TOOL_PARAMETERS: &__tool_core::schema::Schema = &__tool_core::schema::Schema::object(const {
        &[]
    });
    const __TOOL_OUTPUT: ::core::option::Option<&__tool_core::schema::Schema> = ::core::option::Option::None;
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
        spec: <nap as __tool_core::Tool>::SPEC,
        invoke: __tool_core::__private::Invoke::Sync(__tool_invoke),
    };
    #[automatically_derived]
    impl __tool_core::Tool for nap {
        const SPEC: __tool_core::ToolSpec = __tool_core::__private::StaticSpec {
            name: "nap",
            title: ::core::option::Option::None,
            description: "Takes a nap.",
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
        __tool_input.read(__TOOL_PARAMETERS, &mut [])?;
        ::core::result::Result::Ok(
            match __tool_core::__private::Returned(nap()).split() {
                ::core::result::Result::Ok(__tool_value) => {
                    __tool_core::__private::Returned(__tool_value).outcome()
                }
                ::core::result::Result::Err(__tool_error) => {
                    __tool_core::__private::Failure(__tool_error).outcome()
                }
            },
        )
    }
};
