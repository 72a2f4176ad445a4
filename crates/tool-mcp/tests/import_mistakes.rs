//! What a developer reads of an import that fails: which server, what it waits for, what the program said.

#![cfg(feature = "client-http")]

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::Command;
use tool_core::Registry;
use tool_mcp::{Import, ImportBuilder, ImportErrorKind, Protocol};

#[path = "support/log.rs"]
mod log;

use log::Log;

const SECRET: &str = "hunter2-hunter2";

fn shell(script: &str) -> ImportBuilder {
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("TOKEN", SECRET);
    Import::command(command).name("files")
}

/// Connects, and returns the message of the error.
async fn said(import: ImportBuilder, kind: ImportErrorKind) -> String {
    let error = import.connect(&Registry::new()).await.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    let text = error.to_string();
    assert_eq!(format!("{error:?}"), text);
    assert!(!text.contains(SECRET), "{text}");
    text
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_that_ends_is_named_with_its_last_words() {
    let closed = "files: the server closed the connection during the handshake; `sh` has ended: exit status: ";
    let script = "echo 'no license for' $TOKEN >&2; exit 3";
    assert_eq!(
        said(shell(script), ImportErrorKind::Handshake).await,
        format!("{closed}3; it wrote:\nno license for [redacted]")
    );
    assert_eq!(
        said(shell("exit 0"), ImportErrorKind::Handshake).await,
        format!(
            "{closed}0; it wrote nothing to its standard error: check that `sh` with its arguments is an MCP server"
        )
    );
    assert_eq!(
        said(shell("exit 0").inherit_stderr(), ImportErrorKind::Handshake).await,
        format!("{closed}0")
    );
    let many = "i=0; while [ $i -lt 50 ]; do echo line $i >&2; i=$((i+1)); done; exit 1";
    let text = said(shell(many), ImportErrorKind::Handshake).await;
    assert!(
        text.contains("\nline 49") && !text.contains("\nline 1\n"),
        "{text}"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_that_is_silent_is_named() {
    let import = shell("echo listening on port 3000 >&2; exec sleep 60");
    let import = import.connect_timeout(Duration::from_secs(3));
    assert_eq!(
        said(import, ImportErrorKind::TimedOut).await,
        "files: the server did not answer within 3s; it wrote:\nlistening on port 3000"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_no_message_is_shown() {
    let import = shell("echo Welcome, $TOKEN; exec sleep 60");
    assert_eq!(
        said(
            import.connect_timeout(Duration::from_secs(3)),
            ImportErrorKind::TimedOut
        )
        .await,
        "files: the server did not answer within 3s; its standard output is for messages alone, and it wrote \
         \"Welcome, [redacted]\" there"
    );
    // What the server says itself needs no advice.
    let rejects = r#"while read line; do
        for id in 0 1 2; do
            echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32000,"message":"no license"}}'
        done
    done"#;
    let import = shell(rejects).protocol(Protocol::V2025_11_25);
    assert_eq!(
        said(import, ImportErrorKind::Handshake).await,
        "files: the server rejected the handshake: no license (-32000)"
    );
}

#[test]
fn an_import_without_a_runtime_is_an_error() {
    let connecting = Import::command(Command::new("files"));
    let registry = Registry::new();
    let connecting = connecting.connect(&registry);
    let error = tool_core::runtime::block_on(connecting)
        .unwrap()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "files: an import needs a runtime of tokio; call `connect` in one"
    );
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let import = Import::command(Command::new("/no/such/server"));
    let text = said(import, ImportErrorKind::Start).await;
    assert!(
        text.starts_with("server: can't start `/no/such/server`: "),
        "{text}"
    );
}

#[tokio::test]
async fn a_url_is_named_without_its_secrets() {
    let url = format!("http://user:{SECRET}@127.0.0.1:1/mcp?key={SECRET}");
    let text = said(Import::http(&url), ImportErrorKind::Handshake).await;
    assert!(
        text.starts_with("http://127.0.0.1:1/mcp: the handshake failed: "),
        "{text}"
    );
    let text = said(Import::http(&url).name("notes"), ImportErrorKind::Handshake).await;
    assert!(
        text.starts_with("notes (http://127.0.0.1:1/mcp): "),
        "{text}"
    );
    for (url, problem) in [
        (
            "example.com/mcp",
            "the URL is invalid: relative URL without a base; it starts with https:// or http://",
        ),
        (
            "ftp://example.com",
            "the URL must start with https:// or http://",
        ),
    ] {
        let text = said(Import::http(url), ImportErrorKind::Start).await;
        assert!(text.ends_with(problem), "{text}");
    }
    // What answers there is no MCP server.
    let url_of = "; check that this is the URL of an MCP server";
    for (status, words) in [
        ("404 Not Found", format!("unexpected server response: HTTP 404 Not Found: <p>{url_of}")),
        (
            "401 Unauthorized",
            "unexpected server response: HTTP 401 Unauthorized: <p>; set the token with `ImportBuilder::bearer`, or \
             check it"
                .into(),
        ),
        ("200 OK", format!("Unexpected content type: Some(\"text/html\"){url_of}")),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let _ = stream.read(&mut [0; 4096]).await;
                let head = "content-type: text/html\r\ncontent-length: 3\r\nconnection: close";
                let answer = format!("HTTP/1.1 {status}\r\n{head}\r\n\r\n<p>");
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        let text = said(Import::http(&url), ImportErrorKind::Handshake).await;
        assert_eq!(text, format!("{url}: the handshake failed: {words}"));
    }
}

/// A server that answers only once the log says what the import waits for.
#[tokio::test(start_paused = true)]
async fn a_silent_import_says_what_it_waits_for() {
    let (log, _guard) = Log::start(tracing::Level::INFO);
    let seen = log.clone();
    let import = Import::stream(move || {
        let log = seen.clone();
        async move {
            let (near, far) = tokio::io::duplex(64 * 1024);
            tokio::spawn(async move {
                let (read, mut write) = tokio::io::split(far);
                let mut lines = BufReader::new(read).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    let request: serde_json::Value = serde_json::from_str(&line).unwrap();
                    let result = match request["method"].as_str().unwrap() {
                        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {},
                            "serverInfo": {"name": "slow", "version": "1"}}),
                        "tools/list" => json!({"tools": []}),
                        _ => continue,
                    };
                    let waits = format!(
                        "awaited=\"its answer to `{}`\"",
                        request["method"].as_str().unwrap()
                    );
                    while !log.text().contains(&waits) {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                    let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
                    write
                        .write_all(format!("{answer}\n").as_bytes())
                        .await
                        .unwrap();
                }
            });
            Ok(near)
        }
    });
    let import = import.name("slow").protocol(Protocol::V2025_11_25);
    let import = import.connect(&Registry::new()).await.unwrap();
    let text = log.text();
    assert_eq!(
        text.matches("an import waits for an MCP server server=\"slow\"")
            .count(),
        2,
        "{text}"
    );
    drop(import);
}

#[tokio::test(start_paused = true)]
async fn an_import_that_tries_two_versions_says_so() {
    let (log, _guard) = Log::start(tracing::Level::INFO);
    let import = Import::stream(|| async {
        let (near, far) = tokio::io::duplex(1024);
        tokio::spawn(async move {
            let _far = far;
            std::future::pending::<()>().await;
        });
        Ok(near)
    });
    let text = said(import, ImportErrorKind::TimedOut).await;
    assert_eq!(text, "stream: the server did not answer within 60s");
    assert!(
        log.text().contains("`Protocol::V2025_11_25`"),
        "{}",
        log.text()
    );
}
