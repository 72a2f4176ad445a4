//! What editors show of the keys of attributes: the macros write each key as the path of a constant here.
//!
//! The constants have the texts of the table in `attributes.md`. Only an editor compiles code that names them.

#![allow(non_upper_case_globals)]

/// A key of an attribute.
pub struct Key;

macro_rules! keys {
    (of toolset: $($keys:tt)*) => {
        keys!(@ " [Reference](https://docs.rs/tool-core/latest/tool_core/attr.toolset.html)" $($keys)*);
    };
    (@ $link:literal $($(#[$doc:meta])* $key:ident)*) => {$(
        $(#[$doc])*
        ///
        #[doc = $link]
        pub const $key: Key = Key;
    )*};
    ($($keys:tt)*) => {
        keys!(@ " [All keys](https://docs.rs/tool-core/latest/tool_core/attr.tool.html#keys)" $($keys)*);
    };
}

/// The macros under their names.
pub mod macros {
    pub use tool_core_macros::tool;
}

/// Keys of `#[tool]`.
pub mod tool {
    use super::Key;
    pub use super::described::*;
    keys! {
        /// `name = "…"`: name that the model calls; defaults to the name of the function
        name
        /// `title = "…"`: name for people
        title
        /// `tags = ["…"]`: tags, for `Registry::select_tags`
        tags
        /// `meta = r#"{…}"#`: `_meta` for MCP clients, as JSON
        meta
        /// `icons = ["https://…"]`: icons for MCP clients
        icons
        /// `read_only`: MCP annotation: the tool modifies nothing; also `= false`
        read_only
        /// `destructive`: MCP annotation: the tool may delete or overwrite something; also `= false`
        destructive
        /// `idempotent`: MCP annotation: repeating a call has no further effect; also `= false`
        idempotent
        /// `open_world`: MCP annotation: the tool interacts with external systems, such as the web; also `= false`
        open_world
        /// `timeout = "30s"`: time limit of an async or `blocking` tool: a whole number and `ms`, `s`, `m` or `h`
        timeout
        /// `blocking`: runs a sync tool on a thread for blocking work
        blocking
        /// `parallel`: runs calls concurrently with others of a response, in a `Run` of the crate `tool-agent`; defaults to `read_only`; also `= false`
        parallel
        /// `defer`: models get the tool only when they search for it; see `RegistryBuilder::defer`; also `= false`
        defer
        /// `freeform`: lets the model write the only argument as text instead of JSON, where the provider has that
        freeform
        /// `grammar = regex("…")`: what the text must look like: a regular expression (feature `regex`), or `lark("…")`
        grammar
        /// `programmatic`: lets programs of the model call the tool, where the provider runs them; also `= only`
        programmatic
        /// `strict`: the provider makes calls follow the schema, where it has that for single tools; `= false` excludes the tool from a strict dialect
        strict
        /// `provides = Type`: the function is the body of a tool on which a provider trained its models
        provides
        /// `ends_run`: a call that succeeds ends a `Run` of the crate `tool-agent`
        ends_run
        /// `background`: the model goes on while a call runs, and gets the result later, in a `Run` of the crate `tool-agent`; also `= false`
        background
        /// `eager_input`: Anthropic streams the arguments before they are complete; also `= false`
        eager_input
        /// `example = r#"{…}"#`: arguments of a call, as JSON; any number of times
        example
        /// `unlinked`: keeps the tool out of `Registry::linked`
        unlinked
        /// `handler = Name`: name of the handler type; defaults to the name of the function
        handler
        /// `doc = false`: adds no section to the function's page in rustdoc
        doc
    }
}

/// Keys of `#[toolset]`.
pub mod toolset {
    use super::Key;
    keys! {
        of toolset:
        /// `blocks = 2`: the number of blocks of the type, in the first one
        blocks
        /// `block = 2`: the number of this block, in each other one
        block
    }
}

/// Keys of a parameter.
pub mod parameter {
    /// Keys of a parameter, beside its doc comment:
    ///
    /// - `description`, `rename = "…"`, `example = literal`, `default = literal` or `default` alone
    /// - `range = 1..=14`, `multiple_of = 5`, `length = 1..=64`, `unique`, `pattern = "…"`, `format = "email"`: accepted values
    /// - `secret`: keeps the value out of logs
    /// - `as = Type`, `schema = r#"{…}"#`: another schema than that of the type
    /// - `context`: the application provides the value, and the model never sees it
    ///
    /// [Each key, with examples](https://docs.rs/tool-core/latest/tool_core/attr.tool.html#keys)
    pub mod param {
        use super::super::Key;
        pub use super::super::constraints::*;
        pub use super::super::described::*;
        keys! {
            /// `rename = "…"`: key in the arguments; defaults to the name of the parameter
            rename
            /// `default = literal`: value of an absent argument; shown in the schema
            default
            /// `context`: the application provides the value, and the model never sees it
            context
        }
    }
}

/// Keys of a field.
pub mod field {
    /// Keys of a field. `rename` and `default` are serde's.
    pub mod param {
        use super::super::Key;
        pub use super::super::constraints::*;
        pub use super::super::described::*;
        keys! {
            /// `recursive`: the field leads back to a type that contains it
            recursive
        }
    }
}

/// Keys of a variant.
pub mod variant {
    /// Keys of a variant.
    pub mod param {
        pub use super::super::described::*;
    }
}

/// Keys of a type.
pub mod container {
    /// Keys of a type.
    pub mod param {
        use super::super::Key;
        pub use super::super::described::*;
        keys! {
            /// `serde`: serde decodes the type, with a `Deserialize` that you write by hand
            serde
        }
    }
}

mod described {
    use super::Key;
    keys! {
        /// `description = "…"`: description, also a constant; defaults to the doc comment
        description
    }
}

mod constraints {
    use super::Key;
    keys! {
        /// `example = literal`: example shown in the schema
        example
        /// `range = 1..=14`: accepted numbers; floats as `0.5..1.0`; either end may be open
        range
        /// `multiple_of = 5`: accepts only multiples of this number
        multiple_of
        /// `length = 1..=64`: number of characters of a string, items of an array or entries of a map
        length
        /// `pattern = "^[a-z]+$"`: regular expression that a string must match (feature `regex`)
        pattern
        /// `format = "email"`: format of a string, for the model; only the type enforces it: one of `date-time`, `date`, `time`, `duration`, `email`, `hostname`, `ipv4`, `ipv6`, `uri` and `uuid`
        format
        /// `unique`: rejects an array with duplicate items
        unique
        /// `secret`: keeps the value out of logs, telemetry and errors
        secret
        /// `schema = r#"{…}"#`: uses this JSON Schema
        schema
    }
}

/// Values of `programmatic`.
pub mod programmatic {
    use super::Key;
    keys! {
        /// Programs alone call the tool.
        only
    }
}

/// Values of `grammar`.
pub mod grammar {
    use super::Key;
    keys! {
        /// `regex("…")`: a regular expression (feature `regex`)
        regex
        /// `lark("…")`: a Lark grammar
        lark
    }
}
