/// Everything wrong.
#[cfg(unix)]
pub unsafe fn mistakes<T>((x, y): (f64, f64), value: impl Sized) -> T {
    todo!()
}
#[cfg(unix)]
///The handler of the tool `mistakes`.
#[doc(hidden)]
#[allow(
    non_camel_case_types,
    dead_code,
    missing_debug_implementations,
    missing_copy_implementations,
    unreachable_pub
)]
pub struct mistakes {}
#[cfg(unix)]
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
    impl __tool_core::Tool for mistakes {
        const SOURCE: __tool_core::StaticSpec = __tool_core::InvalidTool::SOURCE;
        const LOCATION: __tool_core::Location = __tool_core::InvalidTool::LOCATION;
    }
};
::core::compile_error! {
    "unknown key `readonly` in `#[tool]`; did you mean `read_only`?"
}
::core::compile_error! {
    "a tool cannot be `unsafe` because a model cannot uphold safety conditions; write a safe function that checks them"
}
::core::compile_error! {
    "a tool cannot be generic because its schema describes one concrete type; write that type instead"
}
::core::compile_error! {
    "a parameter of a tool must have a name; name it here and destructure it in the body"
}
::core::compile_error! {
    "`impl Trait` cannot be decoded because it does not name a type; write a concrete type"
}
impl Place {
    /// A method.
    fn method(&self) {}
    ::core::compile_error! {
        "a method can only be a tool in an `impl` block with `#[toolset]`; add `#[toolset]` to its block"
    }
}
