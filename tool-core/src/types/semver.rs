//! Schemas of the types of `semver`.

use semver::{Comparator, Version, VersionReq};

use crate::types::text;

schemas! {
    Version => text("Semantic version, such as 1.4.0-beta.2.");
    VersionReq => text("Requirement on a semantic version, such as ^1.2 or >=1.2, <3.");
    Comparator => text("Single requirement on a semantic version, such as ^1.2.");
}
