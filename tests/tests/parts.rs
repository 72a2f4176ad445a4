//! Results with parts: images, audio, files and links.

use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use tool_core::content::{Audio, Content, File, Image, ResourceLink};
use tool_core::dialect::Dialect;
use tool_core::dynamic::DynamicTool;
use tool_core::hooks::{Decision, Gate};
use tool_core::{
    CallContext, Registry, Returned, Tool, ToolCall, ToolEntry, ToolErrorKind, ToolResult,
    ToolType, tool, tools, toolset,
};
use tool_dialects::Anthropic;

#[derive(Serialize, ToolType)]
struct Size {
    width: u32,
}

const SIZE: Size = Size { width: 640 };
const JSON: &str = r#"{"width":640}"#;

fn picture() -> Image {
    Image::png(b"\x89PNG\r\n")
}

fn caption() -> Vec<Content> {
    vec![Content::text("A cat."), picture().into()]
}

type Fallible<T> = Result<T, String>;

macro_rules! returns {
    ($($name:ident: $ty:ty = $value:expr;)*) => {$(
        /// Returns something.
        #[tool(unlinked)]
        fn $name() -> $ty {
            $value
        }
    )*};
}

returns! {
    image: Image = picture();
    audio: Audio = Audio::wav(*b"RIFF");
    file: File = File::text("a.txt", "text");
    link: ResourceLink = ResourceLink::new("https://example.com", "Example");
    content: Content = Content::text("text");
    contents: Vec<Content> = caption();
    no_contents: Vec<Content> = Vec::new();
    pair: (Size, Vec<Content>) = (SIZE, caption());
    text_pair: (String, Vec<Content>) = ("A cat.".into(), vec![picture().into()]);
    bare_pair: (Size, Vec<Content>) = (SIZE, Vec::new());
    image_result: Result<Image, String> = Ok(picture());
    contents_result: Fallible<Vec<Content>> = Ok(caption());
    pair_result: Fallible<(Size, Vec<Content>)> = Ok((SIZE, caption()));
    boxed_result: Result<(Size, Vec<Content>), Box<dyn std::error::Error>> = Ok((SIZE, caption()));
    failed_image: Result<Image, String> = Err("covered".into());
    failed_pair: Fallible<(Size, Vec<Content>)> = Err("covered".into());
    returned: Returned<Size> = Returned::new(SIZE).for_app(7_u8);
    returned_text: Returned<&'static str> = Returned::new("text").for_app(7_u8);
    returned_image: Returned<Image> = Returned::new(picture()).for_app(7_u8);
    returned_pair: Returned<(Size, Vec<Content>)> = Returned::new((SIZE, caption())).for_app(7_u8);
    returned_result: Fallible<Returned<(Size, Vec<Content>)>> =
        Ok(Returned::new((SIZE, caption())).for_app(7_u8));
    failed_returned: Fallible<Returned<Size>> = Err("covered".into());
}

/// Returns an image.
#[tool(unlinked)]
async fn later() -> Fallible<Image> {
    std::future::ready(()).await;
    Ok(picture())
}

fn call(tool: impl Into<ToolEntry>) -> ToolResult {
    let tool = tool.into();
    let call = ToolCall::new("id", &*tool.name, "");
    let registry = Registry::builder().tools([tool]).build().unwrap();
    registry.call_blocking(call)
}

macro_rules! call {
    ($tool:ident) => {
        call(ToolEntry::of::<$tool>())
    };
}

#[test]
fn a_tool_returns_each_kind_of_part() {
    let parts = |result: ToolResult| {
        assert!(!result.is_error());
        assert_eq!(result.structured(), None);
        assert_eq!(result.app::<u8>(), None);
        result.parts().to_vec()
    };
    assert_eq!(parts(call!(image)), [picture().into()]);
    assert_eq!(parts(call!(later)), [picture().into()]);
    assert_eq!(parts(call!(image_result)), [picture().into()]);
    assert_eq!(parts(call!(audio)), [Audio::wav(*b"RIFF").into()]);
    assert_eq!(parts(call!(file)), [File::text("a.txt", "text").into()]);
    let link = ResourceLink::new("https://example.com", "Example");
    assert_eq!(parts(call!(link)), [link.into()]);
    assert_eq!(parts(call!(content)), [Content::text("text")]);
    assert_eq!(parts(call!(contents)), caption());
    assert_eq!(parts(call!(contents_result)), caption());
    assert_eq!(parts(call!(no_contents)), []);
    assert_eq!(call!(contents).content(), "A cat.");
    assert_eq!(call!(image).content(), "");
}

#[test]
fn a_value_with_parts_is_the_structured_result() {
    let all: Vec<Content> = [Content::text(JSON)].into_iter().chain(caption()).collect();
    for result in [call!(pair), call!(pair_result), call!(boxed_result)] {
        assert_eq!(result.content(), JSON);
        assert_eq!(result.structured(), Some(json!({"width": 640})));
        assert_eq!(result.parts(), all);
    }
    let result = call!(text_pair);
    assert_eq!(result.content(), "A cat.");
    assert_eq!(result.structured(), None);
    assert_eq!(result.parts(), caption());
    // Without parts, the result is the value's.
    assert_eq!(call!(bare_pair).structured_json(), Some(JSON));
    assert_eq!(call!(bare_pair).parts(), []);
}

#[test]
fn an_error_has_no_parts() {
    for result in [
        call!(failed_image),
        call!(failed_pair),
        call!(failed_returned),
    ] {
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ToolErrorKind::Failed);
        assert!(result.content().ends_with("covered"));
        assert_eq!(result.parts(), []);
    }
}

#[test]
fn the_output_schema_is_that_of_the_value() {
    let spec = pair::SPEC;
    let schema = spec.output_json();
    assert!(schema.unwrap().contains("width"));
    for spec in [
        pair_result::SPEC,
        boxed_result::SPEC,
        returned::SPEC,
        returned_pair::SPEC,
        returned_result::SPEC,
        failed_returned::SPEC,
    ] {
        assert_eq!(spec.output_json(), schema, "{}", spec.name);
    }
    for spec in [
        image::SPEC,
        contents::SPEC,
        image_result::SPEC,
        returned_image::SPEC,
    ] {
        assert_eq!(spec.output_json(), None, "{}", spec.name);
    }
}

#[test]
fn the_application_gets_a_value_that_the_model_does_not_see() {
    let image = vec![Content::from(picture())];
    let all: Vec<Content> = [Content::text(JSON)].into_iter().chain(caption()).collect();
    for (result, content, parts) in [
        (call!(returned), JSON, Vec::new()),
        (call!(returned_text), "text", Vec::new()),
        (call!(returned_image), "", image),
        (call!(returned_pair), JSON, all.clone()),
        (call!(returned_result), JSON, all),
    ] {
        assert_eq!(result.app(), Some(&7_u8));
        assert_eq!(result.app::<u16>(), None);
        assert_eq!(result.content(), content);
        assert_eq!(result.parts(), parts);
        assert_eq!(result.structured().is_some(), content == JSON);
        // A hook that replaces what the model sees does not replace it.
        assert_eq!(result.with_content("other").app(), Some(&7_u8));
    }
}

struct Camera(Arc<[u8]>);

#[toolset]
impl Camera {
    /// Takes a picture.
    #[tool]
    fn take(&self) -> (Size, Vec<Content>) {
        (SIZE, vec![Image::jpeg(&*self.0).into()])
    }
}

#[test]
fn methods_and_dynamic_tools_return_parts() {
    let camera = Camera(b"\xff\xd8".as_slice().into());
    let registry = Registry::builder().toolset("", camera).build().unwrap();
    let result = registry.call_blocking(ToolCall::new("id", "take", ""));
    assert_eq!(result.parts()[1], Image::jpeg(b"\xff\xd8").into());

    let builder = || {
        let schema = json!({"type": "object", "required": ["width"]});
        DynamicTool::builder("dynamic")
            .description("Returns.")
            .output(schema)
    };
    let pair = builder()
        .build(async |_, _| Ok::<_, String>((SIZE, caption())))
        .unwrap();
    let result = call(pair);
    assert_eq!(result.structured_json(), Some(JSON));
    assert_eq!(result.parts().len(), 3);
    // The output schema holds for the value.
    let wrong = builder()
        .build(async |_, _| Ok::<_, String>((json!({}), caption())))
        .unwrap();
    assert_eq!(
        call(wrong).error().unwrap().kind(),
        ToolErrorKind::InvalidResult
    );
    let image = DynamicTool::builder("dynamic")
        .description("Returns.")
        .build(async |_, _| Ok::<_, String>(Returned::new(picture()).for_app(7_u8)))
        .unwrap();
    let result = call(image);
    assert_eq!((result.app(), result.parts().len()), (Some(&7_u8), 1));
}

fn capped(output: usize, media: usize) -> Registry {
    Registry::builder()
        .tools(tools![pair, contents])
        .output_cap(output)
        .media_cap(media)
        .build()
        .unwrap()
}

#[test]
fn the_output_cap_truncates_texts_and_no_media() {
    let call =
        |registry: Registry, name: &str| registry.call_blocking(ToolCall::new("id", name, ""));
    let result = call(capped(3, 6), "contents");
    assert_eq!(result.content(), "A c\n[truncated: 3 of 6 bytes omitted]");
    assert_eq!(
        result.parts(),
        [Content::text(result.content()), picture().into()]
    );
    // The texts share the limit.
    let result = call(capped(JSON.len() + 2, 6), "pair");
    assert_eq!(result.structured_json(), Some(JSON));
    let text = "A \n[truncated: 4 of 6 bytes omitted]";
    assert_eq!(
        result.parts(),
        [Content::text(JSON), Content::text(text), picture().into()]
    );
    let result = call(capped(2, 6), "pair");
    assert_eq!(result.structured(), None);
    let Content::Text(text) = &result.parts()[1] else {
        panic!()
    };
    assert_eq!(text, "\n[truncated: 6 of 6 bytes omitted]");
}

#[test]
fn the_media_cap_replaces_media_by_notes() {
    let result = capped(99, 5).call_blocking(ToolCall::new("id", "pair", ""));
    let note = "[image/png image, 6 bytes, omitted: a result may have 5 bytes of media]";
    assert_eq!(result.parts()[2], Content::text(note));
    assert_eq!(result.structured_json(), Some(JSON));
}

/// What a hook replaces must not reach the model by another way.
#[test]
fn a_replaced_text_replaces_parts_too() {
    let result = call!(pair).with_content("hidden");
    assert_eq!(
        (result.content(), result.parts()),
        ("hidden", [].as_slice())
    );
    let messages = Anthropic::default().results(&[result]);
    assert!(!messages[0].to_string().contains("iVBOR"));
    let result = call!(pair).with_parts(vec![picture().into()]);
    assert_eq!((result.content(), result.structured()), ("", None));
    assert_eq!(result.parts(), [picture().into()]);
    let result = call!(failed_image).with_parts(vec![picture().into()]);
    assert_eq!(result.parts(), []);
}

fn answering(gate: impl Fn() -> Gate + Send + Sync + 'static) -> Registry {
    Registry::builder()
        .tools(tools![pair, image])
        .before(move |_| {
            let gate = gate();
            async { gate }
        })
        .build()
        .unwrap()
}

#[test]
fn an_answer_has_parts() {
    let call =
        |registry: &Registry, name: &str| registry.call_blocking(ToolCall::new("id", name, ""));
    let registry = answering(|| Gate::answer(Image::gif(*b"GIF")));
    assert_eq!(
        call(&registry, "image").parts(),
        [Image::gif(*b"GIF").into()]
    );
    // A tool with an output schema needs the value as well.
    let error = call(&registry, "pair").error().unwrap().kind();
    assert_eq!(error, ToolErrorKind::InvalidResult);
    let registry = answering(|| Gate::answer((json!({"width": 1}), caption())));
    let result = call(&registry, "pair");
    assert_eq!(result.structured(), Some(json!({"width": 1})));
    assert_eq!(result.parts().len(), 3);
    let registry = answering(|| Gate::answer(Returned::new("x").for_app(7_u8)));
    assert_eq!(call(&registry, "image").app(), Some(&7_u8));

    // A decision can be saved with its parts.
    let decision = Decision::answer(caption());
    let saved = serde_json::to_string(&decision).unwrap();
    assert_eq!(serde_json::from_str::<Decision>(&saved).unwrap(), decision);
    assert_eq!(decision, Decision::answer(caption()));
    assert_ne!(decision, Decision::answer("A cat."));
}

/// Calls another tool.
#[tool(unlinked)]
async fn outer(call: &CallContext) -> Result<Vec<Content>, tool_core::ToolError> {
    let inner = ToolCall::new("inner", call.call_id(), "");
    call.call(inner).await.into_parts()
}

#[test]
fn a_nested_call_passes_parts_on() {
    let registry =
        Registry::builder().tools(tools![outer, pair, image, returned_text, failed_image]);
    let registry = registry.build().unwrap();
    let call = |name: &str| registry.call_blocking(ToolCall::new(name, "outer", ""));
    assert_eq!(call("pair").parts(), call!(pair).parts());
    assert_eq!(call("image").parts(), [picture().into()]);
    assert_eq!(call("returned_text").parts(), [Content::text("text")]);
    assert_eq!(call("failed_image").parts(), []);
    assert!(call("failed_image").is_error());
}

#[test]
fn an_application_answers_in_the_place_of_a_tool() {
    let call = ToolCall::new("id", "locate", "");
    let result = ToolResult::new(&call, "here");
    assert_eq!(
        (result.call_id(), result.name(), result.content()),
        ("id", "locate", "here")
    );
    assert_eq!(ToolResult::new(&call, SIZE).structured_json(), Some(JSON));
    assert_eq!(ToolResult::new(&call, ()).content(), "ok");
    assert_eq!(
        ToolResult::new(&call, (SIZE, caption())).parts(),
        call!(pair).parts()
    );
    assert_eq!(
        ToolResult::new(&call, Returned::new(()).for_app(7_u8)).app(),
        Some(&7_u8)
    );
    let failed = ToolResult::failed(&call, "no signal");
    assert_eq!(failed.error().unwrap().kind(), ToolErrorKind::Failed);
    let unwritable = ToolResult::new(&call, std::collections::BTreeMap::from([((1, 2), 3)]));
    assert_eq!(
        unwritable.error().unwrap().kind(),
        ToolErrorKind::InvalidResult
    );
}

#[test]
fn a_saved_result_has_its_parts_and_no_value_for_the_application() {
    let result = call!(returned_pair);
    let saved = serde_json::to_value(&result).unwrap();
    assert!(!saved.to_string().contains("app"));
    let read: ToolResult = serde_json::from_value(saved).unwrap();
    assert_eq!(read.parts(), result.parts());
    assert_eq!(read.structured(), result.structured());
    assert_eq!(read.app::<u8>(), None);
    // A plain result is saved as before.
    let saved = serde_json::to_value(ToolResult::new(&ToolCall::new("1", "f", ""), "x")).unwrap();
    assert_eq!(saved.get("extra"), None);
    assert!(serde_json::from_value::<ToolResult>(saved).is_ok());
}

#[test]
fn results_share_the_bytes_of_their_parts() {
    let result = call!(image);
    let copy = result.clone();
    let bytes = |result: &ToolResult| match &result.parts()[0] {
        Content::Image(image) => image.bytes().unwrap().as_ptr(),
        _ => panic!(),
    };
    assert_eq!(bytes(&result), bytes(&copy));
}

/// Finds the trait's constant only if there is no inherent one.
struct IsSerializable<T>(PhantomData<T>);

trait NotSerializable {
    const ANSWER: bool = false;
}

impl<T> NotSerializable for IsSerializable<T> {}

impl<T: Serialize> IsSerializable<T> {
    const ANSWER: bool = true;
}

/// A field with a picture would reach the model as a text of base64.
#[test]
fn no_part_is_serializable() {
    const { assert!(IsSerializable::<Value>::ANSWER) };
    const { assert!(!IsSerializable::<Image>::ANSWER) };
    const { assert!(!IsSerializable::<Audio>::ANSWER) };
    const { assert!(!IsSerializable::<File>::ANSWER) };
    const { assert!(!IsSerializable::<Content>::ANSWER) };
    const { assert!(!IsSerializable::<Vec<Content>>::ANSWER) };
    const { assert!(!IsSerializable::<ResourceLink>::ANSWER) };
}
