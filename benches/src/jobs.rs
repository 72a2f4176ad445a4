//! The number of crates that the projects in `templates` depend on, and the README's first lines.

use crate::Result;
use crate::cargo::{home, output};
use crate::cold::crates;
use crate::figures::{load, save, set};
use crate::leaf::Leaf;
use crate::results::OURS;

/// What a program does, and the template that has its dependencies, or the dependencies themselves.
pub const JOBS: [(&str, &str); 5] = [
    ("tools", "tools"),
    ("tools for MCP clients", "server"),
    ("an agent that asks a model over HTTP", "agent"),
    (
        "a command line with a page and a server, as above",
        "tool-core = { version = \"0.1\" }\ntool-cli = { version = \"0.1\", features = [\"mcp\", \"web\"] }\n",
    ),
    ("a chat service with an inbox and a server", "service"),
];

pub fn measure() -> Result<()> {
    let mut figures = load("jobs")?;
    for (number, (job, from)) in JOBS.into_iter().enumerate() {
        let crates = crates(&leaf(number, from)?)?;
        set(&mut figures, OURS, job, crates as f64);
    }
    save("jobs", &figures)
}

/// Returns a package that depends on what a job needs, in the versions of the project.
fn leaf(number: usize, from: &str) -> Result<Leaf> {
    let root = home().join("..");
    let dependencies = match from.contains('=') {
        true => from.to_owned(),
        false => {
            let manifest =
                std::fs::read_to_string(root.join("templates").join(from).join("Cargo.toml"))?;
            let (_, rest) = manifest
                .split_once("[dependencies]\n")
                .ok_or("no dependencies")?;
            rest.split("\n[").next().unwrap_or_default().to_owned()
        }
    };
    let lines = dependencies.lines().map(|line| {
        let Some((name, rest)) = line
            .split_once(" = { version = \"0.1\"")
            .filter(|(name, _)| name.starts_with("tool-"))
        else {
            return format!("{line}\n");
        };
        let folder = if name == OURS {
            root.clone()
        } else {
            root.join("crates")
        };
        format!(
            "{name} = {{ path = \"{}\"{rest}\n",
            folder.join(name).display()
        )
    });
    let leaf = Leaf::with(&format!("job-{number}"), "", &lines.collect::<String>())?.apart();
    std::fs::copy(root.join("Cargo.lock"), leaf.folder().join("Cargo.lock"))?;
    leaf.write("lib", "")?;
    output(leaf.cargo().args(["fetch", "--quiet"]))?;
    Ok(leaf)
}
