//! The users, what they may do, and their tokens.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::Connection;
use tool_core::ToolEntry;

/// A user. Everybody may ask. The tools and the hook get the user of a call as a context value.
#[derive(Clone)]
pub(crate) struct User {
    pub(crate) name: String,
    /// Set if the user decides on held calls of others.
    pub(crate) decides: bool,
    is_admin: bool,
}

impl User {
    pub(crate) fn admin(name: &str) -> User {
        User {
            name: name.to_owned(),
            decides: true,
            is_admin: true,
        }
    }

    pub(crate) fn may_call(&self, tool: &ToolEntry) -> bool {
        self.is_admin || !tool.tags().any(|tag| tag == "admin")
    }
}

/// All users, by token.
#[derive(Clone)]
pub(crate) struct Users(Arc<HashMap<String, User>>);

impl Users {
    pub(crate) fn read(shop: &Connection) -> rusqlite::Result<Users> {
        let mut users = shop.prepare("SELECT token, name, decides, is_admin FROM user")?;
        let users = users.query_map([], |row| {
            let user = User {
                name: row.get(1)?,
                decides: row.get(2)?,
                is_admin: row.get(3)?,
            };
            Ok((row.get(0)?, user))
        })?;
        Ok(Users(Arc::new(users.collect::<Result<_, _>>()?)))
    }

    pub(crate) fn with_token(&self, token: &str) -> Option<&User> {
        self.0.get(token)
    }

    pub(crate) fn named(&self, name: &str) -> Option<&User> {
        self.0.values().find(|user| user.name == name)
    }

    /// Returns a line for each user, with the token.
    pub(crate) fn lines(&self) -> Vec<String> {
        let users = self.0.iter();
        let lines = users.map(|(token, user)| format!("{} {token}", user.name));
        let mut lines: Vec<_> = lines.collect();
        lines.sort_unstable();
        lines
    }
}
