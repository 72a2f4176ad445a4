//! Imports the tools of servers that want a user, and attacks the sign-in.
#![cfg(feature = "oauth")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::sync::{Barrier, Semaphore};
use tool_core::{Registry, ToolCall, ToolResult};
use tool_mcp::oauth::{FileStore, MemoryStore, OAuth, TokenStore};
use tool_mcp::{Import, ImportError, ImportErrorKind, Protocol};

#[path = "support/in_time.rs"]
mod in_time;
#[path = "support/log.rs"]
mod log;
#[path = "support/oauth_site.rs"]
mod oauth_site;

use in_time::in_time;
use log::Log;
use oauth_site::{Behaviour, Site, WORKLOAD, pairs};

const BOTH: [Protocol; 2] = [Protocol::V2025_11_25, Protocol::V2026_07_28];

/// Signs in with a user who agrees.
fn agreeing(site: &Arc<Site>, store: impl TokenStore) -> OAuth {
    let site = site.clone();
    OAuth::new(store).open(move |url| {
        let site = site.clone();
        async move {
            site.browse(&url).await;
            Ok(())
        }
    })
}

async fn connect(site: &Site, oauth: OAuth, registry: &Registry) -> Result<Import, ImportError> {
    in_time(Import::http(&site.url).oauth(oauth).connect(registry)).await
}

async fn add(registry: &Registry) -> ToolResult {
    let call = ToolCall::new("call_1", "add", json!({"a": 2, "b": 3}));
    in_time(registry.call(call)).await
}

/// Connects to a server on which the sign-in must fail. Returns the error.
async fn refused(site: &Arc<Site>) -> String {
    let oauth = agreeing(site, MemoryStore::default()).sign_in_timeout(Duration::from_secs(30));
    let error = connect(site, oauth, &Registry::new()).await.unwrap_err();
    assert_eq!(error.kind(), ImportErrorKind::Unauthorized, "{error}");
    let text = error.to_string();
    assert!(text.starts_with(&site.url), "{text}");
    for secret in site.secrets() {
        assert!(!text.contains(&secret), "{text}");
    }
    text
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("tool-mcp-oauth-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_signs_in_once() {
    for protocol in [BOTH[0], BOTH[1], Protocol::Newest] {
        let site = Site::start(Behaviour::default()).await;
        let store = MemoryStore::default();
        for _ in 0..2 {
            let registry = Registry::new();
            let import = Import::http(&site.url)
                .protocol(protocol)
                .oauth(agreeing(&site, store.clone()))
                .connect(&registry);
            let _import = in_time(import).await.unwrap();
            assert_eq!(add(&registry).await.content(), "5");
        }
        // A program that starts again has the tokens.
        let [seen] = &site.seen("authorize")[..] else {
            panic!("{protocol:?}");
        };
        assert_eq!(seen.values["resource"], site.url);
        assert_eq!(seen.values["scope"], "basic");
        assert_eq!(site.seen("token").len(), 1);
        assert_eq!(site.seen("token")[0].values["resource"], site.url);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_known_does_not_register() {
    let metadata = "https://notes.example.com/client.json";
    let documents = json!({"client_id_metadata_document_supported": true});
    for (id, server) in [
        ("known", Value::Null),
        ("known", json!({"registration_endpoint": null})),
        (metadata, documents),
    ] {
        let site = Site::start(Behaviour {
            server,
            ..Behaviour::default()
        })
        .await;
        let oauth = agreeing(&site, MemoryStore::default());
        let oauth = match id {
            "known" => oauth.client_id(id).client_secret(&site.issuer, "of known"),
            _ => oauth.client_metadata(metadata),
        };
        let oauth = oauth.scopes(["notes"]).issuer(&site.issuer);
        let _import = connect(&site, oauth, &Registry::new()).await.unwrap();
        assert!(site.seen("register").is_empty());
        let authorize = &site.seen("authorize")[0];
        assert_eq!(authorize.values["client_id"], id);
        assert_eq!(authorize.values["scope"], "notes");
        if id == "known" {
            assert_eq!(site.seen("token")[0].values["client_secret"], "of known");
        }
    }
    // An authorization server that neither knows nor registers it.
    let site = Site::start(Behaviour {
        server: json!({"registration_endpoint": null}),
        ..Behaviour::default()
    })
    .await;
    let error = refused(&site).await;
    assert!(error.contains("`OAuth::client_id`"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_with_pages_gets_the_redirect_itself() {
    let site = Site::start(Behaviour::default()).await;
    let redirect = "http://127.0.0.1:9/signed-in";
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let browser = browser.build().unwrap();
    let oauth = OAuth::new(MemoryStore::default()).redirect(redirect, move |url| {
        let browser = browser.clone();
        async move {
            let reply = browser.get(url).send().await?;
            Ok(reply.headers()["location"].to_str()?.to_owned())
        }
    });
    let registry = Registry::new();
    let _import = connect(&site, oauth, &registry).await.unwrap();
    assert_eq!(add(&registry).await.content(), "5");
    assert_eq!(site.seen("register")[0].values["redirect"], redirect);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_renewed_without_the_user() {
    let site = Site::start(Behaviour::default()).await;
    let store = MemoryStore::default();
    let registry = Registry::new();
    let import = connect(&site, agreeing(&site, store.clone()), &registry)
        .await
        .unwrap();
    // The server rejects it earlier than it said.
    site.expire();
    assert_eq!(add(&registry).await.content(), "5");
    site.expire();
    assert_eq!(add(&registry).await.content(), "5");
    drop(import);
    // In another process, whose clock says that it has expired: with the client's secret of the store.
    site.change(|behaviour| behaviour.token = json!({"expires_in": 0}));
    site.expire();
    let registry = Registry::new();
    let import = connect(&site, agreeing(&site, store.clone()), &registry)
        .await
        .unwrap();
    drop(import);
    let tokens = site.seen("token").len();
    let registry = Registry::new();
    let _import = connect(&site, agreeing(&site, store), &registry)
        .await
        .unwrap();
    assert!(site.seen("token").len() > tokens);
    for seen in site.seen("token") {
        assert!(
            seen.values["client_secret"].starts_with("client-"),
            "{seen:?}"
        );
    }
    assert_eq!(site.seen("authorize").len(), 1);
    assert_eq!(site.seen("register").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cancelled_does_not_lose_the_new_tokens() {
    let site = Site::start(Behaviour::default()).await;
    let registry = Registry::new();
    let oauth = agreeing(&site, MemoryStore::default());
    let _import = connect(&site, oauth, &registry).await.unwrap();
    let gate = Arc::new(Semaphore::new(0));
    site.change(|behaviour| behaviour.gate = Some(gate.clone()));
    site.expire();
    let calling = registry.clone();
    let call = tokio::spawn(async move { add(&calling).await });
    in_time(async {
        // The refresh token is used.
        while site.seen("token").len() < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    call.abort();
    let _ = call.await;
    gate.add_permits(100);
    assert_eq!(add(&registry).await.content(), "5");
    assert_eq!(site.seen("authorize").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_is_asked_again_when_the_refresh_token_is_rejected() {
    let site = Site::start(Behaviour {
        forgets: true,
        ..Behaviour::default()
    })
    .await;
    let registry = Registry::new();
    let oauth = agreeing(&site, MemoryStore::default());
    let _import = connect(&site, oauth, &registry).await.unwrap();
    site.expire();
    assert_eq!(add(&registry).await.content(), "5");
    assert_eq!(site.seen("authorize").len(), 2);
    // The program is still registered, with its port.
    assert_eq!(site.seen("register").len(), 1);
}

/// Waits until each import has asked for notices, and then for the tools once more. It does both in the background.
async fn settled(site: &Site, imports: usize) {
    let count = |method: &str| {
        let seen = site.seen("server").into_iter();
        seen.filter(|seen| seen.values["method"] == method).count()
    };
    in_time(async {
        while count("subscriptions/listen") < imports || count("tools/list") < 2 * imports {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// Makes calls that a server rejects together.
async fn call_together(site: &Site, registry: &Registry) -> Vec<ToolResult> {
    const CALLS: usize = 8;
    // What the import asks for in the background is not rejected.
    settled(site, 1).await;
    assert_eq!(add(registry).await.content(), "5");
    let together = Arc::new(Barrier::new(CALLS));
    site.change(|behaviour| behaviour.together = Some(together));
    site.expire();
    let call = |_| {
        let registry = registry.clone();
        tokio::spawn(async move { add(&registry).await })
    };
    let mut results = Vec::new();
    for call in (0..CALLS).map(call).collect::<Vec<_>>() {
        results.push(call.await.unwrap());
    }
    results
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_at_the_same_time_ask_the_user_once() {
    let site = Site::start(Behaviour {
        forgets: true,
        ..Behaviour::default()
    })
    .await;
    let registry = Registry::new();
    let oauth = agreeing(&site, MemoryStore::default());
    let _import = connect(&site, oauth, &registry).await.unwrap();
    for result in call_together(&site, &registry).await {
        assert_eq!(result.content(), "5");
    }
    assert_eq!(site.seen("authorize").len(), 2);
    // They get a refusal together, too.
    site.change(|behaviour| behaviour.redirect = json!({"code": null, "error": "access_denied"}));
    for result in call_together(&site, &registry).await {
        let error = result.error().unwrap();
        assert!(error.message().contains("access_denied"), "{error}");
    }
    assert_eq!(site.seen("authorize").len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_at_the_same_time_get_one_token_of_a_closure() {
    let site = Site::start(Behaviour::default()).await;
    let issued = Arc::new(AtomicU32::new(0));
    let (count, source) = (issued.clone(), site.clone());
    let import = Import::http(&site.url).bearer_with(move || {
        count.fetch_add(1, Ordering::SeqCst);
        let token = source.issue();
        async move { Ok(token) }
    });
    let registry = Registry::new();
    let _import = in_time(import.connect(&registry)).await.unwrap();
    assert_eq!(issued.load(Ordering::SeqCst), 1);
    for result in call_together(&site, &registry).await {
        assert_eq!(result.content(), "5");
    }
    assert_eq!(issued.load(Ordering::SeqCst), 2);
}

/// The token has expired, and the authorization server takes longer than the call may.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_renewed_before_a_request_stops_the_clock_of_a_call() {
    let site = Site::start(Behaviour {
        token: json!({"expires_in": 0}),
        ..Behaviour::default()
    })
    .await;
    let registry = Registry::new();
    let import = Import::http(&site.url)
        .call_timeout(Duration::from_secs(1))
        .oauth(agreeing(&site, MemoryStore::default()));
    let _import = in_time(import.connect(&registry)).await.unwrap();
    let gate = Arc::new(Semaphore::new(0));
    site.change(|behaviour| behaviour.gate = Some(gate.clone()));
    let calling = registry.clone();
    let call = tokio::spawn(async move { add(&calling).await });
    tokio::time::sleep(Duration::from_millis(2100)).await;
    gate.add_permits(100);
    assert_eq!(call.await.unwrap().content(), "5");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_stops_the_clock_of_a_call() {
    let site = Site::start(Behaviour {
        scope: Some(|_| "write".into()),
        ..Behaviour::default()
    })
    .await;
    let opened = Arc::new(AtomicU32::new(0));
    let (count, user) = (opened.clone(), site.clone());
    let oauth = OAuth::new(MemoryStore::default()).open(move |url| {
        let (user, count) = (user.clone(), count.clone());
        async move {
            // The first is that of the connection.
            if count.fetch_add(1, Ordering::SeqCst) == 1 {
                tokio::time::sleep(Duration::from_secs(3)).await;
            }
            user.browse(&url).await;
            Ok(())
        }
    });
    let registry = Registry::new();
    let import = Import::http(&site.url)
        .call_timeout(Duration::from_secs(1))
        .oauth(oauth);
    let _import = in_time(import.connect(&registry)).await.unwrap();
    // A request that waits for the user, too, would stop the clock.
    settled(&site, 1).await;
    assert_eq!(add(&registry).await.content(), "5");
    assert_eq!(opened.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_needs_more_scopes_asks_for_all_of_them() {
    let site = Site::start(Behaviour {
        scope: Some(|_| "write".into()),
        ..Behaviour::default()
    })
    .await;
    let registry = Registry::new();
    let oauth = agreeing(&site, MemoryStore::default());
    let _import = connect(&site, oauth, &registry).await.unwrap();
    assert_eq!(add(&registry).await.content(), "5");
    assert_eq!(add(&registry).await.content(), "5");
    let scopes: Vec<_> = site
        .seen("authorize")
        .iter()
        .map(|seen| seen.values["scope"].clone())
        .collect();
    assert_eq!(scopes, ["basic", "basic write"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_never_content_does_not_ask_for_ever() {
    // A scope that the user does not grant, and others each time.
    let narrow: fn(u32) -> String = |_| "admin".into();
    let greedy: fn(u32) -> String = |call| format!("scope-{call}");
    for (scope, granted, asks, why) in [
        (narrow, Some("basic"), 2, "asked for before"),
        (greedy, None, 3, "`OAuth::max_step_ups`"),
    ] {
        let site = Site::start(Behaviour {
            scope: Some(scope),
            ..Behaviour::default()
        })
        .await;
        let registry = Registry::new();
        let oauth = agreeing(&site, MemoryStore::default()).max_step_ups(2);
        let _import = connect(&site, oauth, &registry).await.unwrap();
        // The authorization server grants less than what was asked.
        if let Some(granted) = granted {
            site.change(|behaviour| behaviour.token = json!({ "scope": granted }));
        }
        let result = add(&registry).await;
        let error = result.error().unwrap();
        assert!(error.message().contains(why), "{error}");
        assert!(error.message().contains("127.0.0.1"), "{error}");
        assert_eq!(site.seen("authorize").len(), asks, "{why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_signs_in_as_itself() {
    let site = Site::start(Behaviour::default()).await;
    let registry = Registry::new();
    let oauth = OAuth::new(MemoryStore::default());
    let oauth = oauth.client_credentials(&site.issuer, "service", "of service");
    let _import = connect(&site, oauth.scopes(["notes"]), &registry)
        .await
        .unwrap();
    site.expire();
    site.change(|behaviour| behaviour.forgets = true);
    assert_eq!(add(&registry).await.content(), "5");
    assert!(site.seen("authorize").is_empty() && site.seen("register").is_empty());
    let token = &site.seen("token")[0].values;
    assert_eq!(token["client_secret"], "of service");
    assert_eq!(token["resource"], site.url);
    assert_eq!(token["scope"], "notes");
}

/// Signs in with the JWT of a platform, which is read from a file that ends with a line break.
fn workload(issuer: &str, jwt: &'static str) -> OAuth {
    let oauth = OAuth::new(MemoryStore::default());
    oauth.workload(issuer, move || std::future::ready(Ok(format!("{jwt}\n"))))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workload_signs_in_with_the_jwt_of_its_platform() {
    for client_id in [None, Some("notes")] {
        let site = Site::start(Behaviour::default()).await;
        let registry = Registry::new();
        let mut oauth = workload(&site.issuer, WORKLOAD).scopes(["notes", "calendar"]);
        if let Some(id) = client_id {
            oauth = oauth.client_id(id);
        }
        let _import = connect(&site, oauth, &registry).await.unwrap();
        assert_eq!(add(&registry).await.content(), "5");
        // A token that is rejected is replaced with a new JWT.
        site.expire();
        site.change(|behaviour| behaviour.forgets = true);
        assert_eq!(add(&registry).await.content(), "5");
        let tokens = site.seen("token");
        let jwts = tokens
            .iter()
            .filter(|seen| seen.values.contains_key("assertion"));
        assert_eq!(jwts.count(), 2);
        let token = &tokens[0].values;
        assert_eq!(token["assertion"], WORKLOAD);
        assert_eq!(token["resource"], site.url);
        assert_eq!(token["scope"], "calendar notes");
        assert_eq!(token.get("client_id").map(String::as_str), client_id);
        assert!(site.seen("authorize").is_empty() && site.seen("register").is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_jwt_that_is_rejected_is_sent_once() {
    let site = Site::start(Behaviour::default()).await;
    let oauth = workload(&site.issuer, "header.workload-of-others.signature");
    let error = connect(&site, oauth, &Registry::new()).await.unwrap_err();
    assert_eq!(error.kind(), ImportErrorKind::Unauthorized, "{error}");
    let error = error.to_string();
    assert!(error.contains("invalid_grant (status 400)"), "{error}");
    assert!(!error.contains("workload-of-others"), "{error}");
    assert_eq!(site.seen("token").len(), 1);
    assert!(site.seen("authorize").is_empty());
}

/// Who takes a server over could sign in as the workload, if its authorization server got the JWT.
#[tokio::test(flavor = "multi_thread")]
async fn no_other_issuer_gets_a_jwt() {
    let site = Site::start(Behaviour::default()).await;
    let oauth = workload("https://login.example.com", WORKLOAD);
    let error = connect(&site, oauth, &Registry::new()).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("allows https://login.example.com alone"),
        "{error}"
    );
    assert!(!site.got_any_of(&[WORKLOAD.to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closure_returns_tokens_for_connections_and_after_a_rejection() {
    let site = Site::start(Behaviour::default()).await;
    let store = MemoryStore::default();
    // Where the tokens come from does not matter.
    let _import = connect(&site, agreeing(&site, store), &Registry::new())
        .await
        .unwrap();
    settled(&site, 1).await;
    let first = site.seen("server").last().unwrap().values["token"].clone();
    let tokens = Arc::new(Mutex::new(vec!["stale-token".to_owned(), first.clone()]));
    let called = Arc::new(AtomicU32::new(0));
    let (source, count) = (tokens.clone(), called.clone());
    let registry = Registry::new();
    let import = Import::http(&site.url).bearer_with(move || {
        let mut tokens = source.lock().unwrap();
        count.fetch_add(1, Ordering::SeqCst);
        let token = if tokens.len() > 1 {
            tokens.remove(0)
        } else {
            tokens[0].clone()
        };
        async move { Ok(token) }
    });
    let _import = in_time(import.connect(&registry)).await.unwrap();
    assert_eq!(add(&registry).await.content(), "5");
    assert_eq!(called.load(Ordering::SeqCst), 2);
    settled(&site, 2).await;
    // The same token again is not tried again.
    site.expire();
    let sent = site.seen("server").len();
    let result = add(&registry).await;
    assert!(result.is_error());
    assert_eq!(called.load(Ordering::SeqCst), 3);
    let calls = site.seen("server").split_off(sent);
    assert_eq!(
        calls
            .iter()
            .filter(|seen| seen.values["method"] == "tools/call")
            .count(),
        1
    );
    // Its errors name the server.
    let failing = Import::http(&site.url).bearer_with(async || Err("the vault is shut".into()));
    let error = in_time(failing.connect(&Registry::new()))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ImportErrorKind::Unauthorized);
    assert!(error.to_string().contains("the vault is shut"), "{error}");
    assert!(error.to_string().starts_with(&site.url), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_say_what_to_do() {
    let site = Site::start(Behaviour::default()).await;
    // Nobody comes.
    let oauth = OAuth::new(MemoryStore::default())
        .sign_in_timeout(Duration::from_millis(50))
        .open(async |_| Ok(()));
    let error = connect(&site, oauth, &Registry::new()).await.unwrap_err();
    assert!(error.to_string().contains("nobody signed in"), "{error}");
    // No browser.
    let oauth = OAuth::new(MemoryStore::default()).open(async |_| Err("no display".into()));
    let error = connect(&site, oauth, &Registry::new()).await.unwrap_err();
    assert!(error.to_string().contains("no display"), "{error}");
    // No way to ask.
    let error = connect(&site, OAuth::new(MemoryStore::default()), &Registry::new()).await;
    assert!(error.unwrap_err().to_string().contains("`OAuth::open`"));
    // More scopes than anybody needs.
    let oauth = agreeing(&site, MemoryStore::default()).scopes((0..101).map(|n| n.to_string()));
    let error = connect(&site, oauth, &Registry::new()).await.unwrap_err();
    assert!(error.to_string().contains("more scopes"), "{error}");
    // The user says no.
    site.change(|behaviour| {
        behaviour.redirect =
            json!({"code": null, "error": "access_denied", "error_description": "not today"});
    });
    let error = refused(&site).await;
    assert!(
        error.contains("refused: access_denied: not today"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_of_another_resource_is_rejected() {
    for resource in ["https://evil.example.com/mcp", "http://127.0.0.1:1/mcp"] {
        let site = Site::start(Behaviour {
            resource: json!({"resource": resource}),
            ..Behaviour::default()
        })
        .await;
        let error = refused(&site).await;
        assert!(error.contains("resource"), "{error}");
        assert!(site.seen("metadata").is_empty() && site.seen("authorize").is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_one_server_is_not_sent_to_another() {
    let (one, other) = (
        Site::start(Behaviour::default()).await,
        Site::start(Behaviour::default()).await,
    );
    let store = MemoryStore::default();
    let oauth = agreeing(&one, store.clone());
    let _import = connect(&one, oauth, &Registry::new()).await.unwrap();
    let oauth = agreeing(&other, store);
    let _import = connect(&other, oauth, &Registry::new()).await.unwrap();
    assert!(!other.got_any_of(&one.secrets()));
    // The first request to the other had none.
    assert_eq!(other.seen("server")[0].values["token"], "");
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_of_another_issuer_is_rejected() {
    let evil = "https://evil.example.com";
    for issuer in [json!(evil), Value::Null] {
        let site = Site::start(Behaviour {
            server: json!({"issuer": issuer}),
            ..Behaviour::default()
        })
        .await;
        refused(&site).await;
        assert!(site.seen("register").is_empty() && site.seen("authorize").is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_goes_to_its_issuer_alone() {
    let issuer = "https://login.example.com";
    for has_user in [true, false] {
        // The server names another.
        let site = Site::start(Behaviour::default()).await;
        let oauth = agreeing(&site, MemoryStore::default());
        let oauth = if has_user {
            oauth.client_id("known").client_secret(issuer, "of known")
        } else {
            oauth.client_credentials(issuer, "service", "of service")
        };
        let error = connect(&site, oauth, &Registry::new()).await.unwrap_err();
        let why = format!("`OAuth::issuer` allows {issuer} alone");
        assert!(error.to_string().contains(&why), "{error}");
        assert!(site.seen("authorize").is_empty() && site.seen("token").is_empty());
        assert!(!site.got_any_of(&["of known".into(), "of service".into()]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_authorization_server_gets_nothing_of_the_first() {
    let site = Site::start(Behaviour {
        token: json!({"expires_in": 0}),
        ..Behaviour::default()
    })
    .await;
    let store = MemoryStore::default();
    let oauth = agreeing(&site, store.clone());
    let import = connect(&site, oauth, &Registry::new()).await.unwrap();
    drop(import);
    let other = Site::start(Behaviour::default()).await;
    let issuer = other.issuer.clone();
    site.change(|behaviour| behaviour.resource = json!({ "authorization_servers": [issuer] }));
    site.expire();
    // The server does not accept tokens of the other one, and the user is not asked for ever.
    let oauth = agreeing(&other, store);
    let error = connect(&site, oauth, &Registry::new()).await.unwrap_err();
    assert!(error.to_string().contains("has just issued"), "{error}");
    assert_eq!(other.seen("register").len(), 1);
    assert_eq!(other.seen("authorize").len(), 1);
    // For the code, and once more for another token.
    assert_eq!(other.seen("token").len(), 2);
    assert!(!other.got_any_of(&site.secrets()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_of_another_issuer_is_rejected() {
    let site = Site::start(Behaviour::default()).await;
    let slash = format!("{}/", site.issuer);
    for (redirect, promised) in [
        (json!({"iss": "https://evil.example.com"}), true),
        (json!({"iss": "https://evil.example.com"}), false),
        (json!({"iss": slash}), true),
        (json!({"iss": null}), true),
    ] {
        site.change(|behaviour| {
            behaviour.redirect = redirect.clone();
            behaviour.server = json!({"authorization_response_iss_parameter_supported": promised});
        });
        let error = refused(&site).await;
        assert!(error.contains("issuer"), "{redirect}: {error}");
        assert!(site.seen("token").is_empty(), "{redirect}");
    }
    // One that does not promise it may leave it out.
    site.change(|behaviour| behaviour.redirect = json!({"iss": null}));
    let oauth = agreeing(&site, MemoryStore::default());
    let oauth = connect(&site, oauth, &Registry::new()).await;
    assert!(oauth.is_err(), "it promises");
    site.change(|behaviour| {
        behaviour.server = json!({"authorization_response_iss_parameter_supported": null});
    });
    let oauth = agreeing(&site, MemoryStore::default());
    let _import = connect(&site, oauth, &Registry::new()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_redirect_neither_signs_in_nor_ends_the_sign_in() {
    let site = Site::start(Behaviour {
        forged: vec![
            "code=stolen",
            "code=stolen&state=",
            "code=stolen&state=another",
            "code=stolen&state=STATE&state=STATE",
            "code=stolen&code=stolen&state=STATE",
            "error=access_denied",
            "error=access_denied&state=another",
            "state=STATE",
        ],
        ..Behaviour::default()
    })
    .await;
    let oauth = agreeing(&site, MemoryStore::default());
    let registry = Registry::new();
    let _import = connect(&site, oauth, &registry).await.unwrap();
    assert_eq!(add(&registry).await.content(), "5");
    let tokens = site.seen("token");
    assert_eq!(tokens.len(), 1);
    assert!(!tokens[0].values["code"].contains("stolen"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_that_was_used_is_worth_nothing() {
    let site = Site::start(Behaviour::default()).await;
    // The program gets the redirect of its first sign-in again.
    let old = Arc::new(Mutex::new(None::<String>));
    let redirect = "http://127.0.0.1:9/signed-in";
    let oauth = |store: MemoryStore| {
        let old = old.clone();
        OAuth::new(store).redirect(redirect, move |url| {
            let old = old.clone();
            async move {
                if let Some(old) = old.lock().unwrap().clone() {
                    return Ok(old);
                }
                let browser =
                    reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
                let reply = browser.build()?.get(url).send().await?;
                let location = reply.headers()["location"].to_str()?.to_owned();
                *old.lock().unwrap() = Some(location.clone());
                Ok(location)
            }
        })
    };
    let import = connect(&site, oauth(MemoryStore::default()), &Registry::new())
        .await
        .unwrap();
    drop(import);
    let error = connect(&site, oauth(MemoryStore::default()), &Registry::new())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("`state` is of another sign-in"),
        "{error}"
    );
    assert_eq!(site.seen("token").len(), 1);
    // Without the verifier of the program, the authorization server does not take it.
    let code = pairs(
        old.lock()
            .unwrap()
            .as_ref()
            .unwrap()
            .split_once('?')
            .unwrap()
            .1,
    );
    let form = format!(
        "grant_type=authorization_code&code={}&code_verifier=x",
        code["code"]
    );
    let client = reqwest::Client::new();
    let reply = client
        .post(format!("{}/token", site.issuer))
        .body(form)
        .send()
        .await
        .unwrap();
    assert_eq!(reply.status(), 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authorization_server_without_encryption_is_rejected() {
    for (member, address) in [
        (
            "authorization_endpoint",
            "http://auth.example.com/authorize",
        ),
        ("token_endpoint", "http://auth.example.com/token"),
        ("registration_endpoint", "http://auth.example.com/register"),
        ("authorization_endpoint", "file:///bin/sh"),
    ] {
        let site = Site::start(Behaviour {
            server: json!({ member: address }),
            ..Behaviour::default()
        })
        .await;
        let error = refused(&site).await;
        assert!(
            error.contains(address) && error.contains("https://"),
            "{error}"
        );
        assert!(site.seen("register").is_empty() && site.seen("authorize").is_empty());
    }
}

#[tokio::test]
async fn a_token_is_not_sent_without_encryption() {
    // No request is made. It would reach this machine, where nothing listens.
    let url = "http://0.0.0.0:1/mcp";
    let oauth = OAuth::new(MemoryStore::default()).open(async |_| Ok(()));
    for import in [
        Import::http(url).bearer("of ada"),
        Import::http(url).bearer_with(async || panic!("no token is needed")),
        Import::http(url).oauth(oauth),
    ] {
        let error = in_time(import.connect(&Registry::new())).await.unwrap_err();
        assert_eq!(error.kind(), ImportErrorKind::Start);
        assert!(
            error.to_string().contains("must start with https://"),
            "{error}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authorization_server_at_an_address_for_special_use_is_not_visited() {
    // It is this machine, where something listens. Link-local and private addresses are refused at the same place.
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let visits = Arc::new(AtomicU32::new(0));
    let count = visits.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            let _ = stream
                .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                .await;
        }
    });
    let site = Site::start(Behaviour {
        resource: json!({"authorization_servers": [format!("http://0.0.0.0:{port}")]}),
        ..Behaviour::default()
    })
    .await;
    refused(&site).await;
    let site = Site::start(Behaviour {
        server: json!({"token_endpoint": format!("http://0.0.0.0:{port}/token")}),
        ..Behaviour::default()
    })
    .await;
    refused(&site).await;
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn huge_metadata_is_not_read() {
    let huge = "x".repeat(2 << 20);
    for behaviour in [
        Behaviour {
            resource: json!({ "x": huge }),
            ..Behaviour::default()
        },
        Behaviour {
            server: json!({ "x": huge }),
            ..Behaviour::default()
        },
    ] {
        let site = Site::start(behaviour).await;
        let error = refused(&site).await;
        assert!(error.contains("exceeds"), "{error}");
        assert!(error.len() < 2000);
        assert!(site.seen("authorize").is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_metadata_has_no_sign_in() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = axum::Router::new().route(
        "/mcp",
        axum::routing::post(async || axum::http::StatusCode::UNAUTHORIZED),
    );
    tokio::spawn(async move { axum::serve(listener, router).await });
    let oauth = OAuth::new(MemoryStore::default()).open(async |_| Ok(()));
    let import = Import::http(url).oauth(oauth);
    let error = in_time(import.connect(&Registry::new())).await.unwrap_err();
    assert_eq!(error.kind(), ImportErrorKind::Unauthorized);
    assert!(
        error
            .to_string()
            .contains("where its authorization server is"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_of_the_server_gets_no_token() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let elsewhere = format!("http://{}/mcp", listener.local_addr().unwrap());
    let visits = Arc::new(AtomicU32::new(0));
    let count = visits.clone();
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let site = Site::start(Behaviour {
        moved_to: Some(elsewhere),
        ..Behaviour::default()
    })
    .await;
    let registry = Registry::new();
    let oauth = agreeing(&site, MemoryStore::default());
    let _import = connect(&site, oauth, &registry).await.unwrap();
    assert!(add(&registry).await.is_error());
    assert_eq!(visits.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_of_another_kind_are_not_used() {
    let site = Site::start(Behaviour {
        token: json!({"token_type": "DPoP"}),
        ..Behaviour::default()
    })
    .await;
    let error = refused(&site).await;
    assert!(error.contains("only bearer tokens"), "{error}");
    assert!(
        site.seen("server")
            .iter()
            .all(|seen| seen.values["token"].is_empty())
    );
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_tokens_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let folder = folder("file");
    let path = folder.join("tokens.json");
    let site = Site::start(Behaviour::default()).await;
    let oauth = || agreeing(&site, FileStore::new(&path));
    let import = connect(&site, oauth(), &Registry::new()).await.unwrap();
    settled(&site, 1).await;
    drop(import);
    let mode = |name: &str| {
        let metadata = std::fs::metadata(folder.join(name)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode("tokens.json"), 0o600);
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["tokens.json", "tokens.json.lock"]);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains(&site.url) && text.contains("access-"),
        "{text}"
    );
    let import = connect(&site, oauth(), &Registry::new()).await.unwrap();
    settled(&site, 2).await;
    drop(import);
    assert_eq!(site.seen("authorize").len(), 1);
    // Others can read it.
    for bits in [0o640, 0o604, 0o620] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(bits)).unwrap();
        let requests = site.seen("server").len();
        let error = connect(&site, oauth(), &Registry::new()).await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains("others can read it"), "{text}");
        assert!(
            text.contains("tokens.json") && text.starts_with(&site.url),
            "{text}"
        );
        assert_eq!(site.seen("server").len(), requests);
    }
    // It is damaged.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(&path, "{\"access-1-hush").unwrap();
    let error = connect(&site, oauth(), &Registry::new()).await.unwrap_err();
    assert!(error.to_string().contains("no file of tokens"), "{error}");
    assert!(!error.to_string().contains("hush"), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_tokens_loses_nothing_when_many_write() {
    let folder = folder("many");
    let path = folder.join("tokens.json");
    let saves = (0..32).map(|number| {
        let store = FileStore::new(&path);
        tokio::spawn(async move {
            let key = format!("key-{number}");
            store.save(&key, key.clone()).await.unwrap();
        })
    });
    for save in saves.collect::<Vec<_>>() {
        in_time(save).await.unwrap();
    }
    let store = FileStore::new(&path);
    for number in 0..32 {
        let key = format!("key-{number}");
        assert_eq!(store.load(&key).await.unwrap(), Some(key));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// On one thread, whose log is complete.
#[tokio::test]
async fn no_secret_is_in_a_log_an_error_a_pin_or_a_debug_text() {
    let folder = folder("log");
    let pins = folder.join("pins.json");
    let (log, guard) = Log::start(tracing::Level::TRACE);
    let site = Site::start(Behaviour {
        scope: Some(|_| "write".into()),
        ..Behaviour::default()
    })
    .await;
    let registry = Registry::new();
    let oauth = agreeing(&site, MemoryStore::default());
    let mut texts = vec![format!("{oauth:?}")];
    let builder = Import::http(&site.url).oauth(oauth).pin(&pins);
    texts.push(format!("{builder:?}"));
    let import = in_time(builder.connect(&registry)).await.unwrap();
    assert_eq!(add(&registry).await.content(), "5");
    site.expire();
    assert_eq!(add(&registry).await.content(), "5");
    // The authorization server repeats in its error what it was sent.
    site.change(|behaviour| behaviour.forgets = true);
    site.expire();
    assert_eq!(add(&registry).await.content(), "5");
    site.change(|behaviour| {
        behaviour.server = json!({"token_endpoint": format!("{}/register", site.issuer)});
    });
    site.expire();
    let result = add(&registry).await;
    assert!(result.is_error());
    texts.push(result.content().to_owned());
    texts.push(format!("{import:?} {}", import.report()));
    in_time(import.close()).await;
    texts.push(std::fs::read_to_string(&pins).unwrap());
    drop(guard);
    let text = log.text();
    assert!(text.len() > 10_000);
    texts.push(text);
    let secrets = site.secrets();
    for kind in ["client", "code", "access", "refresh", "identity"] {
        assert!(
            secrets.iter().any(|secret| secret.starts_with(kind)),
            "{kind}"
        );
    }
    for text in texts {
        for secret in &secrets {
            let line = text.lines().find(|line| line.contains(secret.as_str()));
            assert_eq!(line, None, "{secret}");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
