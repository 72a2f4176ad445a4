//! The methods of the protocol, as `rmcp` calls them.

// Some methods of the protocol are deprecated, but a handler may have them.
#![expect(deprecated)]

use std::borrow::Cow;
use std::fmt;
#[cfg(feature = "server-http")]
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams,
    CancelledNotificationParam, CompleteRequestParams, CompleteResult, CustomNotification,
    CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, GetSkillRequestParams, GetSkillResult, GetTaskParams, GetTaskResult,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProtocolVersion, ReadResourceDirectoryRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};

use super::admission::ruled;
use super::clients::Client;
use super::core::Core;
#[cfg(feature = "server-http")]
use super::http::sessions::with_head;
use super::list::{List, cached, millis, page_of};
use super::offers::{INNER, inner_cursor};
use super::request::{Connection, Request, has_apps, has_connection, is_modern};
use super::resources::unknown;
use super::state::random;
use super::subscriptions::{bounded, no_request};

/// A handler without resources, prompts and the like.
///
/// ```
/// use tool_core::Registry;
/// use tool_mcp::Server;
/// use tool_mcp::server::NoHandler;
///
/// // What a server is before it joins a handler with resources or prompts.
/// let server: Server<NoHandler> = Server::new(Registry::new());
/// # let _ = server;
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHandler;

impl ServerHandler for NoHandler {
    fn get_info(&self) -> InitializeResult {
        let mut info = InitializeResult::default();
        info.server_info =
            rmcp::model::Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        info
    }
}

/// A [`Server`](crate::Server) as a handler of `rmcp`: tools come from the registry, and everything else from
/// the handler that it joined.
///
/// ```
/// use rmcp::ServerHandler;
/// use tool_core::Registry;
/// use tool_mcp::server::{Handler, NoHandler};
///
/// // For a transport of `rmcp`.
/// let handler: Handler<NoHandler> = tool_mcp::Server::new(Registry::new()).into_handler();
/// assert!(handler.get_info().capabilities.tools.is_some());
/// ```
pub struct Handler<H> {
    pub(super) core: Arc<Core>,
    info: Arc<InitializeResult>,
    inner: Arc<H>,
    /// The client of a session, once it is notified of changes.
    client: OnceLock<Arc<Client>>,
    /// The session, or the connection of a stream, once its results are kept.
    connection: OnceLock<Connection>,
}

/// For another client: subscriptions are not shared.
impl<H> Clone for Handler<H> {
    fn clone(&self) -> Handler<H> {
        Handler {
            core: self.core.clone(),
            info: self.info.clone(),
            inner: self.inner.clone(),
            client: OnceLock::new(),
            connection: OnceLock::new(),
        }
    }
}

impl<H> fmt::Debug for Handler<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler")
            .field("registry", &self.core.registry)
            .finish_non_exhaustive()
    }
}

impl<H> Handler<H> {
    pub(super) fn new(core: Arc<Core>, info: InitializeResult, inner: Arc<H>) -> Handler<H> {
        Handler {
            core,
            info: Arc::new(info),
            inner,
            client: OnceLock::new(),
            connection: OnceLock::new(),
        }
    }
}

impl<H: ServerHandler> Handler<H> {
    /// Returns `true` if only the server itself has it, and not the application's handler.
    fn is_own(&self, has: impl Fn(&ServerCapabilities) -> bool) -> bool {
        has(&self.info.capabilities) && !has(&self.inner.get_info().capabilities)
    }

    /// Tells a request of which connection it is, if results are kept.
    fn connect(&self, context: &mut Context) {
        if self.core.registry.result_store().is_some() {
            let new = || Connection(format!("{:032x}", u128::from_le_bytes(random())).into());
            let connection = self.connection.get_or_init(new);
            context.extensions.insert(connection.clone());
        }
    }

    /// Returns the client of the session.
    fn client(&self, context: &Context) -> &Arc<Client> {
        self.client.get_or_init(|| self.core.add_session(context))
    }
}

/// Lets the response begin at once, because the inner handler answers the request and nothing limits it.
fn pass(context: &Context) {
    // There is nothing to refuse.
    let _ = ruled(&Request::new(context), Ok(()));
}

type Context = RequestContext<RoleServer>;
type Reply<T> = Result<T, ErrorData>;

/// Writes methods that pass a request on, unless its user is refused.
macro_rules! pass_on {
    ($($method:ident($params:ty) -> $reply:ty;)*) => {$(
        async fn $method(&self, params: $params, context: Context) -> Reply<$reply> {
            self.core.user(&context)?;
            self.inner.$method(params, context).await
        }
    )*};
}

/// Writes methods that list what the server has, and then what the handler of the application has.
macro_rules! list {
    ($($method:ident -> $result:ident by $key:ident, $own:ident, $capability:ident;)*) => {$(
        async fn $method(
            &self,
            params: Option<PaginatedRequestParams>,
            context: Context,
        ) -> Reply<$result> {
            let core = &self.core;
            core.user(&context)?;
            let Some(own) = core.$own(&context) else {
                return self.inner.$method(params, context).await;
            };
            let cursor = params.as_ref().and_then(|params| params.cursor.as_deref());
            if let Some(cursor) = inner_cursor(cursor) {
                let mut params = params.unwrap_or_default();
                params.cursor = Some(cursor).filter(|cursor| !cursor.is_empty());
                let mut page = self.inner.$method(Some(params), context).await?;
                page.next_cursor = page.next_cursor.map(|cursor| format!("{INNER}{cursor}"));
                return Ok(page);
            }
            let (items, next) = page_of(&own, |item| &item.$key, cursor, core.options.page_size)?;
            let mut page = $result::with_all_items(items);
            page.next_cursor = next.or_else(|| {
                let has_more = self.inner.get_info().capabilities.$capability.is_some();
                has_more.then(|| INNER.to_owned())
            });
            if is_modern(&context) {
                let is_public = core.options.visible.is_none();
                page.ttl_ms = Some(millis(core.options.cache_for));
                page.cache_scope = Some(if is_public { CacheScope::Public } else { CacheScope::Private });
            }
            Ok(page)
        }
    )*};
}

/// Writes methods that pass a notification on.
macro_rules! notify {
    ($($method:ident($params:ty);)*) => {$(
        async fn $method(&self, params: $params, context: NotificationContext<RoleServer>) {
            self.inner.$method(params, context).await;
        }
    )*};
}

impl<H: ServerHandler> ServerHandler for Handler<H> {
    fn get_info(&self) -> InitializeResult {
        InitializeResult::clone(&self.info)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.inner.supported_protocol_versions()
    }

    async fn discover(&self, context: Context) -> Reply<DiscoverResult> {
        self.core.user(&context)?;
        let mut result = self.inner.discover(context).await?;
        result.capabilities = self.info.capabilities.clone();
        result.instructions.clone_from(&self.info.instructions);
        result.set_server_info(self.info.server_info.clone());
        Ok(result)
    }

    async fn ping(&self, context: Context) -> Reply<()> {
        self.inner.ping(context).await
    }

    async fn initialize(
        &self,
        params: InitializeRequestParams,
        context: Context,
    ) -> Reply<InitializeResult> {
        let result = self.inner.initialize(params, context.clone()).await?;
        // The client is known only now.
        self.core.user(&context)?;
        Ok(InitializeResult::clone(&self.info).with_protocol_version(result.protocol_version))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        mut context: Context,
    ) -> Reply<CallToolResponse> {
        self.connect(&mut context);
        // `rmcp` moves the future of a request several times, and this one has some kilobytes.
        Box::pin(self.core.call(params, context)).await
    }

    async fn list_tools(
        &self,
        params: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Reply<ListToolsResult> {
        let core = &self.core;
        core.user(&context)?;
        #[cfg(feature = "client")]
        let gateways = core.options.imports.ids();
        let selection = core.selection(&context);
        let list = match &selection {
            Some(selection) => Arc::new(List::new(selection, &core.options)),
            None => core.list(),
        };
        let cursor = params.as_ref().and_then(|params| params.cursor.as_deref());
        #[cfg_attr(not(feature = "client"), expect(unused_mut))]
        let mut page = list.page(cursor, core.options.page_size, has_apps(&context))?;
        #[cfg(feature = "client")]
        core.add_gateways(&mut page, gateways);
        Ok(if is_modern(&context) {
            // Clients without apps get another list.
            let scope = match selection {
                None if !list.has_hidden() => CacheScope::Public,
                _ => CacheScope::Private,
            };
            cached(page, core.options.cache_for, scope)
        } else {
            page
        })
    }

    /// Returns only what `rmcp` needs: a tool whose parameters are sent as headers too.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let core = &self.core;
        let list = core.list();
        let tool = list.with_headers(name)?;
        // A hint about a missing header would say that the tool exists.
        #[cfg(feature = "server-http")]
        if let Some(visible) = &core.options.visible {
            let entry = core.registry.get(name)?;
            let sees = |head: &_| {
                let sees = || visible(&Request::of_http(head), &entry);
                // As in a selection, a panic hides the tool.
                catch_unwind(AssertUnwindSafe(sees)).unwrap_or(false)
            };
            return with_head(sees)?.then(|| tool.clone());
        }
        Some(tool.clone())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = self
            .inner
            .accepted_subscription_filter(requested)
            .unwrap_or_default();
        accepted.tools_list_changed = requested.tools_list_changed;
        if self.core.options.notifies() {
            accepted.prompts_list_changed = requested.prompts_list_changed;
            accepted.resources_list_changed = requested.resources_list_changed;
            accepted.resource_subscriptions = requested.resource_subscriptions.clone().map(bounded);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Reply<()> {
        self.core.user(context.request_context())?;
        let _client = self.core.add_subscription(&context);
        let mut closing = self.core.closing.subscribe();
        // The inner handler waits until the client leaves, or ends the subscription.
        tokio::select! {
            ended = self.inner.listen(context) => ended,
            _ = closing.wait_for(|closing| *closing) => Ok(()),
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut seen = no_request(context.peer.clone());
        seen.extensions = context.extensions.clone();
        self.client(&seen);
        self.inner.on_initialized(context).await;
    }

    async fn get_task(&self, params: GetTaskParams, context: Context) -> Reply<GetTaskResult> {
        let user = self.core.user(&context)?;
        let task = self.core.tasks.get(&params.task_id, user.as_ref()).await?;
        Ok(GetTaskResult::new(task))
    }

    async fn update_task(&self, params: UpdateTaskParams, context: Context) -> Reply<()> {
        let user = self.core.user(&context)?;
        self.core
            .tasks
            .update(&params.task_id, user.as_ref(), params.input_responses)
            .await
    }

    async fn cancel_task(&self, params: CancelTaskParams, context: Context) -> Reply<()> {
        let user = self.core.user(&context)?;
        self.core.tasks.cancel(&params.task_id, user.as_ref()).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Reply<CustomResult> {
        // `rmcp` takes a request with wrong parameters for one of an unknown method.
        const OFFERED: [&str; 3] = ["resources/read", "prompts/get", "completion/complete"];
        const KNOWN: [&str; 5] = [
            "tools/call",
            "tools/list",
            "tasks/get",
            "tasks/update",
            "tasks/cancel",
        ];
        const MAX_METHOD: usize = 200;
        let method = &*request.method;
        let has_offers = self.core.offered(&context).is_some();
        if KNOWN.contains(&method) || has_offers && OFFERED.contains(&method) {
            let message = format!("the parameters of {} are invalid", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        // The error of `rmcp` repeats it.
        if method.len() > MAX_METHOD {
            let problem = "the name of the method is too long";
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, problem, None));
        }
        self.inner.on_custom_request(request, context).await
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        mut context: Context,
    ) -> Reply<ReadResourceResponse> {
        self.core.user(&context)?;
        self.connect(&mut context);
        if let Some(response) = self.core.read_kept(&params.uri, &context).await {
            return response;
        }
        if let Some(page) = self.core.read_app(&params.uri, &context) {
            pass(&context);
            return Ok(ReadResourceResponse::Complete(page));
        }
        if let Some(response) = Box::pin(self.core.read(&params, context.clone())).await {
            return response;
        }
        if self.is_own(|capabilities| capabilities.resources.is_some()) {
            return Err(unknown(&params.uri));
        }
        pass(&context);
        self.inner.read_resource(params, context).await
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        context: Context,
    ) -> Reply<GetPromptResponse> {
        self.core.user(&context)?;
        if let Some(response) = Box::pin(self.core.prompt(&params, context.clone())).await {
            return response;
        }
        if self.is_own(|capabilities| capabilities.prompts.is_some()) {
            return Err(ErrorData::invalid_params("unknown prompt", None));
        }
        pass(&context);
        self.inner.get_prompt(params, context).await
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        context: Context,
    ) -> Reply<CompleteResult> {
        self.core.user(&context)?;
        if let Some(response) = Box::pin(self.core.complete(&params, &context)).await {
            return response;
        }
        if self.is_own(|capabilities| capabilities.completions.is_some()) {
            let problem = "there is no such prompt or resource to complete";
            return Err(ErrorData::invalid_params(problem, None));
        }
        pass(&context);
        self.inner.complete(params, context).await
    }

    async fn subscribe(&self, params: SubscribeRequestParams, context: Context) -> Reply<()> {
        let core = &self.core;
        core.user(&context)?;
        if core.options.notifies() && has_connection(&context) {
            if let Some(admitted) = core.may_subscribe(&params.uri, &context, true) {
                admitted?;
                #[cfg(feature = "client")]
                core.watch(&params.uri, &context);
                return self.client(&context).subscribe(params.uri);
            }
            if self.is_own(|capabilities| capabilities.resources.is_some()) {
                return Err(unknown(&params.uri));
            }
        }
        pass(&context);
        self.inner.subscribe(params, context).await
    }

    async fn unsubscribe(&self, params: UnsubscribeRequestParams, context: Context) -> Reply<()> {
        self.core.user(&context)?;
        if let Some(client) = self.client.get() {
            client.unsubscribe(&params.uri);
        }
        if self.core.options.notifies()
            && self.is_own(|capabilities| capabilities.resources.is_some())
        {
            return Ok(());
        }
        self.inner.unsubscribe(params, context).await
    }

    list! {
        list_resources -> ListResourcesResult by uri, own_resources, resources;
        list_resource_templates -> ListResourceTemplatesResult by uri_template, own_templates, resources;
        list_prompts -> ListPromptsResult by name, own_prompts, prompts;
    }

    pass_on! {
        set_level(SetLevelRequestParams) -> ();
        list_skills(Option<PaginatedRequestParams>) -> ListSkillsResult;
        get_skill(GetSkillRequestParams) -> GetSkillResult;
        read_resource_directory(ReadResourceDirectoryRequestParams) -> ListResourcesResult;
    }

    notify! {
        on_cancelled(CancelledNotificationParam);
        on_progress(ProgressNotificationParam);
        on_custom_notification(CustomNotification);
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.inner.on_roots_list_changed(context).await;
    }
}
