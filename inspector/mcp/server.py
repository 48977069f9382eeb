"""The protocol: tools over stdin and stdout, through the official SDK.

While it serves, stdout belongs to the protocol: the SDK turns what anything else prints there to stderr. Tools are
called one at a time, in a thread, so that the server answers meanwhile; a call that a client takes back ends when its
work is done. An error is a result with `isError` and a sentence, never a traceback.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations

from inspector import plain
from inspector.mcp.instrument import Instrument
from inspector.mcp.tools import DATA, NAMED, TOOLS

NAME = "headlight"
INSTRUCTIONS = (
    "Headlight records every layer and head of a Transformer on a text, exactly. Begin with list_models; every other "
    f"tool takes a model's id and a text, and nothing is kept between calls. Layers and heads count from 0. {DATA}"
)


def server(instrument: Instrument) -> Server[Any]:
    """Return a server of the tools."""
    listed = ListToolsResult(tools=[_described(tool.name) for tool in TOOLS])
    alone = anyio.CapacityLimiter(1)

    async def list_tools(context: Any, params: Any) -> ListToolsResult:
        return listed

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        call = partial(answer, instrument, params.name, params.arguments)
        # Not abandoned where the client takes it back: it holds its turn until its work ends.
        return await anyio.to_thread.run_sync(call, limiter=alone)

    return Server(NAME, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


async def serve(instrument: Instrument) -> None:
    """Serve the tools on stdin and stdout until stdin ends."""
    served = server(instrument)
    async with stdio_server() as (read, write):
        await served.run(read, write, served.create_initialization_options())


def answer(instrument: Instrument, name: str, given: Any) -> CallToolResult:
    """Call a tool; what is wrong is told in the result."""
    try:
        if name not in NAMED:
            raise ValueError(f"There is no tool {name[:60]!a}; there are {', '.join(NAMED)}.")
        document = NAMED[name].call(instrument, given)
    except ValueError as error:
        logging.getLogger(__name__).info("refused: %s", error)
        document = plain.document("error", error=str(error))
    content = TextContent(type="text", text=plain.printed(document))
    return CallToolResult(content=[content], structured_content=document, is_error=document["kind"] == "error")


def _described(name: str) -> Tool:
    tool = NAMED[name]
    return Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.takes,
        output_schema=tool.gives,
        annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
    )
