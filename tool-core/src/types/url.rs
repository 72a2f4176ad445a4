//! The schema of `Url`.

use url::Url;

use crate::types::text;

// No `uri`: that format has URIs which the URL standard refuses, such as `http://a:99999/`.
schemas! {
    Url => text("Absolute URL, such as https://example.com/path.");
}
