"""Checks recorded streams, and what our readers make of them, with the providers' own packages.

Reads one JSON object: for each provider the `events` of a stream, and the `response` at its end.
Prints one line for each thing that a package rejects or puts together otherwise, and a last line with
counts.
"""

import json
import sys

from pydantic import TypeAdapter

counts = {}
problems = []


def check(provider, holds):
    """Runs a check that raises, or returns a problem."""
    counts[provider] = counts.get(provider, 0) + 1
    try:
        problem = holds()
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    if problem:
        problems.append(f"{provider}: {problem}")


def bare(value):
    """Removes nulls and empty lists, and positions in a stream."""
    if isinstance(value, dict):
        items = {key: bare(item) for key, item in value.items() if key not in ("index", "object")}
        return {key: item for key, item in items.items() if item not in (None, [])}
    return [bare(item) for item in value] if isinstance(value, list) else value


def same(theirs, ours):
    theirs, ours = bare(theirs), bare(ours)
    return None if theirs == ours else f"{json.dumps(theirs)}\nis read as\n{json.dumps(ours)}"


def anthropic(name, case):
    from anthropic.lib.streaming._messages import accumulate_event
    from anthropic.types import RawMessageStreamEvent

    snapshot, buffers = None, {}
    for event in case["events"]:
        if event["type"] == "ping":
            continue
        event = TypeAdapter(RawMessageStreamEvent).validate_python(event)
        snapshot = accumulate_event(event=event, current_snapshot=snapshot, json_bufs=buffers)
    check(name, lambda: same(snapshot.to_dict(), case["response"]))


def openai_chat(name, case):
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    state = ChatCompletionStreamState()
    for event in case["events"]:
        state.handle_chunk(ChatCompletionChunk.model_validate(event))
    snapshot = state.current_completion_snapshot
    check(name, lambda: same(snapshot.to_dict(), case["response"]))


def openai_responses(name, case):
    from openai import omit
    from openai.lib.streaming.responses._responses import ResponseStreamState
    from openai.types.responses import ResponseStreamEvent

    state = ResponseStreamState(input_tools=[], text_format=omit)
    for event in case["events"]:
        last = state.handle_event(TypeAdapter(ResponseStreamEvent).validate_python(event))
    check(name, lambda: same(last[-1].response.to_dict(), case["response"]))


def gemini(name, case):
    from google.genai import types

    for event in [*case["events"], case["response"]]:
        check(name, lambda: types.GenerateContentResponse.model_validate(event) and None)


def gemini_interactions(name, case):
    from google.genai.interactions import Interaction, InteractionSSEEvent, StepDelta

    for event in case["events"]:
        read = TypeAdapter(InteractionSSEEvent).validate_python(event)
        delta = read.delta if isinstance(read, StepDelta) else None
        unknown = [part for part in (read, delta) if getattr(part, "is_unknown", False)]
        check(name, lambda: "an unknown event" if unknown else None)
    read = Interaction.model_validate(case["response"])
    texts = [event["delta"]["text"] for event in case["events"] if event.get("delta", {}).get("type") == "text"]
    check(name, lambda: None if "".join(texts).endswith(read.output_text) else read.output_text)


def bedrock(name, case):
    import botocore.session
    from botocore.validate import ParamValidator

    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    members = service.shape_for("ConverseStreamOutput").members
    for event in case["events"]:
        [(kind, body)] = event.items()
        check(name, lambda: ParamValidator().validate(body, members[kind]).generate_report())
    output = service.operation_model("Converse").output_shape
    check(name, lambda: ParamValidator().validate(case["response"], output).generate_report())


def cohere(name, case):
    import cohere.v2.types.v2chat_stream_response as events
    from cohere.v2.types.v2chat_response import V2ChatResponse

    kinds = [kind for key, kind in vars(events).items() if key.endswith("V2ChatStreamResponse")]
    kinds = {kind.model_fields["type"].default: kind for kind in kinds if hasattr(kind, "model_fields")}
    for event in case["events"]:
        check(name, lambda: kinds[event["type"]].model_validate(event) and None)
    check(name, lambda: V2ChatResponse.model_validate(case["response"]) and None)


def mistral(name, case):
    from mistralai.client import models

    for event in case["events"]:
        check(name, lambda: models.CompletionChunk.model_validate(event) and None)
    response = case["response"]
    check(name, lambda: models.ChatCompletionResponse.model_validate(response) and None)


PROVIDERS = {
    "anthropic": anthropic,
    "openai-chat": openai_chat,
    "xai": openai_chat,
    "openai-responses": openai_responses,
    "openai-responses-custom": openai_responses,
    "gemini": gemini,
    "gemini-interactions": gemini_interactions,
    "bedrock": bedrock,
    "cohere": cohere,
    "mistral": mistral,
}

for name, case in json.load(sys.stdin).items():
    check(name, lambda: PROVIDERS[name](name, case))
for problem in problems:
    print(problem)
print(json.dumps(counts))
sys.exit(1 if problems else 0)
