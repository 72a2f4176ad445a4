//! Calls the tool of a server as a function, without a model: `cargo run -p tool-mcp --example client`.
//!
//! The server runs in this process. `notes.tools.json` has its tool, as `import --pin` of a program with `tool-cli` writes it.

use tool_core::{Registry, ToolType, tool, tools};
use tool_mcp::{Import, Server};

tool_mcp::client! {
    mod notes = "notes.tools.json";
}

#[derive(serde::Serialize, serde::Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
enum Color {
    Green,
    Yellow,
}

#[derive(serde::Serialize, ToolType)]
struct Added {
    id: i64,
}

/// Adds a note.
#[tool]
fn add_note(text: &str, color: Option<Color>) -> Added {
    let _ = color;
    Added {
        id: i64::try_from(text.len()).unwrap_or(0),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let theirs = Registry::builder().tools(tools![add_note]).build()?;
    let import = Import::stream(move || {
        let server = Server::new(theirs.clone());
        async move {
            let (near, far) = tokio::io::duplex(64 * 1024);
            let (input, output) = tokio::io::split(far);
            tokio::spawn(server.serve_stream(input, output));
            Ok(near)
        }
    });
    let import = import.name("notes").connect(&Registry::new()).await?;

    let mut note = notes::AddNote::new("Water the plants.");
    note.color = Some(notes::AddNoteColor::Green);
    // `note.colour` would be an error of the compiler.
    let added = notes::add_note(&import, note).await?;
    println!("note {}", added.id);
    import.close().await;
    Ok(())
}
