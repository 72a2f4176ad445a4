"""Checks deferred tools, and what models send of them, with the providers' own packages.

Reads one JSON object: for each dialect its `tools`, a whole `response` and the `follow_up` to it. Prints one
line for each thing that a package rejects, and a last line with counts.
"""

import json
import sys

from pydantic import TypeAdapter

counts = {}
problems = []


def check(dialect, what, kind, value):
    counts[dialect] = counts.get(dialect, 0) + 1
    try:
        if hasattr(kind, "model_validate"):
            kind.model_validate(value, strict=True)
        else:
            TypeAdapter(kind).validate_python(value, strict=True)
            unknown = set(value) - set(getattr(kind, "__annotations__", value))
            if unknown:
                raise ValueError(f"unknown keys {unknown}")
    except Exception as error:
        problems.append(f"{dialect}: {what}: {type(error).__name__}: {error}")


def anthropic(name, case):
    from anthropic.types import (
        ContentBlockParam,
        Message,
        MessageParam,
        ToolParam,
        ToolUnionParam,
    )
    from anthropic.types.tool_search_tool_result_block import ToolSearchToolResultBlock

    for tool in case["tools"]:
        check(name, tool["name"], ToolUnionParam, tool)
        if "type" not in tool:
            check(name, tool["name"], ToolParam, tool)
    check(name, "response", Message, case["response"])
    blocks = [b for b in case["response"]["content"] if b["type"] == "tool_search_tool_result"]
    for block in blocks:
        check(name, "search", ToolSearchToolResultBlock, block)
    for message in case["follow_up"]:
        check(name, "follow-up", MessageParam, message)
        # An iterable is validated only when it is read.
        for block in message["content"]:
            check(name, block["type"], ContentBlockParam, block)


def openai(name, case):
    from openai.types.responses import (
        FunctionToolParam,
        NamespaceToolParam,
        ResponseInputItemParam,
        ResponseOutputItem,
        ToolSearchToolParam,
    )
    from openai.types.responses.namespace_tool_param import ToolFunction

    kinds = {
        "function": FunctionToolParam,
        "namespace": NamespaceToolParam,
        "tool_search": ToolSearchToolParam,
    }
    for tool in case["tools"]:
        check(name, tool["type"], kinds[tool["type"]], tool)
        for function in tool.get("tools", []):
            check(name, function["name"], ToolFunction, function)
    for item in case["response"]["output"]:
        check(name, item["type"], ResponseOutputItem, item)
    for item in case["follow_up"]:
        check(name, "follow-up", ResponseInputItemParam, item)


CHECKS = {"anthropic": anthropic, "openai": openai}
for name, case in json.load(sys.stdin).items():
    CHECKS[name.split("-")[0]](name, case)
for problem in problems:
    print(problem)
print(json.dumps(counts))
sys.exit(1 if problems else 0)
