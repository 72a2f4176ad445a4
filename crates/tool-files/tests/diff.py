"""Applies diffs by `apply_diff` of OpenAI's package `openai-agents`: one case of JSON in a line, one result in a line."""

import json
import sys

from agents.apply_diff import apply_diff

for line in sys.stdin:
    text, diff, mode = json.loads(line)
    try:
        result = apply_diff(text, diff, mode)
    except ValueError:
        result = None
    print(json.dumps(result), flush=False)
