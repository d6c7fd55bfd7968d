"""The MCP server: five tools over standard input and output, or over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from recollect.domain.data_text import as_data
from recollect.domain.secrets.detect import redact
from recollect.domain.shared.acting import Acting
from recollect.domain.shared.lines import READER
from recollect.domain.text import cut, one_line
from recollect.mcp import schemas
from recollect.mcp.answers import as_answered
from recollect.mcp.worker import Failed, Worker
from recollect.version import VERSION

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from recollect.mcp.callers import Caller

# In characters: a reason may repeat arguments.
_LONGEST_REASON = 2_000

# The name of whoever asks, in the scope of a request over HTTP.
CALLER = "recollect.caller"

_BY_NAME = {tool.name: tool for tool in schemas.TOOLS}


def build_server(worker: Worker) -> Server[dict[str, Any]]:
    """Return the server with its tools, for any transport."""

    async def list_tools(
        context: ServerRequestContext[dict[str, Any]], _parameters: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        may_store = await anyio.to_thread.run_sync(worker.may_store)
        acting = _acting(context)
        offered = [tool for tool in schemas.TOOLS if may_store or tool is not schemas.STORE]
        offered = [tool for tool in offered if tool.read_only or acting is None or acting.role != READER]
        return types.ListToolsResult(tools=[_tool(tool) for tool in offered])

    async def call_tool(
        context: ServerRequestContext[dict[str, Any]], parameters: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = _BY_NAME.get(parameters.name)
        if tool is None:
            asked = one_line(redact(parameters.name[:200]))[:60]
            message = f"there is no tool {asked!r}; the tools are {', '.join(_BY_NAME)}"
            raise MCPError(code=types.INVALID_PARAMS, message=message)
        try:
            answer = await worker.call(tool, parameters.arguments, _acting(context))
        except Failed as failure:
            reason = types.TextContent(type="text", text=cut(as_data(str(failure)), _LONGEST_REASON))
            return types.CallToolResult(content=[reason], is_error=True)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=as_data(answer.text))],
            structured_content=as_answered(answer.data),
        )

    return Server(
        schemas.NAME,
        version=VERSION,
        title=schemas.TITLE,
        instructions=schemas.INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _acting(context: ServerRequestContext[dict[str, Any]]) -> Acting | None:
    """Return for whom a request acts: the user of its token, or None for the process itself."""
    caller: Caller | None = context.request.scope[CALLER] if context.request else None
    return caller.acting if caller else None


def _tool(tool: schemas.ToolSchema) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.accepts,
        output_schema=tool.returns,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )
