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
    use ::tool_core::__private as __tool;
    #[allow(unused_imports)]
    use __tool::second_choice::*;
    #[automatically_derived]
    impl __tool::Tool for nap {
        const SOURCE: __tool::StaticSpec = __tool::StaticSpec {
            name: "nap",
            description: "Takes a nap.",
            location: __tool::here(::core::module_path!()),
            parameters: &[],
            ..__tool::StaticSpec::EMPTY
        };
        const INVOKE: __tool::Invoke = __tool::Invoke::Sync(__tool_invoke);
    }
    fn __tool_invoke(__tool_input: &__tool::Input) -> __tool::Ended {
        __tool_input.read(&mut [])?;
        __tool::Ok(
            match __tool::Returned(nap()).split() {
                __tool::Ok(__tool_value) => __tool::Outcome::value(&__tool_value),
                __tool::Err(__tool_error) => __tool::Failure(__tool_error).outcome(),
            },
        )
    }
};
