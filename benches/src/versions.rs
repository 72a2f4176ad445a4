//! The versions of the peers: those in `Cargo.lock`, and those that each part was measured with.

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

/// Returns sentences for the page: the locked versions, and which figures are older or missing.
pub fn sentences() -> Result<String> {
    let measured: Figures<String> = load("versions")?;
    let mut parts: Vec<_> = measured.values().flat_map(|parts| parts.keys()).collect();
    parts.sort_unstable();
    parts.dedup();
    let (mut peers, mut others) = (Vec::new(), Vec::new());
    for &peer in PEERS {
        let locked = locked(peer)?;
        let of = |part: &String| measured.get(peer)?.get(part);
        let mut old = parts.clone();
        old.retain(|part| of(part).is_some_and(|version| *version != locked));
        for part in old {
            others.push(format!(
                "{part} of {peer} with {}",
                of(part).expect("an old version")
            ));
        }
        let missing: Vec<_> = parts.iter().filter(|part| of(part).is_none()).collect();
        for part in missing {
            others.push(format!("{part} of {peer} not at all"));
        }
        peers.push(format!("{peer} {locked}"));
    }
    let mut text = format!(
        "Peers are {}, the last with hand-written glue.",
        peers.join(", ")
    );
    if !others.is_empty() {
        text += &format!(
            " Figures of other versions: {} was measured.",
            others.join(", ")
        );
    }
    Ok(text)
}
