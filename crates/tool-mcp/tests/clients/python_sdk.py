"""The official Python SDK against a server: python_sdk.py PROGRAM."""

import asyncio
import sys

import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from server import HttpServer

PROGRAM = sys.argv[1]


async def answer(context, params):
    properties = params.requested_schema["properties"]
    content = {key: "ada@example.com" if key == "email" else "ada" for key in properties}
    return types.ElicitResult(action="accept", content=content)


def text(result):
    return result.content[0].text


async def check(client):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tools["greet"].input_schema["required"] == ["name"], tools["greet"]
    assert tools["mirror"].output_schema["type"] == "object"
    assert text(await client.call_tool("greet", {"name": "Ada"})) == "Hello, Ada!"
    mirrored = await client.call_tool("mirror", {"x": 2, "y": -3})
    assert mirrored.structured_content == {"x": -2, "y": 3}, mirrored
    kinds = [part.type for part in (await client.call_tool("test_multiple_content_types", {})).content]
    assert kinds == ["text", "image", "resource"], kinds

    for name, arguments in [("test_error_handling", {}), ("greet", {}), ("greet", {"name": 7})]:
        result = await client.call_tool(name, arguments)
        assert result.is_error and text(result), result
    try:
        await client.call_tool("no_such_tool", {})
        raise AssertionError("an unknown tool is no error")
    except MCPError as error:
        assert error.error.code == -32602, error.error

    seen = []

    async def progress(done, total, message):
        seen.append((done, total))

    await client.call_tool("test_tool_with_progress", {}, progress_callback=progress)
    assert seen == [(0, 100), (50, 100), (100, 100)], seen

    before = int(text(await client.call_tool("cancelled_calls", {})))
    task = asyncio.create_task(client.call_tool("wait", {}))
    await asyncio.sleep(0.3)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    for _ in range(100):
        if int(text(await client.call_tool("cancelled_calls", {}))) == before + 1:
            break
        await asyncio.sleep(0.05)
    else:
        raise AssertionError("the call was not cancelled")

    asked = await client.call_tool("test_elicitation", {"message": "Who are you?"})
    assert "ada@example.com" in text(asked), asked


async def main():
    for mode in ["legacy", "auto", "2026-07-28"]:
        stdio = StdioServerParameters(command=PROGRAM, args=["--stdio"])
        # The second is a server that was started again.
        for _ in range(2):
            async with Client(stdio, mode=mode, elicitation_callback=answer) as client:
                await check(client)
        print(f"python sdk, stdio, {mode}: ok")
        server = HttpServer(PROGRAM)
        try:
            async with Client(server.url, mode=mode, elicitation_callback=answer) as client:
                await check(client)
                server.restart()
                if mode != "legacy":
                    # There is no session that could end.
                    assert text(await client.call_tool("greet", {"name": "Bob"})) == "Hello, Bob!"
            async with Client(server.url, mode=mode, elicitation_callback=answer) as client:
                await check(client)
        finally:
            server.kill()
        print(f"python sdk, http, {mode}: ok")


asyncio.run(asyncio.wait_for(main(), 120))
