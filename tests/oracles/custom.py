"""Checks custom tools, tools that programs call, and their results with the providers' own packages.

Reads one JSON object: for each dialect its `tools`, a whole `response` and the `follow_up` to it.
Prints one line for each thing that a package rejects, and a last line with counts.
"""

import json
import sys

from pydantic import TypeAdapter

counts = {}
problems = []


def check(dialect, what, holds):
    """Runs a check that raises, or returns a problem."""
    counts[dialect] = counts.get(dialect, 0) + 1
    try:
        problem = holds()
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    if problem:
        problems.append(f"{dialect}: {what}: {problem}")


def knows(kind, value):
    """Checks that a typed dictionary accepts a value and knows all of its keys."""
    TypeAdapter(kind).validate_python(value, strict=True)
    unknown = set(value) - set(kind.__annotations__)
    return f"unknown keys {unknown}" if unknown else None


def openai_responses(name, case):
    from openai.types.responses import (
        CustomToolParam,
        FunctionToolParam,
        Response,
        ResponseInputItemParam,
    )
    from openai.types.responses.response_custom_tool_call_output_param import (
        ResponseCustomToolCallOutputParam,
    )
    from openai.types.responses.response_input_item_param import (
        FunctionCallOutput,
        McpApprovalResponse,
    )
    from openai.types.responses.tool_param import ProgrammaticToolCalling

    kinds = {
        "custom": CustomToolParam,
        "function": FunctionToolParam,
        "programmatic_tool_calling": ProgrammaticToolCalling,
    }
    for tool in case["tools"]:
        check(name, tool.get("name"), lambda: knows(kinds[tool["type"]], tool))
    check(name, "kinds", lambda: {tool["type"] for tool in case["tools"]} ^ set(kinds))
    check(name, "response", lambda: Response.model_validate(case["response"]) and None)
    outputs = {
        "custom_tool_call_output": ResponseCustomToolCallOutputParam,
        "function_call_output": FunctionCallOutput,
        "mcp_approval_response": McpApprovalResponse,
    }
    accepts = TypeAdapter(ResponseInputItemParam).validate_python
    for item in case["follow_up"]:
        check(name, item["type"], lambda: accepts(item, strict=True) and None)
        if item["type"] in outputs:
            check(name, item["type"], lambda: knows(outputs[item["type"]], item))
    found = {item["type"] for item in case["follow_up"]}
    check(name, "results", lambda: set(outputs) - found)
    asked = [item["id"] for item in case["response"]["output"] if item["type"] == "mcp_approval_request"]
    answers = [item for item in case["follow_up"] if item["type"] == "mcp_approval_response"]
    answered = [item["approval_request_id"] for item in answers]
    check(name, "approvals", lambda: None if asked == answered else f"{asked} and {answered}")
    approved = [item["approve"] for item in answers]
    check(name, "approvals", lambda: None if approved == [True, False, False] else str(approved))


def openai_chat(name, case):
    from openai.types.chat import ChatCompletion, ChatCompletionMessageParam
    from openai.types.chat.chat_completion_custom_tool_param import (
        ChatCompletionCustomToolParam,
        Custom,
        CustomFormatGrammar,
    )

    custom = [tool for tool in case["tools"] if tool["type"] == "custom"]
    for tool in custom:
        check(name, "tool", lambda: knows(ChatCompletionCustomToolParam, tool))
        check(name, "tool", lambda: knows(Custom, tool["custom"]))
        if "format" in tool["custom"]:
            check(name, "format", lambda: knows(CustomFormatGrammar, tool["custom"]["format"]))
    check(name, "tools", lambda: None if len(custom) == 3 else f"{len(custom)} custom tools")
    check(name, "response", lambda: ChatCompletion.model_validate(case["response"]) and None)
    accepts = TypeAdapter(ChatCompletionMessageParam).validate_python
    for message in case["follow_up"]:
        check(name, "follow-up", lambda: accepts(message, strict=True) and None)


def anthropic(name, case):
    from anthropic.types import Message, MessageParam, ToolParam, ToolUnionParam

    for tool in case["tools"]:
        if "input_schema" in tool:
            check(name, tool["name"], lambda: knows(ToolParam, tool))
    accepts = TypeAdapter(ToolUnionParam).validate_python
    for tool in case["tools"]:
        check(name, tool["name"], lambda: accepts(tool, strict=True) and None)
    callers = [tool for tool in case["tools"] if "allowed_callers" in tool]
    check(name, "callers", lambda: None if len(callers) == 3 else f"{len(callers)} tools")
    check(name, "response", lambda: Message.model_validate(case["response"]) and None)
    accepts_message = TypeAdapter(MessageParam).validate_python
    for message in case["follow_up"]:
        check(name, "follow-up", lambda: accepts_message(message, strict=True) and None)


DIALECTS = {
    "openai-responses": openai_responses,
    "openai-chat": openai_chat,
    "anthropic": anthropic,
}

for name, case in json.load(sys.stdin).items():
    check(name, "all", lambda: DIALECTS[name](name, case))
for problem in problems:
    print(problem)
print(json.dumps(counts))
sys.exit(1 if problems else 0)
