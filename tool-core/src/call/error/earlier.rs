//! [`Earlier`]: an error whose place another one took.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::call::error::ToolError;

/// What the operator is told of an error that a hook was given and did not give back. It has the
/// reference, which the hook may have passed on.
#[derive(Debug)]
pub(crate) struct Earlier {
    message: String,
    detail: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl Earlier {
    pub(crate) fn of(error: &ToolError) -> Earlier {
        Earlier {
            message: error.original_message().to_owned(),
            detail: error.detail.clone(),
            source: error.source.clone(),
        }
    }
}

impl fmt::Display for Earlier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

impl Error for Earlier {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
