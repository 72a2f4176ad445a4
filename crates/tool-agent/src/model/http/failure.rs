//! Errors of requests: their kind, the provider's words, and when to retry.

use std::time::{Duration, SystemTime};

use futures_util::StreamExt;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, LOCATION, RETRY_AFTER};
use serde_json::Value;

use super::request::{Endpoint, see};
use super::secrets::Secrets;
use super::transport::{body_bytes, media_type};
use crate::model::{ModelError, ModelErrorKind};

/// Maximum size of an error's body.
const MAX_BODY: usize = 1 << 20;

/// Returns the error for a response whose status is not a success. `no_key` says why no key was sent.
pub(super) async fn of_status(
    response: reqwest::Response,
    endpoint: &Endpoint,
    no_key: Option<String>,
    secrets: &Secrets,
) -> ModelError {
    let status = response.status();
    let retry_after = retry_after(response.headers());
    let target = location(response.headers());
    let media_type = media_type(&response);
    let mut bytes = body_bytes(response, MAX_BODY);
    let mut body = Vec::new();
    while let Some(Ok(chunk)) = bytes.next().await {
        body.extend_from_slice(&chunk);
    }
    let value: Option<Value> = serde_json::from_slice(&body).ok();
    let report = value.as_ref().map(Report::read);
    let code = report.as_ref().map_or("", |report| &report.code);
    let words = match (&report, target) {
        (_, Some(host)) if status.is_redirection() => {
            format!("redirects to {host}; set the base URL if that is intended")
        }
        (Some(report), _) => report.to_string(),
        (None, _) if media_type == "text/html" => {
            "the body is a page of HTML, perhaps of a proxy".into()
        }
        (None, _) => String::from_utf8_lossy(&body).into_owned(),
    };
    let words = secrets.hide(&words);
    let number = status.as_u16();
    let reason = status.canonical_reason().unwrap_or("");
    let message = format!("{number} {reason}: {words}");
    let message = message.replace(" : ", ": ");
    let mut message = message.trim_end_matches([':', ' ']).to_owned();
    let path = &endpoint.path;
    let is_explained = report.as_ref().is_some_and(Report::is_explained);
    match number {
        404 | 405 if endpoint.is_doubled => message.push_str(&format!(
            "; the base URL ends in {path} already: remove it there, because it is appended"
        )),
        404 | 405 if !is_explained => message.push_str(&format!(
            "; check the base URL, to which {path} is appended"
        )),
        401 | 403 if no_key.is_some() => message.extend(no_key),
        401 | 403 if !endpoint.api.name.is_empty() => message.push_str(&format!(
            "; {} takes its key in the header `{}`",
            endpoint.api.provider, endpoint.api.key_header
        )),
        _ => {}
    }
    if status.is_client_error() && !matches!(number, 408 | 429) {
        message.push_str(&see(&endpoint.api));
    }
    let kind = match &report {
        Some(report) if report.is_malformed() => ModelErrorKind::Malformed,
        Some(report) if status.is_client_error() && report.is_too_long() => ModelErrorKind::TooLong,
        _ => kind_of_status(status, code),
    };
    let mut error = ModelError::new(kind, message).with_generated(
        report
            .as_ref()
            .and_then(|report| report.generated.as_deref()),
    );
    let asked = retry_after.or_else(|| report.and_then(|report| report.retry_after));
    if let Some(time) = asked {
        error = error.retry_after(time);
    }
    error
}

/// Returns the error that a provider reports despite a successful status, or in a stream.
pub(super) fn reported(value: &Value, secrets: &Secrets) -> Option<ModelError> {
    let first = value.as_array().and_then(|items| items.first());
    let value = first.unwrap_or(value);
    let error = &value["error"];
    let has_error = match error {
        Value::Object(error) => !error.is_empty(),
        Value::String(error) => !error.is_empty(),
        _ => value["object"] == "error" || value["type"] == "error",
    };
    if !has_error {
        return None;
    }
    let report = Report::read(value);
    let words = secrets.hide(&report.to_string());
    let message = format!("the provider reported an error: {words}");
    let kind = if report.is_malformed() {
        ModelErrorKind::Malformed
    } else if report.is_too_long() {
        ModelErrorKind::TooLong
    } else {
        kind_of_code(&report.code)
    };
    let error = ModelError::new(kind, message).with_generated(report.generated.as_deref());
    Some(match report.retry_after {
        Some(time) => error.retry_after(time),
        None => error,
    })
}

/// What servers say about a conversation that does not fit in the context of the model.
const TOO_LONG: [&str; 9] = [
    // OpenAI, DeepSeek, Mistral, vLLM and SGLang.
    "maximum context length",
    // Groq.
    "reduce the length of the messages",
    // Anthropic.
    "prompt is too long",
    "exceed context limit",
    // Gemini.
    "exceeds the maximum number of tokens allowed",
    // xAI.
    "maximum prompt length",
    // Amazon Bedrock.
    "input is too long for requested model",
    // llama.cpp.
    "exceeds the available context size",
    // Cohere.
    "too many tokens",
];

/// A provider's error message.
struct Report {
    /// The provider's code for the error. Empty if there is none.
    code: String,
    message: String,
    /// The model's output, if the server can't read it.
    generated: Option<String>,
    retry_after: Option<Duration>,
}

impl Report {
    fn read(body: &Value) -> Report {
        // Gemini sends an array.
        let body = body
            .as_array()
            .and_then(|items| items.first())
            .unwrap_or(body);
        let error = match &body["error"] {
            Value::Null => body,
            error => error,
        };
        let texts = [
            error,
            &error["message"],
            &error["Message"],
            &error["detail"],
            &body["message"],
        ];
        let message = texts.into_iter().find_map(Value::as_str);
        let details = || error["details"].as_array().into_iter().flatten();
        // Gemini reports a wrong key as an invalid argument.
        let reason = details().find_map(|detail| detail["reason"].as_str());
        let reason = reason.filter(|reason| reason.starts_with("API_KEY_"));
        let words = [
            &error["status"],
            &error["code"],
            &error["type"],
            &body["type"],
        ];
        let mut codes = words.into_iter().filter_map(|code| match code {
            Value::String(code) if code != "error" => Some(code.clone()),
            Value::Number(code) => Some(code.to_string()),
            _ => None,
        });
        // Google's `RetryInfo`.
        let delay = details().find_map(|detail| detail["retryDelay"].as_str());
        Report {
            code: reason
                .map(str::to_owned)
                .or_else(|| codes.next())
                .unwrap_or_default(),
            message: message.map_or_else(|| error.to_string(), str::to_owned),
            generated: error["failed_generation"].as_str().map(str::to_owned),
            retry_after: delay.and_then(|delay| seconds(delay.strip_suffix('s')?)),
        }
    }
}

impl Report {
    /// Returns `true` if the server can't read the model's call (rule `openai.chat.ends`).
    fn is_malformed(&self) -> bool {
        // From Ollama and llama.cpp.
        let starts = ["error parsing tool call", "Failed to parse input at pos"];
        self.code == "tool_use_failed" || starts.iter().any(|start| self.message.starts_with(start))
    }

    /// Returns `true` if the conversation does not fit in the context of the model.
    fn is_too_long(&self) -> bool {
        let message = self.message.to_lowercase();
        let has = |words: &&str| message.contains(*words);
        self.code == "context_length_exceeded" || TOO_LONG.iter().any(has)
    }

    /// Returns `false` if the message only repeats the status, as with an unknown path.
    fn is_explained(&self) -> bool {
        !["not found", "method not allowed", "null", "{}"].contains(&&*self.message.to_lowercase())
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.code.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{} ({})", self.message, self.code)
        }
    }
}

fn kind_of_status(status: StatusCode, code: &str) -> ModelErrorKind {
    match status.as_u16() {
        401 | 403 | 407 => ModelErrorKind::Unauthorized,
        _ if code.starts_with("API_KEY_") => ModelErrorKind::Unauthorized,
        408 | 504 => ModelErrorKind::TimedOut,
        // The account has no credit left, so retrying can't help.
        429 if code == "insufficient_quota" => ModelErrorKind::Rejected,
        429 => ModelErrorKind::RateLimited,
        501 | 505 => ModelErrorKind::Rejected,
        500.. => ModelErrorKind::Overloaded,
        _ => ModelErrorKind::Rejected,
    }
}

/// Returns the kind of an error in a stream, where there is no status.
fn kind_of_code(code: &str) -> ModelErrorKind {
    if let Ok(status) = code.parse()
        && let Ok(status) = StatusCode::from_u16(status)
    {
        return kind_of_status(status, "");
    }
    let code = code.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| code.contains(part));
    if has(&[
        "rate_limit",
        "resource_exhausted",
        "throttling",
        "too_many_requests",
    ]) {
        ModelErrorKind::RateLimited
    } else if has(&[
        "authentication",
        "permission",
        "unauthenticated",
        "api_key",
        "accessdenied",
    ]) {
        ModelErrorKind::Unauthorized
    } else if has(&["timeout", "deadline"]) {
        ModelErrorKind::TimedOut
    } else if has(&[
        "overloaded",
        "server_error",
        "api_error",
        "internal",
        "unavailable",
    ]) {
        ModelErrorKind::Overloaded
    } else {
        ModelErrorKind::Rejected
    }
}

/// Reads the time to wait before a retry. It may be in milliseconds (OpenAI and Azure), in seconds, or a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| {
        headers
            .get(name)
            .and_then(|value: &reqwest::header::HeaderValue| value.to_str().ok())
    };
    if let Some(time) = text("retry-after-ms").and_then(seconds) {
        return Some(time / 1000);
    }
    let value = text(RETRY_AFTER.as_str())?;
    seconds(value).or_else(|| {
        let date = httpdate::parse_http_date(value).ok()?;
        // The date may be in the past if the clocks differ.
        Some(date.duration_since(SystemTime::now()).unwrap_or_default())
    })
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Returns the host of a redirect, without the rest of the URL, which may contain secrets.
fn location(headers: &HeaderMap) -> Option<String> {
    let target = headers.get(LOCATION)?.to_str().ok()?;
    let Ok(url) = reqwest::Url::parse(target) else {
        return Some("another path".into());
    };
    url.host_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The words of each server, and errors that name tokens for another reason.
    #[test]
    fn a_conversation_that_is_too_long_is_told_from_other_errors() {
        let kind = |code: &str, message: &str| {
            let body = json!({"error": {"code": code, "message": message}});
            reported(&body, &Secrets::default()).unwrap().kind()
        };
        let too_long = [
            (
                "context_length_exceeded",
                "Your input exceeds the context window of this model.",
            ),
            (
                "400",
                "This model's maximum context length is 8192 tokens. However, you requested 9001.",
            ),
            (
                "400",
                "Please reduce the length of the messages or completion.",
            ),
            (
                "invalid_request_error",
                "prompt is too long: 208310 tokens > 200000 maximum",
            ),
            (
                "invalid_request_error",
                "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000",
            ),
            (
                "INVALID_ARGUMENT",
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            ),
            (
                "400",
                "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
            ),
            (
                "ValidationException",
                "Input is too long for requested model.",
            ),
            (
                "exceed_context_size_error",
                "the request exceeds the available context size, try increasing it",
            ),
            ("400", "too many tokens: size limit exceeded by 1000 tokens"),
        ];
        for (code, message) in too_long {
            assert_eq!(kind(code, message), ModelErrorKind::TooLong, "{message}");
        }
        let others = [
            (
                "invalid_request_error",
                "max_tokens: 9000 > 8192, which is the maximum for this model",
            ),
            (
                "rate_limit_exceeded",
                "Rate limit reached for tokens per minute (TPM): Limit 30000",
            ),
            ("400", "tools: too many tools"),
        ];
        for (code, message) in others {
            assert_ne!(kind(code, message), ModelErrorKind::TooLong, "{message}");
        }
    }
}
