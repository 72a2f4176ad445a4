//! What a page of HTML has beyond the content of a catalogue: its policy, its order, and what providers are sent.

use std::path::Path;
use std::{env, fs};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, tool, tools};
use tool_docs::Docs;

/// Returns a registry with this number of tools, as large services have them.
fn many(count: usize) -> Registry {
    const VERBS: [&str; 5] = ["get", "list", "create", "update", "delete"];
    const NOUNS: [&str; 8] = [
        "invoice", "customer", "order", "ticket", "shipment", "user", "report", "webhook",
    ];
    const GROUPS: [&str; 4] = ["billing", "crm", "support", "warehouse"];
    let mut builder = Registry::builder();
    for number in 1..=count {
        let (verb, noun) = (VERBS[number % 5], NOUNS[number / 5 % 8]);
        let description = format!(
            "{verb}s one {noun} of the account, with its `status` and when it last changed.\n\n\
             Use this if the user names the {noun} or asks about *recent changes* of version {number}."
        );
        let parameters = json!({
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": format!("The id of the {noun}, such as `{noun}_{number}`."), "minLength": 3},
                "status": {"type": "string", "enum": ["open", "closed", "archived"], "description": "Only those with this status."},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20, "description": "The most results."},
                "period": {
                    "type": "object",
                    "description": "When it changed.",
                    "properties": {"from": {"type": "string", "format": "date"}, "to": {"type": "string", "format": "date"}},
                    "required": ["from"],
                    "additionalProperties": false,
                },
            },
            "required": ["id"],
            "additionalProperties": false,
        });
        let tool = DynamicTool::builder(format!("{verb}_{noun}_{number}"))
            .description(description)
            .tags([noun])
            .parameters(parameters);
        let tool = if verb == "delete" {
            tool.destructive(true)
        } else {
            tool
        };
        let tool = tool
            .build(async |_, _| Ok::<_, String>(String::new()))
            .expect("a tool");
        builder = builder.group(GROUPS[number % 4], [tool.into()]);
    }
    builder
        .defer(|tool| tool.name.starts_with("update"))
        .build()
        .expect("unique names")
}

/// Deletes a file.
///
/// See [the rules](https://example.com/rules). Do **not** use it for:
///
/// - folders
/// - links
///
/// # When to use
/// The user says *delete*.
#[tool(destructive, tags = ["files", "danger"])]
fn delete_file(
    /// The path, such as `notes/a.txt`.
    path: &str,
) {
    let _ = path;
}

/// Lists files.
#[tool(read_only, defer, background, programmatic, tags = ["files"])]
fn list_files() -> Vec<String> {
    Vec::new()
}

fn files() -> Registry {
    let registry = Registry::builder().tools(tools![delete_file, list_files]);
    registry.build().expect("unique names")
}

/// Writes the pages that `tests/pages` shows in a browser.
#[test]
#[ignore = "writes files for `tests/pages/run`"]
fn pages_for_a_browser() {
    let folder = env::var("TOOL_CORE_PAGES").expect("`TOOL_CORE_PAGES` is a folder");
    let write = |name: &str, html: String| {
        fs::write(Path::new(&folder).join(name), html).expect("a writable folder");
    };
    for count in [10, 60, 1000] {
        let registry = many(count);
        let docs = Docs::new(&registry).title("Account service");
        let docs = docs.introduction(
            "What agents can do with an account. Calls need a key; ask the *platform* team.",
        );
        write(&format!("{count}.html"), docs.to_html());
    }
    let docs = Docs::new(&super::registry()).title("All");
    write(
        "all.html",
        docs.approval(|tool| tool.name == "open_door").to_html(),
    );
    write("files.html", Docs::new(&files()).title("Files").to_html());
    write(
        "hostile.html",
        Docs::new(&super::escaping::registry()).to_html(),
    );
}

#[test]
fn the_policy_names_the_digests_of_script_and_style() {
    let html = Docs::new(&files()).to_html();
    for (name, start) in [("script", "<script>"), ("style", "<style>")] {
        let (_, inside) = html.split_once(start).expect("there is one");
        let (inside, _) = inside.split_once(&format!("</{name}>")).expect("it ends");
        let digest = STANDARD.encode(Sha256::digest(inside.as_bytes()));
        assert!(
            html.contains(&format!("{name}-src 'sha256-{digest}';")),
            "set the digest of the {name} in `docs/html_page.rs` to sha256-{digest}"
        );
    }
}

#[test]
fn tools_are_sorted_by_the_numbers_in_their_names() {
    let html = Docs::new(&many(60)).to_html();
    let at = |name: &str| {
        html.find(&format!("<div id=\"tool-{name}\">"))
            .unwrap_or_else(|| panic!("{name} is not on the page"))
    };
    // Each pair is in one group.
    assert!(at("get_customer_5") < at("get_customer_45"));
    assert!(at("delete_invoice_4") < at("delete_invoice_44"));
    assert!(at("create_ticket_17") < at("create_ticket_57"));
}

#[test]
fn a_page_shows_at_a_glance_what_a_call_may_do() {
    let docs = Docs::new(&files()).approval(|tool| tool.name == "delete_file");
    let html = docs.to_html();
    for part in [
        "<b class=\"destructive\">destructive</b> <b class=\"approval\">approval</b>",
        "<b class=\"deferred\">deferred</b> <b class=\"background\">background</b> <b class=\"programmatic\">programmatic</b> <b class=\"read-only\">",
        "<p>See <a href=\"https://example.com/rules\" rel=\"noreferrer\">the rules</a>. Do <strong>not</strong> use it for:</p>\
         <ul class=\"list\"><li>folders</li><li>links</li></ul>",
        "<p>The user says <em>delete</em>.</p>",
        "such as <code>notes/a.txt</code>",
    ] {
        assert!(html.contains(part), "{part} is missing in {html}");
    }
    assert!(
        docs.to_markdown()
            .contains("*deferred · background · programmatic · read-only*")
    );
}

/// The data of a page is JSON, compressed.
fn data(html: &str) -> Value {
    let (_, digits) = html.split_once("id=\"data\">").expect("there is data");
    let (digits, _) = digits.split_once("</script>").expect("it ends");
    let bytes = STANDARD.decode(digits).expect("base64");
    let text = miniz_oxide::inflate::decompress_to_vec(&bytes).expect("it was compressed");
    serde_json::from_slice(&text).expect("JSON")
}

#[test]
fn a_page_knows_what_each_provider_is_sent_and_what_a_wrong_call_is_told() {
    let registry = super::registry();
    let data = data(&Docs::new(&registry).to_html());
    let providers = data["providers"].as_array().expect("a list");
    let at = |name: &str| {
        providers
            .iter()
            .position(|other| other == name)
            .expect("a provider")
    };
    let tool = &data["tools"]["tool-find_way"];
    for (name, rendered) in [
        (
            "OpenAI Chat, strict",
            registry.render(&tool_dialects::OpenAiChat::strict()),
        ),
        (
            "Anthropic",
            registry.render(&tool_dialects::Anthropic::default()),
        ),
        ("Gemini", registry.render(&tool_dialects::Gemini::default())),
    ] {
        let sent = &tool["sent"][at(name)];
        let text = sent[0].as_str().expect("text");
        let text = text.replace('\u{1}', tool["schema"].as_str().unwrap());
        let text = text.replace('\u{2}', tool["prompt"].as_str().unwrap());
        assert_eq!(sent[1], text.len(), "{text}");
        // The same text is part of what is sent for all tools.
        let inner = text.trim_start_matches('[').trim_end_matches(']');
        assert!(
            rendered.as_str().contains(inner) || name == "Gemini",
            "{inner}\n{rendered}"
        );
    }
    let notes = |name: &str| tool["sent"][at(name)].as_array().expect("a list")[3..].to_vec();
    assert!(notes("Anthropic").is_empty(), "{:?}", notes("Anthropic"));
    let strict = notes("OpenAI Chat, strict");
    assert!(
        strict
            .iter()
            .any(|note| note == "`ways`, `code` must be given"),
        "{strict:?}"
    );
    assert!(
        strict.iter().any(|note| note
            .as_str()
            .is_some_and(|note| note.starts_with("`ways`: "))),
        "{strict:?}"
    );
    let wrong = &tool["wrong"];
    let words = wrong[1].as_str().expect("words");
    assert!(
        words.starts_with("invalid arguments for find_way"),
        "{words}"
    );
    assert!(
        words.contains("- unknown: ") && words.contains("······"),
        "{words}"
    );
}

/// Two versions of a compressor write different bytes for one text.
#[test]
fn a_page_that_is_compressed_differently_is_up_to_date() {
    let path = env::temp_dir().join(format!("tool-core-data-{}.html", std::process::id()));
    let docs = Docs::new(&files());
    let html = docs.to_html();
    let (before, rest) = html.split_once("id=\"data\">").expect("there is data");
    let (digits, after) = rest.split_once("</script>").expect("it ends");
    let bytes = STANDARD.decode(digits).expect("base64");
    let text = miniz_oxide::inflate::decompress_to_vec(&bytes).expect("it was compressed");
    let write = |text: &[u8]| {
        let bytes = miniz_oxide::deflate::compress_to_vec(text, 1);
        let digits = STANDARD.encode(bytes);
        fs::write(
            &path,
            format!("{before}id=\"data\">{digits}</script>{after}"),
        )
        .expect("a writable folder");
    };
    write(&text);
    assert_ne!(fs::read_to_string(&path).expect("it was written"), html);
    docs.check(&path).expect("only the compression differs");
    write(&[&text[..], b" "].concat());
    docs.check(&path).expect_err("the data differs");
    fs::remove_file(&path).expect("it was written");
}

#[test]
fn a_page_for_a_server_may_load_from_its_origin_alone() {
    let html = Docs::new(&files()).to_served_html("<script src=\"live.js\" defer></script>\n");
    for part in [
        "\n<script src=\"live.js\" defer></script>\n</head>",
        "default-src 'none'; style-src 'sha256-",
        "' 'self'; script-src 'sha256-",
        "connect-src 'self'; img-src data:; media-src data:\">",
    ] {
        assert!(html.contains(part), "{part} is missing in {html}");
    }
    assert!(!Docs::new(&files()).to_html().contains("'self'"));
}

/// Tools from elsewhere have names that nobody has checked.
#[test]
fn hostile_names_are_text() {
    /// As the name of a type; a reference to it has its escapes.
    const TYPE: &str = "T<img>\u{202e}";
    let hostile = |place: &str| format!("{place}<img src=x onerror=alert(1)>\u{202e}&");
    let node = json!({"type": "object", "properties": {
        hostile("property"): {"$ref": "#/$defs/T%3Cimg%3E%E2%80%AE"},
        hostile("choice"): {"enum": [hostile("value"), hostile("other")], "default": hostile("value")},
        hostile("number"): {"type": "integer", "maximum": 3},
    }});
    let parameters = json!({
        "type": "object",
        "properties": {
            hostile("parameter"): {"$ref": "#/$defs/T%3Cimg%3E%E2%80%AE"},
            hostile("required"): {"type": "string", "pattern": hostile("pattern")},
        },
        "required": [hostile("required")],
        "$defs": {TYPE: node},
    });
    let tool = |name: &str| {
        let tool = DynamicTool::builder(name)
            .title(hostile("title"))
            .description(hostile("description"))
            .when_to_use(hostile("when"))
            .returns(hostile("returns"))
            .parameters(parameters.clone())
            .output(parameters.clone())
            .build(async |_, _| Ok::<_, String>(String::new()));
        tool.expect("a tool")
    };
    let registry = Registry::builder()
        .group(&hostile("group"), [tool(&hostile("name")).into()])
        .group("other", [tool("plain").into()])
        .build()
        .expect("two names");
    let docs = Docs::new(&registry).title(hostile("head"));
    let docs = docs.introduction(hostile("introduction"));
    let html = docs.to_html();
    let page = &html[..html.find("<script").expect("data")];
    for place in [
        "head",
        "introduction",
        "group",
        "name",
        "title",
        "description",
        "when",
        "returns",
        "parameter",
        "required",
        "property",
        "choice",
        "value",
        "number",
    ] {
        let shown = format!("{place}&lt;img src=x onerror=alert(1)&gt;");
        assert!(page.contains(&shown), "{shown} is not in {page}");
    }
    for raw in ["<img", "\u{202e}"] {
        assert!(!page.contains(raw), "{raw:?} is in {page}");
    }
    assert!(page.contains("T&lt;img&gt;[U+202E]"), "{page}");
}
