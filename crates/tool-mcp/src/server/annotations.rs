//! Annotations of resources: whom they are for.

use rmcp::ServerHandler;
use rmcp::model::Role;

use super::builder::Server;

/// The audience and the priority of a resource, for [`Server::annotate`]. Clients may show or use it
/// accordingly.
///
/// ```
/// use tool_core::{Registry, tool, tools};
/// use tool_mcp::Server;
/// use tool_mcp::server::Annotations;
///
/// /// The rules of the house.
/// #[tool(unlinked)]
/// fn rules() -> String {
///     "Be kind.".into()
/// }
///
/// let server = Server::new(Registry::new())
///     .resource("house://rules", tools![rules])
///     .annotate("house://rules", Annotations::default().for_model().priority(1.0));
/// # let _ = server;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotations(pub(super) rmcp::model::Annotations);

impl Annotations {
    /// Says that the resource is for the user.
    pub fn for_user(self) -> Annotations {
        self.audience(Role::User)
    }

    /// Says that the resource is for the model.
    pub fn for_model(self) -> Annotations {
        self.audience(Role::Assistant)
    }

    /// Sets how important the resource is: 1 if a client has to read it, 0 if it may leave it out.
    ///
    /// # Panics
    ///
    /// Panics if it is not between 0 and 1.
    #[track_caller]
    pub fn priority(mut self, priority: f32) -> Annotations {
        assert!(
            (0.0..=1.0).contains(&priority),
            "the priority {priority} is not between 0 and 1"
        );
        self.0.priority = Some(priority);
        self
    }

    fn audience(mut self, role: Role) -> Annotations {
        let audience = self.0.audience.get_or_insert_default();
        if !audience.contains(&role) {
            audience.push(role);
        }
        self
    }
}

impl<H: ServerHandler> Server<H> {
    /// Sets the audience and the priority of a [resource](Server::resource). Its icons and metadata come
    /// from its function: `#[tool(icons = …, meta = …)]`.
    ///
    /// # Panics
    ///
    /// Panics if the server has no resource with this template.
    #[track_caller]
    pub fn annotate(mut self, template: &str, annotations: Annotations) -> Server<H> {
        let mut resources = self.options.offers.resources.iter_mut();
        match resources.find(|resource| resource.template.source() == template) {
            Some(resource) => resource.annotations = Some(annotations.0),
            None => panic!("there is no resource `{template}` to annotate; add it first"),
        }
        self
    }
}
