/// Takes a nap.
#[cfg_attr(
    doc,
    doc = "\n# As a tool\n\nThe model calls it `nap`. It takes no arguments.\n\n<details><summary>What the model reads</summary>\n\n```text\nTakes a nap.\n```\n\n```json\n{\"type\": \"object\", \"properties\": {}, \"additionalProperties\": false}\n```\n\n</details>"
)]
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
    impl __tool_core::Tool for nap {
        const SOURCE: __tool_core::StaticSpec = __tool_core::StaticSpec {
            name: "nap",
            description: "Takes a nap.",
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
        __tool_core::Ok(__tool_core::ReturnValue(nap()).success().outcome())
    }
    const _: __tool_core::StaticEntry = __tool_core::entry::<nap>();
};
