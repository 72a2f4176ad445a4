//! The operator: the person who decides whether a tool that the model wrote may be used.
//!
//! A decision is a key that a person presses at the terminal, or a hash that the program was started with. No text of
//! a model, a file or a tool is ever read as one.

use std::error::Error;
use std::fmt;
use std::path::Path;

use examples::terminal::confirm;
use tool_agent::Agent;
use tool_agent::run::{Pending, Run};
use tool_core::Registry;
use tool_core::hooks::Decision;
use tool_python::{Sandbox, Workshop};

use crate::screen;

/// Who approves.
pub(crate) enum Approval {
    /// The person at the terminal.
    Ask,
    /// What has this hash is approved, and nothing else.
    Hash(String),
    /// Nobody: there is no terminal.
    Nobody,
    /// Nobody, on purpose: what needs approval is denied before anything runs.
    Unattended,
}

impl fmt::Display for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Approval::Ask => "You approve new tools here.",
            Approval::Hash(_) => "A new tool with the hash of --approve is approved, no other.",
            Approval::Nobody => "Nobody approves new tools: there is no terminal. See --approve.",
            Approval::Unattended => "Nobody approves new tools: --unattended.",
        })
    }
}

/// Reads the hash of `--approve`.
pub(crate) fn hash(text: &str) -> Result<String, String> {
    if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err("a hash has 64 hexadecimal digits; the program prints it with what it is for".into())
    }
}

pub(crate) struct Operator {
    pub(crate) approval: Approval,
    /// Who decides. Stored with each approved tool.
    pub(crate) name: String,
}

impl Operator {
    /// Opens the folder that keeps approved tools.
    pub(crate) fn workshop(
        &self,
        sandbox: &Sandbox,
        store: &Path,
    ) -> Result<Workshop, Box<dyn Error>> {
        let workshop = Workshop::open(sandbox, store)
            .map_err(|error| format!("can't keep tools in {}: {error}", store.display()))?;
        Ok(match self.approval {
            Approval::Unattended => workshop.unattended(),
            _ => workshop,
        })
    }

    /// Decides on calls that wait.
    pub(crate) fn decide(
        &self,
        agent: &Agent,
        run: &mut Run,
        held: &[Pending],
    ) -> Result<(), Box<dyn Error>> {
        for pending in held {
            let (name, hash) = (&pending.call().name, pending.fingerprint());
            screen::lines(2, &format!("{name} waits for approval"))?;
            match self.approval {
                Approval::Ask => screen::pages(4, pending.reason())?,
                _ => screen::lines(4, pending.reason())?,
            }
            screen::lines(2, &format!("hash: {hash}"))?;
            let is_approved = match &self.approval {
                Approval::Ask => confirm("Approve it?")? == Some(true),
                Approval::Hash(approved) => approved == hash,
                Approval::Nobody | Approval::Unattended => false,
            };
            let (said, decision) = if is_approved {
                ("approved", Decision::Allow)
            } else {
                let reason = "the operator did not approve it";
                ("not approved", Decision::deny(reason))
            };
            screen::verdict(0, "operator:", said, is_approved)?;
            run.decide(agent.registry(), hash, decision, &*self.name)?;
        }
        Ok(())
    }
}

/// Adds the approved tools of earlier sessions, and says which.
pub(crate) fn load(workshop: &Workshop, registry: &Registry) -> Result<(), Box<dyn Error>> {
    let loaded = workshop.load(registry)?;
    for name in &loaded.added {
        screen::lines(0, &format!("The tool {name} is back."))?;
    }
    for (name, reason) in &loaded.rejected {
        screen::lines(0, &format!("The tool {name} is not used: {reason}"))?;
    }
    Ok(())
}
