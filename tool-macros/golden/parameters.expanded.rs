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
    use toolbox::__private as __tool;
    #[allow(unused_imports)]
    use __tool::second_choice::*;
    #[automatically_derived]
    impl __tool::Tool for parameters {
        const SOURCE: __tool::StaticSpec = __tool::StaticSpec {
            name: "parameters",
            description: "Every way to take an argument.",
            location: __tool::here(::core::module_path!()),
            parameters: &[
                __tool::property::<String>("owned", "Owned."),
                __tool::property::<str>("borrowed", ""),
                __tool::property::<Option<u8>>("maybe", ""),
                __tool::optional(__tool::property::<str>("maybe_borrowed", "")),
                __tool::property::<[Vec<u8>]>("items", ""),
                __tool::default(
                    __tool::property_of::<
                        i64,
                    >(
                        __tool::text("number", "number"),
                        __tool::text("With \"quotes\".", "With \\\"quotes\\\"."),
                    ),
                    "-5",
                ),
                __tool::property::<Vec<String>>("unset", "").optional(),
                __tool::property::<Kind<'_>>("type", ""),
                #[cfg(unix)]
                __tool::property::<bool>("conditional", ""),
            ],
            output: <__tool::Output<&'_ str>>::SCHEMA,
            ..__tool::StaticSpec::EMPTY
        };
        const INVOKE: __tool::Invoke = __tool::Invoke::Sync(__tool_invoke);
    }
    fn __tool_invoke(__tool_input: &__tool::Input) -> __tool::Ended {
        let mut __tool_0 = __tool::Slot::<String>::new();
        let mut __tool_1 = __tool::Slot::<__tool::Held<'_, str>>::new();
        let mut __tool_2 = __tool::Slot::<Option<u8>>::new();
        let mut __tool_3 = __tool::Slot::<__tool::Option<__tool::Held<'_, str>>>::new();
        let mut __tool_4 = __tool::Slot::<__tool::Held<'_, [Vec<u8>]>>::new();
        let mut __tool_5 = __tool::Slot::<i64>::new();
        let mut __tool_6 = __tool::Slot::<Vec<String>>::new();
        let mut __tool_7 = __tool::Slot::<Kind<'_>>::new();
        #[cfg(unix)]
        let mut __tool_8 = __tool::Slot::<bool>::new();
        __tool_input
            .read(
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
        __tool::Ok(
            match __tool::Returned(
                    parameters(
                        __tool_0.take(),
                        __tool::Lend::lend(&__tool_1.take()),
                        __tool_2.take(),
                        __tool_3.take().as_ref().map(__tool::Lend::lend),
                        __tool::Lend::lend(&__tool_4.take()),
                        __tool_5.take(),
                        __tool::Slot::<Vec<String>>::take_or_default(__tool_6),
                        __tool_7.take(),
                        #[cfg(unix)]
                        __tool_8.take(),
                    ),
                )
                .split()
            {
                __tool::Ok(__tool_value) => __tool::Outcome::value(&__tool_value),
                __tool::Err(__tool_error) => __tool::Failure(__tool_error).outcome(),
            },
        )
    }
    const _: () = __tool::check::fits(
        <i64 as __tool::ToolType>::SCHEMA,
        &__tool::Literal::Integer(-5i128),
        "the default -5 is no value that the schema of `number` describes; give one that a call could send",
    );
    #[__tool::linkme::distributed_slice(__tool::LINKED)]
    #[linkme(crate = __tool::linkme)]
    #[cfg_attr(
        not(test),
        unsafe(
            export_name = "two_tools_of_this_crate_have_one_name__rename_one_with_tool_name__or_mark_one_unlinked__crate_…__tool_name__parameters"
        )
    )]
    static __TOOL_LINK: &__tool::StaticTool = __tool::entry::<parameters>();
};
