//! The users, and how a request names its user.

use std::sync::Arc;

use axum::http::{HeaderMap, header};

use crate::tools::User;

/// The users with their tokens.
#[derive(Clone)]
pub struct Users(Arc<[(String, User)]>);

impl Users {
    /// Two users for a first try. Their tokens are new at each start.
    pub fn demo() -> Result<Users, getrandom::Error> {
        let users = [("ada", true), ("bo", false)].map(|(name, is_lead)| {
            let token = format!("{:016x}{:016x}", getrandom::u64()?, getrandom::u64()?);
            let name = name.to_owned();
            Ok((token, User { name, is_lead }))
        });
        Ok(Users(users.into_iter().collect::<Result<_, _>>()?))
    }

    /// REPLACE THIS with the sign-in of your application: check the session or the token that your identity provider
    /// issued. Never believe a header that only names a user, because anybody can send it.
    pub fn user_with_token(&self, token: &str) -> Option<&User> {
        let mut users = self.0.iter();
        let found = users.find(|(known, _)| known == token)?;
        Some(&found.1)
    }

    /// Returns the user of a request. The token is in a header and not in a cookie, so other sites can't act in the name of a
    /// user whose browser has the page open.
    pub fn user_of(&self, headers: &HeaderMap) -> Option<&User> {
        let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        self.user_with_token(value.strip_prefix("Bearer ")?)
    }

    pub fn named(&self, name: &str) -> Option<&User> {
        let mut users = self.0.iter();
        Some(&users.find(|(_, user)| user.name == name)?.1)
    }

    /// Returns the address of the page for each user.
    pub fn addresses(&self, host: &str) -> Vec<String> {
        let users = self.0.iter();
        users
            .map(|(token, user)| format!("{}: http://{host}/#{token}", user.name))
            .collect()
    }
}
