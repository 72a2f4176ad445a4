//! Amazon Bedrock with credentials of AWS, and the frames of its streams.

use std::fmt::Write as _;

use aws_credential_types::Credentials;
use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use futures_util::StreamExt;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tool_agent::model::{HttpModel, ModelError, ModelErrorKind, Response};
use tool_dialects::Bedrock;

use crate::server::{Answer, Received, Server, chunked, json, status};
use crate::{KEY, ask, block_on};

const FRAMES: &str = "content-type: application/vnd.amazon.eventstream\r\n";
const TOKEN: &str = "session-0123456789";

/// Returns a frame with these headers.
fn frame(headers: &[(&'static str, &str)], payload: impl Into<Vec<u8>>) -> Vec<u8> {
    let headers = headers
        .iter()
        .map(|(name, value)| Header::new(*name, HeaderValue::String((*value).to_owned().into())));
    let message = headers.fold(Message::new(payload.into()), Message::add_header);
    let mut bytes = Vec::new();
    write_message_to(&message, &mut bytes).unwrap();
    bytes
}

/// Returns the frames of events, each with its only key as its type.
pub(crate) fn frames(events: &[Value]) -> Vec<u8> {
    let events = events.iter().map(|event| {
        let (kind, body) = event.as_object().unwrap().iter().next().unwrap();
        let headers = [
            (":event-type", &**kind),
            (":content-type", "application/json"),
            (":message-type", "event"),
        ];
        frame(&headers, body.to_string())
    });
    events.collect::<Vec<_>>().concat()
}

/// Answers with frames, split at every `size` bytes.
pub(crate) fn framed(frames: &[u8], size: usize) -> Answer {
    chunked(
        FRAMES,
        frames.chunks(size).map(<[u8]>::to_vec).collect(),
        true,
    )
}

fn exception(kind: &str, message: &str) -> Vec<u8> {
    let headers = [(":exception-type", kind), (":message-type", "exception")];
    frame(&headers, json!({ "message": message }).to_string())
}

fn credentials() -> Credentials {
    Credentials::new("AKIDEXAMPLE", KEY, Some(TOKEN.into()), None, "tests")
}

fn model(server: &Server) -> HttpModel {
    HttpModel::new(&Bedrock::default(), "amazon.nova-lite-v1:0")
        .base_url(format!("{}/bedrock-runtime", server.url))
        .aws_credentials(credentials())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// HMAC of RFC 2104 with SHA-256.
fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let padded = |byte: u8| block.map(|key| key ^ byte);
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text);
    let outer = Sha256::new().chain_update(padded(0x5c));
    outer.chain_update(inner.finalize()).finalize().to_vec()
}

/// Returns the signature of a request, computed from what the server received, by AWS's description of Signature
/// Version 4.
fn expected_signature(request: &Received, region: &str) -> String {
    let header = |name: &str| request.header(name).unwrap().to_owned();
    let signed = "content-type;host;x-amz-date;x-amz-security-token";
    let lines: Vec<_> = signed
        .split(';')
        .map(|name| format!("{name}:{}\n", header(name)))
        .collect();
    // The path is encoded once more.
    let path = request.path.replace('%', "%25");
    let body = hex(&Sha256::digest(&request.text));
    let canonical = format!("POST\n{path}\n\n{}\n{signed}\n{body}", lines.concat());
    let date = header("x-amz-date");
    let day = &date[..8];
    let scope = format!("{day}/{region}/bedrock/aws4_request");
    let canonical = hex(&Sha256::digest(canonical));
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{canonical}");
    let key = [day, region, "bedrock", "aws4_request"];
    let key = key
        .iter()
        .fold(format!("AWS4{KEY}").into_bytes(), |key, part| {
            hmac(&key, part)
        });
    let signature = hex(&hmac(&key, &text));
    format!(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/{scope}, SignedHeaders={signed}, Signature={signature}"
    )
}

fn answer() -> Value {
    json!({
        "output": {"message": {"role": "assistant", "content": [{"text": "5"}]}},
        "stopReason": "end_turn",
    })
}

#[test]
fn requests_are_signed_for_the_region_in_the_environment() {
    crate::keys::run_with(&[("AWS_REGION", "eu-west-1")], "aws::child_that_signs");
}

#[test]
#[ignore = "run by another test"]
fn child_that_signs() {
    let server = Server::start([json(&answer())]);
    let model = model(&server);
    model.check().unwrap();
    ask(&Bedrock::default(), &model).unwrap();
    let request = &server.received()[0];
    let path = "/bedrock-runtime/model/amazon.nova-lite-v1%3A0/converse";
    assert_eq!(request.path, path);
    let sent = request.header("authorization").unwrap();
    assert_eq!(sent, expected_signature(request, "eu-west-1"));
    let sent = format!("{:?}", request.headers);
    assert!(sent.contains(TOKEN) && !sent.contains(KEY), "{sent}");

    // The server repeats the secrets.
    let echo = json!({"message": format!("{KEY} and {TOKEN} are wrong")});
    let server = Server::start([status("403 Forbidden", "", echo.to_string())]);
    let error = ask(&Bedrock::default(), &self::model(&server)).unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Unauthorized);
    let text = format!("{error} {error:?}");
    assert!(!text.contains(KEY) && !text.contains(TOKEN), "{text}");
    assert!(!text.contains("no key was sent"), "{text}");
}

#[test]
fn a_region_is_found_or_its_absence_is_an_error() {
    crate::keys::run_with(&[], "aws::child_without_a_region");
}

#[test]
#[ignore = "run by another test"]
fn child_without_a_region() {
    let server = Server::start([]);
    let model = model(&server);
    let hosts = [
        "https://bedrock-runtime.us-east-1.amazonaws.com",
        "https://bedrock-runtime-fips.us-east-1.amazonaws.com",
        "https://vpce-0a1.bedrock-runtime.us-east-1.vpce.amazonaws.com",
    ];
    for host in hosts {
        model.clone().base_url(host).check().unwrap();
    }
    for error in [
        model.check().unwrap_err(),
        ask(&Bedrock::default(), &model).unwrap_err(),
    ] {
        let text = error.to_string();
        assert!(text.contains("set AWS_REGION"), "{text}");
    }
    assert!(server.received().is_empty());
}

#[test]
fn missing_credentials_are_an_error() {
    #[derive(Debug)]
    struct Nobody;

    impl aws_credential_types::provider::ProvideCredentials for Nobody {
        fn provide_credentials<'a>(
            &'a self,
        ) -> aws_credential_types::provider::future::ProvideCredentials<'a>
        where
            Self: 'a,
        {
            let error =
                aws_credential_types::provider::error::CredentialsError::not_loaded("no profile");
            aws_credential_types::provider::future::ProvideCredentials::ready(Err(error))
        }
    }

    let server = Server::start([]);
    let error = ask(&Bedrock::default(), &model(&server).aws_credentials(Nobody)).unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Unauthorized);
    assert!(
        error.to_string().contains("no credentials of AWS"),
        "{error}"
    );
}

/// Reads a stream to its end, or to its first error.
fn read(frames: &[u8]) -> Result<Vec<Value>, ModelError> {
    let server = Server::start([framed(frames, 5)]);
    let model = HttpModel::new(&Bedrock::default(), "m")
        .base_url(&server.url)
        .streaming(true);
    let Response::Stream(stream) = ask(&Bedrock::default(), &model)? else {
        panic!("not a stream");
    };
    let events: Vec<_> = block_on(stream.collect());
    let events = events.into_iter();
    events
        .map(|event| Ok(event?.value().into_owned()))
        .collect()
}

#[test]
fn exceptions_in_a_stream_have_their_kind() {
    let start = frames(&[json!({"messageStart": {"role": "assistant"}})]);
    for (name, kind) in [
        ("throttlingException", ModelErrorKind::RateLimited),
        ("internalServerException", ModelErrorKind::Overloaded),
        ("serviceUnavailableException", ModelErrorKind::Overloaded),
        ("modelTimeoutException", ModelErrorKind::TimedOut),
        ("validationException", ModelErrorKind::Rejected),
        ("accessDeniedException", ModelErrorKind::Unauthorized),
    ] {
        let error = read(&[start.clone(), exception(name, "Slow down.")].concat()).unwrap_err();
        assert_eq!(error.kind(), kind, "{name}");
        let text = error.to_string();
        assert!(text.contains("Slow down.") && text.contains(name), "{text}");
        // Also as the first frame.
        assert_eq!(
            read(&exception(name, "Slow down.")).unwrap_err().kind(),
            kind
        );
    }
    let headers = [
        (":message-type", "error"),
        (":error-code", "InternalError"),
        (":error-message", "Broken."),
    ];
    let error = read(&frame(&headers, "")).unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::Overloaded);
}

#[test]
fn a_broken_frame_is_an_error() {
    let start = frames(&[json!({"messageStart": {"role": "assistant"}})]);
    let mut flipped = start.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let event = [(":message-type", "event"), (":event-type", "metadata")];
    let cases = [
        (flipped, "can't be read"),
        (vec![0; 16], "has 0 bytes"),
        (vec![0xff; 16], "has 4294967295 bytes"),
        (vec![0, 0, 0, 4, 0, 0, 0, 0], "can't be read"),
        (frame(&event, [0xff]), "is not UTF-8"),
        (frame(&event, "not JSON"), "is not JSON"),
    ];
    for (bytes, expected) in cases {
        let error = read(&[start.clone(), bytes].concat()).unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Response, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
    // What comes after the last whole frame does not count; the dialect misses the end.
    let cut = [&start[..], &start[..20]].concat();
    assert_eq!(read(&cut).unwrap().len(), 1);
}
