//! Signs in to servers at a URL, by OAuth.
//!
//! A server that wants a user answers with status 401, and says where its authorization server is. [`OAuth`] then finds
//! that server, introduces the program to it, and hands a URL to your program, which shows it to the user. When the
//! user agrees, the browser comes back to a port of this machine, and the import goes on. Later it gets new tokens by
//! itself, and asks the user again only if the server wants more than the user agreed to.
//!
//! ```no_run
//! use tool_core::Registry;
//! use tool_mcp::Import;
//! use tool_mcp::oauth::{FileStore, OAuth};
//!
//! # async fn import() -> Result<(), Box<dyn std::error::Error>> {
//! let oauth = OAuth::new(FileStore::new("tokens.json"))
//!     .scopes(["repo"])
//!     .open(async |url| {
//!         // Or open a browser, such as with the crate `open`.
//!         println!("sign in at {url}");
//!         Ok(())
//!     });
//! let registry = Registry::new();
//! let import = Import::http("https://mcp.example.com/mcp").oauth(oauth).connect(&registry).await?;
//! # let _ = import;
//! # Ok(())
//! # }
//! ```
//!
//! # Without a user
//!
//! A service signs in as itself, with [`client_credentials`](OAuth::client_credentials),
//! [`private_key`](OAuth::private_key) or, if its platform gives it an identity, [`workload`](OAuth::workload). In a company
//! whose identity provider decides which servers its users may use, [`enterprise`](OAuth::enterprise) exchanges the user's
//! ID token, without a browser.
//!
//! # What is checked
//!
//! - Tokens go to the origin of the server alone, never to the target of a redirect. They are bound to its
//!   URL ([RFC 8707](https://www.rfc-editor.org/rfc/rfc8707)), and metadata of another resource or another
//!   issuer is rejected.
//! - All addresses start with `https://`, unless server and authorization server are both on this machine. An authorization
//!   server that a public server names can't be at a private or link-local address.
//! - Each sign-in has a `state`, a PKCE challenge (S256) and an `iss` ([RFC 9207](https://www.rfc-editor.org/rfc/rfc9207))
//!   if the authorization server sends it. A redirect that does not fit is not accepted, and its code is not sent.
//! - Metadata and tokens are at most 1 MiB, discovery takes at most a minute, a user five
//!   ([`sign_in_timeout`](OAuth::sign_in_timeout)).
//! - Errors, logs and `Debug` contain no tokens, codes or client secrets.

mod discovery;
mod redirect;
pub(super) mod session;
mod shelf;
mod sign_in;
mod store;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tool_core::runtime::BoxFuture;

use super::secrets::Secrets;

#[cfg(feature = "keyring")]
pub use self::store::KeyringStore;
pub use self::store::{FileStore, MemoryStore, OAuthError, TokenStore};

type Open = Arc<dyn Fn(String) -> BoxFuture<Result<(), OAuthError>> + Send + Sync>;
type Ask = Arc<dyn Fn(String) -> BoxFuture<Result<String, OAuthError>> + Send + Sync>;
type Get = Arc<dyn Fn() -> BoxFuture<Result<String, OAuthError>> + Send + Sync>;

/// How an import signs in to its server; see the [module](self).
///
/// ```
/// use std::time::Duration;
/// use tool_mcp::oauth::{MemoryStore, OAuth};
///
/// let oauth = OAuth::new(MemoryStore::default())
///     .client_name("Notes")
///     .sign_in_timeout(Duration::from_secs(120))
///     .open(async |url| {
///         println!("sign in at {url}");
///         Ok(())
///     });
/// # let _ = oauth;
/// ```
#[derive(Clone)]
#[must_use = "it does nothing until it is given to `ImportBuilder::oauth`"]
pub struct OAuth {
    store: Arc<dyn TokenStore>,
    grant: Grant,
    scopes: Vec<String>,
    client_name: String,
    client_id: Option<String>,
    client_secret: Option<String>,
    client_metadata: Option<String>,
    issuer: Option<String>,
    sign_in_timeout: Duration,
    max_step_ups: u32,
}

/// How tokens are got.
#[derive(Clone)]
enum Grant {
    /// Only tokens of the store.
    Stored,
    /// By a browser that comes back to a port of this machine, or to any free one.
    Loopback { open: Open, port: Option<u16> },
    /// By a browser that comes back to the application.
    Redirect { url: String, ask: Ask },
    /// With the client's secret.
    ClientCredentials,
    /// With a signature of the client.
    PrivateKey {
        pem: Vec<u8>,
        algorithm: JwtAlgorithm,
    },
    /// With the JWT of a platform.
    Workload(Get),
    /// With the ID token of a user.
    Enterprise(Enterprise),
}

/// The algorithm of a client's signature; see [`OAuth::private_key`].
///
/// ```
/// use tool_mcp::oauth::{JwtAlgorithm, MemoryStore, OAuth};
///
/// # let pem = "";
/// let oauth = OAuth::new(MemoryStore::default()).private_key("notes", pem, JwtAlgorithm::Es256);
/// # let _ = oauth;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JwtAlgorithm {
    /// RSA with SHA-256.
    Rs256,
    /// RSA with SHA-384.
    Rs384,
    /// RSA with SHA-512.
    Rs512,
    /// ECDSA with P-256 and SHA-256.
    Es256,
    /// ECDSA with P-384 and SHA-384.
    Es384,
}

/// The identity provider of a company; see [`OAuth::enterprise`].
///
/// ```
/// use tool_mcp::oauth::Enterprise;
///
/// # async fn id_token() -> std::io::Result<String> { Ok(String::new()) }
/// let provider = Enterprise::new(
///     "https://login.example.com",
///     "https://login.example.com/token",
///     "notes",
///     async || Ok(id_token().await?),
/// );
/// # let _ = provider;
/// ```
#[derive(Clone)]
pub struct Enterprise {
    issuer: String,
    token_endpoint: String,
    client_id: String,
    client_secret: Option<String>,
    id_token: Get,
}

impl Enterprise {
    /// Creates a provider with its issuer and its token endpoint, the id of this program there, and a closure that
    /// returns an ID token of the user, which the provider issued to this program.
    pub fn new<F, R>(
        issuer: impl Into<String>,
        token_endpoint: impl Into<String>,
        client_id: impl Into<String>,
        id_token: F,
    ) -> Enterprise
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, OAuthError>> + Send + 'static,
    {
        Enterprise {
            issuer: issuer.into(),
            token_endpoint: token_endpoint.into(),
            client_id: client_id.into(),
            client_secret: None,
            id_token: Arc::new(move || Box::pin(id_token())),
        }
    }

    /// Sets the secret of this program at the provider.
    pub fn client_secret(mut self, secret: impl Into<String>) -> Self {
        self.client_secret = Some(secret.into());
        self
    }
}

impl fmt::Debug for Enterprise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enterprise")
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}

impl OAuth {
    /// Creates settings that use the tokens of a store. Without [`open`](OAuth::open) or another way to
    /// sign in, an import without a valid token fails.
    pub fn new(store: impl TokenStore) -> OAuth {
        OAuth {
            store: Arc::new(store),
            grant: Grant::Stored,
            scopes: Vec::new(),
            client_name: "tool-mcp".into(),
            client_id: None,
            client_secret: None,
            client_metadata: None,
            issuer: None,
            sign_in_timeout: Duration::from_secs(300),
            max_step_ups: 3,
        }
    }

    /// Lets a user sign in: hands the closure a URL to open in a browser, or to show. The browser comes back to
    /// `http://127.0.0.1` with a free port, on which this waits. An error of the closure ends the sign-in.
    ///
    /// The URL is for one user and one sign-in: do not log it. If several requests need a user at the same time, one
    /// URL is opened for all.
    pub fn open<F, R>(mut self, open: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), OAuthError>> + Send + 'static,
    {
        let port = match self.grant {
            Grant::Loopback { port, .. } => port,
            _ => None,
        };
        self.grant = Grant::Loopback {
            open: Arc::new(move |url| Box::pin(open(url))),
            port,
        };
        self
    }

    /// Sets the port to which the browser comes back, for an authorization server that accepts only a
    /// registered redirect URL, `http://127.0.0.1:PORT/callback`. Call it after [`open`](OAuth::open).
    pub fn port(mut self, number: u16) -> Self {
        if let Grant::Loopback { port, .. } = &mut self.grant {
            *port = Some(number);
        }
        self
    }

    /// Lets a user sign in, for a program that has its own web pages: the browser comes back to `redirect_url`, which
    /// the program serves. The closure gets the URL for the browser, and returns the URL to which the browser came back,
    /// with its query.
    ///
    /// ```
    /// use tool_mcp::oauth::{MemoryStore, OAuth};
    ///
    /// # async fn callback(_url: String) -> std::io::Result<String> { Ok(String::new()) }
    /// let oauth = OAuth::new(MemoryStore::default())
    ///     .redirect("https://notes.example.com/signed-in", async |url| Ok(callback(url).await?));
    /// # let _ = oauth;
    /// ```
    pub fn redirect<F, R>(mut self, redirect_url: impl Into<String>, ask: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, OAuthError>> + Send + 'static,
    {
        self.grant = Grant::Redirect {
            url: redirect_url.into(),
            ask: Arc::new(move |url| Box::pin(ask(url))),
        };
        self
    }

    /// Signs in as the program itself, with the id and the secret that the [`issuer`](OAuth::issuer) gave
    /// to it, without a user. No other authorization server gets the secret, even if the server names one.
    ///
    /// ```
    /// use tool_mcp::oauth::{MemoryStore, OAuth};
    ///
    /// # let secret = String::new();
    /// let oauth = OAuth::new(MemoryStore::default())
    ///     .client_credentials("https://login.example.com", "notes", secret);
    /// # let _ = oauth;
    /// ```
    pub fn client_credentials(
        mut self,
        issuer: impl Into<String>,
        client_id: impl Into<String>,
        secret: impl Into<String>,
    ) -> Self {
        self.grant = Grant::ClientCredentials;
        self.client_id(client_id).client_secret(issuer, secret)
    }

    /// Signs in as the program itself, with a signature (`private_key_jwt`) in place of a secret. The key is in PEM.
    pub fn private_key(
        mut self,
        client_id: impl Into<String>,
        pem: impl Into<Vec<u8>>,
        algorithm: JwtAlgorithm,
    ) -> Self {
        self.grant = Grant::PrivateKey {
            pem: pem.into(),
            algorithm,
        };
        self.client_id(client_id)
    }

    /// Signs in as a workload, by the JWT that its platform issues, such as Kubernetes or a CI system (workload identity
    /// federation, with the grant `jwt-bearer` of [RFC 7523](https://www.rfc-editor.org/rfc/rfc7523)). There is no secret
    /// to store: the closure reads a JWT whenever a token is needed. A JWT that is rejected is not sent again.
    ///
    /// The [`issuer`](OAuth::issuer) is the authorization server that trusts the platform. No other one gets the JWT,
    /// because it could sign in with it. Set the [`client_id`](OAuth::client_id) if the issuer wants one.
    ///
    /// ```
    /// use tool_mcp::oauth::{MemoryStore, OAuth};
    ///
    /// let oauth = OAuth::new(MemoryStore::default()).workload("https://login.example.com", async || {
    ///     Ok(std::fs::read_to_string("/var/run/secrets/tokens/mcp")?)
    /// });
    /// # let _ = oauth;
    /// ```
    pub fn workload<F, R>(mut self, issuer: impl Into<String>, jwt: F) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, OAuthError>> + Send + 'static,
    {
        self.grant = Grant::Workload(Arc::new(move || Box::pin(jwt())));
        self.issuer(issuer)
    }

    /// Signs in as a user of a company, by the ID token of its identity provider (enterprise-managed authorization,
    /// with an ID-JAG). Needs the [`client_id`](OAuth::client_id), and mostly the
    /// [`client_secret`](OAuth::client_secret), of this program at the server's authorization server.
    pub fn enterprise(mut self, provider: Enterprise) -> Self {
        self.grant = Grant::Enterprise(provider);
        self
    }

    /// Sets the scopes to ask for. The default is the scopes that the server asks for.
    pub fn scopes<T: Into<String>>(mut self, scopes: impl IntoIterator<Item = T>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the name of the program that a user sees when it registers itself.
    pub fn client_name(mut self, name: impl Into<String>) -> Self {
        self.client_name = name.into();
        self
    }

    /// Sets the id that the authorization server gave to this program. Without it, the program registers itself.
    pub fn client_id(mut self, id: impl Into<String>) -> Self {
        self.client_id = Some(id.into());
        self
    }

    /// Sets the secret that the [`issuer`](OAuth::issuer) gave to the [`client_id`](OAuth::client_id). No
    /// other authorization server gets it, even if the server names one.
    pub fn client_secret(mut self, issuer: impl Into<String>, secret: impl Into<String>) -> Self {
        self.client_secret = Some(secret.into());
        self.issuer(issuer)
    }

    /// Sets the `https://` URL of a document about this program (a client id metadata document), which stands for an id
    /// at authorization servers that read such documents. At others the program registers itself.
    pub fn client_metadata(mut self, url: impl Into<String>) -> Self {
        self.client_metadata = Some(url.into());
        self
    }

    /// Accepts this authorization server alone, by its issuer. Without it, the server names any.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Sets how long a user may take to sign in. Five minutes by default. Timeouts of calls stop meanwhile.
    pub fn sign_in_timeout(mut self, limit: Duration) -> Self {
        self.sign_in_timeout = limit;
        self
    }

    /// Sets how often one request may ask for more scopes. Three by default; none with 0. A scope that was asked for
    /// before is not asked for again.
    pub fn max_step_ups(mut self, count: u32) -> Self {
        self.max_step_ups = count;
        self
    }

    pub(super) fn add_secrets(&self, secrets: &mut Secrets) {
        if let Some(secret) = &self.client_secret {
            secrets.add(secret);
        }
        match &self.grant {
            Grant::PrivateKey { pem, .. } => secrets.add(&String::from_utf8_lossy(pem)),
            Grant::Enterprise(provider) => {
                if let Some(secret) = &provider.client_secret {
                    secrets.add(secret);
                }
            }
            _ => {}
        }
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth")
            .field("scopes", &self.scopes)
            .field("client_id", &self.client_id)
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}
