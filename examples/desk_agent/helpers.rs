//! Helpers: other models that answer single questions, each in a process of its own.
//!
//! A helper is this program again, in another role: [`serve`] is all that it does.

use std::env;
use std::error::Error;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tool_agent::Agent;
use tool_agent::model::Retry;
use tool_core::{Registry, tools};
use tool_mcp::submodel::{self, Submodels};

use crate::KEY;
use crate::desk::Desk;
use crate::model::Api;
use crate::tools::{SystemPrompt, read_file};

const PROMPT: &str = "You help another model with single questions. Answer in one sentence.";

/// What a helper needs to start. The flags of this program carry it to the process.
pub(crate) struct Helpers<'a> {
    pub(crate) api: Api,
    pub(crate) url: Option<&'a str>,
    pub(crate) model: &'a str,
    /// The folder that helpers read.
    pub(crate) desk: &'a Path,
}

impl Helpers<'_> {
    /// Returns the tools with which a model asks helpers.
    pub(crate) fn tools(&self) -> Result<Submodels, Box<dyn Error>> {
        let mut command = Command::new(env::current_exe()?);
        let api = match self.api {
            Api::Responses => "responses",
            Api::Chat => "chat",
        };
        command.args(["--api", api, "--model", self.model]);
        command.arg("--desk").arg(self.desk);
        // A helper gets these variables, and no others.
        if let Some(url) = self.url {
            command.args(["--url", url]);
            if let Some(key) = env::var_os(KEY) {
                command.env(KEY, key);
            }
        }
        Ok(Submodels::new(command).concurrency(4).max_depth(1))
    }

    /// Answers the questions of the process that started this one, until it closes the connection.
    ///
    /// A helper reads files on the desk. It writes nothing, runs no code, makes no tools and has no helpers.
    pub(crate) async fn serve(&self) -> Result<(), Box<dyn Error>> {
        let registry = Registry::builder()
            .tools(tools![read_file])
            .context(Desk::open(self.desk)?)
            .build()?;
        let prompt = SystemPrompt::new(PROMPT);
        let model = crate::connect(self.api, self.url, recorded(self.api), self.model, prompt)?;
        let agent = Agent::new(registry, self.api.dialect(), model).retry(Retry::new(3));
        Ok(submodel::serve(agent).await?)
    }
}

/// Returns the recorded responses of the helpers, by question.
fn recorded(api: Api) -> Vec<Value> {
    let recorded = match api {
        Api::Responses => include_str!("recorded/helpers-responses.json"),
        Api::Chat => include_str!("recorded/helpers-chat.json"),
    };
    serde_json::from_str(recorded).expect("a JSON array")
}
