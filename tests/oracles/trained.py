"""Judges the tools on which providers trained their models, with the providers' own packages.

Without input, prints inputs of every kind that the packages describe: for each tool a list, with the required fields
alone and with all fields. With input, checks the entries of tools, the choices and the results that dialects wrote, and
prints one line for each thing that a package rejects, and a last line with counts.
"""

import json
import sys
import typing

from pydantic import TypeAdapter

LISTS = {"coordinate": [1, 2], "start_coordinate": [3, 4], "region": [0, 0, 9, 9], "view_range": [1, 5]}


def value(kind, name, is_full):
    """Returns a value of a type."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if name in LISTS:
        return LISTS[name]
    if hasattr(kind, "model_fields"):
        return instance(kind, is_full)
    if origin is typing.Annotated:
        return value(args[0], name, is_full)
    if origin is typing.Literal:
        return args[0]
    if origin in (list, typing.List):
        return [value(args[0], "item", is_full)]
    if origin in (dict, typing.Dict):
        return {"KEY": "value"}
    if args:
        kinds = [part for part in args if part is not type(None)]
        return value(kinds[0], name, is_full)
    if kind is bool:
        return True
    if kind in (int, float):
        return 3
    return name


def instance(kind, is_full):
    """Returns the fields of a class: all, or the required ones."""
    fields = kind.model_fields.items()
    return {name: value(field.annotation, name, is_full) for name, field in fields if is_full or field.is_required()}


def members(union):
    """Returns the classes of a union, which may have unions in it."""
    if hasattr(union, "model_fields"):
        return [union]
    return [member for part in typing.get_args(union) for member in members(part)]


def both(kind):
    """Returns a value with the required fields alone, and one with all."""
    return [instance(kind, False), instance(kind, True)]


def anthropic_inputs():
    from anthropic.types.beta import BetaMemoryTool20250818Command
    from anthropic.types.beta.beta_managed_agents_agent_toolset20260401_bash_input import (
        BetaManagedAgentsAgentToolset20260401BashInput,
    )
    from anthropic.types.computer_tool_use_block import ComputerToolUseBlock

    computer = []
    for block in members(ComputerToolUseBlock):
        (action,) = typing.get_args(block.model_fields["name"].annotation)
        for fields in both(block.model_fields["input"].annotation):
            computer.append({"action": action, **fields})
    # The other field belongs to a tool that the provider runs.
    bash = [{key: fields[key] for key in ("command", "restart") if key in fields}
            for fields in both(BetaManagedAgentsAgentToolset20260401BashInput)]
    return {
        "memory": [fields for kind in members(BetaMemoryTool20250818Command) for fields in both(kind)],
        "bash": bash,
        "computer": computer,
    }


def openai_items():
    from openai.types.responses import (
        ResponseApplyPatchToolCall,
        ResponseComputerToolCall,
        ResponseFunctionShellToolCall,
    )
    from openai.types.responses.computer_action import ComputerAction
    from openai.types.responses.response_output_item import LocalShellCall

    items = []

    def add(kind, **fields):
        for is_full in (False, True):
            item = instance(kind, is_full)
            item.update({"call_id": f"call_{len(items)}", "status": "completed", **fields})
            for key in ("pending_safety_checks", "environment", "caller", "created_by"):
                if key in item:
                    item[key] = [] if key == "pending_safety_checks" else None
            kind.model_validate(item)
            items.append(item)

    for action in both(ResponseFunctionShellToolCall.model_fields["action"].annotation):
        add(ResponseFunctionShellToolCall, action=action)
    for action in both(LocalShellCall.model_fields["action"].annotation):
        add(LocalShellCall, action=action)
    for operation in members(ResponseApplyPatchToolCall.model_fields["operation"].annotation):
        add(ResponseApplyPatchToolCall, operation=instance(operation, True))
    for action in members(ComputerAction):
        for fields in both(action):
            add(ResponseComputerToolCall, actions=[fields], action=None)
            add(ResponseComputerToolCall, action=fields, actions=None)
    return items


counts = {}
problems = []


def check(provider, what, kind, value):
    counts[provider] = counts.get(provider, 0) + 1
    try:
        TypeAdapter(kind).validate_python(value, strict=True)
        known = getattr(kind, "__annotations__", None)
        unknown = set(value) - set(known) if known and isinstance(value, dict) else None
        problem = f"unknown keys {unknown}" if unknown else None
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    if problem:
        problems.append(f"{provider}: {what}: {problem}")


def check_anthropic(case):
    from anthropic.types import ToolChoiceParam, beta
    from anthropic.types.beta import BetaMessageParam, BetaToolResultBlockParam, BetaToolUnionParam

    kinds = {
        "bash_20250124": beta.BetaToolBash20250124Param,
        "computer_20250124": beta.BetaToolComputerUse20250124Param,
        "computer_20251124": beta.BetaToolComputerUse20251124Param,
        "memory_20250818": beta.BetaMemoryTool20250818Param,
        "text_editor_20250728": beta.BetaToolTextEditor20250728Param,
    }
    for tool in case["tools"]:
        if tool.get("type") in kinds:
            check("anthropic", tool["type"], kinds[tool["type"]], tool)
        check("anthropic", "a tool", BetaToolUnionParam, tool)
    for choice in case["choices"]:
        check("anthropic", "a choice", ToolChoiceParam, choice)
    for message in case["results"]:
        check("anthropic", "results", BetaMessageParam, message)
        for block in message["content"]:
            check("anthropic", "a result", BetaToolResultBlockParam, block)
            if not isinstance(block["content"], str):
                for part in block["content"]:
                    from anthropic.types.beta.beta_tool_result_block_param import Content

                    check("anthropic", "a part", Content, part)


def check_openai(case):
    from openai.types.responses import ResponseInputItemParam, ToolParam
    from openai.types.responses import response_input_item_param as items
    from openai.types.responses import (
        ApplyPatchToolParam,
        ComputerToolParam,
        FunctionShellToolParam,
    )
    from openai.types.responses.response_computer_tool_call_output_screenshot_param import (
        ResponseComputerToolCallOutputScreenshotParam,
    )
    from openai.types.responses.response_create_params import ToolChoice
    from openai.types.responses.tool_param import LocalShell

    kinds = {
        "apply_patch": ApplyPatchToolParam,
        "computer": ComputerToolParam,
        "local_shell": LocalShell,
        "shell": FunctionShellToolParam,
    }
    for tool in case["tools"]:
        if tool["type"] in kinds:
            check("openai", tool["type"], kinds[tool["type"]], tool)
        check("openai", "a tool", ToolParam, tool)
    for choice in case["choices"]:
        check("openai", "a choice", ToolChoice, choice)
    outputs = {
        "apply_patch_call_output": items.ApplyPatchCallOutput,
        "computer_call_output": items.ComputerCallOutput,
        "local_shell_call_output": items.LocalShellCallOutput,
        "shell_call_output": items.ShellCallOutput,
    }
    for item in case["results"]:
        check("openai", "an item", ResponseInputItemParam, item)
        kind = item.get("type")
        if kind in outputs:
            check("openai", kind, outputs[kind], item)
        if kind == "shell_call_output":
            for output in item["output"]:
                check("openai", "an output", items.ResponseFunctionShellCallOutputContentParam, output)
        if kind == "computer_call_output":
            check("openai", "a screenshot", ResponseComputerToolCallOutputScreenshotParam, item["output"])


text = sys.stdin.read()
if text:
    cases = json.loads(text)
    check_anthropic(cases["anthropic"])
    check_openai(cases["openai"])
    for problem in problems:
        print(problem)
    print(json.dumps(counts))
    sys.exit(1 if problems else 0)
json.dump({"anthropic": anthropic_inputs(), "openai": openai_items()}, sys.stdout)
