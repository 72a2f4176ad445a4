"""Prints every kind of part that a response may have, by the providers' own packages.

Prints one JSON object: for each provider a list of parts, each made of the required fields of its class.
"""

import json
import sys
import typing


def members(union):
    """Returns the classes of a union, which may have unions in it."""
    if hasattr(union, "model_fields"):
        return [union]
    return [member for part in typing.get_args(union) for member in members(part)]


def sample(kind, name=""):
    """Returns a value of a type."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if hasattr(kind, "model_fields"):
        return instance(kind)
    if origin is typing.Literal:
        return args[0]
    if origin in (list, typing.List):
        return []
    if origin in (dict, typing.Dict) or kind is object:
        return {}
    if args:
        return None if type(None) in args else sample(args[0], name)
    if isinstance(kind, type) and issubclass(kind, bool):
        return False
    if isinstance(kind, type) and issubclass(kind, (int, float)):
        return 0
    return {"id": "item_1", "call_id": "call_1"}.get(name, name)


def instance(kind):
    """Returns the required fields of a class, and its type."""
    return {
        field.alias or name: sample(field.annotation, name)
        for name, field in kind.model_fields.items()
        if field.is_required() or name == "type"
    }


def distinct(*unions):
    """Returns one part for each type of some unions."""
    parts = {}
    for kind in (kind for union in unions for kind in members(union)):
        part = instance(kind)
        parts.setdefault(part["type"], part)
    return list(parts.values())


def openai_responses():
    from openai.types.beta.beta_response_output_item import BetaResponseOutputItem
    from openai.types.responses.response_output_item import ResponseOutputItem

    return distinct(ResponseOutputItem, BetaResponseOutputItem)


def openai_calls():
    from openai.types.chat import ChatCompletionMessageToolCallUnion

    return distinct(ChatCompletionMessageToolCallUnion)


def openai_message():
    from openai.types.chat import ChatCompletionMessage

    return fields(ChatCompletionMessage)


def fields(message):
    """Returns a message with one field, for each."""
    return [{field.alias or name: filled(field.annotation, name)} for name, field in message.model_fields.items()]


def filled(kind, name):
    """Returns a value that is not null."""
    kinds = [part for part in typing.get_args(kind) if part is not type(None)]
    is_optional = type(None) in typing.get_args(kind)
    return sample(kinds[0] if is_optional else kind, name)


def anthropic():
    from anthropic.types import ContentBlock
    from anthropic.types.beta import BetaContentBlock

    return distinct(ContentBlock, BetaContentBlock)


def gemini():
    from google.genai.types import Part

    parts = []
    for name, field in Part.model_fields.items():
        value = filled(field.annotation, name)
        if name in ("function_call", "tool_call"):
            value = {"id": "call_1", "name": "name", "args": {}}
        parts.append({field.alias or name: value})
    return parts


def gemini_interactions():
    from google.genai.interactions import Step

    # The SDK reads a step of any other type as one of this type.
    return [part for part in distinct(Step) if part["type"] != "UNKNOWN"]


def bedrock():
    import botocore.session

    service = botocore.session.get_session().get_service_model("bedrock-runtime")

    def value(shape, name):
        if shape.type_name == "structure":
            if getattr(shape, "is_document_type", False):
                return {}
            names = shape.required_members or list(shape.members)[: shape.is_tagged_union]
            return {name: value(shape.members[name], name) for name in names}
        if shape.type_name == "list":
            return []
        if shape.type_name == "map":
            return {}
        return (getattr(shape, "enum", None) or [name])[0]

    return [{name: value(shape, name)} for name, shape in service.shape_for("ContentBlock").members.items()]


def cohere():
    from cohere import AssistantMessageResponse

    return fields(AssistantMessageResponse)


def mistral():
    from mistralai.client.models import AssistantMessage

    return fields(AssistantMessage)


PROVIDERS = {
    "openai-responses": openai_responses,
    "openai-chat calls": openai_calls,
    "openai-chat": openai_message,
    "anthropic": anthropic,
    "gemini": gemini,
    "gemini-interactions": gemini_interactions,
    "bedrock": bedrock,
    "cohere": cohere,
    "mistral": mistral,
}

json.dump({name: parts() for name, parts in PROVIDERS.items()}, sys.stdout)
