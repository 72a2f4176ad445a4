//! The versions of the peers: those in `Cargo.lock`, and those that each part was measured with.

use std::collections::BTreeMap;

use generate::Contender;

use crate::Result;
use crate::cargo::home;
use crate::figures::{Figures, load, save, set};
use crate::results::PEERS;

/// Returns the version of a peer in the lock file.
pub fn locked(peer: &str) -> Result<String> {
    let package = match peer {
        "rig" => "rig-core",
        _ => peer,
    };
    let lock = std::fs::read_to_string(home().join("Cargo.lock"))?;
    let mut lines = lock.lines();
    let name = format!("name = \"{package}\"");
    lines.find(|line| *line == name);
    let version = lines
        .next()
        .and_then(|line| line.strip_prefix("version = "));
    let version = version.ok_or_else(|| format!("Cargo.lock: no {package}"))?;
    Ok(version.trim_matches('"').to_owned())
}

/// Records that a part measured this contender in its locked version.
pub fn record(part: &str, contender: Contender) -> Result<()> {
    let name = contender.name();
    if !PEERS.contains(&name) {
        return Ok(());
    }
    let mut versions: Figures<String> = load("versions")?;
    set(&mut versions, name, part, locked(name)?);
    save("versions", &versions)
}

/// Returns sentences for the page: the locked versions, and which figures are of others.
pub fn sentences() -> Result<String> {
    let measured: Figures<String> = load("versions")?;
    let mut parts: Vec<_> = measured.values().flat_map(|parts| parts.keys()).collect();
    parts.sort_unstable();
    parts.dedup();
    let mut peers = Vec::new();
    let mut others: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for &peer in PEERS {
        let locked = locked(peer)?;
        // The part `edit` measures one peer.
        let parts = parts
            .iter()
            .filter(|part| **part != "edit" || peer == "schemars");
        for &part in parts {
            match measured.get(peer).and_then(|parts| parts.get(part)) {
                Some(version) if *version == locked => {}
                Some(version) => {
                    let of = format!("with {peer} {version}");
                    others.entry(of).or_default().push(part);
                }
                None => {
                    let of = format!("without {peer}");
                    others.entry(of).or_default().push(part);
                }
            }
        }
        peers.push(format!("{peer} {locked}"));
    }
    let mut text = format!(
        "Peers are {}, the last with hand-written glue.",
        peers.join(", ")
    );
    for (of, parts) in others {
        text += &format!(" Measured {of}: {}.", parts.join(", "));
    }
    Ok(text)
}
