//! Python that the model writes, in a locked process.

use tool_core::dynamic::{DynamicTool, DynamicToolError};
use tool_core::{Registry, tools};
use tool_python::{Inputs, Limits, NoTools, Policy, Report, Sandbox, User, code_mode};

use crate::desk::Desk;
use crate::tools::read_file;

/// The user that runs the code if this program runs as root: `nobody`.
const NOBODY: User = User {
    uid: 65534,
    gid: 65534,
};

/// Creates a sandbox with this interpreter, or with the `python3` of the `PATH` or of the system.
///
/// Returns an error that says what is missing: Linux, Landlock, seccomp or an interpreter.
pub(crate) fn sandbox(python: Option<&str>, kernel: Report) -> Result<Sandbox, tool_python::Error> {
    let create = |python: &str| {
        let policy = Policy::new().python(python).kernel(kernel).pool(1);
        match Sandbox::new(policy.clone()) {
            Err(tool_python::Error::Root) => Sandbox::new(policy.user(NOBODY)),
            created => created,
        }
    };
    match python {
        Some(python) => create(python),
        // What a `PATH` starts with may be a script of a version manager, or closed to `NOBODY`.
        None => create("python3").or_else(|error| create("/usr/bin/python3").or(Err(error))),
    }
}

/// Returns the version of numpy in the sandbox, if it is there.
pub(crate) fn numpy(sandbox: &Sandbox) -> Option<String> {
    let code = "import numpy\nnumpy.__version__";
    let outcome = sandbox.run(code, &Inputs::new(), &NoTools, &Limits::default());
    Some(outcome.ok()?.result?.text().trim_matches('"').to_owned())
}

/// Returns the tool `run_code`. Its code reads the desk by calling `read_file`, within the limits of that tool.
pub(crate) fn run_code(sandbox: &Sandbox, desk: Desk) -> Result<DynamicTool, DynamicToolError> {
    let files = Registry::builder()
        .tools(tools![read_file])
        .context(desk)
        .build()
        .expect("one tool");
    code_mode(sandbox, &files).build()
}
