"""Judges calls with the leaderboard's own checker, and writes a line of JSON for each verdict.

    python bfcl.py FOLDER

The calls are the possible answers of each entry in the folder, and 5,000 or more mutations of them.
"""

import copy
import json
import os
import random
import sys
import types

# The checker imports the settings of all models, and with them the client of each provider. It needs one setting.
config = types.ModuleType("bfcl_eval.constants.model_config")


class Settings:
    underscore_to_dot = False


config.MODEL_CONFIG_MAPPING = {"model": Settings}
sys.modules["bfcl_eval.constants.model_config"] = config
# For the parsers of Java and JavaScript, which are not used.
for name in ["tree_sitter", "tree_sitter_java", "tree_sitter_javascript"]:
    try:
        __import__(name)
    except ImportError:
        sys.modules[name] = types.ModuleType(name)
for name in ["java", "js"]:
    converter = f"bfcl_eval.eval_checker.ast_eval.type_convertor.{name}_type_converter"
    try:
        __import__(converter)
    except ImportError:
        module = types.ModuleType(converter)
        setattr(module, f"{name}_type_converter", None)
        sys.modules[converter] = module

from bfcl_eval.constants.enums import Language  # noqa: E402
from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # noqa: E402

OTHER = ["", "x", "7", 7, 7.0, 0, 1, 1.5, True, False, None, [], ["x"], [7], [[]], {}, {"x": 1}, [{}], [{"x": 1}]]


def plain(value):
    """One value of an answer; the values in an object are lists of what is right."""
    if isinstance(value, dict):
        chosen = {key: plain(random_of(options)) for key, options in value.items()}
        return {key: item for key, item in chosen.items() if item != ""}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def random_of(options):
    if not isinstance(options, list):
        return options
    return rng.choice(options) if options else ""


def calls_of(answers):
    calls = []
    for answer in answers:
        (name, parameters), = answer.items()
        chosen = {key: plain(random_of(options)) for key, options in parameters.items()}
        calls.append({name: {key: value for key, value in chosen.items() if value != ""}})
    return calls


def retyped(value):
    """The value in another type or spelling."""
    if isinstance(value, bool):
        return rng.choice([int(value), str(value), not value, float(value)])
    if isinstance(value, int):
        return rng.choice([float(value), str(value), value + 1, -value, value == 1, [value]])
    if isinstance(value, float):
        return rng.choice([int(value), str(value), value + 0.25, -value, [value]])
    if isinstance(value, str):
        return rng.choice([
            value.upper(), value.lower(), value.replace(" ", ""), f" {value}. ", value + "x", value[1:], value.title(),
            value.replace(" ", "_"), value.replace("'", '"'), value.replace(",", ""), [value], list(value),
        ])
    if isinstance(value, list):
        new = copy.deepcopy(value)
        if not new:
            return rng.choice([["x"], "", None])
        at = rng.randrange(len(new))
        kind = rng.randrange(6)
        if kind == 0:
            new[at] = retyped(new[at])
        elif kind == 1:
            rng.shuffle(new)
        elif kind == 2:
            del new[at]
        elif kind == 3:
            new.append(copy.deepcopy(new[at]))
        elif kind == 4:
            new[at] = rng.choice(OTHER)
        else:
            new = new[0]
        return new
    if isinstance(value, dict):
        new = copy.deepcopy(value)
        if not new:
            return rng.choice([{"x": 1}, [], None])
        key = rng.choice(list(new))
        kind = rng.randrange(5)
        if kind == 0:
            new[key] = retyped(new[key])
        elif kind == 1:
            del new[key]
        elif kind == 2:
            new[key] = rng.choice(OTHER)
        elif kind == 3:
            new["zz"] = 1
        else:
            new = [new]
        return new
    return rng.choice(OTHER)


def mutated(calls, entry):
    """The name of a mutation, and the calls with it."""
    calls = copy.deepcopy(calls)
    at = rng.randrange(len(calls))
    (name, arguments), = calls[at].items()
    kind = rng.choice(["value"] * 6 + ["other"] * 2 + ["omit", "unknown", "tool", "calls", "order"])
    if kind in ("value", "other", "omit") and arguments:
        key = rng.choice(list(arguments))
        if kind == "value":
            arguments[key] = retyped(arguments[key])
        elif kind == "other":
            arguments[key] = rng.choice(OTHER)
        else:
            del arguments[key]
    elif kind == "tool":
        calls[at] = {rng.choice([f["name"] for f in entry["function"]] + ["zz"]): arguments}
    elif kind == "calls":
        calls = rng.choice([calls + [calls[at]], calls[:-1], []])
    elif kind == "order":
        rng.shuffle(calls)
    else:
        properties = entry["function"][0]["parameters"]["properties"]
        arguments[rng.choice(list(properties) + ["zz"])] = rng.choice(OTHER)
    return kind, calls


def judge(entry, calls, answers):
    category = entry["id"].rsplit("_", 1)[0]
    try:
        verdict = ast_checker(
            entry["function"], copy.deepcopy(calls), copy.deepcopy(answers), Language.PYTHON, category, "model"
        )
    except Exception as error:  # What the checker can't judge is not right.
        return False, f"exception: {error!r}"
    return verdict["valid"], str(verdict.get("error_type", ""))


rng = random.Random(7)
folder = sys.argv[1]
pool = []
for file in sorted(os.listdir(folder)):
    path = os.path.join(folder, "possible_answer", file)
    if not file.endswith(".json") or not os.path.exists(path):
        continue
    truth = {row["id"]: row["ground_truth"] for row in map(json.loads, open(path))}
    for entry in map(json.loads, open(os.path.join(folder, file))):
        answers = truth[entry["id"]]
        # Not each choice is right where an object is.
        pool.append((file, entry, answers, calls_of(answers)))


def write(kind, file, entry, answers, calls):
    is_valid, why = judge(entry, calls, answers)
    line = {"file": file, "id": entry["id"], "kind": kind, "calls": calls, "is_valid": is_valid, "why": why}
    print(json.dumps(line))


for file, entry, answers, calls in pool:
    write("answer", file, entry, answers, calls)
for number in range(6 * len(pool) if 6 * len(pool) >= 5000 else 5000):
    file, entry, answers, _ = pool[number % len(pool)]
    kind, calls = mutated(calls_of(answers), entry)
    write(kind, file, entry, answers, calls)
