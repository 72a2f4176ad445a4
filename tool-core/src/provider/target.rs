//! [`Target`]: the providers whose rules a build can check.

use crate::provider::profile::Profile;

/// Defines [`Target`].
macro_rules! targets {
    ($($(#[$doc:meta])* $target:ident = $feature:literal in $module:ident;)*) => {
        /// A provider whose rules every tool of a build can be checked against. A feature of this
        /// crate enables each one.
        ///
        /// ```
        /// use tool_core::rules::Target;
        ///
        /// assert_eq!(Target::OpenAiStrict.feature(), "openai-strict");
        /// assert_eq!(Target::OpenAiStrict.is_enabled(), cfg!(feature = "openai-strict"));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Target {
            $($(#[$doc])* $target,)*
        }

        impl Target {
            /// Every target.
            pub const ALL: [Target; [$($feature),*].len()] = [$(Target::$target),*];

            /// Returns the name of the feature that enables the target.
            pub const fn feature(self) -> &'static str {
                match self {
                    $(Target::$target => $feature,)*
                }
            }

            /// Returns `true` if the target's feature is enabled in this build.
            pub const fn is_enabled(self) -> bool {
                match self {
                    $(Target::$target => cfg!(feature = $feature),)*
                }
            }

            /// Returns the provider and its mode, for people.
            ///
            /// ```
            /// use tool_core::rules::Target;
            ///
            /// assert_eq!(Target::OpenAiStrict.title(), "OpenAI, strict");
            /// ```
            pub const fn title(self) -> &'static str {
                self.profile().title
            }

            /// Returns the profile of the provider.
            pub(crate) const fn profile(self) -> &'static Profile {
                match self {
                    $(Target::$target => &crate::provider::profiles::$module::PROFILE,)*
                }
            }
        }
    };
}

providers!(targets);

/// A set of targets.
#[derive(Clone, Copy)]
pub(crate) struct Targets(u32);

impl Targets {
    pub(crate) const NONE: Targets = Targets(0);

    /// The targets whose features are enabled.
    pub(crate) const ENABLED: Targets = {
        let mut bits = 0;
        let mut at = 0;
        while at < Target::ALL.len() {
            if Target::ALL[at].is_enabled() {
                bits |= Targets::only(Target::ALL[at]).0;
            }
            at += 1;
        }
        Targets(bits)
    };

    pub(crate) const fn only(target: Target) -> Targets {
        Targets(1 << target as u32)
    }

    pub(crate) const fn has(self, target: Target) -> bool {
        self.0 & (1 << target as u32) != 0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
