"""FastMCP's client against a server: fastmcp_client.py PROGRAM."""

import asyncio
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError
from mcp.shared.exceptions import MCPError

from server import HttpServer

PROGRAM = sys.argv[1]


async def answer(message, response_type, params, context):
    properties = params.requested_schema["properties"]
    return {key: "ada@example.com" if key == "email" else "ada" for key in properties}


async def check(client):
    tools = {tool.name for tool in await client.list_tools()}
    assert {"greet", "mirror"} <= tools, tools
    assert (await client.call_tool("greet", {"name": "Ada"})).content[0].text == "Hello, Ada!"
    mirrored = await client.call_tool("mirror", {"x": 2, "y": -3})
    assert mirrored.structured_content == {"x": -2, "y": 3}, mirrored
    for name, arguments in [("test_error_handling", {}), ("greet", {})]:
        try:
            await client.call_tool(name, arguments)
            raise AssertionError("no error")
        except ToolError as error:
            assert str(error), error
    try:
        await client.call_tool("no_such_tool", {})
        raise AssertionError("an unknown tool is no error")
    except (MCPError, ToolError):
        pass

    seen = []

    async def progress(done, total, message):
        seen.append(done)

    await client.call_tool("test_tool_with_progress", {}, progress_handler=progress)
    assert seen == [0, 50, 100], seen

    before = int((await client.call_tool("cancelled_calls", {})).content[0].text)
    task = asyncio.create_task(client.call_tool("wait", {}))
    await asyncio.sleep(0.3)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    for _ in range(100):
        if int((await client.call_tool("cancelled_calls", {})).content[0].text) == before + 1:
            break
        await asyncio.sleep(0.05)
    else:
        raise AssertionError("the call was not cancelled")

    asked = await client.call_tool("test_elicitation", {"message": "Who are you?"})
    assert "ada@example.com" in asked.content[0].text, asked


async def main():
    for _ in range(2):
        async with Client(StdioTransport(PROGRAM, ["--stdio"], keep_alive=False), elicitation_handler=answer) as client:
            await check(client)
    print("fastmcp, stdio: ok")
    server = HttpServer(PROGRAM)
    try:
        for _ in range(2):
            async with Client(server.url, elicitation_handler=answer) as client:
                await check(client)
            server.restart()
    finally:
        server.kill()
    print("fastmcp, http: ok")


asyncio.run(asyncio.wait_for(main(), 120))
