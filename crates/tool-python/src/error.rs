use std::error::Error as StdError;
use std::fmt;
use std::io;

use crate::Layer;

/// An error of creating a sandbox, or of starting code in one.
///
/// A failure of the code itself, such as an exception or an exceeded limit, isn't an error here: see
/// [`EndedBy`](crate::EndedBy).
///
/// ```
/// use tool_python::{Error, Policy, Sandbox};
///
/// match Sandbox::new(Policy::new()) {
///     Ok(sandbox) => println!("Python {}", sandbox.version()),
///     Err(Error::Missing { layer, found }) => println!("the kernel lacks {layer:?}: {found}"),
///     Err(Error::Root) => println!("start the program as another user"),
///     Err(error) => println!("{error}"),
/// }
/// ```
#[non_exhaustive]
pub enum Error {
    /// The operating system or the processor architecture is not supported.
    Unsupported(&'static str),
    /// The kernel lacks a layer, and the policy doesn't [allow](crate::Policy::allow_weaker) that.
    Missing {
        /// The layer.
        layer: Layer,
        /// The reason, such as an older version that was found.
        found: String,
    },
    /// This program runs as root and the policy names no [user](crate::Policy::user) for the code.
    Root,
    /// This program runs as root without these capabilities. So it can neither change the user nor measure the
    /// resources that the code uses.
    Capabilities(Vec<&'static str>),
    /// The policy or a limit is invalid.
    Policy(String),
    /// The interpreter is unusable.
    Interpreter(String),
    /// A new interpreter could not be started or locked.
    Start(String),
    /// An operation of the host failed; the message names it.
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unsupported(what) => write!(f, "the Python sandbox needs Linux on x86_64 or aarch64, not {what}"),
            Error::Missing { layer, found } => write!(
                f,
                "the kernel lacks {}: {found}; use a kernel that has it, or accept a weaker sandbox with \
                 `Policy::allow_weaker`",
                layer.needs()
            ),
            Error::Root => f.write_str("this program runs as root: name the user that the code runs as with `Policy::user`"),
            Error::Capabilities(missing) => write!(
                f,
                "this program runs as root without {}: give it what is missing (`docker run --cap-add SYS_PTRACE`), or run it \
                 as a user of its own without `Policy::user`, which needs no capability (`docker run --user 1000`)",
                missing.join(", ")
            ),
            Error::Policy(what) | Error::Interpreter(what) | Error::Start(what) => f.write_str(what),
            Error::Io(error) => write!(f, "{error}"),
        }
    }
}

/// Shows the message, because `main` may return the error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        if let Error::Io(error) = self {
            Some(error)
        } else {
            None
        }
    }
}

#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
impl Error {
    /// Returns a closure that adds the failed operation to an error of the system.
    pub(crate) fn named<E: Into<io::Error>>(what: impl fmt::Display) -> impl FnOnce(E) -> Error {
        move |error| {
            let error = error.into();
            Error::Io(io::Error::new(error.kind(), format!("{what}: {error}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_system_says_what_failed() {
        let denied = io::Error::from_raw_os_error(1);
        let error = Error::named("the folder `/run`")(denied);
        let text = error.to_string();
        assert!(text.starts_with("the folder `/run`: "), "{text}");
        assert_eq!(format!("{error:?}"), text);
        let source = error
            .source()
            .and_then(|error| error.downcast_ref::<io::Error>());
        assert_eq!(
            source.map(io::Error::kind),
            Some(io::ErrorKind::PermissionDenied)
        );
    }
}
