//! Three nodes of a Restate cluster on one machine, to try what happens when one is down.
//!
//! ```sh
//! cargo run --example three_nodes               # until Ctrl-C
//! cargo run --example three_nodes -- 9080 9081  # and registers what serves at these ports
//! ```
//!
//! It prints the addresses and the id of each node's process, for `kill`. Give a client the address of the balancer, which passes
//! over nodes that are down. The data is removed at the next start. It needs npm, which installs the server, or a server in
//! `RESTATE_SERVER`.

#[allow(dead_code)]
#[path = "../tests/support/engine.rs"]
mod engine;

use std::error::Error;
use std::fs;
use std::path::Path;

use engine::Node;

const NODES: usize = 3;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let ports = std::env::args().skip(1).map(|port| {
        let parsed = port.parse::<u16>();
        parsed.map_err(|error| format!("{port:?} is not a port: {error}"))
    });
    let ports: Vec<u16> = ports.collect::<Result<_, _>>()?;
    let temporary = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tmp");
    let server = engine::server(&temporary.join("restate"))
        .ok_or("it needs npm, or a Restate server in RESTATE_SERVER")?;
    let folder = temporary.join("three_nodes");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;

    let nodes: Vec<_> = (0..NODES).map(|_| Node::new()).collect();
    let processes = engine::start_nodes(&server, &folder, &nodes);
    let ingress = nodes.iter().map(|node| node.ingress).collect();
    let balancer = engine::balance(ingress).await;
    println!("ingress of all: http://127.0.0.1:{balancer}");
    for (index, (node, process)) in nodes.iter().zip(&processes).enumerate() {
        println!(
            "node {index}: process {}, ingress {}, administration {}",
            process.id().unwrap_or_default(),
            node.ingress_url(),
            node.admin_url()
        );
    }
    println!("logs and data: {}", folder.display());
    for port in ports {
        engine::register(&nodes[0].admin_url(), port).await?;
        println!("registered port {port}");
    }
    tokio::signal::ctrl_c().await?;
    Ok(())
}
