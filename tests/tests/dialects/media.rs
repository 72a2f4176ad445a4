//! Parts of results other than text, in every dialect.

use serde_json::{Value, json};
use tool_core::content::{Audio, Content, File, Image, ResourceLink};
use tool_core::dialect::Dialect;
use tool_core::{ToolCall, ToolResult};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mcp, Mistral, OpenAiChat,
    OpenAiResponses, XAi,
};

use super::{dialects, sample_responses};

/// Bytes whose base64 is easy to find in a request.
fn bytes(seed: u8) -> Vec<u8> {
    (0..30).map(|at| seed.wrapping_mul(31) ^ (at * 7)).collect()
}

/// Returns the base64, or the URL, that shows a part in a request. Text is shown as it is.
fn sign(part: &Content) -> String {
    let url = match part {
        Content::Text(text) => return text.clone(),
        Content::Link(link) => return link.uri().into(),
        Content::Image(image) => image.to_data_url(),
        Content::Audio(audio) => audio.to_data_url(),
        Content::File(file) => file.to_data_url(),
        _ => unreachable!("there are no other parts"),
    };
    match url.split_once(";base64,") {
        Some((_, base64)) => base64.into(),
        None => url,
    }
}

/// Returns parts of every kind and form, some of which no provider accepts.
pub(super) fn parts() -> Vec<Content> {
    let office = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    vec![
        Content::text("Some text."),
        Image::png(bytes(1)).into(),
        Image::jpeg(bytes(2)).into(),
        Image::gif(bytes(3)).into(),
        Image::webp(bytes(4)).into(),
        Image::new("image/heic", bytes(5)).into(),
        Image::new("image/svg+xml", bytes(6)).into(),
        Image::png([]).into(),
        Image::url("https://example.com/a.png").into(),
        Image::url("https://example.com/b.png")
            .with_media_type("image/png")
            .into(),
        Image::url("s3://bucket/c.png")
            .with_media_type("image/png")
            .into(),
        Image::url("gs://bucket/d.png")
            .with_media_type("image/png")
            .into(),
        Image::url("ftp://example.com/e.png").into(),
        Image::url("not a url").into(),
        Image::url("https://").into(),
        Image::url("data:image/png;base64,?").into(),
        Audio::wav(bytes(9)).into(),
        Audio::mp3(bytes(10)).into(),
        Audio::new("audio/midi", bytes(11)).into(),
        Audio::url("https://example.com/a.mp3").into(),
        File::pdf("a report_1.pdf", bytes(12)).into(),
        File::text("notes.txt", "Plain notes.").into(),
        File::text("notes.md", "# Marked notes")
            .with_media_type("text/markdown")
            .into(),
        File::new("table.xlsx", office, bytes(13)).into(),
        File::new("bin", "application/octet-stream", bytes(14)).into(),
        File::text("latin.txt", "").into(),
        File::new("latin1.txt", "text/plain", *b"caf\xe9").into(),
        File::url("far.pdf", "https://example.com/far.pdf").into(),
        File::url("far.pdf", "s3://bucket/far.pdf")
            .with_media_type("application/pdf")
            .into(),
        ResourceLink::new("file:///srv/sales.csv", "sales.csv")
            .description("All sales.")
            .into(),
        ResourceLink::new("data:text/plain;base64,SGVsbG8=", "hello").into(),
    ]
}

/// Returns a result with a structured value and all parts, for the first call; one image for the second;
/// a text and failures for the others.
pub(super) fn results(calls: &[ToolCall]) -> Vec<ToolResult> {
    let results = calls.iter().enumerate().map(|(at, call)| match at {
        0 => ToolResult::new(call, (json!({"width": 640}), parts())),
        1 => ToolResult::new(call, Image::png(bytes(15))),
        2 => ToolResult::new(call, "plain"),
        3 => ToolResult::failed(call, "it failed"),
        _ => ToolResult::new(call, vec![Content::text("only text")]),
    });
    results.collect()
}

/// Calls a function for each string of a value, with its keys.
fn strings(value: &Value, path: &str, visit: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) => visit(path, text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, path, visit)),
        Value::Object(members) => {
            for (key, value) in members {
                strings(value, &format!("{path}.{key}"), visit);
            }
        }
        _ => {}
    }
}

/// Every part is in the request, or is listed as omitted and has a note there.
#[test]
fn no_part_is_lost() {
    for (dialect, response) in dialects() {
        let provider = dialect.provider();
        let results = results(&dialect.read(&response).unwrap().calls);
        let messages = Value::from(dialect.results(&results));
        let mut found = Vec::new();
        strings(&messages, "", &mut |_, text| found.push(text.to_owned()));
        let omitted = dialect.omitted(&results);
        assert!(
            omitted
                .iter()
                .all(|part| part.call_id == results[0].call_id())
        );
        // The first is the text of the value, which Gemini gets as JSON.
        for (at, part) in results[0].parts().iter().enumerate().skip(1) {
            let Some(omitted) = omitted.iter().find(|omitted| omitted.part == at) else {
                let (sign, text) = (sign(part), text_of(part));
                let is_there = found.iter().any(|found| {
                    found.contains(&sign) || (!text.is_empty() && found.contains(&text))
                });
                assert!(is_there, "{provider}: {part:?} is lost");
                continue;
            };
            assert!(
                found.iter().any(|found| found.contains(&omitted.note)),
                "{provider}"
            );
            if let Some(rule) = omitted.rule {
                assert_eq!(tool_core::rules::find(rule.id), Some(rule));
            }
        }
        let is_text = |part: &Content| matches!(part, Content::Text(_));
        assert!(
            !omitted
                .iter()
                .any(|omitted| is_text(&results[0].parts()[omitted.part]))
        );
    }
}

/// Returns the text of a text file.
fn text_of(part: &Content) -> String {
    match part {
        Content::File(file) if file.media_type().is_some_and(|it| it.starts_with("text/")) => {
            String::from_utf8(file.bytes().unwrap_or_default().into()).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// Tokens of base64 are expensive and mean nothing to a model.
#[test]
fn base64_is_never_text() {
    const BINARY: [&str; 8] = [
        "data",
        "bytes",
        "blob",
        "url",
        "image_url",
        "file_data",
        "input_audio",
        "uri",
    ];
    for (dialect, response) in dialects() {
        let results = results(&dialect.read(&response).unwrap().calls);
        let signs: Vec<_> = results[0].parts().iter().map(sign).collect();
        let mut count = 0;
        strings(
            &Value::from(dialect.results(&results)),
            "",
            &mut |path, text| {
                let key = path.rsplit('.').next().unwrap();
                let is_there = |sign: &&String| {
                    sign.len() >= 40 && !sign.contains("://") && text.contains(&***sign)
                };
                if let Some(sign) = signs.iter().find(is_there) {
                    assert!(
                        BINARY.contains(&key),
                        "{}: {sign} in {path}",
                        dialect.provider()
                    );
                    count += 1;
                }
                assert!(!text.contains("SGVsbG8="), "{}: {path}", dialect.provider());
            },
        );
        assert!(count >= 2, "{}", dialect.provider());
    }
}

/// Each call has one answer, with its id, and the turn is repeated as the provider accepts it.
#[test]
fn a_conversation_with_media_answers_each_call_once() {
    for (dialect, response) in dialects() {
        let turn = dialect.read(&response).unwrap();
        let calls = &turn.calls;
        let results = results(calls);
        let messages = dialect.follow_up(&turn, &results);
        let repeated = turn.messages.iter();
        let repeated: Vec<_> = repeated
            .map(|message| dialect.repeat(message).into_owned())
            .collect();
        assert_eq!(messages[..turn.messages.len()], repeated);
        let plain: Vec<_> = calls
            .iter()
            .map(|call| ToolResult::new(call, "plain"))
            .collect();
        let ids = |results: &[ToolResult]| {
            let mut ids = Vec::new();
            strings(
                &Value::from(dialect.results(results)),
                "",
                &mut |path, text| {
                    let key = path.rsplit('.').next().unwrap();
                    if ["tool_call_id", "call_id", "tool_use_id", "toolUseId", "id"].contains(&key)
                    {
                        ids.push(text.to_owned());
                    }
                },
            );
            ids
        };
        assert_eq!(ids(&results), ids(&plain), "{}", dialect.provider());
        assert_eq!(dialect.read(&response).unwrap().calls, *calls);
    }
}

fn written(dialect: &dyn Dialect, parts: Vec<Content>) -> Value {
    let call = ToolCall::new("call_1", "draw", "");
    let result = ToolResult::new(&call, (json!({"n": 1}), parts));
    Value::from(dialect.results(&[result]))
}

fn sample() -> Vec<Content> {
    let parts: [Content; 5] = [
        Content::text("A chart:"),
        Image::png(*b"png").into(),
        Audio::mp3(*b"mp3").into(),
        File::pdf("a_b.pdf", *b"pdf").into(),
        ResourceLink::new("https://example.com", "site").into(),
    ];
    parts.into()
}

const VALUE: &str = r#"{"n":1}"#;
const LINK: &str = "site: https://example.com";
const LABEL: &str = "Output of the tool draw, call call_1. The user did not write it:";

#[test]
fn chat_completions_get_a_message_of_the_user_after_all_results() {
    let text = format!(
        "{VALUE}\nA chart:\n[image/png image, 3 bytes: follows the results of the tools]\n\
         [audio/mpeg audio, 3 bytes: follows the results of the tools]\n\
         [application/pdf file \"a_b.pdf\", 3 bytes: follows the results of the tools]\n{LINK}"
    );
    let tool = json!({"role": "tool", "tool_call_id": "call_1", "content": text});
    assert_eq!(
        written(&OpenAiChat::default(), sample()),
        json!([tool, {"role": "user", "content": [
            {"type": "text", "text": LABEL},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
            {"type": "input_audio", "input_audio": {"data": "bXAz", "format": "mp3"}},
            {"type": "file", "file": {
                "filename": "a_b.pdf", "file_data": "data:application/pdf;base64,cGRm"}},
        ]}])
    );
}

/// Two calls share one message, which stands behind the results of both.
#[test]
fn the_parts_of_all_calls_are_in_one_message() {
    let calls = [
        ToolCall::new("a", "draw", ""),
        ToolCall::new("b", "say", ""),
    ];
    let results = [
        ToolResult::new(&calls[0], Image::png(*b"png")),
        ToolResult::new(&calls[1], Image::png(*b"gnp")),
    ];
    let labels = |message: &Value| {
        let blocks = message["content"].as_array().unwrap().iter();
        blocks
            .filter_map(|block| block["text"].as_str().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let expected = [
        "Output of the tool draw, call a. The user did not write it:",
        "Output of the tool say, call b. The user did not write it:",
    ];
    for dialect in [
        &OpenAiChat::default() as &dyn Dialect,
        &XAi::default(),
        &Cohere::default(),
    ] {
        let messages = dialect.results(&results);
        let roles: Vec<_> = messages
            .iter()
            .map(|message| message["role"].clone())
            .collect();
        assert_eq!(roles, ["tool", "tool", "user"]);
        assert_eq!(labels(&messages[2]), expected);
    }
    // Mistral rejects a message of the user directly after one of a tool.
    let messages = Mistral::default().results(&results);
    let roles: Vec<_> = messages
        .iter()
        .map(|message| message["role"].clone())
        .collect();
    assert_eq!(roles, ["tool", "tool", "assistant", "user"]);
    assert_eq!(labels(&messages[3]), expected);
}

#[test]
fn responses_have_an_array_as_output() {
    let text = |text: &str| json!({"type": "input_text", "text": text});
    assert_eq!(
        written(&OpenAiResponses::default(), sample()),
        json!([{"type": "function_call_output", "call_id": "call_1", "output": [
            text(VALUE),
            text("A chart:"),
            {"type": "input_image", "image_url": "data:image/png;base64,cG5n"},
            text("[audio/mpeg audio, 3 bytes, omitted: the API has no form for it]"),
            {"type": "input_file", "filename": "a_b.pdf",
             "file_data": "data:application/pdf;base64,cGRm"},
            text(LINK),
        ]}])
    );
}

#[test]
fn anthropic_has_blocks_in_the_result() {
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(
        written(&Anthropic::default(), sample())[0]["content"][0]["content"],
        json!([
            text(VALUE),
            text("A chart:"),
            {"type": "image", "source": {
                "type": "base64", "media_type": "image/png", "data": "cG5n"}},
            text("[audio/mpeg audio, 3 bytes, omitted: Anthropic has no form for it]"),
            {"type": "document", "title": "a_b.pdf", "source": {
                "type": "base64", "media_type": "application/pdf", "data": "cGRm"}},
            text(LINK),
        ])
    );
    let parts = vec![
        File::text("a.txt", "x").into(),
        Image::url("https://a.b/c").into(),
    ];
    assert_eq!(
        written(&Anthropic::default(), parts)[0]["content"][0]["content"],
        json!([
            text(VALUE),
            {"type": "document", "title": "a.txt", "source": {
                "type": "text", "media_type": "text/plain", "data": "x"}},
            {"type": "image", "source": {"type": "url", "url": "https://a.b/c"}},
        ])
    );
}

#[test]
fn bedrock_has_blocks_in_the_result_and_audio_after_it() {
    let text = |text: &str| json!({"text": text});
    assert_eq!(
        written(&Bedrock::default(), sample()),
        json!([{"role": "user", "content": [
            {"toolResult": {"toolUseId": "call_1", "content": [
                text(VALUE),
                text("A chart:"),
                {"image": {"format": "png", "source": {"bytes": "cG5n"}}},
                text("[audio/mpeg audio, 3 bytes: follows the results of the tools]"),
                {"document": {
                    "format": "pdf", "name": "a b call 1 4", "source": {"bytes": "cGRm"}}},
                text(LINK),
            ]}},
            text(LABEL),
            {"audio": {"format": "mp3", "source": {"bytes": "bXAz"}}},
        ]}])
    );
}

#[test]
fn gemini_has_parts_in_the_response() {
    let inline = |media_type: &str, data: &str| json!({"inlineData": {"mimeType": media_type, "data": data}});
    let content = |of_image: &str, of_file: &str| {
        format!(
            "A chart:\n{of_image}[audio/mpeg audio, 3 bytes: follows the results of the tools]\n\
             {of_file}{LINK}"
        )
    };
    assert_eq!(
        written(&Gemini::default(), sample()),
        json!([{"role": "user", "parts": [
            {"functionResponse": {
                "id": "call_1",
                "name": "draw",
                "response": {"output": {"n": 1}, "content": content("", "")},
                "parts": [inline("image/png", "cG5n"), inline("application/pdf", "cGRm")],
            }},
            {"text": LABEL},
            inline("audio/mpeg", "bXAz"),
        ]}])
    );
    let image = "[image/png image, 3 bytes: follows the results of the tools]\n";
    let file = "[application/pdf file \"a_b.pdf\", 3 bytes: follows the results of the tools]\n";
    assert_eq!(
        written(&Gemini::default().media_after_results(), sample()),
        json!([{"role": "user", "parts": [
            {"functionResponse": {
                "id": "call_1",
                "name": "draw",
                "response": {"output": {"n": 1}, "content": content(image, file)},
            }},
            {"text": LABEL},
            inline("image/png", "cG5n"),
            inline("audio/mpeg", "bXAz"),
            inline("application/pdf", "cGRm"),
        ]}])
    );
}

#[test]
fn the_interactions_of_gemini_have_parts_in_the_step() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let part = |kind: &str, media_type: &str, data: &str| json!({"type": kind, "mime_type": media_type, "data": data});
    assert_eq!(
        written(&GeminiInteractions::default(), sample()),
        json!([
            {"type": "function_result", "call_id": "call_1", "name": "draw", "result": [
                text(VALUE),
                text("A chart:"),
                part("image", "image/png", "cG5n"),
                text("[audio/mpeg audio, 3 bytes: follows the results of the tools]"),
                part("document", "application/pdf", "cGRm"),
                text(LINK),
            ]},
            {"type": "user_input", "content": [text(LABEL), part("audio", "audio/mpeg", "bXAz")]},
        ])
    );
    let parts = vec![
        Image::url("gs://bucket/a.png")
            .with_media_type("image/png")
            .into(),
        File::text("a.txt", "x").into(),
    ];
    let written = written(&GeminiInteractions::default(), parts);
    assert_eq!(
        written[0]["result"][1],
        json!({"type": "image", "mime_type": "image/png", "uri": "gs://bucket/a.png"})
    );
    // The API has no plain text among its documents.
    assert_eq!(written[0]["result"][2], text("a.txt:\nx"));
}

#[test]
fn mcp_has_its_own_content_and_the_structured_value() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let result = &written(&Mcp::default(), sample())[0]["result"];
    assert_eq!(result["structuredContent"], json!({"n": 1}));
    assert_eq!(
        result["content"],
        json!([
            text(VALUE),
            text("A chart:"),
            {"type": "image", "data": "cG5n", "mimeType": "image/png"},
            {"type": "audio", "data": "bXAz", "mimeType": "audio/mpeg"},
            {"type": "resource", "resource": {
                "uri": "file:///a_b.pdf", "mimeType": "application/pdf", "blob": "cGRm"}},
            {"type": "resource_link", "uri": "https://example.com", "name": "site"},
        ])
    );
    let parts = vec![
        Image::url("https://a.b/c").into(),
        File::text("ä b", "x").into(),
    ];
    assert_eq!(
        written(&Mcp::default(), parts)[0]["result"]["content"],
        json!([
            text(VALUE),
            {"type": "resource_link", "uri": "https://a.b/c", "name": "image"},
            {"type": "resource", "resource": {
                "uri": "file:///%C3%A4%20b", "mimeType": "text/plain", "text": "x"}},
        ])
    );
}

/// A rule is named where one says that the provider rejects a part.
#[test]
fn an_omitted_part_names_the_rule() {
    let call = ToolCall::new("call_1", "draw", "");
    let parts: Vec<Content> = vec![
        Image::new("image/tiff", *b"tiff").into(),
        Image::png(vec![0; 4 << 20]).into(),
        Image::png([]).into(),
    ];
    let results = [ToolResult::new(&call, parts)];
    let rules = |dialect: &dyn Dialect| {
        let omitted = dialect.omitted(&results).into_iter();
        omitted
            .map(|part| (part.part, part.rule.map(|rule| rule.id)))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        rules(&Anthropic::default()),
        [
            (0, Some("anthropic.image_types")),
            (1, Some("anthropic.image_max_base64")),
            (2, None)
        ]
    );
    assert_eq!(
        rules(&Bedrock::default()),
        [
            (0, Some("bedrock.image_types")),
            (1, Some("bedrock.image_max_bytes")),
            (2, None)
        ]
    );
    assert_eq!(rules(&Mcp::default()), [(2, None)]);
    assert_eq!(
        Anthropic::default().omitted(&results)[0].note,
        "[image/tiff image, 4 bytes, omitted: the provider accepts image/jpeg, image/png, image/gif, \
         image/webp]"
    );
    // A boxed dialect says the same.
    let boxed: Box<dyn Dialect> = Box::new(Bedrock::default());
    assert_eq!(rules(&boxed).len(), 3);
}

/// A request that is too large fails as a whole.
#[test]
fn media_beyond_the_limits_of_a_provider_are_omitted() {
    let call = ToolCall::new("call_1", "draw", "");
    let results = [ToolResult::new(&call, Image::png(vec![0; 25 << 20]))];
    for (dialect, limit) in [
        (
            Box::new(Anthropic::default()) as Box<dyn Dialect>,
            "anthropic.image_max_base64",
        ),
        (Box::new(Bedrock::default()), "bedrock.image_max_bytes"),
        (Box::new(Gemini::default()), "gemini.inline_max_bytes"),
        (
            Box::new(GeminiInteractions::default()),
            "gemini.inline_max_bytes",
        ),
        (Box::new(XAi::default()), "xai.image_max_bytes"),
        (Box::new(Cohere::default()), "cohere.images_max_bytes"),
        (Box::new(Mistral::default()), "mistral.image_max_bytes"),
    ] {
        let omitted = dialect.omitted(&results);
        assert_eq!(omitted[0].rule.unwrap().id, limit);
        let messages = Value::from(dialect.results(&results)).to_string();
        assert!(messages.len() < 400, "{}", messages.len());
    }
}

/// Names must be unique in a conversation and have few kinds of characters.
#[test]
fn bedrock_gets_valid_names_of_documents() {
    for name in ["", "a.b.c", "ünï_cödé  \n[1].pdf", &"x".repeat(400)] {
        let parts = vec![
            File::pdf(name, *b"pdf").into(),
            File::pdf(name, *b"pdf").into(),
        ];
        let written = written(&Bedrock::default(), parts);
        let blocks = &written[0]["content"][0]["toolResult"]["content"];
        let names = [1, 2].map(|at| blocks[at]["document"]["name"].as_str().unwrap().to_owned());
        assert_ne!(names[0], names[1]);
        for name in names {
            let is_allowed =
                |letter: char| letter.is_ascii_alphanumeric() || " -()[]".contains(letter);
            assert!(
                name.chars().all(is_allowed) && !name.contains("  "),
                "{name}"
            );
            assert!(
                (1..=200).contains(&name.len()) && name.trim() == name,
                "{name}"
            );
        }
    }
}

/// A generated id means nothing to the provider.
#[test]
fn gemini_labels_have_no_generated_ids() {
    let dialect = Gemini::default();
    let calls = dialect.read(&sample_responses::gemini()).unwrap().calls;
    let results: Vec<_> = calls
        .iter()
        .map(|call| ToolResult::new(call, Audio::mp3(*b"mp3")))
        .collect();
    let text = dialect.results(&results)[0].to_string();
    assert!(!text.contains("call_"), "{text}");
}
