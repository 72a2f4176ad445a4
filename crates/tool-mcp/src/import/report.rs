//! [`Report`]: what became of the tools of a server.

use std::fmt;

use tool_core::dynamic::Repair;
use tool_core::spec::Annotations;
use tool_core::visible;

use super::pins::Pin;

/// The outcome for each tool of a server; see [`Import::report`](crate::Import::report). Displays as lines
/// for a person.
///
/// ```
/// use tool_mcp::Report;
///
/// /// Lists what a person should look at.
/// fn problems(report: &Report) -> Vec<String> {
///     let rejected = report.rejected.iter().map(|tool| format!("{}: {}", tool.source, tool.reason));
///     let held = report.held.iter().map(|tool| format!("{} has changed", tool.source()));
///     rejected.chain(held).collect()
/// }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The name and the version that the server states.
    pub server: Option<(String, String)>,
    /// The version of the protocol.
    pub protocol: String,
    /// The tools that were added, in the order of the server.
    pub taken: Vec<TakenTool>,
    /// The tools that can't be added.
    pub rejected: Vec<RejectedTool>,
    /// The tools that wait until a person [accepts](crate::Import::accept) them.
    pub held: Vec<HeldTool>,
    /// Other notes, such as that the server lists more tools than the limit.
    pub notes: Vec<String>,
}

/// A tool that was added.
///
/// ```
/// use tool_mcp::Report;
///
/// /// Shows what was renamed, and what the server claims of its tools.
/// fn print(report: &Report) {
///     for tool in &report.taken {
///         let claims = tool.claims.read_only == Some(true);
///         let note = if claims { ", read-only as it says" } else { "" };
///         println!("{} as {}, {} repairs{note}", tool.source, tool.name, tool.repairs.len());
///     }
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TakenTool {
    /// The name in the registry. The registry adds a suffix if another tool has it.
    pub name: String,
    /// The name at the server.
    pub source: String,
    /// The changes that make every provider accept the tool.
    pub repairs: Vec<Repair>,
    /// The server's own claims about the effects of the tool. They count only with
    /// [`trust_annotations`](crate::ImportBuilder::trust_annotations).
    pub claims: Annotations,
}

/// A tool that can't be added.
///
/// ```
/// use tool_mcp::Report;
///
/// fn warn(report: &Report) {
///     for tool in &report.rejected {
///         eprintln!("{} can't be used: {}", tool.source, tool.reason);
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejectedTool {
    /// The name at the server.
    pub source: String,
    /// The reason.
    pub reason: String,
}

/// A tool that changed since it was accepted, or that is new; see
/// [`ImportBuilder::pin`](crate::ImportBuilder::pin).
///
/// ```
/// use tool_mcp::Report;
///
/// /// Shows a person what to look at before the file of pins is changed.
/// fn review(report: &Report) {
///     for tool in &report.held {
///         println!("{}: {}", tool.source(), tool.changes().join(", "));
///         println!("{:#}", tool.listed());
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct HeldTool {
    pub(super) source: String,
    pub(super) changes: Vec<&'static str>,
    pub(super) listed: serde_json::Value,
    pub(super) pin: Pin,
}

impl HeldTool {
    /// Returns the name at the server.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns what changed: `description`, `parameters`, `output`, `annotations`, or `app`, which is `_meta.ui`. Empty if
    /// the tool is new.
    pub fn changes(&self) -> &[&'static str] {
        &self.changes
    }

    /// Returns the tool as the server lists it now, for the person who decides: with `\u{200b}` for characters that
    /// [nobody sees](tool_core::visible).
    pub fn listed(&self) -> &serde_json::Value {
        &self.listed
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names of a server may be in each part.
        f.write_str(&visible::escape(&Lines(self).to_string()))
    }
}

struct Lines<'r>(&'r Report);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lines(report) = self;
        match &report.server {
            Some((name, version)) => {
                write!(f, "{} {}", visible::line(name), visible::line(version))?;
            }
            None => f.write_str("unnamed server")?,
        }
        write!(
            f,
            " (protocol {}): {} tools taken, {} rejected, {} held back",
            visible::line(&report.protocol),
            report.taken.len(),
            report.rejected.len(),
            report.held.len()
        )?;
        for tool in &report.taken {
            write!(f, "\n  {}", tool.name)?;
            if !tool.repairs.is_empty() {
                f.write_str(", repaired:")?;
            }
            for repair in &tool.repairs {
                write!(f, "\n    {repair}")?;
            }
        }
        for tool in &report.rejected {
            let name = visible::line(&tool.source);
            write!(f, "\n  {name} rejected: {}", tool.reason)?;
        }
        for tool in &report.held {
            let name = visible::line(&tool.source);
            match &*tool.changes {
                [] => write!(f, "\n  {name} held back: it is new")?,
                changes => write!(f, "\n  {name} held back: changed {}", changes.join(", "))?,
            }
        }
        for note in &report.notes {
            write!(f, "\n  note: {note}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::secrets::shorten;
    use super::*;

    #[test]
    fn what_a_server_says_is_escaped_once() {
        let hostile = shorten("a\u{1b}\u{202e}\"b\n", 100).into_owned();
        let report = Report {
            server: Some((hostile.clone(), "1".into())),
            rejected: vec![RejectedTool {
                source: hostile,
                reason: "it is too large".into(),
            }],
            ..Report::default()
        };
        let shown = r#"a\u{1b}\u{202e}"b\n"#;
        let text = report.to_string();
        assert!(text.starts_with(&format!("{shown} 1 ")), "{text}");
        assert!(
            text.ends_with(&format!("  {shown} rejected: it is too large")),
            "{text}"
        );
    }
}
