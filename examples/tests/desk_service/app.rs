//! The chart as an app, in a host made of the official packages. They come from npm, so this runs with `TOOL_MCP_CLIENTS=1` alone;
//! `.ci/run clients` does that.

use std::env;
use std::path::Path;
use std::process::Command;

use super::{Service, browser};

#[test]
fn a_host_shows_the_chart_and_the_app_calls_its_tool() {
    if env::var_os("TOOL_MCP_CLIENTS").is_none() {
        return println!("skipped: TOOL_MCP_CLIENTS is not set");
    }
    let Some(chromium) = browser::program() else {
        return println!("skipped: no Chromium");
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = folder.join("../crates/tool-mcp/tests/clients/run");
    let installed = Command::new(script).arg("install").output();
    let installed = installed.expect("the script runs");
    let printed = String::from_utf8_lossy(&installed.stdout).into_owned();
    let Some(node) = printed.lines().find_map(|line| line.strip_prefix("node ")) else {
        return println!("{printed}");
    };
    let service = Service::start();
    let ran = Command::new(node)
        .arg(folder.join("tests/desk_service/app_host.mjs"))
        .arg(folder.join("../target/clients/npm"))
        .arg(format!("http://{}/mcp", service.address))
        .arg(&service.tokens["clerk-1"])
        .arg(chromium)
        .output();
    let ran = ran.expect("Node runs");
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{errors}");
    assert_eq!(ran.stdout, b"app: ok\n", "{errors}");
}
