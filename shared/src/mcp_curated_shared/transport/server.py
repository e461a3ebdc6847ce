"""`CuratedServer`: the SDK's server with everything that a host or a model would trip over put right.

Every server of the collection is one of these. It overrides the public `call_tool`, `list_tools`, `read_resource`,
`list_resource_templates` and `get_prompt`, which the SDK's own handlers call, so the envelope of each protocol
version stays the SDK's. Middleware does what those methods cannot see: subscriptions, and the last look at what leaves.

Protocol versions: 2026-07-28 and every handshake version that the SDK speaks. One exception: 2025-03-26 lets a client
send JSON-RPC batches, and the SDK (2.3.0, stdio) never answers one; no client in use sends them.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, NoReturn, TypeVar

from mcp.server.auth.provider import TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.lowlevel.server import LifespanResultT
from mcp.server.mcpserver import Context, MCPServer, RequestStateSecurity
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.resources import FunctionResource, Resource
from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    GetPromptResult,
    Icon,
    InputRequiredResult,
    ResourceTemplate,
    ToolAnnotations,
)
from mcp_types import Tool as ListedTool
from pydantic import AnyUrl

from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.nearest import nearest
from mcp_curated_shared.security.untrusted import safe_text
from mcp_curated_shared.transport.argument_errors import quoted
from mcp_curated_shared.transport.asking import remember_sealed_state
from mcp_curated_shared.transport.completion import Completer, guarded
from mcp_curated_shared.transport.failures import failed, failed_tool, foreseen, protocol_error
from mcp_curated_shared.transport.identity import Identity, cache_hints
from mcp_curated_shared.transport.outgoing import sendable_only
from mcp_curated_shared.transport.prompts import check_arguments
from mcp_curated_shared.transport.requests import remember_request
from mcp_curated_shared.transport.resources import ResourceReader, read_by, scheme_of, unknown_resource
from mcp_curated_shared.transport.tools import Alias, BuildError, ToolBox, ToolOptions
from mcp_curated_shared.transport.watches import Subscriptions, Watches

_CompleterT = TypeVar("_CompleterT", bound=Completer)
_log = logging.getLogger(__name__)


class CuratedServer(MCPServer[LifespanResultT]):
    """An `MCPServer` with strict tools, honest errors and plain schemas.

    Args:
        identity: What the server says it is.
        lifespan: Opens what the server holds while it runs, and closes it.
        visible: Which tools exist for the caller of the current request (`current_request()`); the others are neither
            listed nor callable. `tools/list` is then cached for one caller only.
        watches: Live resources; None for none, and subscriptions are then not served.
        request_state_security: The keys that seal questions to the user; needed when several replicas serve one name.
        auth: For HTTP: what a client must show.
        token_verifier: For HTTP: who checks it.
    """

    def __init__(
        self,
        identity: Identity,
        *,
        lifespan: Callable[[MCPServer[LifespanResultT]], AbstractAsyncContextManager[LifespanResultT]] | None = None,
        visible: Callable[[ListedTool], bool] | None = None,
        watches: Watches | None = None,
        request_state_security: RequestStateSecurity | None = None,
        auth: AuthSettings | None = None,
        token_verifier: TokenVerifier | None = None,
    ) -> None:
        bus = InMemorySubscriptionBus()
        self._toolbox = ToolBox()
        self._own_prompts: dict[str, Prompt] = {}
        self._schemes: dict[str, ResourceReader] = {}
        self._own_templates: list[ResourceTemplate] = []
        self._visible = visible
        self._refusal: CuratedError | None = None
        self._subscriptions_of_clients = None if watches is None else Subscriptions(watches, bus)
        super().__init__(
            identity.name,
            identity.title,
            identity.description,
            identity.instructions or None,
            identity.website_url,
            version=identity.version,
            token_verifier=token_verifier,
            lifespan=lifespan,
            auth=auth,
            request_state_security=request_state_security,
            cache_hints=cache_hints(tools_depend_on_caller=visible is not None),
            subscriptions=False if watches is None else bus,
        )
        # An audit, when there is one, goes in before this: `server.middleware.insert(0, ...)` puts it outermost,
        # where it sees forged request state, which middleware given to the constructor does not.
        self.middleware[:0] = [sendable_only, remember_sealed_state]
        self.middleware.append(remember_request)
        if self._subscriptions_of_clients is not None:
            self.middleware.append(self._subscriptions_of_clients)

    # Tools

    def add_tool(  # noqa: PLR0917  # the SDK's own signature, which its decorator calls
        self,
        fn: Callable[..., Any],
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        structured_output: bool | None = None,
    ) -> None:
        """Register a tool. `@server.tool(...)` calls this.

        Args:
            fn: The function; every parameter is `Annotated[type, Field(description=...)]`.
            name: The name; the function's own by default.
            title: A short name for people.
            description: One paragraph for the model that must choose; the function's docstring by default.
            annotations: All four hints; see `reads` and `writes`.
            icons: Pictures for people.
            meta: Facts for programs.
            structured_output: True to publish an output schema whatever the function returns. By default models are
                published, and plain texts and lists are not: they would be sent twice.

        Raises:
            BuildError: A rule of this page is broken, or the name is taken.
        """
        options = ToolOptions(
            name=name,
            title=title,
            description=description,
            annotations=annotations,
            icons=icons,
            meta=meta,
            structured_output=structured_output,
        )
        self._toolbox.add(fn, options)

    def remove_tool(self, name: str) -> None:
        """Take a tool and its aliases out."""
        self._toolbox.remove(name)

    def alias(
        self,
        name: str,
        target: str,
        *,
        renames: Mapping[str, str] | None = None,
        fixed: Mapping[str, Any] | None = None,
    ) -> None:
        """Let a tool answer to another name that is not listed, so that old habits cost no context.

        Args:
            name: The other name.
            target: The listed tool, registered before.
            renames: Arguments by their other names, and what the tool calls them.
            fixed: Arguments that this name implies.
        """
        self._toolbox.alias(Alias(name, target, renames or {}, fixed or {}))

    async def list_tools(self) -> list[ListedTool]:
        """The tools that the caller can see, in the order of registration."""
        return [listed for listed in self._toolbox.listed() if self._shows(listed)]

    def _shows(self, listed: ListedTool) -> bool:
        hints = listed.annotations
        if self._refusal is not None and not (hints is not None and hints.read_only_hint):
            return False
        return self._visible is None or self._visible(listed)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[LifespanResultT, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool by its name or an alias.

        Returns:
            Its result; a failure is a result too (`isError`), its kind under `mcp-curated/error` in `_meta`.

        Raises:
            MCPError: -32602 for a name that is no tool's, in both eras; or the tool's own protocol error.
        """
        found = self._toolbox.find(name)
        if found is None or not self._shows(found[1]):
            raise MCPError(INVALID_PARAMS, self._unknown_tool(name))
        tool, _, alias = found
        if context is None:
            context = Context(mcp_server=self)
        try:
            if self._refusal is not None:
                raise self._refusal
            given = arguments if alias is None else alias.arguments(arguments)
            return await tool.run(given, context, convert_result=True)
        except CuratedError as error:
            return self._failed(tool.name, error)
        except ToolError as error:
            return self._failed(tool.name, foreseen(error), error)

    @staticmethod
    def _failed(tool: str, error: CuratedError | None, crash: Exception | None = None) -> CallToolResult:
        if error is None:
            _log.error("tool %r raised an unexpected exception", tool, exc_info=crash)
            return failed(f"Error executing tool {tool}", "internal")
        _log.info("tool %r failed: %s", tool, error.kind)
        return failed_tool(error)

    def _unknown_tool(self, name: str) -> str:
        meant = nearest(name, [listed.name for listed in self._toolbox.listed() if self._shows(listed)])
        hint = f"did you mean {meant}?" if meant is not None else "tools/list has the names."
        return f"Unknown tool {quoted(name)}; {hint}"

    def reads_only(self, name: str) -> bool | None:
        """Whether the tool that answers to a name changes nothing; None where none does."""
        found = self._toolbox.find(name)
        return None if found is None else bool(found[1].annotations and found[1].annotations.read_only_hint)

    def refuse_all(self, error: CuratedError) -> None:
        """Do no work from now on: list only tools that read, and answer every call, read and prompt with this error.

        For a server that a host started with settings that cannot be used: the person who never sees its log reads the
        error in the conversation.
        """
        self._refusal = error

    # Resources

    def add_resource(self, resource: Resource) -> None:
        """Register a static resource.

        Raises:
            BuildError: The URI is taken.
        """
        if any(str(known.uri) == str(resource.uri) for known in self._resource_manager.list_resources()):
            raise BuildError(f"Two resources have the URI {resource.uri}.")
        super().add_resource(resource)

    def resource_scheme(self, scheme: str, read: ResourceReader, *, templates: Iterable[ResourceTemplate] = ()) -> None:
        """Serve every URI of a scheme, as the client wrote it, by one reader.

        Args:
            scheme: Such as `file`.
            read: Gives what the URI names; `CuratedError` when it cannot. It parses the URI itself.
            templates: What `resources/templates/list` says; nothing is matched against them.
        """
        if scheme in self._schemes:
            raise BuildError(f"Two readers serve the scheme {scheme}.")
        self._schemes[scheme] = read
        self._own_templates.extend(templates)

    def config_resource(self, render: Callable[[], str], *, media_type: str = "text/plain") -> None:
        """Serve `config://main`: the effective settings, secrets masked by whoever renders them."""
        self.add_resource(
            FunctionResource(
                uri="config://main",
                name="config",
                title="Effective settings",
                description="The settings this server runs with, and where each came from; secrets are masked.",
                mime_type=media_type,
                fn=render,
            )
        )

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """The templates of schemes first, then those that the SDK matches."""
        return [*self._own_templates, *await super().list_resource_templates()]

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[LifespanResultT, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """Read a resource.

        Raises:
            MCPError: A foreseen failure of a `resources/read` request, with the code of its protocol era.
            ResourceError: The same inside another request, such as a tool's; or a crash.
        """
        if context is None:
            context = Context(mcp_server=self)
        raw = str(uri)
        try:
            if self._refusal is not None:
                raise self._refusal
            read = self._schemes.get(scheme_of(raw))
            if read is not None:
                return await read_by(read, raw, context)
            return await super().read_resource(uri, context)
        except CuratedError as error:
            self._fail_read(raw, error, context)
        except ResourceError as error:
            known = unknown_resource(raw, self._schemes) if _is_unmatched(error) else foreseen(error)
            if known is None:
                raise
            self._fail_read(raw, known, context)

    @staticmethod
    def _fail_read(uri: str, error: CuratedError, context: Context[Any, Any]) -> NoReturn:
        _log.info("reading a resource failed: %s", error.kind)
        version = context.protocol_version
        if version is not None and context.request_context.method == "resources/read":
            raise protocol_error(error, version, data={"uri": uri}) from None
        raise ResourceError(safe_text(str(error))) from error

    async def notify_resource_updated(self, uri: str) -> None:
        """Tell every client that watches `uri`, in both eras, that it changed. Nothing without `watches`."""
        if self._subscriptions_of_clients is not None:
            await self._subscriptions_of_clients.notify(uri)

    # Prompts and completion

    def add_prompt(self, prompt: Prompt) -> None:
        """Register a prompt. `@server.prompt(...)` calls this.

        Raises:
            BuildError: The name is taken, or the prompt or an argument has no description.
        """
        if prompt.name in self._own_prompts:
            raise BuildError(f"Two prompts have the name {prompt.name}.")
        undescribed = [argument.name for argument in prompt.arguments or () if not argument.description]
        if not (prompt.description or "").strip() or undescribed:
            raise BuildError(f"Prompt {prompt.name} lacks a description: {', '.join(undescribed) or 'its own'}.")
        self._own_prompts[prompt.name] = prompt
        super().add_prompt(prompt)

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[LifespanResultT, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """Render a prompt.

        Raises:
            MCPError: -32602 for an unknown prompt or wrong arguments, in both eras; a foreseen failure's text and
                code; or -32603 and the prompt's name for a crash.
        """
        prompt = self._own_prompts.get(name)
        if prompt is None:
            meant = nearest(name, self._own_prompts)
            hint = f"did you mean {meant}?" if meant is not None else "prompts/list has the names."
            raise MCPError(INVALID_PARAMS, f"Unknown prompt {quoted(name)}; {hint}")
        try:
            if self._refusal is not None:
                raise self._refusal
            check_arguments(prompt, arguments or {})
            return await super().get_prompt(name, arguments, context)
        except CuratedError as error:
            raise protocol_error(error, None) from None
        except ValueError as error:
            known = foreseen(error)
            if known is not None:
                raise protocol_error(known, None) from None
            _log.error("prompt %r raised an unexpected exception", name, exc_info=error)
            raise MCPError(INTERNAL_ERROR, f"Error rendering prompt {name}") from None

    def completion(self) -> Callable[[_CompleterT], _CompleterT]:  # pyright: ignore[reportIncompatibleMethodOverride]  # the SDK's decorator is unannotated
        """Register the completion handler: `await complete(ref, argument, context)`.

        A `CuratedError` in it means that there is nothing to offer; at most 100 values are sent.
        """
        register = super().completion()

        def decorator(complete: _CompleterT) -> _CompleterT:
            register(guarded(complete))
            return complete

        return decorator


def _is_unmatched(error: ResourceError) -> bool:
    """Whether this is the SDK's own answer that no resource has the URI, not one that a resource raised."""
    return isinstance(error, ResourceNotFoundError) and str(error).startswith("Unknown resource: ")
