//! [`Lists`]: the heads of the conversations that the server keeps.
//!
//! Asked of the server by SQL, and not of an index of our own: one object with all heads would be written after each message of
//! each conversation, one after the other, and could disagree with the conversations. The server reads the heads of all
//! conversations of a service for each page, but keeps and sends no more of them than the page has.

use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde::Deserialize;
use tool_agent::run::{Page, RunHead};

use crate::error::ClientError;

/// The key of the head in the state of a conversation.
pub(crate) const HEAD: &str = "head";
/// The most bytes of a page.
const MAX_PAGE: usize = 64 << 20;

/// The administration of a server.
#[derive(Clone)]
pub(crate) struct Lists {
    http: reqwest::Client,
    query: Url,
}

/// Which conversations are listed.
pub(crate) enum Listed<'l> {
    /// In which calls wait for decisions, the earliest first.
    Waiting,
    /// Whose owner this is, the latest first.
    Owner(Option<&'l str>),
    /// Last saved before this time, the earliest first.
    Before(u64),
}

#[derive(Deserialize)]
struct Rows {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    head: String,
}

impl Lists {
    pub(crate) fn new(mut admin: Url) -> Lists {
        if let Ok(mut path) = admin.path_segments_mut() {
            path.pop_if_empty().push("query");
        }
        Lists {
            http: reqwest::Client::new(),
            query: admin,
        }
    }

    /// Returns a page of the conversations of a service.
    pub(crate) async fn heads(
        &self,
        service: &str,
        listed: &Listed<'_>,
        page: &Page,
    ) -> Result<Vec<RunHead>, ClientError> {
        let query = serde_json::json!({"query": sql(service, listed, page)});
        let request = self.http.post(self.query.clone());
        let request = request
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/json");
        let failed = |error: reqwest::Error| ClientError::Failed(error.into());
        let response = request.body(query.to_string()).send().await;
        let mut response = response.map_err(failed)?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > MAX_PAGE {
                let problem = format!(
                    "a page of {} conversations has more than {MAX_PAGE} bytes; ask for fewer",
                    page.limit
                );
                return Err(ClientError::Failed(problem.into()));
            }
            body.extend_from_slice(&chunk);
        }
        if !response.status().is_success() {
            let reason = String::from_utf8_lossy(&body);
            let reason = format!("the administration at {}: {reason}", self.query);
            return Err(ClientError::Refused(response.status().as_u16(), reason));
        }
        let read = |body: &[u8]| -> serde_json::Result<Vec<RunHead>> {
            let Rows { rows } = serde_json::from_slice(body)?;
            let heads = rows.iter().map(|row| serde_json::from_str(&row.head));
            heads.collect()
        };
        read(&body).map_err(|error| {
            let problem = format!("the answer of {} can't be read: {error}", self.query);
            ClientError::Failed(problem.into())
        })
    }
}

fn sql(service: &str, listed: &Listed<'_>, page: &Page) -> String {
    const SAVED: &str = "json_get_int(value_utf8, 'saved_ms')";
    let is_latest_first = matches!(listed, Listed::Owner(_));
    let (order, beyond) = if is_latest_first {
        ("DESC", "<")
    } else {
        ("ASC", ">")
    };
    let condition = match listed {
        Listed::Waiting => "json_length(value_utf8, 'waiting') > 0".to_owned(),
        Listed::Owner(None) => "json_get_str(value_utf8, 'owner') IS NULL".to_owned(),
        Listed::Owner(Some(owner)) => {
            format!("json_get_str(value_utf8, 'owner') = {}", quoted(owner))
        }
        Listed::Before(time) => format!("{SAVED} < {}", clamped(*time)),
    };
    let after = match &page.after {
        None => String::new(),
        Some((time, id)) => {
            let (time, id) = (clamped(*time), quoted(id));
            format!(
                " AND ({SAVED} {beyond} {time} OR ({SAVED} = {time} AND service_key {beyond} {id}))"
            )
        }
    };
    format!(
        "SELECT value_utf8 AS head FROM state WHERE service_name = {} AND key = '{HEAD}' AND {condition}{after} \
         ORDER BY {SAVED} {order}, service_key {order} LIMIT {}",
        quoted(service),
        clamped(u64::try_from(page.limit).unwrap_or(u64::MAX))
    )
}

/// Writes a text in SQL, where nothing but the quote is special.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Limits a number to the range of integers in SQL.
fn clamped(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
