//! [`Server`](crate::Server): the tools of a registry, for clients of the Model Context Protocol.
//!
//! | file | what it holds |
//! |---|---|
//! | `builder` | `Server`, and its settings |
//! | `serve` | serves clients over streams |
//! | `handler` | the methods of the protocol, as `rmcp` calls them |
//! | `lines` | messages as lines, read fast |
//! | `core`, `options` | the state that all connections share, and the settings |
//! | `changes` | notices of changes, from the application |
//! | `clients`, `subscriptions` | who is notified, and of what |
//! | `list` | the list of tools, kept until the registry changes |
//! | `imports`, `imported_apps` | servers that it imports, and whose pages theirs are |
//! | `gateway` | what clients see of them |
//! | `offers` | the functions behind resources and prompts |
//! | `resources`, `prompts`, `completion` | their methods |
//! | `annotations` | whom resources are for |
//! | `app`, `apps` | a page that hosts show for results, and the methods for pages |
//! | `manifest` | what others need to know to install the server |
//! | `template` | templates of URIs |
//! | `call` | one call of a client, with all that it must pass |
//! | `run` | runs a call to its end, with confirmations and the decisions of others |
//! | `result` | what becomes of the result of a call |
//! | `progress` | the progress of a call, until it ends |
//! | `ask` | questions to the user, in each lifecycle |
//! | `skills` | folders of instructions, as a handler |
//! | `state` | `requestState`: what a call must know when it is made again |
//! | `admission`, `refused` | what each call passes: scopes and rates; why it does not |
//! | `rate` | limits of calls for each user and tool |
//! | `tasks`, `task_settings` | calls that continue after their response; which, and how many |
//! | `approvals` | held calls that wait for somebody else |
//! | `request` | what an application sees of a request |
//! | `http` | streamable HTTP |

// First, because the page of `Server` has its methods in this order.
mod serve;

pub(crate) mod builder;

mod admission;
mod annotations;
mod app;
mod approval;
pub mod approvals;
mod apps;
mod ask;
mod call;
mod changes;
mod clients;
mod completion;
mod core;
#[cfg(feature = "client")]
mod gateway;
mod handler;
#[cfg(feature = "server-http")]
pub mod http;
#[cfg(feature = "client")]
mod imported_apps;
#[cfg(feature = "client")]
mod imports;
mod lines;
mod list;
mod manifest;
mod offers;
mod options;
mod progress;
mod prompts;
mod rate;
mod refused;
mod request;
mod resources;
mod result;
mod run;
#[cfg(feature = "skills")]
mod skills;
mod state;
pub mod store;
mod subscriptions;
mod task_settings;
mod tasks;
mod template;

pub use self::annotations::Annotations;
pub use self::app::{App, AppPermission};
pub use self::changes::Changes;
pub use self::handler::{Handler, NoHandler};
#[cfg(feature = "client")]
pub use self::imports::Imports;
pub use self::manifest::{Manifest, ManifestError, Package, Variable};
pub use self::offers::Completion;
pub use self::rate::{Rate, Rates};
pub use self::request::{Refusal, Request, Token, UserId};
pub use self::serve::ServeError;
#[cfg(feature = "skills")]
pub use self::skills::Skills;
pub use self::task_settings::{TaskLimits, TaskPolicy};
pub use crate::protocol_error::ProtocolError;
