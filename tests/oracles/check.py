"""Checks what the dialects write with the providers' own packages.

Reads one JSON object: for each dialect its `tools`, a whole `response`, the `follow_up` to it, the
messages of a run whose calls are in the `background`, messages with `media` of every kind, and the messages of
conversations that `moved` there from each other dialect.
Prints one line for each thing that a package rejects, and a last line with counts.
"""

import base64
import copy
import json
import sys
from typing import Literal

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


def takes(kind, value):
    """Raises an error if a typed dictionary or a model rejects a value."""
    TypeAdapter(kind).validate_python(value, strict=True)


def knows(kind, value):
    """Checks that a typed dictionary accepts a value and knows all of its keys."""
    takes(kind, value)
    unknown = set(value) - set(kind.__annotations__)
    return f"unknown keys {unknown}" if unknown else None


def each(name, kind, blocks, least):
    """Checks blocks of content one by one: a package may validate an iterable only when it is read."""
    for block in blocks:
        check(name, f"media {block.get('type')}", lambda: takes(kind, block))
    check(name, "media", lambda: None if len(blocks) >= least else f"only {len(blocks)} blocks")


def moved(name, case, message):
    """Checks the messages of conversations that moved."""
    check(name, "moved", lambda: None if len(case["moved"]) >= 7 else f"only {len(case['moved'])}")
    for part in (part for messages in case["moved"] for part in messages):
        check(name, "moved", lambda: message(part))


def decodes(text, type=None):
    """Checks that a text is base64, or a data URL with it."""
    if type is not None or text.startswith("data:"):
        head, text = text.split(",", 1)
        if not (head.startswith("data:") and head.endswith(";base64") and "/" in head):
            return f"{head} is not the head of a data URL"
    return None if base64.b64decode(text, validate=True) else "it is empty"


def differs(left, right):
    return None if left == right else f"{json.dumps(left)} is turned into {json.dumps(right)}"


def openai_chat(name, case):
    from openai.types.chat import ChatCompletion, ChatCompletionMessageParam
    from openai.types.chat.chat_completion_function_tool_param import ChatCompletionFunctionToolParam
    from openai.types.shared_params import FunctionDefinition

    for tool in case["tools"]:
        function = tool["function"]
        check(name, function["name"], lambda: knows(ChatCompletionFunctionToolParam, tool))
        check(name, function["name"], lambda: knows(FunctionDefinition, function))
        if function.get("strict"):
            check(name, function["name"], lambda: openai_strict(function["parameters"]))
    if name.startswith("openai"):
        check(name, "response", lambda: ChatCompletion.model_validate(case["response"]) and None)
        for message in case["follow_up"] + case["background"]:
            check(name, "follow-up", lambda: takes(ChatCompletionMessageParam, message))
        moved(name, case, lambda message: takes(ChatCompletionMessageParam, message))

    chat_media(name, case, name.startswith("openai"))
    chat_requests(name, case)


def chat_requests(name, case):
    from openai.types.chat.chat_completion_tool_choice_option_param import (
        ChatCompletionToolChoiceOptionParam,
    )
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
    from openai.types.shared_params.response_format_json_schema import (
        JSONSchema,
        ResponseFormatJSONSchema,
    )

    known = CompletionCreateParamsNonStreaming.__annotations__ | request_keys(
        CompletionCreateParamsNonStreaming
    )
    for fields in case["requests"]:
        check(name, "request", lambda: unknown_keys(fields, known))
        if "tool_choice" in fields:
            choice = fields["tool_choice"]
            check(name, f"choice {choice}", lambda: takes(ChatCompletionToolChoiceOptionParam, choice))
        if "parallel_tool_calls" in fields:
            check(name, "parallel", lambda: takes(bool, fields["parallel_tool_calls"]))
        if "response_format" in fields:
            form = fields["response_format"]
            check(name, "answer", lambda: knows(ResponseFormatJSONSchema, form))
            check(name, "answer", lambda: knows(JSONSchema, form["json_schema"]))
            if form["json_schema"]["strict"] and name.startswith("openai"):
                check(name, "answer", lambda: openai_strict(form["json_schema"]["schema"]))


def request_keys(kind):
    """Returns the keys of a typed dictionary and of those that it extends."""
    keys = {}
    for base in getattr(kind, "__orig_bases__", ()):
        keys |= request_keys(base)
    return keys | getattr(kind, "__annotations__", {})


def unknown_keys(fields, known):
    unknown = set(fields) - set(known)
    return f"unknown fields {unknown}" if unknown else None


def chat_media(name, case, is_openai):
    from openai.types.chat import ChatCompletionMessageParam
    from openai.types.chat import ChatCompletionContentPartParam

    for message in case["media"]:
        check(name, "media", lambda: takes(ChatCompletionMessageParam, message))
        if message["role"] == "tool":
            check(name, "media", lambda: takes(str, message["content"]))
    user = case["media"][-1]
    check(name, "media", lambda: takes(str, {"user": "user"}[user["role"]]))
    each(name, ChatCompletionContentPartParam, user["content"], 7)
    for block in user["content"]:
        if block["type"] == "image_url" and not block["image_url"]["url"].startswith("http"):
            check(name, "image", lambda: decodes(block["image_url"]["url"], "image"))
        if block["type"] == "input_audio":
            check(name, "audio", lambda: decodes(block["input_audio"]["data"]))
        if block["type"] == "file":
            check(name, "file", lambda: decodes(block["file"]["file_data"], "file"))
    kinds = {block["type"] for block in user["content"]}
    expected = {"text", "image_url", "input_audio", "file"} if is_openai else {"text", "image_url"}
    check(name, "media", lambda: differs(sorted(expected), sorted(kinds)))


def openai_responses(name, case):
    from openai.types.responses import FunctionToolParam, ResponseInputItemParam

    for tool in case["tools"]:
        check(name, tool["name"], lambda: takes(FunctionToolParam, tool))
        if tool["strict"]:
            check(name, tool["name"], lambda: openai_strict(tool["parameters"]))
    for item in case["follow_up"] + case["background"]:
        check(name, "follow-up", lambda: takes(ResponseInputItemParam, item))
    moved(name, case, lambda item: takes(ResponseInputItemParam, item))
    from openai.types.responses.response_function_call_output_item_param import (
        ResponseFunctionCallOutputItemParam,
    )

    from openai.types.responses.response_create_params import (
        ResponseCreateParamsNonStreaming,
        ToolChoice,
    )
    from openai.types.responses.response_format_text_json_schema_config_param import (
        ResponseFormatTextJSONSchemaConfigParam,
    )

    known = request_keys(ResponseCreateParamsNonStreaming)
    for fields in case["requests"]:
        check(name, "request", lambda: unknown_keys(fields, known))
        if "tool_choice" in fields:
            choice = fields["tool_choice"]
            check(name, f"choice {choice}", lambda: takes(ToolChoice, choice))
        if "text" in fields:
            form = fields["text"]["format"]
            check(name, "answer", lambda: knows(ResponseFormatTextJSONSchemaConfigParam, form))
            if form["strict"]:
                check(name, "answer", lambda: openai_strict(form["schema"]))

    for item in case["media"]:
        check(name, "media", lambda: takes(ResponseInputItemParam, item))
    each(name, ResponseFunctionCallOutputItemParam, case["media"][0]["output"], 25)
    for block in case["media"][0]["output"]:
        data = block.get("file_data") or block.get("image_url") or "http"
        if not data.startswith("http"):
            check(name, "media", lambda: decodes(data, "media"))


def openai_async(name, case):
    """Checks calls whose results come later, too: the key has no annotation of its own in the package."""
    from openai.types.responses import FunctionToolParam, ResponseFunctionToolCallParam

    openai_responses(name, case)
    tools = [tool for tool in case["tools"] if "async" in tool]
    check(name, "async", lambda: None if len(tools) == 1 else f"{len(tools)} tools")
    for tool in tools:
        check(name, tool["name"], lambda: unknown_keys(tool, request_keys(FunctionToolParam)))
    calls = [item for item in case["background"] if item.get("type") == "function_call"]
    outputs = [item for item in case["background"] if item.get("type") == "function_call_output"]
    for call in calls:
        known = request_keys(ResponseFunctionToolCallParam)
        check(name, "async", lambda: unknown_keys(call, known))
        check(name, "async", lambda: takes(bool, call["async"]))
    # One of those that run has ended, and one has invalid arguments.
    ended = {output["call_id"] for output in outputs}
    is_expected = len(ended) == len(outputs) == 2 and ended < {call["call_id"] for call in calls}
    check(name, "async", lambda: None if is_expected else f"{outputs}")


def openai_strict(schema):
    """Checks that the package's own converter leaves the schema as it is."""
    from openai.lib._pydantic import _ensure_strict_json_schema as converted

    root = copy.deepcopy(schema)
    return differs(schema, converted(root, path=(), root=root))


def anthropic(name, case):
    from anthropic.types import Message, MessageParam, ToolParam

    for tool in case["tools"]:
        check(name, tool["name"], lambda: knows(ToolParam, tool))
        if tool.get("strict"):
            check(name, tool["name"], lambda: anthropic_strict(tool["input_schema"]))
        for example in tool.get("input_examples", []):
            check(name, tool["name"], lambda: accepts(tool["input_schema"], example))
    examples = sum(len(tool.get("input_examples", [])) for tool in case["tools"])
    check(name, "examples", lambda: None if examples >= 2 else f"only {examples}")
    check(name, "response", lambda: Message.model_validate(case["response"]) and None)
    for message in case["follow_up"] + case["background"]:
        check(name, "follow-up", lambda: takes(MessageParam, message))
    moved(name, case, lambda message: takes(MessageParam, message))
    from anthropic.types import OutputConfigParam, ToolChoiceParam
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    known = request_keys(MessageCreateParamsNonStreaming)
    for fields in case["requests"]:
        check(name, "request", lambda: unknown_keys(fields, known))
        for tool in fields.get("tools", []):
            check(name, f"request {tool['name']}", lambda: knows(ToolParam, tool))
        if "tool_choice" in fields:
            choice = fields["tool_choice"]
            check(name, f"choice {choice}", lambda: takes(ToolChoiceParam, choice))
        if "output_config" in fields:
            config = fields["output_config"]
            check(name, "answer", lambda: knows(OutputConfigParam, config))
            check(name, "answer", lambda: anthropic_strict(config["format"]["schema"]))
    from anthropic.types.tool_result_block_param import Content, ToolResultBlockParam

    for message in case["media"]:
        check(name, "media", lambda: takes(MessageParam, message))
        for result in message["content"]:
            check(name, "media", lambda: knows(ToolResultBlockParam, result))
    blocks = case["media"][0]["content"][0]["content"]
    each(name, Content, blocks, 25)
    for block in blocks:
        if block.get("source", {}).get("type") == "base64":
            check(name, "media", lambda: decodes(block["source"]["data"]))


def accepts(schema, example):
    from jsonschema import Draft202012Validator

    Draft202012Validator(schema).validate(example)


def anthropic_strict(schema):
    """Checks that the package's own converter leaves the schema as it is.

    The converter moves patterns and defaults to the description, although the API accepts them, and
    drops the type beside an enum. These are removed first.
    """
    from anthropic import transform_schema

    def stripped(node):
        if isinstance(node, list):
            return [stripped(item) for item in node]
        if not isinstance(node, dict):
            return node
        node = {key: value if key == "properties" else stripped(value) for key, value in node.items()}
        if isinstance(node.get("properties"), dict):
            members = node["properties"].items()
            node["properties"] = {key: stripped(value) for key, value in members}
        node.pop("pattern", None)
        node.pop("default", None)
        if "enum" in node or "const" in node:
            node.pop("type", None)
        return node

    schema = stripped(schema)
    return differs(schema, transform_schema(copy.deepcopy(schema)))


def gemini(name, case):
    from google.genai import types

    for declarations in case["tools"]:
        for function in declarations["functionDeclarations"]:
            check(name, function["name"], lambda: gemini_function(function))
    check(
        name,
        "response",
        lambda: types.GenerateContentResponse.model_validate(case["response"]) and None,
    )
    for content in case["follow_up"] + case["background"]:
        check(name, "follow-up", lambda: types.Content.model_validate(content) and None)
    moved(name, case, lambda content: types.Content.model_validate(content) and None)

    def same(kind, value):
        read = kind.model_validate(value)
        return differs(value, read.model_dump(by_alias=True, exclude_none=True, mode="json"))

    for fields in case["requests"]:
        known = {"tools", "toolConfig", "generationConfig"}
        check(name, "request", lambda: unknown_keys(fields, known))
        if "toolConfig" in fields:
            check(name, "choice", lambda: same(types.ToolConfig, fields["toolConfig"]))
        if "generationConfig" in fields:
            check(name, "answer", lambda: same(types.GenerationConfig, fields["generationConfig"]))

    def known(content):
        read = types.Content.model_validate(content)
        written = read.model_dump(by_alias=True, exclude_none=True, mode="json")
        return differs(url_safe(content), written)

    for content in case["media"]:
        check(name, "media", lambda: known(content))
        parts = content["parts"][0]["functionResponse"]["parts"] + content["parts"][5:]
        for part in parts:
            if "inlineData" in part:
                check(name, "media", lambda: decodes(part["inlineData"]["data"]))


def url_safe(value):
    """Converts base64 under `data` to the alphabet that the package writes."""
    if isinstance(value, list):
        return [url_safe(item) for item in value]
    if isinstance(value, dict):
        data = lambda text: text.replace("+", "-").replace("/", "_")
        return {key: data(item) if key == "data" else url_safe(item) for key, item in value.items()}
    return value


def gemini_function(function):
    """Checks that the package's model knows every key and loses none."""
    from google.genai import types

    read = types.FunctionDeclaration.model_validate(function)
    written = read.model_dump(by_alias=True, exclude_none=True, mode="json")
    return differs(function, written)


def gemini_interactions(name, case):
    from google.genai.interactions import CreateModelInteraction, Interaction, Step

    def same(kind, value):
        """Checks that the package knows every key and every variant of a union."""
        read = TypeAdapter(kind).validate_python(value)
        unknown = any(getattr(part, "is_unknown", False) for part in parts(read))
        written = TypeAdapter(kind).dump_python(read, by_alias=True, exclude_none=True, mode="json")
        return "an unknown variant" if unknown else differs(value, written)

    def parts(value):
        yield value
        if isinstance(value, list):
            values = value
        else:
            values = [item for _, item in value] if hasattr(value, "model_fields_set") else []
        for item in values:
            yield from parts(item)

    def request(fields):
        step = {"type": "user_input", "content": [{"type": "text", "text": "Hello!"}]}
        return same(CreateModelInteraction, {"model": "gemini-3.5-flash", "input": [step], **fields})

    for tool in case["tools"]:
        check(name, tool["name"], lambda: request({"tools": [tool]}))
    check(name, "response", lambda: Interaction.model_validate(case["response"]) and None)
    for step in case["response"]["steps"]:
        check(name, "response", lambda: same(Step, step))
    check(name, "follow-up", lambda: request({"input": case["follow_up"]}))
    check(name, "background", lambda: request({"input": case["background"]}))
    for step in case["follow_up"] + case["background"]:
        check(name, "follow-up", lambda: same(Step, step))
    moved(name, case, lambda step: same(Step, step))
    for fields in case["requests"]:
        known = {"tools", "generation_config", "response_format"}
        check(name, "request", lambda: unknown_keys(fields, known))
        check(name, "request", lambda: request(fields))
    for step in case["media"]:
        check(name, "media", lambda: same(Step, step))
    content = [block for step in case["media"] for block in step.get("result", step.get("content"))]
    check(name, "media", lambda: differs(4, len({block["type"] for block in content})))
    for block in content:
        if "data" in block:
            check(name, "media", lambda: decodes(block["data"]))


def bedrock(name, case):
    import botocore.parsers
    import botocore.session
    from botocore.serialize import create_serializer
    from botocore.validate import ParamValidator

    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    operation = service.operation_model("Converse")

    def converse(parameters):
        request = {"modelId": "m", **parameters}
        report = ParamValidator().validate(request, operation.input_shape)
        if report.has_errors():
            return report.generate_report()
        create_serializer("rest-json").serialize_to_request(request, operation)

    for tool in case["tools"]:
        check(name, tool["toolSpec"]["name"], lambda: converse({"toolConfig": {"tools": [tool]}}))
    for fields in case["requests"]:
        check(name, "request", lambda: converse(fields))
        if "outputConfig" in fields:
            schema = fields["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"]
            check(name, "answer", lambda: takes(dict, json.loads(schema)))
    check(name, "follow-up", lambda: converse({"messages": case["follow_up"]}))
    check(name, "background", lambda: converse({"messages": case["background"]}))
    moved(name, case, lambda message: converse({"messages": decoded([message])}))
    # The package encodes the bytes itself.
    check(name, "media", lambda: converse({"messages": decoded(case["media"])}))

    def response():
        body = json.dumps(case["response"]).encode()
        answer = {"status_code": 200, "headers": {}, "body": body}
        parser = botocore.parsers.create_parser("rest-json")
        read = parser.parse(answer, operation.output_shape)
        calls = [block for block in read["output"]["message"]["content"] if "toolUse" in block]
        return None if len(calls) >= 5 else f"only {len(calls)} calls in it"

    check(name, "response", response)


def decoded(value):
    """Decodes the base64 of blobs."""
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if isinstance(value, dict):
        read = lambda key, item: base64.b64decode(item, validate=True) if key == "bytes" else decoded(item)
        return {key: read(key, item) for key, item in value.items()}
    return value


def cohere(name, case):
    from cohere import types

    def known(kind, value):
        kind.model_validate(value)
        unknown = set(value) - set(kind.model_fields)
        return f"unknown keys {unknown}" if unknown else None

    for tool in case["tools"]:
        function = tool["function"]
        check(name, function["name"], lambda: known(types.ToolV2, tool))
        check(name, function["name"], lambda: known(types.ToolV2Function, function))
    for fields in case["requests"]:
        known_fields = {"tools", "tool_choice", "response_format"}
        check(name, "request", lambda: unknown_keys(fields, known_fields))
        if "tool_choice" in fields:
            check(name, "choice", lambda: takes(Literal["REQUIRED", "NONE"], fields["tool_choice"]))
        if "response_format" in fields:
            form = fields["response_format"]
            check(name, "answer", lambda: known(types.JsonObjectResponseFormatV2, form))
            check(name, "answer", lambda: "with tools" if "tools" in fields else None)
    turn, *results = case["follow_up"]
    check(name, "turn", lambda: known(types.AssistantChatMessageV2, turn))
    for message in results:
        check(name, "follow-up", lambda: known(types.ToolChatMessageV2, message))
    turn, *results, user = case["background"]
    check(name, "background", lambda: known(types.AssistantChatMessageV2, turn))
    for message in results:
        check(name, "background", lambda: known(types.ToolChatMessageV2, message))
    check(name, "background", lambda: known(types.UserChatMessageV2, user))
    kinds = {
        "system": types.SystemChatMessageV2,
        "user": types.UserChatMessageV2,
        "assistant": types.AssistantChatMessageV2,
        "tool": types.ToolChatMessageV2,
    }
    moved(name, case, lambda message: known(kinds[message["role"]], message))
    *results, user = case["media"]
    for message in results:
        check(name, "media", lambda: known(types.ToolChatMessageV2, message))
    check(name, "media", lambda: known(types.UserChatMessageV2, user))
    content = {"text": types.TextContent, "image_url": types.ImageUrlContent}
    for block in user["content"]:
        check(name, "media", lambda: known(content[block["type"]], block))
    chat_media(name, case, False)


def mistral(name, case):
    from mistralai.client import models

    def known(kind, value):
        kind.model_validate(value)
        unknown = set(value) - set(kind.model_fields)
        return f"unknown keys {unknown}" if unknown else None

    for tool in case["tools"]:
        function = tool["function"]
        check(name, function["name"], lambda: known(models.Tool, tool))
        check(name, function["name"], lambda: known(models.Function, function))
    message = {"role": "user", "content": "Hello!"}
    for fields in case["requests"]:
        request = {"model": "m", "messages": [message], **fields}
        check(name, "request", lambda: known(models.ChatCompletionRequest, request))
        choice = fields.get("tool_choice", "auto")
        if isinstance(choice, str):
            check(name, "choice", lambda: takes(Literal["auto", "none", "any"], choice))
        else:
            check(name, "choice", lambda: known(models.ToolChoice, choice))
        if "response_format" in fields:
            form = fields["response_format"]
            check(name, "answer", lambda: known(models.ResponseFormat, form))
    check(
        name,
        "response",
        lambda: models.ChatCompletionResponse.model_validate(case["response"]) and None,
    )
    turn, *results = case["follow_up"]
    check(name, "turn", lambda: known(models.AssistantMessage, turn))
    for message in results:
        check(name, "follow-up", lambda: known(models.ToolMessage, message))
    turn, *results, user = case["background"]
    check(name, "background", lambda: known(models.AssistantMessage, turn))
    for message in results:
        check(name, "background", lambda: known(models.ToolMessage, message))
    check(name, "background", lambda: known(models.UserMessage, user))
    kinds = {
        "system": models.SystemMessage,
        "user": models.UserMessage,
        "assistant": models.AssistantMessage,
        "tool": models.ToolMessage,
    }
    moved(name, case, lambda message: known(kinds[message["role"]], message))
    *results, assistant, user = case["media"]
    for message in results:
        check(name, "media", lambda: known(models.ToolMessage, message))
    check(name, "media", lambda: known(models.AssistantMessage, assistant))
    check(name, "media", lambda: known(models.UserMessage, user))
    chunks = {
        "text": models.TextChunk,
        "image_url": models.ImageURLChunk,
        "input_audio": models.AudioChunk,
        "document_url": models.DocumentURLChunk,
    }
    for block in user["content"]:
        check(name, "media", lambda: known(chunks[block["type"]], block))
    check(name, "media", lambda: differs(4, len({block["type"] for block in user["content"]})))


def mcp(name, case):
    from mcp import types

    def known(kind, value):
        read = kind.model_validate(value)
        written = read.model_dump(by_alias=True, exclude_unset=True, mode="json")
        return differs(value, written)

    for tool in case["tools"]:
        check(name, tool["name"], lambda: known(types.Tool, tool))
    for message in case["follow_up"]:
        if "result" in message:
            check(name, "follow-up", lambda: known(types.CallToolResult, message["result"]))
    for message in case["media"]:
        check(name, "media", lambda: known(types.CallToolResult, message["result"]))
    for block in case["media"][0]["result"]["content"]:
        if "data" in block:
            check(name, "media", lambda: decodes(block["data"]))


DIALECTS = {
    "openai-chat": openai_chat,
    "openai-chat-strict": openai_chat,
    "xai": openai_chat,
    "openai-responses": openai_responses,
    "openai-responses-strict": openai_responses,
    "openai-responses-async": openai_async,
    "anthropic": anthropic,
    "anthropic-strict": anthropic,
    "gemini": gemini,
    "gemini-open-api": gemini,
    "gemini-interactions": gemini_interactions,
    "bedrock": bedrock,
    "cohere": cohere,
    "mistral": mistral,
    "mcp": mcp,
}

for name, case in json.load(sys.stdin).items():
    DIALECTS[name](name, case)
for problem in problems:
    print(problem)
print(json.dumps(counts))
sys.exit(1 if problems else 0)
