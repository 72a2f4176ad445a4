# Runs the tests of a new tool, in the sandbox. Inputs: `code`, `tests`.
import ast, inspect, linecache, traceback

OPERATORS = {
    "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=",
    "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
}


class Compared(ast.NodeTransformer):
    """Adds both values to the message of an `assert` that compares two."""

    def visit_Assert(self, node):
        test = node.test
        if node.msg is not None or not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return node
        operator = OPERATORS[type(test.ops[0]).__name__]
        message = "'not %%r %s %%r' %% (left_value, right_value)" % operator
        node.msg = ast.copy_location(ast.parse(message, mode="eval").body, node)
        left = ast.NamedExpr(ast.Name("left_value", ast.Store()), test.left)
        right = ast.NamedExpr(ast.Name("right_value", ast.Store()), test.comparators[0])
        node.test = ast.Compare(left, test.ops, [right])
        return ast.fix_missing_locations(ast.copy_location(node, test))


def described(error):
    places = []
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename in ("code", "tests"):
            places.append("%s, line %s: %s" % (frame.filename, frame.lineno, frame.line))
    kind = type(error).__name__
    try:
        message = str(error)
    except BaseException:
        message = ""
    places.append("%s: %s" % (kind, message) if message else kind)
    return "\n".join(places[-6:])


def run(what, results):
    try:
        value = what()
        if inspect.iscoroutine(value):
            import asyncio

            asyncio.run(value)
        results.append(None)
    except BaseException as error:
        results.append(described(error))


names = {"__name__": "tool", "ToolError": ToolError}
for text, what in ((code, "code"), (tests, "tests")):
    linecache.cache[what] = (len(text), None, text.splitlines(True), what)
ran = []


def load(text, what, change):
    tree = change(ast.parse(text, what))
    exec(compile(tree, what, "exec", 0, True), names)


def checked(name, what):
    results = []
    run(what, results)
    ran.append({"name": name, "error": results[0]})
    return results[0] is None


if checked("the code", lambda: load(code, "code", lambda tree: tree)):
    # It is no test.
    ran.clear()
    before = dict(names)
    if checked("the top level", lambda: load(tests, "tests", Compared().visit)):
        for name, value in list(names.items()):
            if name.startswith("test_") and inspect.isfunction(value) and before.get(name) is not value:
                checked(name, value)
ran[:200]
