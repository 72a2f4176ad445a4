"""Compares which part of a value of no variant is reported with `jsonschema.best_match`.

Reads one JSON object a line: a `schema`, a `value`, and the `paths` that a tool reports. Prints each case
in which the best match lies deeper, and a last line with counts.
"""

import json
import sys

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match


def shown(steps):
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step == "" or step.startswith("["):
            path += "." * bool(path) + json.dumps(step)
        else:
            path += "." * bool(path) + step
    return path


def holds(place, path):
    """Whether a path leads to a value or into it."""
    return path == place or place == "" or path.startswith((f"{place}.", f"{place}["))


counts = {"cases": 0, "inside": 0, "around": 0, "elsewhere": 0}
for line in sys.stdin:
    case = json.loads(line)
    found = best_match(Draft202012Validator(case["schema"]).iter_errors(case["value"]))
    if found is None:
        continue
    place = shown(found.absolute_path)
    counts["cases"] += 1
    if any(holds(place, path) for path in case["paths"]):
        counts["inside"] += 1
    elif any(holds(path, place) for path in case["paths"]):
        counts["around"] += 1
        print(case["name"], json.dumps(case["value"]), repr(place), case["paths"])
    else:
        counts["elsewhere"] += 1
print(json.dumps(counts))
