//! What others need to know to install a server.

use serde_json::{Value, json};
use tool_core::{Registry, tool, tools};
use tool_mcp::Server;
use tool_mcp::server::{Manifest, Package, Variable};

/// Finds a note.
#[tool(unlinked)]
fn find_note(id: u32) -> u32 {
    id
}

/// Turns a page.
#[tool(unlinked, meta = r#"{"ui": {"visibility": ["app"]}}"#)]
fn turn_page() {}

fn server() -> Server {
    let registry = Registry::builder().tools(tools![find_note, turn_page]);
    Server::new(registry.build().unwrap()).name("desk", "1.2.0-beta.1")
}

fn manifest() -> Manifest {
    server()
        .manifest("io.github.ada/desk", "Notes of a desk.")
        .title("Desk")
        .author("Ada")
        .license("MIT")
        .website("https://example.com/desk")
        .repository("https://github.com/ada/desk")
        .icon("https://example.com/desk.png")
        .argument("mcp")
        .argument("--verbose")
        .variable(
            Variable::new("DESK_TOKEN", "Token of the desk.")
                .required()
                .secret(),
        )
        .variable(Variable::new("DESK_COLOUR", "Colour of the desk."))
        .package(Package::new("npm", "@ada/desk", "1.2.0"))
        .package(Package::new("oci", "ghcr.io/ada/desk:1.2.0", ""))
        .package(Package::bundle("https://example.com/desk.mcpb", b"bytes"))
        .remote("https://example.com/mcp")
}

#[test]
fn server_json_has_what_was_set() {
    let variables = json!([
        {"name": "DESK_TOKEN", "description": "Token of the desk.", "isRequired": true, "isSecret": true},
        {"name": "DESK_COLOUR", "description": "Colour of the desk.", "isRequired": false, "isSecret": false},
    ]);
    let arguments = json!([{"type": "positional", "value": "mcp"}, {"type": "positional", "value": "--verbose"}]);
    let stdio = json!({"type": "stdio"});
    assert_eq!(
        manifest().server_json().unwrap(),
        json!({
            "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
            "name": "io.github.ada/desk",
            "description": "Notes of a desk.",
            "version": "1.2.0-beta.1",
            "title": "Desk",
            "websiteUrl": "https://example.com/desk",
            "repository": {"url": "https://github.com/ada/desk", "source": "github"},
            "icons": [{"src": "https://example.com/desk.png"}],
            "packages": [
                {"registryType": "npm", "identifier": "@ada/desk", "version": "1.2.0", "transport": stdio,
                    "packageArguments": arguments, "environmentVariables": variables},
                {"registryType": "oci", "identifier": "ghcr.io/ada/desk:1.2.0", "transport": stdio,
                    "packageArguments": arguments, "environmentVariables": variables},
                // The hash by another program.
                {"registryType": "mcpb", "identifier": "https://example.com/desk.mcpb", "transport": stdio,
                    "fileSha256": "277089d91c0bdf4f2e6862ba7e4a07605119431f5d13f726dd352b06f1b206a9"},
            ],
            "remotes": [{"type": "streamable-http", "url": "https://example.com/mcp"}],
        })
    );
    let least = server().manifest("a.b/c", "d").server_json().unwrap();
    assert_eq!(least.as_object().unwrap().len(), 4);
}

#[test]
fn a_bundle_asks_for_variables_and_lists_tools_for_models() {
    let json = manifest().bundle_json().unwrap();
    let program = format!("server/desk{}", std::env::consts::EXE_SUFFIX);
    assert_eq!(json["server"]["entry_point"], program);
    assert_eq!(
        json["server"]["mcp_config"],
        json!({
            "command": format!("${{__dirname}}/{program}"),
            "args": ["mcp", "--verbose"],
            "env": {"DESK_TOKEN": "${user_config.desk_token}", "DESK_COLOUR": "${user_config.desk_colour}"},
        })
    );
    assert_eq!(json["user_config"]["desk_token"]["sensitive"], true);
    assert_eq!(json["user_config"]["desk_colour"]["required"], false);
    assert_eq!(
        json["tools"],
        json!([{"name": "find_note", "description": "Finds a note."}])
    );
    assert_eq!(json["author"], json!({"name": "Ada"}));
}

#[test]
fn what_a_registry_rejects_is_an_error() {
    let error = |manifest: Manifest| manifest.server_json().unwrap_err().to_string();
    for name in [
        "desk",
        "a/b/c",
        "/desk",
        "io.github.ada/",
        "io.github.ä/desk",
        "io github/desk",
        &format!("a/{}", "b".repeat(200)),
    ] {
        let text = error(server().manifest(name, "d"));
        assert!(text.contains("is not one of the registry"), "{text}");
    }
    for description in [String::new(), "ä".repeat(101)] {
        let text = error(server().manifest("a.b/c", description));
        assert!(text.contains("the description has"), "{text}");
    }
    assert!(
        server()
            .manifest("a.b/c", "ä".repeat(100))
            .server_json()
            .is_ok()
    );
    assert!(error(manifest().title("")).contains("the title has 0 characters"));
    for version in [
        "latest",
        "^1.2.0",
        "~1",
        ">=1.0",
        "1.x",
        "1.*",
        "*",
        "",
        "1 - 2",
        &"1".repeat(256),
    ] {
        let text = error(server().name("desk", version).manifest("a.b/c", "d"));
        assert!(text.contains("is not one version"), "{text}");
    }
    let text = error(manifest().package(Package::new("npm", "a", "latest")));
    assert!(text.contains("is not one version"), "{text}");
    for url in [
        "",
        "http://a.b",
        "https://",
        "https:///a",
        "javascript:alert(1)",
        "https://a b",
        "https://a.b/\"",
        &format!("https://{}", "a".repeat(255)),
    ] {
        for change in [
            Manifest::website,
            Manifest::repository,
            Manifest::remote,
            Manifest::icon,
        ] {
            let text = error(change(manifest(), url));
            assert!(text.contains("is not a URL"), "{text}");
        }
        let text = error(manifest().package(Package::bundle(url, b"")));
        assert!(text.contains("is not a URL"), "{text}");
    }
    let nameless = Server::new(Registry::new())
        .manifest("a.b/c", "d")
        .author("Ada");
    assert!(error(nameless.clone()).contains("call `Server::name`"));
    assert!(nameless.bundle_json().is_err());
}

#[test]
fn what_a_host_rejects_is_an_error() {
    let error = |manifest: Manifest| manifest.bundle_json().unwrap_err().to_string();
    assert!(error(server().manifest("a.b/c", "d")).contains("needs an author"));
    let twice = manifest().variable(Variable::new("desk_token", "Again."));
    assert!(error(twice).contains("two variables are named desk_token"));
    for name in ["../desk", "a/b", "a\\b", "", ".desk", "a b", "de\0sk"] {
        let manifest = server()
            .name(name, "1.0.0")
            .manifest("a.b/c", "d")
            .author("Ada");
        assert!(error(manifest).contains("is no file name"), "{name}");
    }
}

/// The schema of the registry is not in this repository: `TOOL_MCP_SERVER_SCHEMA` is the path of a copy.
#[test]
fn server_json_follows_the_schema_of_the_registry() {
    let Some(path) = std::env::var_os("TOOL_MCP_SERVER_SCHEMA") else {
        return println!("skipped: TOOL_MCP_SERVER_SCHEMA is not set");
    };
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::options()
        .should_validate_formats(true)
        .build(&schema)
        .unwrap();
    for manifest in [manifest(), server().manifest("a.b/c", "ä".repeat(100))] {
        let json = manifest.server_json().unwrap();
        let problems: Vec<_> = validator
            .iter_errors(&json)
            .map(|error| error.to_string())
            .collect();
        assert!(problems.is_empty(), "{problems:?}");
    }
    // The schema is that of `server.json`.
    assert!(!validator.is_valid(&json!({"name": "desk", "description": "", "version": "1"})));
}

#[cfg(feature = "mcpb")]
#[test]
fn a_bundle_is_an_archive_that_has_the_program() {
    use std::io::{Cursor, Read};

    let program: Vec<u8> = (0..100_000_u32)
        .flat_map(|number| (number % 251).to_le_bytes())
        .collect();
    let bundle = manifest().bundle(&program).unwrap();
    assert_eq!(bundle, manifest().bundle(&program).unwrap());
    assert!(bundle.len() < program.len() / 2);
    let mut archive = zip::ZipArchive::new(Cursor::new(bundle)).unwrap();
    let mut read = |name: &str| {
        let mut file = archive.by_name(name).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        (file.unix_mode(), bytes)
    };
    let (_, json) = read("manifest.json");
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json, manifest().bundle_json().unwrap());
    let (mode, bytes) = read(json["server"]["entry_point"].as_str().unwrap());
    assert_eq!(mode.map(|mode| mode & 0o777), Some(0o755));
    assert!(bytes == program);
}
