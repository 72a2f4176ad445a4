//! [`Manifest`]: what others need to know to install a server.

use std::fmt;

use rmcp::ServerHandler;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::builder::Server;
use super::list::List;
use crate::hex;

/// The version of `server.json`.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// The version of `manifest.json` in a bundle.
const BUNDLE: &str = "0.3";

/// Describes a server for others who install it; see [`Server::manifest`].
///
/// ```
/// use tool_core::Registry;
/// use tool_mcp::Server;
/// use tool_mcp::server::{Package, Variable};
///
/// let server = Server::new(Registry::new()).name("desk", "1.2.0");
/// let manifest = server
///     .manifest("io.github.ada/desk", "Notes and sales of a desk.")
///     .title("Desk")
///     .argument("mcp")
///     .variable(Variable::new("DESK_TOKEN", "Token of the desk.").required().secret())
///     .package(Package::new("oci", "ghcr.io/ada/desk:1.2.0", ""))
///     .remote("https://desk.example.com/mcp");
/// let json = manifest.server_json()?;
/// assert_eq!(json["name"], "io.github.ada/desk");
/// assert_eq!(json["version"], "1.2.0");
/// assert_eq!(json["packages"][0]["environmentVariables"][0]["isSecret"], true);
/// # Ok::<(), tool_mcp::server::ManifestError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Manifest {
    name: String,
    description: String,
    /// The name and the version that the server states.
    program: Option<(String, String)>,
    title: Option<String>,
    author: Option<String>,
    license: Option<String>,
    website: Option<String>,
    repository: Option<String>,
    icons: Vec<String>,
    arguments: Vec<String>,
    variables: Vec<Variable>,
    packages: Vec<Package>,
    remotes: Vec<String>,
    /// The tools for models: names and descriptions.
    tools: Vec<(String, String)>,
}

/// A variable of the environment that a program reads, for [`Manifest::variable`].
///
/// ```
/// use tool_mcp::server::Variable;
///
/// let token = Variable::new("DESK_TOKEN", "Token of the desk.").required().secret();
/// # let _ = token;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Variable {
    name: String,
    description: String,
    is_required: bool,
    is_secret: bool,
}

impl Variable {
    /// Creates a variable that may be missing.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Variable {
        Variable {
            name: name.into(),
            description: description.into(),
            is_required: false,
            is_secret: false,
        }
    }

    /// Says that the program does not run without it.
    pub fn required(mut self) -> Variable {
        self.is_required = true;
        self
    }

    /// Says that its value is hidden and stored safely.
    pub fn secret(mut self) -> Variable {
        self.is_secret = true;
        self
    }

    /// Returns the key of its value in a bundle.
    fn key(&self) -> String {
        self.name.to_ascii_lowercase()
    }
}

/// Where a program can be installed from, for [`Manifest::package`].
///
/// ```
/// use tool_mcp::server::Package;
///
/// let image = Package::new("oci", "ghcr.io/ada/desk:1.2.0", "");
/// let bundle = Package::bundle("https://example.com/desk.mcpb", b"the bytes of the file");
/// assert_ne!(image, bundle);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    registry: String,
    identifier: String,
    version: String,
    digest: Option<String>,
}

impl Package {
    /// Creates a package of a registry: `cargo`, `npm`, `nuget`, `oci` or `pypi`. The version is empty if
    /// the identifier has it, as for images.
    pub fn new(
        registry: impl Into<String>,
        identifier: impl Into<String>,
        version: impl Into<String>,
    ) -> Package {
        Package {
            registry: registry.into(),
            identifier: identifier.into(),
            version: version.into(),
            digest: None,
        }
    }

    /// Creates a package of a bundle at a URL. Clients check the file against the hash of these bytes.
    pub fn bundle(url: impl Into<String>, bytes: &[u8]) -> Package {
        let mut package = Package::new("mcpb", url, "");
        package.digest = Some(hex(&Sha256::digest(bytes)));
        package
    }
}

impl<H: ServerHandler> Server<H> {
    /// Describes the server for others who install it: as `server.json` for the registry of the protocol, and as the
    /// `manifest.json` of a bundle (`.mcpb`), which hosts install with a click.
    ///
    /// The name is the one in the registry: `io.github.USER/SERVER`, or a name of your domain. The version
    /// comes from [`name`](Server::name), and the tools are the ones that models get now.
    pub fn manifest(&self, name: impl Into<String>, description: impl Into<String>) -> Manifest {
        let implementation = self.options.implementation.as_ref();
        Manifest {
            name: name.into(),
            description: description.into(),
            program: implementation.map(|own| (own.name.clone(), own.version.clone())),
            title: None,
            author: None,
            license: None,
            website: None,
            repository: None,
            icons: Vec::new(),
            arguments: Vec::new(),
            variables: Vec::new(),
            packages: Vec::new(),
            remotes: Vec::new(),
            tools: List::new(&self.registry, &self.options).described(),
        }
    }
}

impl Manifest {
    /// Sets the name for people.
    pub fn title(mut self, title: impl Into<String>) -> Manifest {
        self.title = Some(title.into());
        self
    }

    /// Sets who made the server. A bundle needs it.
    pub fn author(mut self, name: impl Into<String>) -> Manifest {
        self.author = Some(name.into());
        self
    }

    /// Sets the licence, such as `MIT`. Only bundles have it.
    pub fn license(mut self, license: impl Into<String>) -> Manifest {
        self.license = Some(license.into());
        self
    }

    /// Sets the page of the server.
    pub fn website(mut self, url: impl Into<String>) -> Manifest {
        self.website = Some(url.into());
        self
    }

    /// Sets the address of the repository, such as `https://github.com/ada/desk`.
    pub fn repository(mut self, url: impl Into<String>) -> Manifest {
        self.repository = Some(url.into());
        self
    }

    /// Adds an icon at a URL. Only `server.json` has it.
    pub fn icon(mut self, url: impl Into<String>) -> Manifest {
        self.icons.push(url.into());
        self
    }

    /// Adds an argument that the program needs to be the server.
    pub fn argument(mut self, argument: impl Into<String>) -> Manifest {
        self.arguments.push(argument.into());
        self
    }

    /// Adds a variable that the program reads. Hosts ask their user for it.
    pub fn variable(mut self, variable: Variable) -> Manifest {
        self.variables.push(variable);
        self
    }

    /// Adds where the program can be installed from.
    pub fn package(mut self, package: Package) -> Manifest {
        self.packages.push(package);
        self
    }

    /// Adds an address where the server runs already, by streamable HTTP.
    pub fn remote(mut self, url: impl Into<String>) -> Manifest {
        self.remotes.push(url.into());
        self
    }

    /// Returns `server.json` for the registry of the protocol.
    ///
    /// # Errors
    ///
    /// Returns an error if the registry would reject it: because of a wrong name, version or URL, or a text that is too long.
    pub fn server_json(&self) -> Result<Value, ManifestError> {
        let (_, version) = self.program()?;
        check_name(&self.name)?;
        check_length("the description", &self.description)?;
        if let Some(title) = &self.title {
            check_length("the title", title)?;
        }
        check_version(version)?;
        let urls = [&self.website, &self.repository].into_iter().flatten();
        for url in urls.chain(&self.remotes).chain(&self.icons) {
            check_url(url)?;
        }
        let mut json = json!({
            "$schema": SCHEMA,
            "name": self.name,
            "description": self.description,
            "version": version,
        });
        if let Some(title) = &self.title {
            json["title"] = title.clone().into();
        }
        if let Some(website) = &self.website {
            json["websiteUrl"] = website.clone().into();
        }
        if let Some(url) = &self.repository {
            json["repository"] = json!({"url": url, "source": source(url)});
        }
        let mut list = |key: &str, items: Vec<Value>| {
            if !items.is_empty() {
                json[key] = items.into();
            }
        };
        let icons = self.icons.iter().map(|url| json!({ "src": url }));
        list("icons", icons.collect());
        let packages = self.packages.iter().map(|package| self.written(package));
        list("packages", packages.collect::<Result<_, _>>()?);
        let remote = |url: &String| json!({"type": "streamable-http", "url": url});
        list("remotes", self.remotes.iter().map(remote).collect());
        Ok(json)
    }

    fn written(&self, package: &Package) -> Result<Value, ManifestError> {
        let mut json = json!({
            "registryType": package.registry,
            "identifier": package.identifier,
            "transport": {"type": "stdio"},
        });
        if !package.version.is_empty() {
            check_version(&package.version)?;
            json["version"] = package.version.clone().into();
        }
        if let Some(digest) = &package.digest {
            check_url(&package.identifier)?;
            json["fileSha256"] = digest.clone().into();
            // The bundle says how it is started.
            return Ok(json);
        }
        if !self.arguments.is_empty() {
            let argument = |value: &String| json!({"type": "positional", "value": value});
            json["packageArguments"] = self.arguments.iter().map(argument).collect();
        }
        if !self.variables.is_empty() {
            let variable = |variable: &Variable| {
                json!({
                    "name": variable.name,
                    "description": variable.description,
                    "isRequired": variable.is_required,
                    "isSecret": variable.is_secret,
                })
            };
            json["environmentVariables"] = self.variables.iter().map(variable).collect();
        }
        Ok(json)
    }

    /// Returns the `manifest.json` of a bundle with a program for the current system.
    ///
    /// # Errors
    ///
    /// Returns an error without an [`author`](Manifest::author), or if a host would reject it: because of a wrong name or
    /// version, or of two variables whose names differ only in case.
    pub fn bundle_json(&self) -> Result<Value, ManifestError> {
        let (name, version) = self.program()?;
        let Some(author) = &self.author else {
            return Err(ManifestError(
                "a bundle needs an author; call `author`".into(),
            ));
        };
        let program = file_name(name)?;
        let mut config = Map::new();
        let mut environment = Map::new();
        for variable in &self.variables {
            let key = variable.key();
            environment.insert(
                variable.name.clone(),
                format!("${{user_config.{key}}}").into(),
            );
            let asked = json!({
                "type": "string",
                "title": variable.name,
                "description": variable.description,
                "required": variable.is_required,
                "sensitive": variable.is_secret,
            });
            if config.insert(key, asked).is_some() {
                let problem = format!("two variables are named {}; rename one", variable.name);
                return Err(ManifestError(problem));
            }
        }
        let tools = self.tools.iter();
        let tools =
            tools.map(|(name, description)| json!({"name": name, "description": description}));
        let mut json = json!({
            "manifest_version": BUNDLE,
            "name": name,
            "version": version,
            "description": self.description,
            "author": {"name": author},
            "server": {
                "type": "binary",
                "entry_point": program,
                "mcp_config": {
                    "command": format!("${{__dirname}}/{program}"),
                    "args": self.arguments,
                    "env": environment,
                },
            },
            "tools": tools.collect::<Vec<_>>(),
            "compatibility": {"platforms": [platform()]},
        });
        let texts = [
            ("display_name", &self.title),
            ("license", &self.license),
            ("homepage", &self.website),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                json[key] = text.clone().into();
            }
        }
        if let Some(url) = &self.repository {
            json["repository"] = json!({"type": "git", "url": url});
        }
        if !config.is_empty() {
            json["user_config"] = config.into();
        }
        Ok(json)
    }

    /// Returns a bundle (`.mcpb`) with this program, for the system for which it was compiled: a ZIP archive with
    /// [`bundle_json`](Manifest::bundle_json). Equal programs have equal bundles.
    ///
    /// ```no_run
    /// use tool_mcp::server::{Manifest, ManifestError, Package};
    ///
    /// fn publish(manifest: Manifest) -> Result<(), Box<dyn std::error::Error>> {
    ///     let bundle = manifest.bundle(&std::fs::read("target/release/desk")?)?;
    ///     std::fs::write("desk.mcpb", &bundle)?;
    ///     let package = Package::bundle("https://github.com/ada/desk/releases/download/v1/desk.mcpb", &bundle);
    ///     let json = manifest.package(package).server_json()?;
    ///     std::fs::write("server.json", format!("{json:#}\n"))?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error as [`bundle_json`](Manifest::bundle_json) does.
    #[cfg(feature = "mcpb")]
    pub fn bundle(&self, program: &[u8]) -> Result<Vec<u8>, ManifestError> {
        use std::io::{Cursor, Write};

        use zip::write::SimpleFileOptions;
        use zip::{CompressionMethod, DateTime, ZipWriter};

        let manifest = self.bundle_json()?;
        let (name, _) = self.program()?;
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default());
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let mut write = || {
            archive.start_file("manifest.json", options.unix_permissions(0o644))?;
            archive.write_all(format!("{manifest:#}\n").as_bytes())?;
            let file = file_name(name).unwrap_or_default();
            archive.start_file(file, options.unix_permissions(0o755))?;
            archive.write_all(program)?;
            Ok(())
        };
        let written: zip::result::ZipResult<()> = write();
        let bytes = written.and_then(|()| archive.finish());
        let bytes =
            bytes.map_err(|error| ManifestError(format!("can't write the bundle: {error}")))?;
        Ok(bytes.into_inner())
    }

    fn program(&self) -> Result<(&str, &str), ManifestError> {
        let program = self.program.as_ref();
        let program = program.map(|(name, version)| (&**name, &**version));
        let missing = "the server has no name and no version; call `Server::name`";
        program.ok_or_else(|| ManifestError(missing.into()))
    }
}

/// Returns the system for which this was compiled.
fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

/// Returns the path of the program in a bundle.
fn file_name(name: &str) -> Result<String, ManifestError> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_part) {
        return Err(ManifestError(format!(
            "the name {name:?} of the server is no file name; use letters, digits, `_`, `-` and `.`"
        )));
    }
    Ok(format!("server/{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Returns the name of the service that has a repository.
fn source(url: &str) -> &str {
    match url.split('/').nth(2) {
        Some("github.com") => "github",
        Some("gitlab.com") => "gitlab",
        Some(host) => host,
        None => "",
    }
}

fn check_name(name: &str) -> Result<(), ManifestError> {
    let is_part = |part: &str, more: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    let parts = name.split_once('/');
    if name.len() <= 200
        && parts.is_some_and(|(space, name)| is_part(space, ".-") && is_part(name, "._-"))
    {
        return Ok(());
    }
    Err(ManifestError(format!(
        "the name {name:?} is not one of the registry; write one such as \"io.github.ada/desk\""
    )))
}

fn check_length(what: &str, text: &str) -> Result<(), ManifestError> {
    match text.chars().count() {
        1..=100 => Ok(()),
        count => Err(ManifestError(format!(
            "{what} has {count} characters; the registry accepts 1 to 100"
        ))),
    }
}

fn check_version(version: &str) -> Result<(), ManifestError> {
    let is_part = |part: &str| !matches!(part, "" | "x" | "X" | "*");
    let is_start = version.starts_with(|c: char| c.is_ascii_alphanumeric());
    let is_range = version.contains(char::is_whitespace) || !version.split('.').all(is_part);
    if is_start && !is_range && version != "latest" && version.len() <= 255 {
        return Ok(());
    }
    Err(ManifestError(format!(
        "{version:?} is not one version; write one such as \"1.2.0\""
    )))
}

fn check_url(url: &str) -> Result<(), ManifestError> {
    let is_part = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
    let host = url.strip_prefix("https://").unwrap_or_default();
    if url.len() <= 255 && !host.is_empty() && !host.starts_with('/') && host.bytes().all(is_part) {
        return Ok(());
    }
    Err(ManifestError(format!(
        "{url:?} is not a URL that starts with `https://` and has at most 255 characters"
    )))
}

/// The error of a [`Manifest`] that a registry or a host would reject.
///
/// ```
/// use tool_core::Registry;
/// use tool_mcp::Server;
///
/// let server = Server::new(Registry::new()).name("desk", "latest");
/// let error = server.manifest("io.github.ada/desk", "A desk.").server_json().unwrap_err();
/// assert_eq!(error.to_string(), r#""latest" is not one version; write one such as "1.2.0""#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestError(String);

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ManifestError {}
