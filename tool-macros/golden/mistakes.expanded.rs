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
#[allow(deprecated, unused_qualifications, clippy::all, clippy::pedantic)]
const _: () = {
    use ::tool_core::__private as __tool_core;
    #[automatically_derived]
    impl __tool_core::Tool for mistakes {
        const SOURCE: __tool_core::StaticSpec = __tool_core::Broken::SOURCE;
        const INVOKE: __tool_core::Invoke = __tool_core::Broken::INVOKE;
    }
};
::core::compile_error! {
    "`#[tool]` has no key `readonly`; did you mean `read_only`?"
}
::core::compile_error! {
    "a model can't uphold what an `unsafe` function asks of its caller; write a safe function that checks it"
}
::core::compile_error! {
    "a tool can't be generic, since a schema describes one type; write the type that a model is to send"
}
::core::compile_error! {
    "a parameter needs a name that a model can use; name it here and take it apart in the body"
}
::core::compile_error! {
    "`impl Trait` names no type that could be decoded; write the type that a model is to send"
}
impl Place {
    /// A method.
    fn method(&self) {}
    ::core::compile_error! {
        "a method is a tool of what it belongs to; put `#[toolset]` on its `impl` block, which reads this `#[tool]`"
    }
}
