//! A server that wants a user, its authorization server, and a browser whose user agrees.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, LOCATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::sync::{Barrier, Semaphore};
use tool_core::{Registry, tool, tools};
use tool_mcp::Server;
use tool_mcp::server::http::HttpConfig;

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// How the two behave. The default is as the specification has it.
#[derive(Default)]
pub(crate) struct Behaviour {
    /// Members of the protected resource metadata, and what takes their place.
    pub(crate) resource: Value,
    /// Members of the metadata of the authorization server.
    pub(crate) server: Value,
    /// Members of the token response.
    pub(crate) token: Value,
    /// Parameters of the redirect; `null` leaves one out.
    pub(crate) redirect: Value,
    /// Lets a page that the user visits send this to the port of the program, before the redirect.
    pub(crate) forged: Vec<&'static str>,
    /// The scope that calls need.
    pub(crate) scope: Option<fn(u32) -> String>,
    /// The token endpoint rejects refresh tokens.
    pub(crate) forgets: bool,
    /// The token endpoint answers once there is a permit.
    pub(crate) gate: Option<Arc<Semaphore>>,
    /// Calls are rejected once so many of them have come.
    pub(crate) together: Option<Arc<Barrier>>,
    /// The server sends calls elsewhere.
    pub(crate) moved_to: Option<String>,
}

/// What happened, in order.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) what: &'static str,
    pub(crate) values: HashMap<String, String>,
}

/// The JWT of a workload that the authorization server trusts.
pub(crate) const WORKLOAD: &str = "header.workload-of-notes.signature";

#[derive(Clone, Debug)]
struct Code {
    challenge: String,
    redirect: String,
    client: String,
    scopes: String,
    resource: String,
}

#[derive(Default)]
struct Issued {
    number: u32,
    codes: HashMap<String, Code>,
    /// The scopes of tokens that are valid.
    access: HashMap<String, String>,
    refresh: HashMap<String, Code>,
    secrets: Vec<String>,
    calls: u32,
}

pub(crate) struct Site {
    /// The URL of the server.
    pub(crate) url: String,
    /// The authorization server.
    pub(crate) issuer: String,
    pub(crate) behaviour: Mutex<Behaviour>,
    seen: Mutex<Vec<Seen>>,
    issued: Mutex<Issued>,
}

type Shared = State<Arc<Site>>;

impl Site {
    pub(crate) async fn start(behaviour: Behaviour) -> Arc<Site> {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let authorization = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let site = Arc::new(Site {
            url: format!("http://{}/mcp", server.local_addr().unwrap()),
            issuer: format!("http://{}", authorization.local_addr().unwrap()),
            behaviour: Mutex::new(behaviour),
            seen: Mutex::default(),
            issued: Mutex::default(),
        });
        let registry = Registry::builder().tools(tools![add]).build().unwrap();
        let check = middleware::from_fn_with_state(site.clone(), check);
        let router = Server::new(registry).router(HttpConfig::default());
        let router = router.layer(check).route(
            "/.well-known/oauth-protected-resource/mcp",
            get(resource_metadata).with_state(site.clone()),
        );
        tokio::spawn(async move { axum::serve(server, router).await });
        let router = Router::new()
            .route("/.well-known/oauth-authorization-server", get(metadata))
            .route("/register", post(register))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .with_state(site.clone());
        tokio::spawn(async move { axum::serve(authorization, router).await });
        site
    }

    fn note(&self, what: &'static str, values: HashMap<String, String>) {
        self.seen.lock().unwrap().push(Seen { what, values });
    }

    /// Returns what happened of a kind.
    pub(crate) fn seen(&self, what: &str) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap();
        seen.iter()
            .filter(|seen| seen.what == what)
            .cloned()
            .collect()
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.behaviour.lock().unwrap());
    }

    /// Returns `true` if one of these was sent here.
    pub(crate) fn got_any_of(&self, secrets: &[String]) -> bool {
        let seen = self.seen.lock().unwrap();
        let mut values = seen.iter().flat_map(|seen| seen.values.values());
        values.any(|value| secrets.contains(value))
    }

    /// Makes all access tokens invalid.
    pub(crate) fn expire(&self) {
        self.issued.lock().unwrap().access.clear();
    }

    /// Returns another access token that is valid.
    pub(crate) fn issue(&self) -> String {
        let token = self.new_secret("access");
        let mut issued = self.issued.lock().unwrap();
        issued.access.insert(token.clone(), "basic".into());
        token
    }

    /// Returns everything that nobody else may read.
    pub(crate) fn secrets(&self) -> Vec<String> {
        self.issued.lock().unwrap().secrets.clone()
    }

    /// The user opens a URL and agrees. Returns the page on which the browser ends.
    pub(crate) async fn browse(&self, url: &str) -> String {
        let forged = self.behaviour.lock().unwrap().forged.clone();
        let values = pairs(url.split_once('?').unwrap().1);
        let client = reqwest::Client::new();
        if !forged.is_empty() {
            // Not what a redirect of a browser is.
            let query = format!("code=stolen&state={}", values["state"]);
            let other = values["redirect_uri"].replace("/callback", "/other");
            let reply = client.get(format!("{other}?{query}")).send().await;
            assert_eq!(reply.unwrap().status(), 404);
            let url = format!("{}?{query}", values["redirect_uri"]);
            let reply = client.post(url).send().await;
            assert_eq!(reply.unwrap().status(), 404);
        }
        for query in forged {
            let query = query.replace("STATE", &values["state"]);
            let url = format!("{}?{query}", values["redirect_uri"]);
            let reply = client.get(url).send().await.unwrap();
            assert_eq!(reply.status(), 400, "{query}");
        }
        let reply = client.get(url).send().await.unwrap();
        reply.text().await.unwrap()
    }

    fn new_secret(&self, kind: &str) -> String {
        let mut issued = self.issued.lock().unwrap();
        issued.number += 1;
        let port = self.issuer.rsplit(':').next().unwrap();
        let secret = format!("{kind}-{}-{port}-hush", issued.number);
        issued.secrets.push(secret.clone());
        secret
    }
}

/// Reads the pairs of a query or a form.
pub(crate) fn pairs(text: &str) -> HashMap<String, String> {
    let url = reqwest::Url::parse(&format!("http://localhost/?{text}")).unwrap();
    url.query_pairs().into_owned().collect()
}

fn patched(mut value: Value, patch: &Value) -> Value {
    for (key, new) in patch.as_object().into_iter().flatten() {
        value[key] = new.clone();
    }
    if let Some(members) = value.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    value
}

/// Rejects requests to the server whose tokens it does not accept.
async fn check(State(site): Shared, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let body: Bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let token = bearer(&parts.headers);
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let values = HashMap::from([
        ("token".to_owned(), token.clone().unwrap_or_default()),
        (
            "method".to_owned(),
            message["method"].as_str().unwrap_or_default().to_owned(),
        ),
    ]);
    let scopes = token.and_then(|token| site.issued.lock().unwrap().access.get(&token).cloned());
    // After the token is checked, so that a test may make it invalid once it sees the request.
    site.note("server", values);
    let metadata = site
        .url
        .replace("/mcp", "/.well-known/oauth-protected-resource/mcp");
    let Some(scopes) = scopes else {
        let together = site.behaviour.lock().unwrap().together.clone();
        if let Some(together) = together.filter(|_| message["method"] == "tools/call") {
            together.wait().await;
        }
        let header = format!("Bearer resource_metadata=\"{metadata}\", scope=\"basic\"");
        return (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, header)]).into_response();
    };
    if message["method"] == "tools/call" {
        let behaviour = site.behaviour.lock().unwrap();
        let mut issued = site.issued.lock().unwrap();
        issued.calls += 1;
        if let Some(wanted) = behaviour.scope.map(|scope| scope(issued.calls))
            && !scopes.split(' ').any(|scope| scope == wanted)
        {
            let header = format!("Bearer error=\"insufficient_scope\", scope=\"{wanted}\"");
            return (StatusCode::FORBIDDEN, [(WWW_AUTHENTICATE, header)]).into_response();
        }
        if let Some(to) = &behaviour.moved_to {
            return (StatusCode::TEMPORARY_REDIRECT, [(LOCATION, to.clone())]).into_response();
        }
    }
    next.run(Request::from_parts(parts, Body::from(body))).await
}

fn bearer(headers: &HeaderMap) -> Option<String> {
    let header = headers.get(AUTHORIZATION)?.to_str().ok()?;
    header.strip_prefix("Bearer ").map(str::to_owned)
}

async fn resource_metadata(State(site): Shared) -> Json<Value> {
    site.note("resource metadata", HashMap::new());
    let metadata = json!({"resource": site.url, "authorization_servers": [site.issuer]});
    Json(patched(metadata, &site.behaviour.lock().unwrap().resource))
}

async fn metadata(State(site): Shared) -> Json<Value> {
    site.note("metadata", HashMap::new());
    let issuer = &site.issuer;
    let metadata = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "token_endpoint_auth_methods_supported": ["client_secret_post", "none"],
    });
    Json(patched(metadata, &site.behaviour.lock().unwrap().server))
}

async fn register(State(site): Shared, Json(request): Json<Value>) -> impl IntoResponse {
    let redirect = request["redirect_uris"][0]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    site.note(
        "register",
        HashMap::from([("redirect".to_owned(), redirect)]),
    );
    let secret = site.new_secret("client");
    let client = json!({
        "client_id": "registered",
        "client_secret": secret,
        "redirect_uris": request["redirect_uris"],
    });
    (StatusCode::CREATED, Json(client))
}

async fn authorize(State(site): Shared, uri: Uri) -> Response {
    let values = pairs(uri.query().unwrap_or_default());
    site.note("authorize", values.clone());
    assert_eq!(values["code_challenge_method"], "S256");
    let code = site.new_secret("code");
    let state = values["state"].clone();
    site.issued.lock().unwrap().secrets.push(state.clone());
    let redirect = values["redirect_uri"].clone();
    site.issued.lock().unwrap().codes.insert(
        code.clone(),
        Code {
            challenge: values["code_challenge"].clone(),
            redirect: redirect.clone(),
            client: values["client_id"].clone(),
            scopes: values.get("scope").cloned().unwrap_or_default(),
            resource: values["resource"].clone(),
        },
    );
    let answer = json!({"code": code, "state": state, "iss": site.issuer});
    let answer = patched(answer, &site.behaviour.lock().unwrap().redirect);
    let mut url = reqwest::Url::parse(&redirect).unwrap();
    for (key, value) in answer.as_object().unwrap() {
        url.query_pairs_mut()
            .append_pair(key, value.as_str().unwrap());
    }
    (StatusCode::FOUND, [(LOCATION, url.to_string())]).into_response()
}

async fn token(State(site): Shared, body: String) -> Response {
    let values = pairs(&body);
    site.note("token", values.clone());
    let refuse = |error: &str| {
        // As talkative as some are.
        let error = json!({"error": error, "error_description": format!("no: {body}")});
        (StatusCode::BAD_REQUEST, Json(error)).into_response()
    };
    let grant = match values["grant_type"].as_str() {
        "authorization_code" => {
            let code = site.issued.lock().unwrap().codes.remove(&values["code"]);
            let Some(code) = code else {
                return refuse("invalid_grant");
            };
            site.issued
                .lock()
                .unwrap()
                .secrets
                .push(values["code_verifier"].clone());
            let fits = challenge(&values["code_verifier"]) == code.challenge
                && values["redirect_uri"] == code.redirect
                && values["client_id"] == code.client
                && values["resource"] == code.resource;
            if !fits {
                return refuse("invalid_grant");
            }
            code
        }
        "refresh_token" => {
            let known = site
                .issued
                .lock()
                .unwrap()
                .refresh
                .remove(&values["refresh_token"]);
            match known.filter(|_| !site.behaviour.lock().unwrap().forgets) {
                Some(code) if values["resource"] == code.resource => code,
                _ => return refuse("invalid_grant"),
            }
        }
        "urn:ietf:params:oauth:grant-type:jwt-bearer" if values["assertion"] != WORKLOAD => {
            return refuse("invalid_grant");
        }
        "client_credentials" | "urn:ietf:params:oauth:grant-type:jwt-bearer" => Code {
            challenge: String::new(),
            redirect: String::new(),
            client: values.get("client_id").cloned().unwrap_or_default(),
            scopes: values.get("scope").cloned().unwrap_or_default(),
            resource: values["resource"].clone(),
        },
        _ => return refuse("unsupported_grant_type"),
    };
    let (access, refresh) = (site.new_secret("access"), site.new_secret("refresh"));
    let id_token = site.new_secret("identity");
    let response = json!({
        "access_token": access,
        "token_type": "Bearer",
        "expires_in": 3600,
        "refresh_token": refresh,
        "scope": grant.scopes,
        "id_token": id_token,
    });
    let response = patched(response, &site.behaviour.lock().unwrap().token);
    let scopes = response["scope"].as_str().unwrap_or_default().to_owned();
    {
        let mut issued = site.issued.lock().unwrap();
        issued.access.insert(access, scopes);
        issued.refresh.insert(refresh, grant);
    }
    let gate = site.behaviour.lock().unwrap().gate.clone();
    if let Some(gate) = gate {
        gate.acquire().await.unwrap().forget();
    }
    Json(response).into_response()
}

/// The PKCE challenge of a verifier (RFC 7636).
fn challenge(verifier: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let digest = Sha256::digest(verifier);
    let mut text = String::new();
    for chunk in digest.chunks(3) {
        let bytes = [
            chunk[0],
            *chunk.get(1).unwrap_or(&0),
            *chunk.get(2).unwrap_or(&0),
        ];
        let bits = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
        for place in 0..=chunk.len() {
            let letter = (bits >> (18 - 6 * place)) & 63;
            text.push(LETTERS[letter as usize] as char);
        }
    }
    text
}
