//! [`Extra`]: what few results have.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::call::origin::Origin;
use crate::call::truncate::truncate;
use crate::content::{Content, Media};

/// The parts of a result, the value for the application, and the origin of the call.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Extra {
    /// All that the model gets. Empty if it gets a string or a value alone.
    #[cfg_attr(feature = "serde", serde(with = "crate::content::saved"))]
    pub(crate) parts: Vec<Content>,
    /// Set when the first part is the text of the output, which has further parts.
    pub(crate) has_value: bool,
    /// Set when the output contains secrets, so that `Debug` does not show it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "std::ops::Not::not")
    )]
    pub(crate) is_secret: bool,
    /// The handle and the size in bytes of the whole text, if a store has it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub(crate) kept: Option<(String, usize)>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) app: Option<AppValue>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) origin: Option<Box<Origin>>,
}

/// A value for the application, which no model sees.
#[derive(Clone)]
pub(crate) struct AppValue(pub(crate) Arc<dyn Any + Send + Sync>);

impl PartialEq for AppValue {
    fn eq(&self, other: &AppValue) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for AppValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AppValue(…)")
    }
}

impl Extra {
    /// Truncates the text parts to `cap` bytes together. A text part after them is omitted whole.
    pub(crate) fn truncate(&mut self, cap: usize) {
        let mut left = cap;
        for part in &mut self.parts {
            if let Content::Text(text) = part {
                let length = text.len();
                truncate(text, left);
                left = left.saturating_sub(length);
            }
        }
    }

    /// Cuts the text parts together after so many bytes of their [text](joined_text), and appends a note.
    pub(crate) fn keep_start(&mut self, end: usize, note: &str) {
        let (mut next, mut is_cut) = (0, false);
        self.parts.retain_mut(|part| {
            let Content::Text(text) = part else {
                return true;
            };
            let start = next;
            next += text.len() + 1;
            if is_cut {
                return false;
            }
            if start + text.len() > end {
                *text = [&text[..end.saturating_sub(start)], note].concat();
                is_cut = true;
            }
            true
        });
    }

    /// Replaces the media that do not fit in `cap` bytes together by notes.
    pub(crate) fn limit_media(&mut self, cap: usize) {
        let mut left = cap;
        for part in &mut self.parts {
            let size = part.media().map_or(0, Media::size);
            if size > left {
                *part = Content::Text(format!(
                    "[{}, omitted: a result may have {cap} bytes of media]",
                    part.description()
                ));
            } else {
                left -= size;
            }
        }
    }
}

/// Returns the text parts, one a line.
pub(crate) fn joined_text(parts: &[Content]) -> String {
    let texts: Vec<_> = parts.iter().filter_map(Content::as_text).collect();
    texts.join("\n")
}
